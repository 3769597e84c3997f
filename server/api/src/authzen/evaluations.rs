//! `POST /access/v1/evaluations`: many decisions (`docs/semantics.md`, section 11.5).

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_auth::CheckCaller;
use portcullis_engine::CheckBody;
use portcullis_engine::batch::BatchSemantic;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::CheckRequester;
use portcullis_http::error::ApiError;
use portcullis_http::request_id::ID_LENGTH;
use portcullis_http::text_answer::Json;
use portcullis_model::decision::Via;
use portcullis_model::relation::AssumedTuples;
use portcullis_operations::batch_checks::{self, BatchAnswer, BatchOptions, ItemAnswer};
use portcullis_operations::batch_items::BatchItems;
use portcullis_runtime::app::App;
use portcullis_runtime::min_revisions::MinRevisions;

use super::answer::{EvaluationAnswer, EvaluationsAnswer, Reasons};
use super::body::{RequestBody, StandardBody};
use super::document::{EvaluationsRequest, EvaluationsResponse};
use super::evaluation::decide;
use super::options::Options;
use super::scope::{QuestionFault, Scope};
use super::topic::Topic;
use crate::checks::{MinRevision, respond};
use crate::openapi::Conflict;

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
    StandardBody(body): StandardBody,
) -> Result<Response, ApiError> {
    let (text, mut tree) = (body.text()?, None);
    let mut questions = RequestBody::parse(text, &mut tree, true)?;
    let options = questions.options;
    let request = Request { app: &app, caller: &caller, body: &body, options, at_least };
    if !questions.is_many {
        return decide(&app, &caller, &questions, at_least).await;
    }
    let faults = find_faults(&caller, &mut questions, &app.manager_roles);
    let checks = DecidableChecks::new(&questions, &faults, options.semantic);
    let topics = questions.topics().zip(&faults);
    let topics = topics.map(|(topic, fault)| fault.as_ref().map_or(Ok(topic), Err));
    request.decide_all(&checks, topics).await
}

/// Returns the fault of each question that is not a check, or about which this caller may not ask here.
fn find_faults(
    caller: &CheckCaller,
    questions: &mut RequestBody<'_>,
    manager_roles: &[String],
) -> Vec<Option<QuestionFault>> {
    let faults = questions.take_faults();
    let sound = questions.topics().zip(&faults).filter(|(_, fault)| fault.is_none());
    let scope = Scope::new(caller, sound.map(|(topic, _)| topic.domain));
    let (mut last, mut refusal) = (None, None);
    let mut found = Vec::with_capacity(faults.len());
    for (topic, fault) in questions.topics().zip(faults) {
        let asked = (topic.domain, topic.assumed.is_some());
        // Most evaluations have the domain of the one before, and share its refusal.
        if fault.is_none() && last.replace(asked) != Some(asked) {
            let roles = topic.assumed.map(|_| manager_roles);
            refusal = scope.refusal(topic.domain, roles).map(Arc::new);
        }
        found.push(match fault {
            Some(invalid) => Some(QuestionFault::Invalid(invalid)),
            None => refusal.clone().map(QuestionFault::Refused),
        });
    }
    found
}

/// The checks of the questions without a fault, up to the question after which the answer ends for certain. A fault is a
/// denial.
struct DecidableChecks<'q> {
    questions: &'q RequestBody<'q>,
    /// The numbers of the questions.
    numbers: Vec<usize>,
}

impl<'q> DecidableChecks<'q> {
    fn new(
        questions: &'q RequestBody<'q>,
        faults: &[Option<QuestionFault>],
        semantic: BatchSemantic,
    ) -> Self {
        let first_fault = faults.iter().position(Option::is_some);
        let end = first_fault.filter(|_| semantic.ends_after(false)).unwrap_or(faults.len());
        let mut numbers = Vec::with_capacity(end);
        let faults = faults.iter().take(end).enumerate();
        numbers.extend(faults.filter(|(_, fault)| fault.is_none()).map(|(number, _)| number));
        Self { questions, numbers }
    }
}

impl BatchItems for DecidableChecks<'_> {
    fn count(&self) -> usize {
        self.numbers.len()
    }

    fn check(&self, index: usize) -> Option<CheckBody<'_>> {
        self.questions.check(*self.numbers.get(index)?)
    }

    fn scope(&self, index: usize) -> Option<(&str, Option<&str>)> {
        self.questions.scope(*self.numbers.get(index)?)
    }

    fn lists(&self) -> &[AssumedTuples] {
        self.questions.assumed()
    }

    fn assumed(&self, index: usize) -> Option<usize> {
        self.questions.assumed_by(*self.numbers.get(index)?)
    }

    fn is_shared(&self, number: usize) -> bool {
        self.questions.is_shared(number)
    }
}

/// A request, beside its questions.
struct Request<'r> {
    app: &'r App,
    caller: &'r CheckRequester,
    body: &'r JsonBody,
    options: Options,
    at_least: MinRevisions,
}

impl Request<'_> {
    /// Decides the checks of the questions without a fault. Answers all questions, each with its topic or its fault.
    async fn decide_all<'q>(
        &self,
        checks: &dyn BatchItems,
        topics: impl ExactSizeIterator<Item = Result<Topic<'q>, &'q QuestionFault>>,
    ) -> Result<Response, ApiError> {
        let Self { app, caller, body, options, at_least } = *self;
        caller.count_items(app, topics.len())?;
        let _items = body.charge_items(topics.len())?;
        let mut id = [0; ID_LENGTH];
        let batch_options = BatchOptions {
            at_least,
            semantic: options.semantic,
            with_reasons: options.reasons,
            recorded: Some(caller.recorded(Via::Authzen, &mut id)),
        };
        let answer = batch_checks::check_all(app, caller, checks, batch_options).await?;
        let revision = (answer.revision, answer.entities_revision);
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
                    // After a short circuit there are no more answers.
                    let Some(ItemAnswer { effect, basis, decision_id, .. }) = decided.next() else {
                        break;
                    };
                    let reasons = Reasons::new(app, caller, topic.domain, options.reasons);
                    let reasons = (reasons, *decision_id);
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
