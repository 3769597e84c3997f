//! One cell of the matrix: the decision on all its requests, and the explanation of the one without attributes.

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_http::error::ApiError;
use portcullis_operations::matrices::MatrixAnswerCell;
use serde_json::{Map, Value, json};

use super::{ROUTE, decide};
use crate::ask;
use crate::decision::copies::AsApi;
use crate::decision::why::Why;
use crate::next::with_query;
use crate::outcomes::word;
use crate::rule_names::{NamedRule, RuleNames};
use crate::visit::Visit;

/// The parameters of the page.
pub(crate) const KNOWN: &[&str] =
    &["subject", "role", "resource", "action", "domain", "at_revision"];
/// The subject of an explanation that is about a role: no rule names it.
const ANYBODY: &str = "(anybody)";

#[derive(Template)]
#[template(path = "access_cell.html")]
struct CellPage {
    who: String,
    action: String,
    resource: String,
    decision: &'static str,
    word: &'static str,
    revision: u64,
    /// The rule that decides, whatever attributes a request has.
    rule: Option<NamedRule>,
    condition: Option<String>,
    policies: Vec<String>,
    /// The explanation of a request without attributes; `None` for a relation, which no request names.
    why: Option<Why>,
    ask: String,
    api: AsApi,
}

/// Shows why a cell has its decision.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let question = Question::of(&visit);
    let answer = decide(&visit, question.matrix(), None, 1).await?;
    let Some(cell) = answer.cells.into_iter().next() else {
        return Err(ApiError::not_found("cell"));
    };
    let rule = match &cell.rule_id {
        Some(id) => Some(RuleNames::new(&visit, &manager).find(id).await?),
        None => None,
    };
    let MatrixAnswerCell { decision, condition, policies, action, resource, .. } = cell;
    let is_relation = question.role.contains(['@', '#']);
    let why = match is_relation {
        true => None,
        false => Some(ask::decide(&visit, &question.check(&action)).await?.why),
    };
    let content = CellPage {
        who: question.who(),
        ask: question.link(&visit, &action),
        action,
        resource,
        decision,
        word: word(decision),
        revision: answer.revision,
        rule,
        condition,
        policies,
        why,
        api: AsApi::post(&visit.address, ROUTE, &question.matrix()),
    };
    visit.frame.show("Why", &content)
}

/// The question of a cell.
struct Question {
    subject: String,
    role: String,
    resource: String,
    action: String,
    domain: String,
    at_revision: String,
}

impl Question {
    fn of(visit: &Visit) -> Self {
        let [subject, role, resource, action, domain, at_revision] =
            ["subject", "role", "resource", "action", "domain", "at_revision"]
                .map(|name| visit.parameter(name));
        Self { subject, role, resource, action, domain, at_revision }
    }

    fn who(&self) -> String {
        match (&*self.subject, &*self.role) {
            ("", "") => "Somebody without a role".to_owned(),
            ("", role) => format!("Somebody with the role {role}"),
            (subject, _) => subject.to_owned(),
        }
    }

    /// Returns the terms that matrix and check share.
    fn terms(&self) -> Map<String, Value> {
        let mut terms = Map::new();
        if !self.domain.is_empty() {
            terms.insert("domain".to_owned(), json!(self.domain));
        }
        if !self.at_revision.is_empty() {
            let number = self.at_revision.parse::<u64>();
            // A text that is not a number goes on as it is: the reader of the body names its fault.
            let value = number.map_or_else(|_| json!(self.at_revision), |number| json!(number));
            terms.insert("at_revision".to_owned(), value);
        }
        terms
    }

    /// Returns the body of the matrix that is this cell alone.
    fn matrix(&self) -> String {
        let mut body = self.terms();
        body.insert("resources".to_owned(), json!([self.resource]));
        if !self.action.is_empty() {
            body.insert("actions".to_owned(), json!([self.action]));
        }
        let (name, row) = match (&*self.subject, &*self.role) {
            ("", "") => ("roles", json!([null])),
            ("", role) => ("roles", json!([role])),
            (subject, _) => ("subjects", json!([{"subject": subject}])),
        };
        body.insert(name.to_owned(), row);
        Value::Object(body).to_string()
    }

    /// Returns the body of a check without attributes, but for the role.
    fn check(&self, action: &str) -> String {
        let mut body = self.terms();
        let subject = if self.subject.is_empty() { ANYBODY } else { &self.subject };
        body.insert("subject".to_owned(), json!(subject));
        body.insert("resource".to_owned(), json!(self.resource));
        body.insert("action".to_owned(), json!(action));
        if let Some(attributes) = self.attributes() {
            body.insert("attributes".to_owned(), attributes);
        }
        Value::Object(body).to_string()
    }

    /// Returns the attributes that give the role; `None` without one.
    fn attributes(&self) -> Option<Value> {
        (!self.role.is_empty()).then(|| json!({"user": {"roles": [self.role]}}))
    }

    /// Returns the link to the question, to which attributes may be added.
    fn link(&self, visit: &Visit, action: &str) -> String {
        let attributes = self.attributes().map(|it| it.to_string()).unwrap_or_default();
        let members = [
            ("subject", &*self.subject),
            ("action", action),
            ("resource", &*self.resource),
            ("domain", &*self.domain),
            ("attributes", &*attributes),
            ("at_revision", &*self.at_revision),
        ];
        with_query(&visit.page("ask"), &members)
    }
}
