//! RBAC rules (`docs/semantics.md`, section 3.3).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::Uri;
use portcullis_model::rule::{NewRule, RuleName, RuleRecord, RuleUpdate};
use portcullis_model::rule_filter::RuleFilter;
use portcullis_model::warning::Warning;
use portcullis_model::{document, schema};
use portcullis_operations::rules;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::body::JsonBody;
use crate::callers::{Allowed, PoliciesRead, PoliciesWrite};
use crate::error::ApiError;
use crate::force::Force;
use crate::openapi::{Conflict, NotFound, QuotaExceeded};
use crate::paging::{self, Requested};
use crate::parameters::{effect_filter, parameter, query, text_filter};
use crate::respond::{created, deleted, revision_header};
use crate::text_answer::Json;

/// A written rule, and the warnings about it.
#[derive(Serialize, ToSchema)]
struct WrittenRule {
    #[serde(flatten)]
    record: RuleRecord,
    /// Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// Creates a rule.
#[utoipa::path(
    post, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "createRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), request_body = NewRule,
    responses(
        (status = 201, description = "The record", body = WrittenRule,
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
    let answer = WrittenRule { record: written.record, warnings: written.warnings };
    Ok(created(written.revision, &location, answer))
}

/// Lists the tenant's rules, or shows one.
///
/// With `id` the answer is that rule, and no other parameter may come with it.
#[utoipa::path(
    get, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "findRules",
    security(("bearer" = []), ("serviceKey" = ["policies:read"])), params(Filter, Requested),
    responses(
        (status = 200, description = "A page, or the rule", body = FoundRules, headers(("Link"))),
        NotFound,
    ),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    uri: Uri,
) -> Result<Response, ApiError> {
    if let Some(id) = only_id(&uri)? {
        return Ok(Json(rules::get(&app, &caller, id).await?).into_response());
    }
    let filter = filter(&uri)?;
    let page = paging::requested(&uri, "all-rules", caller.tenant(), &format!("{filter:?}"))?;
    let records = rules::list(&app, &caller, &filter, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// The answer of [`list`], as the document describes it.
struct FoundRules;

document!(FoundRules, naming RuleRecord => {
    schema::one_of([
        schema::list(schema::named::<RuleRecord>()).into(),
        schema::named::<RuleRecord>(),
    ])
});

/// The query parameters of [`list`] beside those of pages.
struct Filter;

impl IntoParams for Filter {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = |name, about| parameter(ParameterIn::Query, name, schema::string(), about);
        let effect = "Only rules of this effect";
        vec![
            text("sub", "Only rules with this `sub`, character by character"),
            text("obj", "Only rules with this `obj`, character by character"),
            text("act", "Only rules with this `act`, character by character"),
            text("dom", "Only rules with this `dom`, character by character"),
            parameter(ParameterIn::Query, "effect", schema::effect(), effect),
            parameter(ParameterIn::Query, "id", schema::id(), "The one rule with this id"),
        ]
    }
}

/// Reads the filter of a list.
fn filter(uri: &Uri) -> Result<RuleFilter, ApiError> {
    let mut filter = RuleFilter::default();
    for (name, value) in query(uri) {
        match &*name {
            "sub" => filter.sub = Some(text_filter(&name, &value)?),
            "obj" => filter.obj = Some(text_filter(&name, &value)?),
            "act" => filter.act = Some(text_filter(&name, &value)?),
            "dom" => filter.dom = Some(text_filter(&name, &value)?),
            "effect" => filter.effect = Some(effect_filter(&value)?),
            _ => {}
        }
    }
    Ok(filter)
}

/// Reads the query parameter `id`, which must be the only one. Text that is not a UUID is an id that no rule has.
fn only_id(uri: &Uri) -> Result<Option<Uuid>, ApiError> {
    let Some((_, id)) = query(uri).find(|(name, _)| name == "id") else { return Ok(None) };
    if query(uri).any(|(name, _)| name != "id") {
        let what = "the query parameter `id` names one rule; send it without any other parameter";
        return Err(ApiError::bad_request(what));
    }
    let id = Uuid::try_parse(&id).map_err(|_| ApiError::not_found("rule"))?;
    Ok(Some(id))
}

/// Updates a rule.
///
/// With an `id`, every other field changes that rule; without, the tuple names the rule and `effect`
/// changes. The rule is explicit from then on, even if a default role made it.
#[utoipa::path(
    put, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "updateRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), params(Force), request_body = RuleUpdate,
    responses(
        (status = 200, description = "The record", body = WrittenRule, headers(("X-Policy-Revision"))),
        NotFound, Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    Force(force): Force,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = RuleUpdate::parse(&body.parse()?, caller.domain())?;
    let written = rules::update(&app, &caller, &update, force).await?;
    let answer = WrittenRule { record: written.record, warnings: written.warnings };
    Ok((revision_header(written.revision), Json(answer)).into_response())
}

/// Deletes a rule.
///
/// The body names it, or `?id=` for clients that cannot send one: exactly one of the two.
#[utoipa::path(
    delete, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "deleteRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), params(ById, Force),
    request_body(content = RuleName, description = "An `id`, or a tuple"),
    responses((status = 204, description = "It is gone", headers(("X-Policy-Revision"))), NotFound,
        Conflict),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    uri: Uri,
    Force(force): Force,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = named(&uri, &body, caller.domain())?;
    Ok(deleted(rules::delete(&app, &caller, &name, force).await?))
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
