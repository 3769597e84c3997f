//! Service API keys (`docs/semantics.md`, section 6.8): managed by people, so with tokens alone.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{StatusCode, Uri};
use serde::Serialize;
use utoipa::ToSchema;

use super::RecordId;
use super::body::JsonBody;
use super::paging::{self, Requested};
use crate::callers::TenantManager;
use crate::error::ApiError;
use portcullis_model::service_key::{NewServiceKey, ServiceKeyRecord};
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_storage::service_keys;

/// The answer to a creation: the only time that the key is seen.
#[derive(Serialize, ToSchema)]
#[schema(as = IssuedServiceKey)]
struct Issued {
    #[schema(examples(
        "pck_019e301f05c07a4e9c1b5f0e8d3a7b64_UNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFwtbvY5n"
    ))]
    key: String,
    #[serde(flatten)]
    record: ServiceKeyRecord,
}

/// Creates a service key.
///
/// The key itself is in this answer alone.
#[utoipa::path(
    post, path = "/api/v1/service-api-keys", tag = "Service API keys", operation_id = "createServiceKey",
    security(("bearer" = [])), request_body = NewServiceKey,
    responses((status = 201, description = "The key", body = Issued, headers(("Location")))),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: TenantManager,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = NewServiceKey::parse(&body.parse()?, app.clock.now())?;
    let by = app.authored_by(caller.actor());
    let (record, key) = key.issue(app.ids.next(by.at), &by);
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    service_keys::insert(&mut tx, &record).await?;
    app.commit(tx).await?;
    let location = format!("/api/v1/service-api-keys/{}", record.id);
    let body = Json(Issued { key, record });
    Ok((StatusCode::CREATED, [(LOCATION, location)], body).into_response())
}

/// Lists the tenant's service keys.
#[utoipa::path(
    get, path = "/api/v1/service-api-keys", tag = "Service API keys", operation_id = "listServiceKeys",
    security(("bearer" = [])), params(Requested),
    responses((status = 200, description = "A page", body = [ServiceKeyRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: TenantManager,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = paging::requested(&uri, "service-api-keys", caller.tenant(), "")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let records = service_keys::list(&mut tx, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(records, |record| record.id))
}

/// Revokes a service key.
///
/// It is refused from now on.
#[utoipa::path(
    delete, path = "/api/v1/service-api-keys/{id}", tag = "Service API keys",
    operation_id = "revokeServiceKey", security(("bearer" = [])), params(RecordId),
    responses((status = 204, description = "It is revoked")),
)]
pub(super) async fn revoke(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("service key")?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    if !service_keys::delete(&mut tx, id, &by).await? {
        return Err(OperationError::NotFound("service key").into());
    }
    app.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
