//! The subjects who can do something with an object.

use askama::Template;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use portcullis_auth::Manager;
use portcullis_engine::action::verb_of;
use portcullis_engine::resource::object_of;
use portcullis_engine::search::Searched;
use portcullis_http::error::ApiError;
use portcullis_http::recipient::carried;
use portcullis_http::session_caller::count_candidates;
use portcullis_model::search::{EntitySearchBody, SearchPage};
use portcullis_operations::search::{
    Claims, ConditionalEntity, EntityQuestion, RequestMark, SearchedPage, search_entities,
};
use portcullis_runtime::min_revisions::MinRevisions;
use serde_json::{Value, json};

use super::tabs;
use crate::csv::{CsvPage, download};
use crate::decision::copies::AsApi;
use crate::fields::{FieldRow, Kind, fields_of};
use crate::next::{LIMIT, at_cursor, with_query};
use crate::outcomes::word;
use crate::question::QuestionPage;
use crate::rule_names::{NamedRule, RuleNames};
use crate::visit::Visit;

/// The parameters of the page, and of the file.
pub(crate) const KNOWN: &[&str] = &["resource", "action", "id", "cursor"];
pub(crate) const KNOWN_OF_CSV: &[&str] = &["resource", "action", "id"];
const FIELDS: [FieldRow; 3] = [
    FieldRow { name: "resource", label: "Resource", hint: "chart:read", kind: Kind::Text },
    FieldRow {
        name: "action",
        label: "Action",
        hint: "the verb of the resource",
        kind: Kind::Text,
    },
    FieldRow { name: "id", label: "Id", hint: "c-17", kind: Kind::Text },
];
/// The route of the API, for cursors and copies.
const ROUTE: &str = "/api/v1/search/subjects";

#[derive(Template)]
#[template(path = "access_found.html")]
struct FoundSubjects {
    subjects: Vec<Subject>,
    /// The word of the decision on everybody else.
    everybody: Option<&'static str>,
    csv: String,
    next: Option<String>,
}

struct Subject {
    name: String,
    page: String,
    decision: &'static str,
    word: &'static str,
    because: NamedRule,
}

/// Shows the subjects who can.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let question = Question::of(&visit);
    let (title, found) = match question.resource.is_empty() {
        true => ("Who can do something?".to_owned(), Ok(None)),
        false => {
            let found = FoundSubjects::read(&visit, &manager, &question).await;
            (question.title(), found.map(Some))
        }
    };
    let page = QuestionPage {
        name: "Choose",
        tabs: tabs(&visit, "access/who"),
        fields: fields_of(&FIELDS, &visit.uri),
        note: "",
        api: AsApi::post(&visit.address, ROUTE, &question.body()),
    };
    page.show(&visit, &title, found)
}

/// Answers with the subjects as a file.
pub(crate) async fn csv(visit: Visit, _: Manager) -> Result<Response, ApiError> {
    download(visit, "who.csv", &["subject", "decision", "because"], csv_page).await
}

fn csv_page(visit: &Visit, cursor: Option<String>) -> BoxFuture<'_, Result<CsvPage, ApiError>> {
    async move {
        let manager = visit.manager()?;
        let page = search(visit, Question::of(visit).body(), cursor).await?;
        let (next, revision) = (page.next.clone(), page.revision);
        let subjects = named(visit, &manager, page).await?;
        let rows = subjects.into_iter();
        let rows = rows.map(|one| vec![one.name, one.decision.to_owned(), one.because.name]);
        Ok(CsvPage { rows: rows.collect(), next, revision })
    }
    .boxed()
}

/// The action on an object that the page is about.
struct Question {
    resource: String,
    action: String,
    id: String,
}

impl Question {
    fn of(visit: &Visit) -> Self {
        let [resource, action, id] = ["resource", "action", "id"].map(|name| visit.parameter(name));
        Self { resource, action, id }
    }

    fn title(&self) -> String {
        let verb = verb_of(&self.resource);
        let action = if self.action.is_empty() { verb } else { &self.action };
        let object = match &*self.id {
            "" => self.resource.clone(),
            id => format!("{}:{id}", object_of(&self.resource)),
        };
        format!("Who can {action} {object}?")
    }

    /// Returns the body of `POST /api/v1/search/subjects`.
    fn body(&self) -> String {
        let mut body = json!({"resource": self.resource, "limit": LIMIT});
        if !self.action.is_empty() {
            body["action"] = Value::from(&*self.action);
        }
        if !self.id.is_empty() {
            body["attributes"] = json!({"resource": {"id": self.id}});
        }
        body.to_string()
    }
}

/// Searches for the page of subjects at `cursor`.
async fn search(
    visit: &Visit,
    body: String,
    cursor: Option<String>,
) -> Result<SearchedPage, ApiError> {
    let (app, caller, tenant) = (visit.app.clone(), visit.asker(), visit.tenant.id.clone());
    let found = carried(move |_| async move {
        let json = portcullis_engine::json::parse(body.as_bytes())?;
        let EntitySearchBody { subject, resource, action, terms, .. } =
            EntitySearchBody::parse_subjects(&json)?;
        let mark =
            RequestMark::new(ROUTE, caller.tenant(), caller.actor(), &json, &["limit", "cursor"]);
        let question = EntityQuestion {
            searched: Searched::Subject,
            entity_type: subject,
            subject: "",
            subject_type: None,
            resource,
            action,
            domain: terms.domain,
            attributes: terms.attributes,
            claims: Claims::Refused,
            candidates: None,
            page: SearchPage { cursor: cursor.as_deref(), ..terms.page },
            cursor_at: "/cursor",
            at_least: MinRevisions::default(),
            at_revision: terms.at_revision,
        };
        Ok::<_, ApiError>(search_entities(&app, &caller, question, &mark).await?)
    });
    let page: SearchedPage = visit.app.searches.run(&tenant, found).await?;
    let person = (&*visit.tenant.id, &*visit.session.record.subject);
    count_candidates(&visit.app, &visit.context, person, page.looked_at);
    Ok(page)
}

/// Returns the subjects of a page with the names of what decides.
async fn named(
    visit: &Visit,
    manager: &Manager,
    page: SearchedPage,
) -> Result<Vec<Subject>, ApiError> {
    let mut names = RuleNames::new(visit, manager);
    let mut subjects = Vec::with_capacity(page.found.len() + page.conditional.len());
    for found in page.found {
        let because = names.find(&found.rule.to_string()).await?;
        subjects.push(Subject::new(visit, found.id, ("allow", "Allow"), because));
    }
    for ConditionalEntity { id, depends_on, condition } in page.conditional {
        let name = condition.unwrap_or_else(|| depends_on.join(", "));
        let because = NamedRule { name: format!("if {name}"), page: None };
        subjects.push(Subject::new(visit, id, ("conditional", "If"), because));
    }
    Ok(subjects)
}

impl Subject {
    fn new(
        visit: &Visit,
        name: String,
        (decision, word): (&'static str, &'static str),
        because: NamedRule,
    ) -> Self {
        let page = with_query(&visit.page("access/what"), &[("subject", &name)]);
        Self { name, page, decision, word, because }
    }
}

impl FoundSubjects {
    async fn read(visit: &Visit, manager: &Manager, question: &Question) -> Result<Self, ApiError> {
        let cursor = visit.cursor();
        let page = search(visit, question.body(), cursor).await?;
        let (next, everybody) = (page.next.clone(), page.everybody);
        let members = [
            ("resource", &*question.resource),
            ("action", &*question.action),
            ("id", &*question.id),
        ];
        Ok(Self {
            subjects: named(visit, manager, page).await?,
            everybody: everybody.map(word),
            csv: with_query(&visit.page("access/who.csv"), &members),
            next: next.map(|cursor| at_cursor(&visit.uri, &cursor)),
        })
    }
}
