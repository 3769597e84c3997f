//! Service API keys (`docs/semantics.md`, section 6.8). People manage them, and so these routes need a token.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::TenantManager;
use portcullis_http::error::ApiError;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::RecordId;
use portcullis_http::query::Query;
use portcullis_http::respond::created_with_key;
use portcullis_http::text_answer::Json;
use portcullis_model::service_key::{NewServiceKey, ServiceKeyRecord};
use portcullis_operations::service_keys;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::QuotaExceeded;

/// The answer to a creation: the only answer that has the key.
#[derive(Serialize, ToSchema)]
struct IssuedServiceKey {
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
    request_body = NewServiceKey,
    responses(
        (status = 201, description = "The key", body = IssuedServiceKey,
            headers(("Cache-Control"), ("Location"))),
        QuotaExceeded,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: TenantManager,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let key = NewServiceKey::parse(&body.parse()?, app.clock.now())?;
    let issued = service_keys::create(&app, &caller, key).await?;
    let location = format!("/api/v1/service-api-keys/{}", issued.record.id);
    Ok(created_with_key(&location, IssuedServiceKey { key: issued.key, record: issued.record }))
}

/// Lists the tenant's service keys.
#[utoipa::path(
    get, path = "/api/v1/service-api-keys", tag = "Service API keys", operation_id = "listServiceKeys",
    responses((status = 200, description = "A page", body = [ServiceKeyRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: TenantManager,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("service-api-keys", caller.tenant(), "")?;
    let records = service_keys::list(&app, &caller, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Shows a service key, without the key itself.
#[utoipa::path(
    get, path = "/api/v1/service-api-keys/{id}", tag = "Service API keys", operation_id = "getServiceKey",
    responses((status = 200, description = "The record", body = ServiceKeyRecord)),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    Ok(Json(service_keys::get(&app, &caller, id.known("service key")?).await?).into_response())
}

/// Revokes a service key.
///
/// It is refused from now on.
#[utoipa::path(
    delete, path = "/api/v1/service-api-keys/{id}", tag = "Service API keys", operation_id = "revokeServiceKey",
    responses((status = 204, description = "It is revoked")),
)]
pub(super) async fn revoke(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    service_keys::revoke(&app, &caller, id.known("service key")?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
