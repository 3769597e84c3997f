//! `POST /access/v1/evaluations`: many decisions (`docs/semantics.md`, section 11.5).

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_auth::CheckCaller;
use portcullis_engine::batch::BatchSemantic;
use portcullis_engine::{CheckBody, Invalid};
use portcullis_operations::batch_checks::{self, BatchAnswer, BatchOptions, ItemAnswer};
use portcullis_operations::batch_items::BatchItems;
use portcullis_runtime::app::App;

use super::answer::{EvaluationAnswer, EvaluationsAnswer, Reasons};
use super::body::{Questions, RequestBody, StandardBody};
use super::document::{EvaluationsRequest, EvaluationsResponse};
use super::evaluation::decide;
use super::options::Options;
use super::plain::PlainBody;
use super::question::Question;
use super::scope::{QuestionFault, Scope};
use super::topic::Topic;
use crate::callers::CheckRequester;
use crate::checks::{MinRevision, respond};
use crate::error::ApiError;
use crate::openapi::Conflict;
use crate::text_answer::Json;

/// Decides many requests of AuthZEN by the rules of one revision.
///
/// An evaluation takes from the body what it leaves out. Without `evaluations` this is an evaluation. With a short circuit
/// the answer ends at the first denial, or at the first permission.
#[utoipa::path(
    post, path = "/access/v1/evaluations", tag = "Decisions", operation_id = "evaluations",
    request_body = EvaluationsRequest,
    responses((status = 200, description = "The decisions", body = EvaluationsResponse), Conflict),
)]
pub(crate) async fn evaluations(
    State(app): State<App>,
    caller: CheckRequester,
    MinRevision(at_least): MinRevision,
    body: StandardBody,
) -> Result<Response, ApiError> {
    if let Some(plain) = PlainBody::evaluations(body.text()?) {
        let request =
            Request { app: &app, caller: &caller, body: &body, options: plain.options, at_least };
        let domains = || plain.topics().map(|topic| topic.domain);
        if plain.is_many && Scope::new(&caller, domains()).admits(domains()) {
            return request.decide_all(&plain, plain.topics().map(Ok)).await;
        }
        if !plain.is_many
            && let Some((check, topic)) = plain.first()
        {
            return request.decide(check, topic).await;
        }
    }
    // In a box, so that a plain body has no room for the tree of another.
    Box::pin(evaluate_tree(&app, &caller, &body, at_least)).await
}

/// Decides the questions of a body that is not plain.
async fn evaluate_tree(
    app: &App,
    caller: &CheckRequester,
    body: &StandardBody,
    at_least: u64,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let RequestBody { options, questions } = RequestBody::evaluations(&json)?;
    let request = Request { app, caller, body, options, at_least };
    match questions {
        Questions::One(question) => request.decide(question.check(), question.topic()).await,
        Questions::Many(questions) => {
            let questions = judged(caller, questions);
            let checks = decidable(&questions, options.semantic);
            let topics = questions.iter().map(|question| question.as_ref().map(Question::topic));
            request.decide_all(&checks, topics).await
        }
    }
}

/// Returns the questions, each of which this caller may not ask here with its fault.
fn judged<'q>(
    caller: &CheckCaller,
    questions: Vec<Result<Question<'q>, Invalid>>,
) -> Vec<Result<Question<'q>, QuestionFault>> {
    let domains = questions.iter().flatten().map(|question| question.topic().domain);
    let scope = Scope::new(caller, domains);
    let mut last: Option<(Option<&'q str>, Option<Arc<ApiError>>)> = None;
    let mut judge = |question: Question<'q>| {
        let domain = question.topic().domain;
        // Most evaluations have the domain of the one before, and share its refusal.
        let refusal = match &last {
            Some((known, refusal)) if *known == domain => refusal.clone(),
            _ => scope.refusal(domain).map(Arc::new),
        };
        last = Some((domain, refusal.clone()));
        refusal.map_or(Ok(question), |refusal| Err(QuestionFault::Refused(refusal)))
    };
    let judged = questions.into_iter();
    judged.map(|read| read.map_err(QuestionFault::Invalid).and_then(&mut judge)).collect()
}

/// Returns the checks of the questions without a fault, up to the question after which the answer ends for certain. A
/// fault is a denial.
fn decidable<'q>(
    questions: &'q [Result<Question<'_>, QuestionFault>],
    semantic: BatchSemantic,
) -> Vec<CheckBody<'q>> {
    let before_fault = questions.iter().take_while(|question| question.is_ok()).count();
    let end = if semantic.ends_after(false) { before_fault } else { questions.len() };
    let mut checks = Vec::with_capacity(end);
    checks.extend(questions.iter().take(end).flatten().map(Question::check));
    checks
}

/// A request, beside its questions.
struct Request<'r> {
    app: &'r App,
    caller: &'r CheckRequester,
    body: &'r StandardBody,
    options: Options,
    at_least: u64,
}

impl Request<'_> {
    /// Decides the only question, and answers it.
    async fn decide(&self, check: CheckBody<'_>, topic: Topic<'_>) -> Result<Response, ApiError> {
        decide(self.app, self.caller, check, topic, self.options.reasons, self.at_least).await
    }

    /// Decides the checks of the questions without a fault. Answers all questions, each with its topic or its fault.
    async fn decide_all<'q>(
        &self,
        checks: &dyn BatchItems,
        topics: impl ExactSizeIterator<Item = Result<Topic<'q>, &'q QuestionFault>>,
    ) -> Result<Response, ApiError> {
        let Self { app, caller, body, options, at_least } = *self;
        caller.count_items(app, topics.len())?;
        let _items = body.charge_items(topics.len())?;
        let batch_options =
            BatchOptions { at_least, semantic: options.semantic, with_reasons: options.reasons };
        let answer = batch_checks::check_all(app, caller, checks, batch_options).await?;
        let revision = answer.revision;
        let assembled = EvaluationsAnswer { evaluations: self.assemble(topics, &answer) };
        // Nothing was decided if each evaluation has a fault.
        if checks.count() == 0 {
            Ok(Json(assembled).into_response())
        } else {
            Ok(respond(revision, assembled))
        }
    }

    /// Returns the answers in the order of the questions, up to the one after which the answer ends.
    fn assemble<'a, 'q: 'a>(
        &self,
        topics: impl ExactSizeIterator<Item = Result<Topic<'q>, &'q QuestionFault>>,
        answer: &'a BatchAnswer,
    ) -> Vec<EvaluationAnswer<'a>> {
        let Self { app, caller, options, .. } = *self;
        let BatchAnswer { revision, answers, .. } = answer;
        let mut decided = answers.iter();
        let mut assembled = Vec::with_capacity(topics.len());
        for topic in topics {
            let answer = match topic {
                Err(fault) => EvaluationAnswer::faulty(fault),
                Ok(topic) => {
                    let Some(ItemAnswer { effect, basis }) = decided.next() else { break };
                    let reasons = Reasons::of(app, caller, topic.domain, options.reasons);
                    let reason = basis.as_ref().map(|basis| &*basis.reason);
                    EvaluationAnswer::new(topic, *effect, reason, *revision, reasons)
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
}
