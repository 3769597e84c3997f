//! `POST /access/v1/evaluation`: one decision (`docs/semantics.md`, section 11.5).

use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::request::Parts;
use http_body::Body as HttpBody;
use portcullis_operations::app::App;
use portcullis_operations::checks::{self, CheckOptions};
use portcullis_operations::metrics::CheckKind;

use super::answer::{EvaluationAnswer, Reasons};
use super::body::{Questions, RequestBody, StandardBody};
use super::document::EvaluationRequest;
use super::question::Question;
use crate::callers::CheckRequester;
use crate::checks::{MinRevision, respond};
use crate::error::ApiError;
use crate::openapi::Conflict;

/// Decides one request of AuthZEN.
///
/// A deny is a 200. Unknown members are ignored. A service key may also be sent as `Authorization: Bearer pck_…`.
#[utoipa::path(
    post, path = "/access/v1/evaluation", tag = "Decisions", operation_id = "evaluation",
    security(("bearer" = []), ("serviceKey" = ["access:evaluate"])), params(MinRevision),
    request_body = EvaluationRequest,
    responses(
        (status = 200, description = "The decision", body = EvaluationAnswer, headers(("X-Policy-Revision"))),
        Conflict,
    ),
)]
pub(crate) async fn evaluation(
    State(app): State<App>,
    caller: CheckRequester,
    MinRevision(at_least): MinRevision,
    body: StandardBody,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let RequestBody { options, questions } = RequestBody::evaluation(&json)?;
    match questions {
        Questions::One(question) => {
            let answer = decide(&app, &caller, &question, options.reasons, at_least).await?;
            Ok(respond(answer.0, answer.1))
        }
        // The body of an evaluation has one question.
        Questions::Many(_) => Err(ApiError::bad_request("expected one evaluation")),
    }
}

/// Answers `POST /access/v1/evaluation` without the router, as [`check_directly`](crate::checks::check_directly) answers
/// a check.
pub(crate) async fn evaluate_directly(
    app: &App,
    parts: &mut Parts,
    body: &mut (impl HttpBody<Data = Bytes> + Unpin),
) -> Response {
    let answer = async {
        let caller = CheckRequester::from_request_parts(parts, app).await?;
        let at_least = MinRevision::from_request_parts(parts, app).await?;
        let body = StandardBody::read(parts, body).await?;
        evaluation(State(app.clone()), caller, at_least, body).await
    };
    answer.await.into_response()
}

/// Decides one question, and returns the revision and the answer.
pub(super) async fn decide(
    app: &App,
    caller: &CheckRequester,
    question: &Question<'_>,
    reasons: bool,
    at_least: u64,
) -> Result<(u64, EvaluationAnswer), ApiError> {
    let check = question.check();
    let options = CheckOptions { kind: CheckKind::Combined, at_least, explain: false, now: None };
    let answer = checks::check(app, caller, check, options).await?.answer;
    let reasons = Reasons::of(app, caller, check.domain, reasons);
    let (effect, revision) = (answer.effect, answer.revision);
    let answer = EvaluationAnswer::new(question, effect, Some(answer.reason), revision, reasons);
    Ok((revision, answer))
}
