//! Decisions: the combined check and the legacy one (`docs/semantics.md`, section 2).

use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use portcullis_engine::action::verb_of;
use portcullis_engine::fields::Body;
use portcullis_engine::request::{Action, Attributes, LegacyCheckBody};
use portcullis_engine::{CheckBody, CheckBuffer, CheckKind, Effect, Invalid, MatchedRuleId};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::CheckRequester;
use portcullis_http::error::ApiError;
use portcullis_http::handler_parameters::{HandlerParameter, add};
use portcullis_http::parameters::{digits, parameter};
use portcullis_http::query::Query;
use portcullis_http::request_id::ID_LENGTH;
use portcullis_http::respond::revision_header;
use portcullis_http::respond::{decision_header, entities_header};
use portcullis_http::text_answer::Json;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::path::{Operation, ParameterIn};

use super::explain::{Explain, ExplanationSchema};
use crate::openapi::{Conflict, NotFound};
use portcullis_model::check::{CheckRequest, LegacyCheckRequest};
use portcullis_model::decision::Via;
use portcullis_model::explained_check::ExplainedCheckBody;
use portcullis_model::relation::AssumedTuples;
use portcullis_model::schema;
use portcullis_operations::checks::{self, CheckAnswer, CheckOptions};
use portcullis_operations::directory;
use portcullis_operations::explained_checks::ExplainedCheck;
use portcullis_runtime::app::App;
use portcullis_runtime::min_revisions::MinRevisions;

/// The missing part of a legacy check by a service key; completes "expected …".
const SUBJECT_OF_KEY: &str = "`subject` (a service key is not a subject)";

/// The answer to a check.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "decision": "allow",
    "matched_rule_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68",
    "reason": "ABAC policy `own-chart` allows",
})))]
struct Answer<'e> {
    #[schema(schema_with = schema::effect)]
    decision: Effect,
    /// The id of the policy or rule that decided, or `default-deny`.
    #[schema(value_type = String)]
    matched_rule_id: MatchedRuleId,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ExplanationSchema)]
    explanation: Option<ExplainedCheck<'e>>,
    /// `present` where a decision of an earlier revision read the directory, which is the present one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    directory: Option<&'static str>,
}

/// The answer to a legacy check.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "allowed": true,
    "decision": "allow",
    "matched_rule_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62",
    "reason": "RBAC rule `midwife, hospital, chart:*, read` allows",
})))]
struct LegacyAnswer {
    allowed: bool,
    #[serde(flatten)]
    answer: Answer<'static>,
}

impl From<CheckAnswer> for Answer<'_> {
    fn from(answer: CheckAnswer) -> Self {
        let CheckAnswer { effect, matched_rule_id, reason, .. } = answer;
        Self { decision: effect, matched_rule_id, reason, explanation: None, directory: None }
    }
}

/// Decides a request by RBAC rules and ABAC policies combined.
///
/// A deny is a 200. An ABAC deny of high priority wins, and so does any RBAC deny. With `explain=true` a manager
/// is shown every candidate, each part of its condition, and where each attribute's value comes from. `now` in the body
/// stands for the present then, and the content of the revision `at_revision` decides; without `explain=true` these fields are
/// unknown. Tuples in `relations` count beside the stored ones: for managers, and for service keys with `relations:assume`.
#[utoipa::path(
    post, path = "/api/v1/check", tag = "Decisions", operation_id = "check", request_body = CheckRequest,
    responses((status = 200, description = "The decision", body = Answer, headers(("X-Policy-Revision"), ("X-Entities-Revision"), ("X-Decision-Id"))), NotFound, Conflict),
)]
pub(super) async fn check(
    State(app): State<App>,
    caller: CheckRequester,
    Query(Explain(explain)): Query<Explain>,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    // The check borrows from one of them.
    let (json, mut buffer);
    let (body, now, assumed, at_revision) = if explain {
        json = body.parse()?;
        let ExplainedCheckBody { check, now, relations, at_revision } =
            ExplainedCheckBody::parse(&json)?;
        (check, now, relations, at_revision)
    } else {
        buffer = CheckBuffer::default();
        let (check, assumed) = buffer.read_beside(body.text()?, AssumedTuples::read_beside)?;
        (check, None, assumed.unwrap_or_default(), None)
    };
    let mut id = [0; ID_LENGTH];
    // An explained check is a question about rules, and no decision of an application.
    let recorded = (!explain).then(|| caller.recorded(Via::Check, &mut id));
    let kind = CheckKind::Combined;
    let assumed = (&assumed).into();
    let options = CheckOptions { kind, at_least, explain, now, assumed, at_revision, recorded };
    let decided = checks::check(&app, &caller, body, options).await?;
    let revision = (decided.answer.revision, decided.answer.entities_revision);
    let explained = decided.explained(|explained| {
        // The explanation borrows the decision, so that the answer is a copy.
        let answer = Answer::from(decided.answer.clone());
        let directory = directory::present_beside_past(at_revision, revision.1);
        respond(revision, Answer { explanation: Some(explained), directory, ..answer })
    });
    if let Some(explained) = explained {
        return Ok(explained);
    }
    let id = decision_header(decided.answer.decision_id);
    Ok((id, respond(revision, Answer::from(decided.answer))).into_response())
}

/// Decides a request by RBAC rules alone.
///
/// For the interceptor of the Java client library.
#[utoipa::path(
    post, path = "/api/v1/resources/access/check", tag = "Decisions", operation_id = "legacyCheck",
    request_body = LegacyCheckRequest,
    responses(
        (status = 200, description = "The decision", body = LegacyAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"), ("X-Decision-Id"))),
        Conflict,
    ),
)]
pub(super) async fn legacy_check(
    State(app): State<App>,
    caller: CheckRequester,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let body = LegacyCheckBody::parse(&json)?;
    let subject = body.subject.or(caller.subject());
    let subject = subject.ok_or_else(|| Invalid::missing("subject", SUBJECT_OF_KEY))?;
    let body = CheckBody {
        subject,
        subject_type: None,
        resource: body.resource,
        action: Action::Plain(body.action.unwrap_or_else(|| verb_of(body.resource))),
        domain: body.domain,
        attributes: Attributes::default(),
        expected: body.expected,
    };
    let mut id = [0; ID_LENGTH];
    let recorded = Some(caller.recorded(Via::Legacy, &mut id));
    let options = CheckOptions { recorded, ..CheckOptions::present(CheckKind::Legacy, at_least) };
    let answer = checks::check(&app, &caller, body, options).await?.answer;
    let revision = (answer.revision, answer.entities_revision);
    let allowed = answer.effect == Effect::Allow;
    let id = decision_header(answer.decision_id);
    Ok((id, respond(revision, LegacyAnswer { allowed, answer: answer.into() })).into_response())
}

/// The headers `X-Min-Policy-Revision` and `X-Min-Entities-Revision`: the rules and the entities of the decision must not be
/// older; 0 without the header.
pub(crate) struct MinRevision(pub(crate) MinRevisions);

impl<S: Send + Sync> FromRequestParts<S> for MinRevision {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let rules = demanded(parts, "X-Min-Policy-Revision", "X-Policy-Revision")?;
        let entities = demanded(parts, "X-Min-Entities-Revision", "X-Entities-Revision")?;
        Ok(Self(MinRevisions { rules, entities }))
    }
}

/// Reads a header that demands a revision, as an answer has it in `origin`. Of several the latest counts.
fn demanded(parts: &Parts, name: &str, origin: &str) -> Result<u64, ApiError> {
    let mut latest = 0;
    for value in parts.headers.get_all(name) {
        let revision = value.to_str().ok().and_then(digits).ok_or_else(|| {
            ApiError::bad_request(format!(
                "the header {name} must be a number, as an answer has it in {origin}"
            ))
        })?;
        latest = latest.max(revision);
    }
    Ok(latest)
}

impl HandlerParameter for MinRevision {
    fn describe(operation: &mut Operation) {
        let rules = "An `X-Policy-Revision` that was answered before: the decision is not made by rules \
                     older than that, or is a 503";
        let entities = "An `X-Entities-Revision` that was answered before: the decision is not made with entities \
                        older than that, or is a 503";
        let headers = [("X-Min-Policy-Revision", rules), ("X-Min-Entities-Revision", entities)];
        let headers = headers.map(|(name, about)| {
            let revision = schema::string().pattern(Some("^[0-9]{1,19}$"));
            parameter(ParameterIn::Header, name, revision, about)
        });
        add(operation, headers);
    }
}

/// Answers with the revisions of the rules and of the entities, if they were needed.
pub(crate) fn respond(revisions: (u64, Option<u64>), answer: impl Serialize) -> Response {
    let (rules, entities) = revisions;
    (revision_header(rules), entities_header(entities), Json(answer)).into_response()
}

/// Returns the body of the response to a check, as JSON text.
pub fn answer_text(answer: CheckAnswer) -> String {
    serde_json::to_string(&Answer::from(answer)).unwrap_or_default()
}
