//! The registry of resources (semantics.md section 3).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

use super::body::JsonBody;
use super::{RecordId, created, revision_header};
use crate::app::App;
use crate::auth::TenantManager;
use crate::error::ApiError;
use crate::model::resource::Registration;
use crate::registration;
use crate::storage::{resources, rules};

/// `POST /api/v1/resources`: creates or replaces one resource, by name.
pub(super) async fn register(
    State(app): State<App>,
    caller: TenantManager,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let resource = Registration::parse(&body.parse()?)?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let (record, is_new) =
        registration::register(&mut tx, resource, caller.domain(), &by, &app.ids).await?;
    let revision = app.plans.commit(tx).await?;
    if is_new {
        let location = format!("/api/v1/resources/{}", record.id);
        return Ok(created(revision, &location, &record));
    }
    Ok((revision_header(revision), Json(record)).into_response())
}

/// `POST /api/v1/resources/list`: many registrations, all or nothing.
pub(super) async fn register_all(
    State(app): State<App>,
    caller: TenantManager,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let registrations = Registration::parse_bulk(&body.parse()?)?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let mut records = Vec::with_capacity(registrations.len());
    for resource in registrations {
        let (record, _) =
            registration::register(&mut tx, resource, caller.domain(), &by, &app.ids).await?;
        records.push(record);
    }
    let revision = app.plans.commit(tx).await?;
    Ok((revision_header(revision), Json(records)).into_response())
}

/// `GET /api/v1/resources`: the tenant's resources.
pub(super) async fn list(
    State(app): State<App>,
    caller: TenantManager,
) -> Result<Response, ApiError> {
    let mut tx = app.store.read(caller.tenant()).await?;
    let records = resources::list(&mut tx).await?;
    tx.end().await?;
    Ok(Json(records).into_response())
}

/// `GET /api/v1/resources/{id}/policies`: every RBAC rule that can match the resource.
pub(super) async fn rules(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("resource")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let resource = resources::find(&mut tx, id).await?.ok_or(ApiError::NotFound("resource"))?;
    let rules = rules::matching(&mut tx, &resource.registration.name).await?;
    tx.end().await?;
    Ok(Json(rules).into_response())
}
