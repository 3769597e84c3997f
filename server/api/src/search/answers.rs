//! The pages of searches, as one answer or as lines.

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
    #[serde(skip_serializing_if = "Option::is_none")]
    depends_on: Option<Vec<String>>,
    /// The condition under which it is allowed, for managers and keys with `policies:read`. Absent if it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ActionResult {
    resource: String,
    action: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    depends_on: Option<Vec<String>>,
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
    /// Results and the end of the page are lines.
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
        let found = page.found.into_iter().map(|FoundEntity { id, rule }| {
            let (decision, rule) = parts.decided_by(rule);
            EntityResult { r#type, id, decision, rule }
        });
        let open = page.conditional.into_iter().map(|open| {
            let ConditionalEntity { id, depends_on, condition } = open;
            let depends_on = parts.unless_names_alone(depends_on);
            let condition = condition.filter(|_| parts.shows_conditions && !parts.names_alone);
            ConditionalResult { r#type, id, depends_on, condition }
        });
        let (results, conditional) = (found.collect(), open.collect());
        let answer = Self { results, conditional, everybody: page.everybody, end };
        if !parts.in_lines {
            return as_whole(&answer);
        }
        let end = PageEnd { everybody: answer.everybody, end: &answer.end };
        as_lines(&answer.results, &answer.conditional, &end)
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
        let resource = |action: &str| format!("{resource_type}:{action}");
        let found = page.found.into_iter().map(|FoundEntity { id: action, rule }| {
            let (decision, rule) = parts.decided_by(rule);
            ActionResult { resource: resource(&action), action, decision, rule }
        });
        let open = page.conditional.into_iter().map(|open| {
            let depends_on = parts.unless_names_alone(open.depends_on);
            ConditionalAction { resource: resource(&open.id), action: open.id, depends_on }
        });
        let answer = Self { results: found.collect(), conditional: open.collect(), end };
        if !parts.in_lines {
            return as_whole(&answer);
        }
        let end = PageEnd { everybody: None, end: &answer.end };
        as_lines(&answer.results, &answer.conditional, &end)
    }
}

impl AnswerParts {
    /// Returns the decision and the rule of what is allowed, as results have them.
    fn decided_by(self, rule: Uuid) -> (Option<&'static str>, Option<Uuid>) {
        (self.unless_names_alone("allow"), self.unless_names_alone(rule))
    }

    fn unless_names_alone<T>(self, value: T) -> Option<T> {
        (!self.names_alone).then_some(value)
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

/// The line that ends a page.
#[derive(Serialize)]
struct PageEnd<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    everybody: Option<&'static str>,
    #[serde(flatten)]
    end: &'e SearchEnd,
}

/// The line of a conditional result. It has no name of its own, so that nobody takes it for an allowed one.
#[derive(Serialize)]
struct Conditional<'c, T> {
    conditional: &'c T,
}

fn as_whole(answer: &impl Serialize) -> Result<AnswerText, ApiError> {
    let mut text = AnswerText::default();
    serde_json::to_writer(&mut text, answer).map_err(Unwritten::from)?;
    Ok(text)
}

fn as_lines<R: Serialize, C: Serialize>(
    results: &[R],
    conditional: &[C],
    end: &PageEnd<'_>,
) -> Result<AnswerText, ApiError> {
    let mut text = AnswerText::default();
    let conditional = conditional.iter().map(|conditional| Conditional { conditional });
    let written = (results.iter().try_for_each(|result| add_line(&mut text, result)))
        .and_then(|()| conditional.into_iter().try_for_each(|open| add_line(&mut text, &open)))
        .and_then(|()| add_line(&mut text, end));
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

    /// Whoever takes each line with an id for an allowed one must not take a conditional one for it.
    #[tokio::test]
    async fn a_conditional_line_does_not_look_like_an_allowed_one() {
        let (names_alone, in_lines) = (true, true);
        let parts =
            AnswerParts { names_alone, shows_conditions: true, in_lines, at_revision: None };
        let end = r#"{"complete":false,"source":"entities","revision":7,"rules_changed":false,"next":"x"}"#;
        let names = r#"{"type":"record","id":"r1"}
{"conditional":{"type":"record","id":"r2"}}
"#;
        assert_eq!(written(parts).await, format!("{names}{end}\n"));
        let all = written(AnswerParts { names_alone: false, ..parts }).await;
        let open = r#"{"conditional":{"type":"record","id":"r2","depends_on":["geo.country"],"condition":"#;
        assert!(all.lines().nth(1).is_some_and(|line| line.starts_with(open)), "{all}");
        let one = written(AnswerParts { in_lines: false, ..parts }).await;
        assert!(
            one.starts_with(r#"{"results":[{"type":"record","id":"r1"}],"conditional":[{"#),
            "{one}"
        );
    }
}
