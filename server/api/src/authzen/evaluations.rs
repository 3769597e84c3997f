//! `POST /access/v1/evaluations`: many decisions (`docs/semantics.md`, section 11.5).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::batch::BatchSemantic;
use portcullis_engine::{CheckBody, Invalid};
use portcullis_operations::app::App;
use portcullis_operations::batch_checks::{self, BatchAnswer, BatchOptions, ItemAnswer};

use super::answer::{EvaluationAnswer, EvaluationsAnswer, Reasons};
use super::body::{Options, Questions, RequestBody, StandardBody};
use super::document::{EvaluationsRequest, EvaluationsResponse};
use super::evaluation::decide;
use super::question::Question;
use crate::callers::CheckRequester;
use crate::checks::{MinRevision, respond};
use crate::error::ApiError;
use crate::openapi::Conflict;

/// Decides many requests of AuthZEN by the rules of one revision.
///
/// An evaluation takes from the body what it leaves out. Without `evaluations` this is an evaluation. With a short circuit
/// the answer ends at the first denial, or at the first permission.
#[utoipa::path(
    post, path = "/access/v1/evaluations", tag = "Decisions", operation_id = "evaluations",
    security(("bearer" = []), ("serviceKey" = ["access:evaluate"])), params(MinRevision),
    request_body = EvaluationsRequest,
    responses((status = 200, description = "The decisions", body = EvaluationsResponse), Conflict),
)]
pub(crate) async fn evaluations(
    State(app): State<App>,
    caller: CheckRequester,
    MinRevision(at_least): MinRevision,
    body: StandardBody,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let RequestBody { options, questions } = RequestBody::evaluations(&json)?;
    let questions = match questions {
        Questions::Many(questions) => questions,
        Questions::One(question) => {
            let (revision, answer) =
                decide(&app, &caller, &question, options.reasons, at_least).await?;
            return Ok(respond(revision, answer));
        }
    };
    caller.count_items(&app, questions.len())?;
    let checks = decidable(&questions, options.semantic);
    let batch_options =
        BatchOptions { at_least, semantic: options.semantic, with_reasons: options.reasons };
    let answer = batch_checks::check_all(&app, &caller, &checks, batch_options).await?;
    let revision = answer.revision;
    let evaluations = assemble(&app, &caller, &questions, answer, options);
    let answer = EvaluationsAnswer { evaluations };
    // Nothing was decided if each evaluation has a fault.
    if checks.is_empty() { Ok(Json(answer).into_response()) } else { Ok(respond(revision, answer)) }
}

/// Returns the checks of the questions without a fault, up to the question after which the answer ends for certain. A
/// fault is a denial.
fn decidable<'q>(
    questions: &'q [Result<Question<'_>, Invalid>],
    semantic: BatchSemantic,
) -> Vec<CheckBody<'q>> {
    let before_fault = questions.iter().take_while(|question| question.is_ok()).count();
    let end = if semantic.ends_after(false) { before_fault } else { questions.len() };
    let mut checks = Vec::with_capacity(end);
    checks.extend(questions.iter().take(end).flatten().map(Question::check));
    checks
}

/// Returns the answers in the order of the questions, up to the one after which the answer ends.
fn assemble(
    app: &App,
    caller: &CheckRequester,
    questions: &[Result<Question<'_>, Invalid>],
    answer: BatchAnswer,
    options: Options,
) -> Vec<EvaluationAnswer> {
    let BatchAnswer { revision, answers } = answer;
    let mut decided = answers.into_iter();
    let mut assembled = Vec::with_capacity(questions.len());
    for question in questions {
        let answer = match question {
            Err(invalid) => EvaluationAnswer::faulty(invalid),
            Ok(question) => {
                let Some(ItemAnswer { effect, basis }) = decided.next() else { break };
                let domain = question.check().domain;
                let reasons = Reasons::of(app, caller, domain, options.reasons);
                let reason = basis.map(|basis| basis.reason);
                EvaluationAnswer::new(question, effect, reason, revision, reasons)
            }
        };
        let ends = options.semantic.ends_after(answer.decision);
        assembled.push(answer);
        if ends {
            break;
        }
    }
    assembled
}
