//! RBAC rules (`docs/semantics.md`, section 3.3).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::Uri;
use portcullis_model::rule::{NewRule, RuleName, RuleRecord, RuleUpdate};
use portcullis_model::schema;
use portcullis_operations::app::App;
use portcullis_operations::rules;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use uuid::Uuid;

use crate::body::JsonBody;
use crate::callers::{Allowed, PoliciesWrite};
use crate::error::ApiError;
use crate::openapi::{Conflict, NotFound, QuotaExceeded};
use crate::parameters::{parameter, query};
use crate::respond::{created, deleted, revision_header};

/// Creates a rule.
#[utoipa::path(
    post, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "createRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), request_body = NewRule,
    responses(
        (status = 201, description = "The record", body = RuleRecord,
            headers(("Location"), ("X-Policy-Revision"))),
        Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let rule = NewRule::parse(&body.parse()?, caller.domain())?;
    let written = rules::create(&app, &caller, rule).await?;
    let location = format!("/api/v1/resources/policies?id={}", written.record.id);
    Ok(created(written.revision, &location, &written.record))
}

/// Updates a rule.
///
/// With an `id`, every other field changes that rule; without, the tuple names the rule and `effect`
/// changes. The rule is explicit from then on, even if a default role made it.
#[utoipa::path(
    put, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "updateRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), request_body = RuleUpdate,
    responses(
        (status = 200, description = "The record", body = RuleRecord, headers(("X-Policy-Revision"))),
        NotFound, Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = RuleUpdate::parse(&body.parse()?, caller.domain())?;
    let written = rules::update(&app, &caller, &update).await?;
    Ok((revision_header(written.revision), Json(written.record)).into_response())
}

/// Deletes a rule.
///
/// The body names it, or `?id=` for clients that cannot send one: exactly one of the two.
#[utoipa::path(
    delete, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "deleteRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), params(ById),
    request_body(content = RuleName, description = "An `id`, or a tuple"),
    responses((status = 204, description = "It is gone", headers(("X-Policy-Revision"))), NotFound),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    uri: Uri,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = named(&uri, &body, caller.domain())?;
    Ok(deleted(rules::delete(&app, &caller, &name).await?))
}

/// The query parameter that names a rule.
struct ById;

impl IntoParams for ById {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![parameter(ParameterIn::Query, "id", schema::id(), "The rule, if there is no body")]
    }
}

/// Reads the name of the rule that a request deletes: from the query or from the body.
fn named(uri: &Uri, body: &JsonBody, domain: &str) -> Result<RuleName, ApiError> {
    let Some((_, id)) = query(uri).find(|(name, _)| name == "id") else {
        return Ok(RuleName::parse(&body.parse()?, domain)?);
    };
    if !body.is_empty() {
        let what = "the rule is given twice; send either `?id=` or a body";
        return Err(ApiError::bad_request(what));
    }
    // Text that is not a UUID is an id that no rule has.
    Uuid::try_parse(&id).map(RuleName::Id).map_err(|_| ApiError::not_found("rule"))
}
