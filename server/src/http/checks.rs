//! Decisions: the combined check and the legacy one (semantics.md section 2).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::request::{Attributes, LegacyCheckBody};
use portcullis_engine::resource::split_resource;
use portcullis_engine::{CachedPlan, Check, CheckBody, Decision, Effect};
use serde::Serialize;

use super::body::JsonBody;
use super::revision_header;
use crate::app::App;
use crate::auth::TenantMember;
use crate::error::ApiError;

/// The answer to a check.
#[derive(Serialize)]
struct Answer {
    decision: Effect,
    matched_rule_id: String,
    reason: String,
}

/// The answer to a legacy check.
#[derive(Serialize)]
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
        }
    }
}

/// `POST /api/v1/check`: RBAC and ABAC combined.
pub(super) async fn check(
    State(app): State<App>,
    caller: TenantMember,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let body = CheckBody::parse(&json)?;
    let domain = body.domain.unwrap_or(&caller.0.domain);
    let tenant = caller.tenant_of(domain)?;
    let cached = app.plans.get(tenant, body.resource).await?;
    let check = Check::new(body, domain, Some(caller.0.caller()), app.clock.now());
    let decision = cached.plan().evaluate(&check);
    Ok(respond(&cached, Answer::from(&decision)))
}

/// `POST /api/v1/resources/access/check`: RBAC alone, for the interceptor of the Java client library.
pub(super) async fn legacy_check(
    State(app): State<App>,
    caller: TenantMember,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let body = LegacyCheckBody::parse(&json)?;
    let verb = split_resource(body.resource).map_or("", |(_, verb)| verb);
    let body = CheckBody {
        subject: body.subject.unwrap_or(&caller.0.subject),
        resource: body.resource,
        action: body.action.unwrap_or(verb),
        domain: body.domain,
        attributes: Attributes::default(),
    };
    let domain = body.domain.unwrap_or(&caller.0.domain);
    let tenant = caller.tenant_of(domain)?;
    let cached = app.plans.get(tenant, body.resource).await?;
    let check = Check::new(body, domain, Some(caller.0.caller()), app.clock.now());
    let decision = cached.plan().evaluate_rbac(&check);
    let allowed = decision.effect() == Effect::Allow;
    Ok(respond(&cached, LegacyAnswer { allowed, answer: Answer::from(&decision) }))
}

fn respond(cached: &CachedPlan, answer: impl Serialize) -> Response {
    (revision_header(cached.revision()), Json(answer)).into_response()
}

/// The body of the answer to a check, as JSON text.
pub(crate) fn answer_text(decision: &Decision<'_>) -> String {
    serde_json::to_string(&Answer::from(decision)).unwrap_or_default()
}
