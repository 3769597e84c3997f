//! `POST /access/v1/evaluation`: one decision (`docs/semantics.md`, section 11.5).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::CheckKind;
use portcullis_http::callers::CheckRequester;
use portcullis_http::error::ApiError;
use portcullis_http::request_id::ID_LENGTH;
use portcullis_http::respond::decision_header;
use portcullis_model::decision::Via;
use portcullis_operations::assumed::Assumed;
use portcullis_operations::checks::{self, CheckOptions};
use portcullis_runtime::app::App;
use portcullis_runtime::min_revisions::MinRevisions;

use super::answer::{EvaluationAnswer, Reasons};
use super::body::{RequestBody, StandardBody};
use super::document::EvaluationRequest;
use super::scope::domain_of;
use crate::checks::{MinRevision, respond};
use crate::openapi::Conflict;

/// Decides one request of AuthZEN.
///
/// A deny is a 200. Unknown members are ignored. A service key may also be sent as `Authorization: Bearer pck_…`.
#[utoipa::path(
    post, path = "/access/v1/evaluation", tag = "Decisions", operation_id = "evaluation",
    request_body = EvaluationRequest,
    responses(
        (status = 200, description = "The decision", body = EvaluationAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"), ("X-Decision-Id"))),
        Conflict,
    ),
)]
pub(crate) async fn evaluation(
    State(app): State<App>,
    caller: CheckRequester,
    MinRevision(at_least): MinRevision,
    StandardBody(body): StandardBody,
) -> Result<Response, ApiError> {
    let mut tree = None;
    let body = RequestBody::parse(body.text()?, &mut tree, false)?;
    decide(&app, &caller, &body, at_least).await
}

/// Decides the only question of a body, and answers it.
pub(super) async fn decide(
    app: &App,
    caller: &CheckRequester,
    body: &RequestBody<'_>,
    at_least: MinRevisions,
) -> Result<Response, ApiError> {
    let (check, topic) = body.only()?;
    let assumed = topic.assumed.and_then(|number| body.assumed().get(number));
    let assumed = assumed.map(Assumed::from).unwrap_or_default();
    // Called for its fault, which names the member of this body.
    domain_of(caller, check.domain)?;
    let mut id = [0; ID_LENGTH];
    let recorded = Some(caller.recorded(Via::Authzen, &mut id));
    let options =
        CheckOptions { recorded, assumed, ..CheckOptions::present(CheckKind::Combined, at_least) };
    let answer = checks::check(app, caller, check, options).await?.answer;
    let reasons = Reasons::new(app, caller, topic.domain, body.options.reasons);
    let (effect, revision, entities) = (answer.effect, answer.revision, answer.entities_revision);
    let reasons = (reasons, answer.decision_id);
    let id = decision_header(answer.decision_id);
    let answer = EvaluationAnswer::new(topic, effect, Some(&answer.reason), revision, reasons);
    Ok((id, respond((revision, entities), answer)).into_response())
}
