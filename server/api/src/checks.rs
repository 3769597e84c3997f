//! Decisions: the combined check and the legacy one (`docs/semantics.md`, section 2).

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use portcullis_engine::request::{Attributes, LegacyCheckBody};
use portcullis_engine::resource::split_resource;
use portcullis_engine::{Check, CheckBody, CheckBuffer, Decision, Effect};
use portcullis_plan_cache::CachedPlan;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use super::body::JsonBody;
use super::explain::{Explain, ExplanationSchema, explanation};
use super::{digits, parameter, revision_header};
use crate::callers::TenantMember;
use crate::error::ApiError;
use portcullis_model::check::{CheckRequest, LegacyCheckRequest};
use portcullis_model::schema;
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_operations::metrics::CheckKind;
use portcullis_resolvers::Asked;

/// The answer to a check.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "decision": "allow",
    "matched_rule_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68",
    "reason": "ABAC policy `own-chart` allows",
})))]
struct Answer {
    #[schema(schema_with = schema::effect)]
    decision: Effect,
    /// The id of the policy or rule that decided, or `default-deny`.
    matched_rule_id: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ExplanationSchema)]
    explanation: Option<Box<RawValue>>,
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
    answer: Answer,
}

impl From<&Decision<'_>> for Answer {
    fn from(decision: &Decision<'_>) -> Self {
        Self {
            decision: decision.effect(),
            matched_rule_id: decision.matched_rule_id(),
            reason: decision.reason(),
            explanation: None,
        }
    }
}

/// Decides a request by RBAC rules and ABAC policies combined.
///
/// A deny is a 200. An ABAC deny of high priority wins, and so does any RBAC deny. With `explain=true` a manager
/// is shown every candidate, each part of its condition, and where each attribute's value comes from.
#[utoipa::path(
    post, path = "/api/v1/check", tag = "Decisions", operation_id = "check",
    security(("bearer" = [])), params(Explain, MinRevision), request_body = CheckRequest,
    responses((status = 200, description = "The decision", body = Answer, headers(("X-Policy-Revision")))),
)]
pub(super) async fn check(
    State(app): State<App>,
    caller: TenantMember,
    Explain(explain): Explain,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let mut buffer = CheckBuffer::default();
    let body = buffer.read(body.text()?)?;
    if explain {
        caller.must_manage(body.domain, &app.manager_roles)?;
    }
    let answer =
        |cached: &CachedPlan, check: &Check<'_>, asked: &Asked, decision: &Decision<'_>| {
            let explanation =
                explain.then(|| explanation(cached, check, asked, decision)).flatten();
            respond(cached, Answer { explanation, ..Answer::from(decision) })
        };
    decide(&app, &caller, body, at_least, CheckKind::Combined, answer).await
}

/// Decides a request by RBAC rules alone.
///
/// For the interceptor of the Java client library.
#[utoipa::path(
    post, path = "/api/v1/resources/access/check", tag = "Decisions", operation_id = "legacyCheck",
    security(("bearer" = [])), params(MinRevision), request_body = LegacyCheckRequest,
    responses(
        (status = 200, description = "The decision", body = LegacyAnswer, headers(("X-Policy-Revision"))),
    ),
)]
pub(super) async fn legacy_check(
    State(app): State<App>,
    caller: TenantMember,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let body = LegacyCheckBody::parse(&json)?;
    let verb = split_resource(body.resource).map_or("", |(_, verb)| verb);
    let body = CheckBody {
        subject: body.subject.unwrap_or(&caller.identity.subject),
        resource: body.resource,
        action: body.action.unwrap_or(verb),
        domain: body.domain,
        attributes: Attributes::default(),
    };
    let answer = |cached: &CachedPlan, _: &Check<'_>, _: &Asked, decision: &Decision<'_>| {
        let allowed = decision.effect() == Effect::Allow;
        respond(cached, LegacyAnswer { allowed, answer: Answer::from(decision) })
    };
    decide(&app, &caller, body, at_least, CheckKind::Legacy, answer).await
}

/// What `answer` makes of the plan that decides what `body` asks, of the complete question, of what resolvers were
/// asked, and of the decision. A denied check is told of before the answer leaves.
async fn decide(
    app: &App,
    caller: &TenantMember,
    body: CheckBody<'_>,
    at_least: u64,
    kind: CheckKind,
    answer: impl Fn(&CachedPlan, &Check<'_>, &Asked, &Decision<'_>) -> Response,
) -> Result<Response, ApiError> {
    let began = Instant::now();
    let domain = body.domain.unwrap_or(&caller.identity.domain);
    let tenant = caller.tenant_of(domain)?;
    let check = Check::new(body, domain, Some(caller.identity.caller()), app.clock.now());
    let tell = |cached: &CachedPlan, asked: &Asked, decision: &Decision<'_>| {
        let denial = app.webhooks.denial(tenant, &check, decision);
        (answer(cached, &check, asked, decision), decision.effect(), denial)
    };
    let (response, effect, denial) = app.decide(tenant, &check, at_least, kind, tell).await?;
    app.metrics.checks.decided(kind, effect, began.elapsed());
    if let Some(event) = denial {
        app.webhooks.tell(tenant, event).await;
    }
    Ok(response)
}

/// `X-Min-Policy-Revision`: the answer must not be from rules older than that; 0 without the header.
pub(super) struct MinRevision(u64);

impl<S: Send + Sync> FromRequestParts<S> for MinRevision {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("x-min-policy-revision") else { return Ok(Self(0)) };
        let revision = value.to_str().ok().and_then(digits);
        revision.map(Self).ok_or_else(|| {
            OperationError::BadRequest(
                "the header X-Min-Policy-Revision must be a revision".to_owned(),
            )
            .into()
        })
    }
}

impl IntoParams for MinRevision {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let revision = schema::string().pattern(Some("^[0-9]{1,19}$"));
        let about = "An `X-Policy-Revision` that was answered before: the decision is not made by rules \
                     older than that, or is a 503";
        vec![parameter(ParameterIn::Header, "X-Min-Policy-Revision", revision, about)]
    }
}

fn respond(cached: &CachedPlan, answer: impl Serialize) -> Response {
    (revision_header(cached.revision()), Json(answer)).into_response()
}

/// The body of the answer to a check, as JSON text.
pub fn answer_text(decision: &Decision<'_>) -> String {
    serde_json::to_string(&Answer::from(decision)).unwrap_or_default()
}
