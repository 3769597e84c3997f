//! The registry of resources (`docs/semantics.md`, sections 3.5 to 3.8).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::Uri;

use super::body::JsonBody;
use super::paging::{self, Requested};
use super::{RecordId, created, revision_header};
use crate::callers::{Allowed, PoliciesRead, ResourcesRead, ResourcesWrite};
use crate::error::ApiError;
use portcullis_auth::Manager;
use portcullis_model::resource::{BulkRegistration, Registration, ResourceRecord};
use portcullis_model::rule::RuleRecord;
use portcullis_model::service_key::Permission;
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_operations::registration;
use portcullis_storage::{resources, rules};

/// Registers a resource, or replaces the one of that name.
///
/// A role that is newly listed in `defaultRoles` gets an allow rule; one that is listed no longer loses it,
/// unless somebody changed that rule. A service key needs `policies:write` too if there are default roles.
#[utoipa::path(
    post, path = "/api/v1/resources", tag = "Resources", operation_id = "registerResource",
    security(("bearer" = []), ("serviceKey" = ["resources:write"])), request_body = Registration,
    responses(
        (status = 201, description = "The new record", body = ResourceRecord,
            headers(("Location"), ("X-Policy-Revision"))),
        (status = 200, description = "The record, replaced", body = ResourceRecord,
            headers(("X-Policy-Revision"))),
    ),
)]
pub(super) async fn register(
    State(app): State<App>,
    caller: Allowed<ResourcesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let resource = Registration::parse(&body.parse()?)?;
    may_register(&caller, &resource)?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let (record, is_new) =
        registration::register(&mut tx, resource, caller.domain(), &by, &app.ids).await?;
    let revision = app.commit(tx).await?;
    if is_new {
        let location = format!("/api/v1/resources/{}", record.id);
        return Ok(created(revision, &location, &record));
    }
    Ok((revision_header(revision), Json(record)).into_response())
}

/// Registers many resources, all or none.
#[utoipa::path(
    post, path = "/api/v1/resources/list", tag = "Resources", operation_id = "registerResources",
    security(("bearer" = []), ("serviceKey" = ["resources:write"])), request_body = BulkRegistration,
    responses((status = 200, description = "The records, in order", body = [ResourceRecord],
        headers(("X-Policy-Revision")))),
)]
pub(super) async fn register_all(
    State(app): State<App>,
    caller: Allowed<ResourcesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let BulkRegistration(registrations) = BulkRegistration::parse(&body.parse()?)?;
    registrations.iter().try_for_each(|resource| may_register(&caller, resource))?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let mut records = Vec::with_capacity(registrations.len());
    for resource in registrations {
        let (record, _) =
            registration::register(&mut tx, resource, caller.domain(), &by, &app.ids).await?;
        records.push(record);
    }
    let revision = app.commit(tx).await?;
    Ok((revision_header(revision), Json(records)).into_response())
}

/// Lists the tenant's resources.
#[utoipa::path(
    get, path = "/api/v1/resources", tag = "Resources", operation_id = "listResources",
    security(("bearer" = []), ("serviceKey" = ["resources:read"])), params(Requested),
    responses((status = 200, description = "A page", body = [ResourceRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<ResourcesRead>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = paging::requested(&uri, "resources", caller.tenant(), "")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let records = resources::list(&mut tx, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(records, |record| record.id))
}

/// Lists every rule that can match the resource, patterns included.
#[utoipa::path(
    get, path = "/api/v1/resources/{id}/policies", tag = "RBAC rules", operation_id = "listRules",
    security(("bearer" = []), ("serviceKey" = ["policies:read"])), params(RecordId, Requested),
    responses((status = 200, description = "A page", body = [RuleRecord], headers(("Link")))),
)]
pub(super) async fn rules(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    id: RecordId,
    uri: Uri,
) -> Result<Response, ApiError> {
    let id = id.known("resource")?;
    let page = paging::requested(&uri, "rules", caller.tenant(), &id.to_string())?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let resource =
        resources::find(&mut tx, id).await?.ok_or(OperationError::NotFound("resource"))?;
    let rules = rules::matching(&mut tx, &resource.registration.name, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(rules, |rule| rule.id))
}

/// Default roles make rules: a key that may not write those may not register them either.
fn may_register(caller: &Manager, resource: &Registration) -> Result<(), ApiError> {
    if resource.default_roles.is_empty() {
        return Ok(());
    }
    Ok(caller.must_have(Permission::PoliciesWrite)?)
}
