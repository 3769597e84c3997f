//! ABAC policies (`docs/semantics.md`, section 4.1).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use portcullis_engine::{Effect, Policy};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::body::JsonBody;
use super::etag::{self, IfMatch};
use super::openapi::PreconditionFailed;
use super::paging::{self, Requested};
use super::{RecordId, created, parameter, query, revision_header};
use crate::callers::{Allowed, PoliciesRead, PoliciesWrite};
use crate::error::ApiError;
use portcullis_model::policy::{Changed, NewPolicy, PolicyRecord, PolicyUpdate};
use portcullis_model::schema;
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_resolvers::namespaces;
use portcullis_storage::{Tx, policies};

const NOT_FOUND: OperationError = OperationError::NotFound("policy");

/// Creates a policy.
///
/// Its condition is compiled: what cannot work is refused, each fault by JSON pointer.
#[utoipa::path(
    post, path = "/api/v1/abac/policies", tag = "ABAC policies", operation_id = "createPolicy",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), request_body = NewPolicy,
    responses((status = 201, description = "The record", body = PolicyRecord,
        headers(("ETag"), ("Location"), ("X-Policy-Revision")))),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let policy = NewPolicy::parse(&body.parse()?)?;
    let by = app.authored_by(caller.actor());
    let record = policy.into_record(app.ids.next(by.at), caller.tenant(), &by);
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    must_resolve(&app, &mut tx, &record).await?;
    policies::insert(&mut tx, &record).await?;
    let revision = app.commit(tx).await?;
    let location = format!("/api/v1/abac/policies/{}", record.id);
    Ok((etag::header(&record), created(revision, &location, &record)).into_response())
}

/// Lists the tenant's policies.
#[utoipa::path(
    get, path = "/api/v1/abac/policies", tag = "ABAC policies", operation_id = "listPolicies",
    security(("bearer" = []), ("serviceKey" = ["policies:read"])), params(Filter, Requested),
    responses((status = 200, description = "A page", body = [PolicyRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let (mut resource, mut effect) = (None, None);
    for (name, value) in query(&uri) {
        match &*name {
            "resource" => resource = Some(resource_filter(&value)?),
            "effect" => effect = Some(effect_filter(&value)?),
            _ => {}
        }
    }
    let filter = format!("{resource:?} {effect:?}");
    let page = paging::requested(&uri, "policies", caller.tenant(), &filter)?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let records = policies::list(&mut tx, resource.as_deref(), effect, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(records, |record| record.id))
}

/// The query parameters that choose from the list.
struct Filter;

impl IntoParams for Filter {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let resource = "Only policies with this `resource`, character by character";
        vec![
            parameter(ParameterIn::Query, "resource", schema::string(), resource),
            parameter(
                ParameterIn::Query,
                "effect",
                schema::effect(),
                "Only policies of this effect",
            ),
        ]
    }
}

fn resource_filter(value: &str) -> Result<String, ApiError> {
    if value.contains('\0') {
        let what = "the query parameter `resource` must not hold the character U+0000";
        return Err(OperationError::BadRequest(what.to_owned()).into());
    }
    Ok(value.to_owned())
}

fn effect_filter(value: &str) -> Result<Effect, ApiError> {
    Effect::parse(value).ok_or_else(|| {
        OperationError::BadRequest(
            "the query parameter `effect` must be `allow` or `deny`".to_owned(),
        )
        .into()
    })
}

/// Shows a policy.
#[utoipa::path(
    get, path = "/api/v1/abac/policies/{id}", tag = "ABAC policies", operation_id = "getPolicy",
    security(("bearer" = []), ("serviceKey" = ["policies:read"])), params(RecordId),
    responses((status = 200, description = "The record", body = PolicyRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("policy")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let record = policies::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    tx.end().await?;
    Ok((etag::header(&record), Json(record)).into_response())
}

/// Updates a policy.
///
/// What the body leaves out stays. `resource` never changes.
#[utoipa::path(
    put, path = "/api/v1/abac/policies/{id}", tag = "ABAC policies", operation_id = "updatePolicy",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), params(RecordId, IfMatch),
    request_body = PolicyUpdate,
    responses(
        (status = 200, description = "The record", body = PolicyRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        PreconditionFailed,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    id: RecordId,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = PolicyUpdate::parse(&body.parse()?)?;
    let id = id.known("policy")?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let old = policies::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    etag::check(&headers, &old)?;
    let mut record = old.clone();
    if update.apply(&mut record)? == Changed::Yes {
        if record.rule_data != old.rule_data || (record.enabled && !old.enabled) {
            must_resolve(&app, &mut tx, &record).await?;
        }
        record.updated_by = Some(by.actor.clone());
        record.updated_at = Some(by.at);
        policies::update(&mut tx, &old, &record, &by).await?;
    }
    let revision = app.commit(tx).await?;
    Ok((revision_header(revision), etag::header(&record), Json(record)).into_response())
}

/// Deletes a policy.
///
/// The record is retained, but nobody sees it any more.
#[utoipa::path(
    delete, path = "/api/v1/abac/policies/{id}", tag = "ABAC policies", operation_id = "deletePolicy",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), params(RecordId, IfMatch),
    responses(
        (status = 204, description = "It is gone", headers(("X-Policy-Revision"))),
        PreconditionFailed,
    ),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    id: RecordId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = id.known("policy")?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let record = policies::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    etag::check(&headers, &record)?;
    policies::delete(&mut tx, &record, &by).await?;
    let revision = app.commit(tx).await?;
    Ok((StatusCode::NO_CONTENT, revision_header(revision)).into_response())
}

/// Refuses a condition that reads what no resolver answers, in the transaction that writes it: no resolver changes in
/// between.
async fn must_resolve(app: &App, tx: &mut Tx, policy: &PolicyRecord) -> Result<(), ApiError> {
    let condition = Policy::stored_condition(policy.format, policy.rule_data.text());
    if let Ok(condition) = condition
        && !condition.resolved_attributes().is_empty()
    {
        let namespaces = namespaces::of_tenant(tx, &app.resolvers.installed()).await?;
        condition.check_member(&namespaces, "rule_data")?;
    }
    Ok(())
}
