//! Tenants and their identity providers: the operator's routes, in `saas` mode (`docs/semantics.md`,
//! sections 6.9 and 6.10).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::Admin;
use portcullis_http::error::ApiError;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::{RecordId, Segments};
use portcullis_http::query::Query;
use portcullis_http::respond::{created_at, created_with_key};
use portcullis_http::text_answer::Json;
use portcullis_model::input::DeclaredBody;
use portcullis_model::provider::{NewProvider, ProviderChange, ProviderRecord};
use portcullis_model::service_key::ServiceKeyRecord;
use portcullis_model::tenant::{NewTenant, TenantRecord};
use portcullis_operations::tenant_states::{self, StateChange};
use portcullis_operations::tenants;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::openapi::Conflict;

/// The answer to a creation: the only answer that has the key.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedTenant)]
#[serde(rename_all = "camelCase")]
struct CreatedTenantBody {
    #[serde(flatten)]
    record: TenantRecord,
    /// A service key of the tenant with the default permissions.
    #[schema(examples(
        "pck_019e301f05c07a4e9c1b5f0e8d3a7b69_UNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFwhYZTXp"
    ))]
    bootstrap_key: String,
}

/// Creates a tenant.
///
/// The bootstrap key is in this answer alone.
#[utoipa::path(
    post, path = "/admin/tenants", tag = "Tenants", operation_id = "createTenant", request_body = NewTenant,
    responses(
        (status = 201, description = "The tenant", body = CreatedTenantBody,
            headers(("Cache-Control"), ("Location"))),
        Conflict,
    ),
)]
pub(super) async fn create_tenant(
    State(app): State<App>,
    operator: Admin,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let tenant = NewTenant::parse(&body.parse()?)?;
    let created = tenants::create(&app, &operator, tenant).await?;
    let location = format!("/admin/tenants/{}", created.record.id);
    let body = CreatedTenantBody { record: created.record, bootstrap_key: created.bootstrap_key };
    Ok(created_with_key(&location, body))
}

/// Lists all tenants.
#[utoipa::path(
    get, path = "/admin/tenants", tag = "Tenants", operation_id = "listTenants",
    responses((status = 200, description = "A page", body = [TenantRecord], headers(("Link")))),
)]
pub(super) async fn list_tenants(
    State(app): State<App>,
    _: Admin,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("tenants", "", "")?;
    let records = tenants::list(&app, page.fetch()).await?;
    // Here every id of a tenant is a UUID.
    Ok(page.respond(records, |record| Uuid::try_parse(&record.id).unwrap_or_default()))
}

/// Shows a tenant.
#[utoipa::path(
    get, path = "/admin/tenants/{id}", tag = "Tenants", operation_id = "getTenant",
    params(("id" = String, Path, description = "The tenant's id")),
    responses((status = 200, description = "The record", body = TenantRecord)),
)]
pub(super) async fn show_tenant(
    State(app): State<App>,
    _: Admin,
    Segments(tenant): Segments<String>,
) -> Result<Response, ApiError> {
    Ok(Json(tenants::show(&app, &tenant).await?).into_response())
}

/// Suspends a tenant.
///
/// Every credential of the tenant is refused from now on, and its deliveries pause.
#[utoipa::path(
    post, path = "/admin/tenants/{id}/suspend", tag = "Tenants", operation_id = "suspendTenant",
    params(("id" = String, Path, description = "The tenant's id")),
    responses((status = 200, description = "The record", body = TenantRecord), Conflict),
)]
pub(super) async fn suspend_tenant(
    State(app): State<App>,
    operator: Admin,
    Segments(tenant): Segments<String>,
) -> Result<Response, ApiError> {
    let record = tenant_states::change(&app, &operator, &tenant, StateChange::Suspend).await?;
    Ok(Json(record).into_response())
}

/// Resumes a suspended tenant.
#[utoipa::path(
    post, path = "/admin/tenants/{id}/resume", tag = "Tenants", operation_id = "resumeTenant",
    params(("id" = String, Path, description = "The tenant's id")),
    responses((status = 200, description = "The record", body = TenantRecord), Conflict),
)]
pub(super) async fn resume_tenant(
    State(app): State<App>,
    operator: Admin,
    Segments(tenant): Segments<String>,
) -> Result<Response, ApiError> {
    let record = tenant_states::change(&app, &operator, &tenant, StateChange::Resume).await?;
    Ok(Json(record).into_response())
}

/// Deletes a tenant with all its data.
///
/// Every credential of the tenant is refused from now on. The data goes in the background: until it is gone, the tenant
/// is shown in the state `deleting`, and its slug is taken.
#[utoipa::path(
    delete, path = "/admin/tenants/{id}", tag = "Tenants", operation_id = "deleteTenant",
    params(("id" = String, Path, description = "The tenant's id")),
    responses((status = 202, description = "The deletion has begun", body = TenantRecord)),
)]
pub(super) async fn delete_tenant(
    State(app): State<App>,
    operator: Admin,
    Segments(tenant): Segments<String>,
) -> Result<Response, ApiError> {
    let record = tenant_states::change(&app, &operator, &tenant, StateChange::Delete).await?;
    Ok((StatusCode::ACCEPTED, Json(record)).into_response())
}

/// Lists the service keys of a tenant.
#[utoipa::path(
    get, path = "/admin/tenants/{id}/service-api-keys", tag = "Tenants", operation_id = "listTenantServiceKeys",
    params(("id" = String, Path, description = "The tenant's id")),
    responses((status = 200, description = "A page", body = [ServiceKeyRecord], headers(("Link")))),
)]
pub(super) async fn list_keys(
    State(app): State<App>,
    _: Admin,
    Segments(tenant): Segments<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("tenant-service-api-keys", &tenant, "")?;
    let records = tenants::list_keys(&app.store, &tenant, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Revokes a service key of a tenant.
///
/// It is refused from now on.
#[utoipa::path(
    delete, path = "/admin/tenants/{id}/service-api-keys/{keyId}", tag = "Tenants",
    operation_id = "revokeTenantServiceKey",
    params(
        ("id" = String, Path, description = "The tenant's id"),
        ("keyId" = Uuid, Path, description = "The key's id"),
    ),
    responses((status = 204, description = "It is revoked")),
)]
pub(super) async fn revoke_key(
    State(app): State<App>,
    operator: Admin,
    Segments((tenant, key)): Segments<(String, String)>,
) -> Result<Response, ApiError> {
    let id = RecordId::from_text(&key).known("service key")?;
    tenants::revoke_key(&app, &operator, &tenant, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Registers an identity provider of a tenant.
///
/// Tokens of the provider are accepted at once.
#[utoipa::path(
    post, path = "/admin/tenants/{id}/identity-providers", tag = "Tenants", operation_id = "registerProvider",
    params(("id" = String, Path, description = "The tenant's id")), request_body = NewProvider,
    responses(
        (status = 201, description = "The record", body = ProviderRecord, headers(("Location"))),
        Conflict,
    ),
)]
pub(super) async fn register_provider(
    State(app): State<App>,
    operator: Admin,
    Segments(tenant): Segments<String>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let provider = NewProvider::parse(&body.parse()?, &app.egress.rules)?;
    let record = tenants::register_provider(&app, &operator, &tenant, provider).await?;
    let location = format!("/admin/tenants/{tenant}/identity-providers/{}", record.id);
    Ok(created_at(&location, record))
}

/// Lists the identity providers of a tenant.
#[utoipa::path(
    get, path = "/admin/tenants/{id}/identity-providers", tag = "Tenants", operation_id = "listProviders",
    params(("id" = String, Path, description = "The tenant's id")),
    responses((status = 200, description = "A page", body = [ProviderRecord], headers(("Link")))),
)]
pub(super) async fn list_providers(
    State(app): State<App>,
    _: Admin,
    Segments(tenant): Segments<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("identity-providers", &tenant, "")?;
    let records = tenants::list_providers(&app, &tenant, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Shows an identity provider.
#[utoipa::path(
    get, path = "/admin/tenants/{id}/identity-providers/{idpId}", tag = "Tenants", operation_id = "getProvider",
    params(
        ("id" = String, Path, description = "The tenant's id"),
        ("idpId" = Uuid, Path, description = "The provider's id"),
    ),
    responses((status = 200, description = "The record", body = ProviderRecord)),
)]
pub(super) async fn show_provider(
    State(app): State<App>,
    _: Admin,
    Segments((tenant, provider)): Segments<(String, String)>,
) -> Result<Response, ApiError> {
    let id = RecordId::from_text(&provider).known("identity provider")?;
    Ok(Json(tenants::show_provider(&app, &tenant, id).await?).into_response())
}

/// Changes an identity provider.
///
/// An absent member stays as it is; `null` removes `audience`, `sign_in` and its `client_secret`. The issuer cannot change.
#[utoipa::path(
    put, path = "/admin/tenants/{id}/identity-providers/{idpId}", tag = "Tenants", operation_id = "changeProvider",
    params(
        ("id" = String, Path, description = "The tenant's id"),
        ("idpId" = Uuid, Path, description = "The provider's id"),
    ),
    request_body = ProviderChange,
    responses((status = 200, description = "The record", body = ProviderRecord), Conflict),
)]
pub(super) async fn change_provider(
    State(app): State<App>,
    operator: Admin,
    Segments((tenant, provider)): Segments<(String, String)>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let id = RecordId::from_text(&provider).known("identity provider")?;
    let change = ProviderChange::parse(&body.parse()?, &app.egress.rules)?;
    Ok(Json(tenants::change_provider(&app, &operator, &tenant, id, change).await?).into_response())
}

/// Removes an identity provider.
///
/// Tokens of the provider are refused from now on.
#[utoipa::path(
    delete, path = "/admin/tenants/{id}/identity-providers/{idpId}", tag = "Tenants", operation_id = "removeProvider",
    params(
        ("id" = String, Path, description = "The tenant's id"),
        ("idpId" = Uuid, Path, description = "The provider's id"),
    ),
    responses((status = 204, description = "It is removed")),
)]
pub(super) async fn remove_provider(
    State(app): State<App>,
    operator: Admin,
    Segments((tenant, provider)): Segments<(String, String)>,
) -> Result<Response, ApiError> {
    let id = RecordId::from_text(&provider).known("identity provider")?;
    tenants::remove_provider(&app, &operator, &tenant, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
