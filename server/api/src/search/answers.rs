//! The pages of searches, as one answer or as lines.

use portcullis_engine::action::Action;
use portcullis_operations::directory;
use portcullis_operations::search::{ConditionalEntity, FoundEntity, SearchSource, SearchedPage};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::line_stream::add_line;
use portcullis_http::answer_text::AnswerText;
use portcullis_http::error::ApiError;
use portcullis_http::text_answer::Unwritten;

/// A page of a search for entities.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "results": [{
        "type": "chart", "id": "c-17", "decision": "allow",
        "rule": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68",
    }],
    "conditional": [],
    "complete": true,
    "source": "request",
    "revision": 812,
    "rules_changed": false,
})))]
pub(super) struct EntitySearchAnswer<'s> {
    /// The entities for which the request is allowed.
    results: Vec<EntityResult<'s>>,
    /// The entities on which attributes of resolvers decide. A check of one asks the resolvers.
    conditional: Vec<ConditionalResult<'s>>,
    /// In a search for the subjects that the tenant knows: the decision on any other subject of the type, who has no roles and
    /// properties. `allow`, `deny`, or `conditional` if attributes of resolvers decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    everybody: Option<&'static str>,
    #[serde(flatten)]
    end: SearchEnd,
}

/// A page of a search for actions.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "results": [{
        "resource": "chart:read", "action": "read", "decision": "allow",
        "rule": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68",
    }],
    "conditional": [],
    "complete": true,
    "revision": 812,
    "rules_changed": false,
})))]
pub(super) struct ActionSearchAnswer {
    /// The actions that are allowed.
    results: Vec<ActionResult>,
    /// The actions on which attributes of resolvers decide.
    conditional: Vec<ConditionalAction>,
    #[serde(flatten)]
    end: SearchEnd,
}

#[derive(Serialize, ToSchema)]
struct EntityResult<'s> {
    r#type: &'s str,
    id: String,
    /// `allow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    /// The id of the policy or rule that allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
struct ConditionalResult<'s> {
    r#type: &'s str,
    id: String,
    /// The attributes of resolvers that decide.
    depends_on: Vec<String>,
    /// The condition under which it is allowed, for managers and keys with `policies:read`. Absent if it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ActionResult {
    /// The action, if `fields` asks for names alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    /// `allow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    /// The id of the policy or rule that allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
struct ConditionalAction {
    resource: String,
    action: String,
    /// The attributes of resolvers that decide.
    depends_on: Vec<String>,
}

/// The end of a page.
#[derive(Serialize, ToSchema)]
pub(super) struct SearchEnd {
    /// Whether the search has looked at everything. If not, `next` leads on.
    complete: bool,
    /// The origin of the candidates: `request`, or `entities` for what entities and tuples know.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    /// `present` if rules of an earlier revision read the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<&'static str>,
    /// The revision of the rules that decided.
    revision: u64,
    /// Whether the rules changed since the page before.
    rules_changed: bool,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The parts of the question that say what an answer has.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerParts {
    /// Results are names alone.
    pub(super) names_alone: bool,
    pub(super) shows_conditions: bool,
    /// Results are lines, and the last page has a last line.
    pub(super) in_lines: bool,
    pub(super) at_revision: Option<u64>,
}

impl<'s> EntitySearchAnswer<'s> {
    /// Writes a page of a search for entities of a type.
    pub(super) fn write(
        r#type: &'s str,
        page: SearchedPage,
        parts: AnswerParts,
    ) -> Result<AnswerText, ApiError> {
        let end = SearchEnd::new(&page, Some(page.source), parts);
        let last = LastLine::of(&page, parts);
        let found = page.found.into_iter().map(|FoundEntity { id, rule }| {
            let (decision, rule) = parts.decided_by(rule);
            EntityResult { r#type, id, decision, rule }
        });
        let results: Vec<_> = found.collect();
        if parts.in_lines && parts.names_alone {
            let open = page.conditional.into_iter().map(|ConditionalEntity { id, .. }| {
                EntityResult { r#type, id, decision: None, rule: None }
            });
            return as_lines(&results, open, last.as_ref());
        }
        let open = page.conditional.into_iter().map(|open| {
            let ConditionalEntity { id, depends_on, condition } = open;
            let condition = condition.filter(|_| parts.shows_conditions);
            ConditionalResult { r#type, id, depends_on, condition }
        });
        if parts.in_lines {
            return as_lines(&results, open, last.as_ref());
        }
        as_whole(&Self { results, conditional: open.collect(), everybody: page.everybody, end })
    }
}

impl ActionSearchAnswer {
    /// Writes a page of a search for actions on a type.
    pub(super) fn write(
        resource_type: &str,
        page: SearchedPage,
        parts: AnswerParts,
    ) -> Result<AnswerText, ApiError> {
        let end = SearchEnd::new(&page, None, parts);
        let last = LastLine::of(&page, parts);
        let found = page.found.into_iter().map(|FoundEntity { id, rule }| {
            if parts.names_alone {
                return ActionResult::named(&id);
            }
            let (decision, rule) = parts.decided_by(rule);
            let resource = Some(format!("{resource_type}:{id}"));
            ActionResult { name: None, resource, action: Some(action_of(&id)), decision, rule }
        });
        let results: Vec<_> = found.collect();
        if parts.in_lines && parts.names_alone {
            let open = page.conditional.into_iter().map(|open| ActionResult::named(&open.id));
            return as_lines(&results, open, last.as_ref());
        }
        let open = page.conditional.into_iter().map(|open| {
            let resource = format!("{resource_type}:{}", open.id);
            ConditionalAction { resource, action: action_of(&open.id), depends_on: open.depends_on }
        });
        if parts.in_lines {
            return as_lines(&results, open, last.as_ref());
        }
        as_whole(&Self { results, conditional: open.collect(), end })
    }
}

impl ActionResult {
    /// Returns the name of the action of a verb alone.
    fn named(verb: &str) -> Self {
        let name = Some(action_of(verb));
        Self { name, resource: None, action: None, decision: None, rule: None }
    }
}

/// Returns the action of a check that leaves it out.
fn action_of(verb: &str) -> String {
    Action::verb(verb).text().into_owned()
}

impl AnswerParts {
    /// Returns the decision and the rule of what is allowed, as results have them.
    fn decided_by(self, rule: Uuid) -> (Option<&'static str>, Option<Uuid>) {
        if self.names_alone { (None, None) } else { (Some("allow"), Some(rule)) }
    }
}

impl SearchEnd {
    fn new(page: &SearchedPage, source: Option<SearchSource>, parts: AnswerParts) -> Self {
        Self {
            directory: directory::present_beside_past(parts.at_revision, page.entities_revision),
            complete: page.next.is_none(),
            source: source.map(|source| match source {
                SearchSource::Request => "request",
                SearchSource::Entities => "entities",
            }),
            revision: page.revision,
            rules_changed: page.rules_changed,
            next: page.next.clone(),
        }
    }
}

/// The line after the results of all pages. Without it the answer broke off.
#[derive(Serialize)]
struct LastLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    everybody: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<&'static str>,
    complete: bool,
    policy_revision: u64,
    entities_revision: Option<u64>,
}

impl LastLine {
    /// Returns the line after a page, if it is the last one.
    fn of(page: &SearchedPage, parts: AnswerParts) -> Option<Self> {
        page.next.is_none().then(|| Self {
            everybody: page.everybody,
            directory: directory::present_beside_past(parts.at_revision, page.entities_revision),
            complete: true,
            policy_revision: page.revision,
            entities_revision: page.entities_revision,
        })
    }
}

/// The line of a conditional result.
#[derive(Serialize)]
struct ConditionalLine<T> {
    #[serde(flatten)]
    result: T,
    /// `true`.
    conditional: bool,
}

fn as_whole(answer: &impl Serialize) -> Result<AnswerText, ApiError> {
    let mut text = AnswerText::default();
    serde_json::to_writer(&mut text, answer).map_err(Unwritten::from)?;
    Ok(text)
}

fn as_lines(
    results: &[impl Serialize],
    conditional: impl IntoIterator<Item = impl Serialize>,
    last: Option<&LastLine>,
) -> Result<AnswerText, ApiError> {
    let mut text = AnswerText::default();
    let mut conditional = conditional.into_iter();
    let written = (results.iter().try_for_each(|result| add_line(&mut text, result)))
        .and_then(|()| {
            conditional.try_for_each(|result| {
                add_line(&mut text, &ConditionalLine { result, conditional: true })
            })
        })
        .and_then(|()| last.map_or(Ok(()), |last| add_line(&mut text, last)));
    written.map_err(Unwritten::from)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    fn page() -> SearchedPage {
        SearchedPage {
            found: vec![FoundEntity { id: "r1".to_owned(), rule: Uuid::nil() }],
            conditional: vec![ConditionalEntity {
                id: "r2".to_owned(),
                depends_on: vec!["geo.country".to_owned()],
                condition: Some("geo.country == \"de\"".to_owned()),
            }],
            revision: 7,
            entities_revision: None,
            rules_changed: false,
            next: Some("x".to_owned()),
            source: SearchSource::Entities,
            looked_at: 2,
            everybody: None,
        }
    }

    async fn written(parts: AnswerParts) -> String {
        let text = EntitySearchAnswer::write("record", page(), parts).expect("there is room");
        let bytes = text.into_body().collect().await.expect("a body").to_bytes();
        String::from_utf8(bytes.to_vec()).expect("UTF-8")
    }

    #[tokio::test]
    async fn a_conditional_line_says_so() {
        let (names_alone, in_lines) = (true, true);
        let parts =
            AnswerParts { names_alone, shows_conditions: true, in_lines, at_revision: None };
        let names = r#"{"type":"record","id":"r1"}
{"type":"record","id":"r2","conditional":true}
"#;
        assert_eq!(written(parts).await, names, "a page before the last one has no last line");
        let all = written(AnswerParts { names_alone: false, ..parts }).await;
        let open = r#"{"type":"record","id":"r2","depends_on":["geo.country"],"condition":"geo.country == \"de\"","conditional":true}"#;
        assert_eq!(all.lines().nth(1), Some(open));
        let one = written(AnswerParts { in_lines: false, ..parts }).await;
        let names_and_terms = r#"{"results":[{"type":"record","id":"r1"}],"conditional":[{"type":"record","id":"r2","depends_on":["geo.country"],"condition":"#;
        assert!(one.starts_with(names_and_terms), "{one}");
    }
}
