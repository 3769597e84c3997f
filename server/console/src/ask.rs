//! The page that asks for a decision, and explains it.

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_http::error::ApiError;

use crate::decision::asked::AskedCheck;
use crate::decision::copies::{AsApi, EXAMPLE};
use crate::decision::known::Known;
use crate::decision::paths::Paths;
use crate::decision::why::Why;
use crate::fields::{AT_REVISION, DOMAIN, FieldRow, Kind, body_of, fields_of};
use crate::outcomes::word;
use crate::question::QuestionPage;
use crate::visit::Visit;

/// The parameters of the page.
pub(crate) const KNOWN: &[&str] =
    &["subject", "action", "resource", "domain", "attributes", "at_revision"];
/// The route of the API, for copies.
const ROUTE: &str = "/api/v1/check?explain=true";
const NOTE: &str = "<p class=\"soft\">Nothing is recorded. What you type stands in the address, the attributes too: mind whom you \
    send it to.</p>";
const ATTRIBUTES: &str = r#"{"user": {"ward": "er"}}"#;
const FIELDS: [FieldRow; 6] = [
    FieldRow { name: "subject", label: "Subject", hint: "ann", kind: Kind::Text },
    FieldRow { name: "action", label: "Action", hint: "read", kind: Kind::Text },
    FieldRow { name: "resource", label: "Resource", hint: "chart:read", kind: Kind::Text },
    DOMAIN,
    AT_REVISION,
    FieldRow { name: "attributes", label: "Attributes", hint: ATTRIBUTES, kind: Kind::Json },
];

/// A decision with its explanation.
#[derive(Template)]
#[template(path = "ask.html")]
pub(crate) struct Answer {
    title: String,
    decision: &'static str,
    word: &'static str,
    reason: String,
    revision: u64,
    pub(crate) why: Why,
    /// The paths of relations that hold.
    paths: Option<Paths>,
    known: Known,
}

/// Shows the form, and the decision on what it asks.
pub(crate) async fn page(visit: Visit, _: Manager) -> Result<Response, ApiError> {
    let fields = fields_of(&FIELDS, &visit.uri);
    let is_asked = fields.iter().any(|field| !field.value.is_empty());
    let body = body_of(&fields);
    let example = body.as_deref().ok().filter(|_| is_asked).unwrap_or(EXAMPLE);
    let api = AsApi::post(&visit.address, ROUTE, example);
    let answer = match body {
        _ if !is_asked => Ok(None),
        Ok(body) => decide(&visit, &body).await.map(Some),
        Err(error) => Err(error),
    };
    let title = answer.as_ref().ok().and_then(Option::as_ref).map(|it| it.title.clone());
    let page = QuestionPage { name: "Ask", tabs: Vec::new(), fields, note: NOTE, api };
    page.show(&visit, title.as_deref().unwrap_or("Ask"), answer)
}

/// Decides and explains the check of a body of `POST /api/v1/check?explain=true`.
///
/// # Errors
/// The body is wrong, or the check cannot be decided.
pub(crate) async fn decide(visit: &Visit, body: &str) -> Result<Answer, ApiError> {
    let asked = AskedCheck::of(visit, body).await?;
    let why = Why::of(&asked.explanation, asked.answer.matched_rule_id.0.is_none());
    let question = asked.question();
    let decision: &'static str = asked.answer.effect.into_str();
    Ok(Answer {
        title: question.title(decision),
        decision,
        word: word(decision),
        known: Known::asked(&visit.address, &question, why.attributes()),
        paths: Paths::of(&asked.explanation),
        reason: asked.answer.reason.clone(),
        revision: asked.answer.revision,
        why,
    })
}
