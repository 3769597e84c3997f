//! Tenants and their identity providers: the operator's routes, in `saas` mode (`docs/semantics.md`,
//! sections 6.9 and 6.10).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};
use portcullis_model::provider::{NewProvider, ProviderRecord};
use portcullis_model::tenant::{NewTenant, TenantRecord};
use portcullis_operations::app::App;
use portcullis_operations::tenants;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body::JsonBody;
use crate::callers::Admin;
use crate::error::ApiError;
use crate::openapi::Conflict;
use crate::paging::{self, Requested};
use crate::path::Segments;
use crate::respond::{created_at, created_with_key};

/// The answer to a creation: the only answer that has the key.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedTenant)]
#[serde(rename_all = "camelCase")]
struct CreatedTenantBody {
    #[serde(flatten)]
    record: TenantRecord,
    /// A service key of the tenant that may do everything that keys may.
    #[schema(examples(
        "pck_019e301f05c07a4e9c1b5f0e8d3a7b69_UNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFwhYZTXp"
    ))]
    bootstrap_key: String,
}

/// Creates a tenant.
///
/// The bootstrap key is in this answer alone.
#[utoipa::path(
    post, path = "/admin/tenants", tag = "Tenants", operation_id = "createTenant",
    security(("adminKey" = []), ("adminBearer" = [])), request_body = NewTenant,
    responses(
        (status = 201, description = "The tenant", body = CreatedTenantBody,
            headers(("Cache-Control"), ("Location"))),
        Conflict,
    ),
)]
pub(super) async fn create_tenant(
    State(app): State<App>,
    _: Admin,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let tenant = NewTenant::parse(&body.parse()?)?;
    let created = tenants::create(&app, tenant).await?;
    let location = format!("/admin/tenants/{}", created.record.id);
    let body = CreatedTenantBody { record: created.record, bootstrap_key: created.bootstrap_key };
    Ok(created_with_key(&location, body))
}

/// Lists all tenants.
#[utoipa::path(
    get, path = "/admin/tenants", tag = "Tenants", operation_id = "listTenants",
    security(("adminKey" = []), ("adminBearer" = [])), params(Requested),
    responses((status = 200, description = "A page", body = [TenantRecord], headers(("Link")))),
)]
pub(super) async fn list_tenants(
    State(app): State<App>,
    _: Admin,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = paging::requested(&uri, "tenants", "", "")?;
    let records = tenants::list(&app, page.fetch()).await?;
    Ok(page.respond(records, |record| Uuid::try_parse(&record.id).unwrap_or_default()))
}

/// Registers an identity provider of a tenant.
///
/// Tokens of the provider are accepted at once.
#[utoipa::path(
    post, path = "/admin/tenants/{id}/identity-providers", tag = "Tenants",
    operation_id = "registerProvider", security(("adminKey" = []), ("adminBearer" = [])),
    params(("id" = String, Path, description = "The tenant's id")), request_body = NewProvider,
    responses(
        (status = 201, description = "The record", body = ProviderRecord, headers(("Location"))),
        Conflict,
    ),
)]
pub(super) async fn register_provider(
    State(app): State<App>,
    _: Admin,
    Segments(tenant): Segments<String>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let provider = NewProvider::parse(&body.parse()?, &app.egress.rules)?;
    let record = tenants::register_provider(&app, &tenant, provider).await?;
    let location = format!("/admin/tenants/{tenant}/identity-providers/{}", record.id);
    Ok(created_at(&location, record))
}

/// Lists the identity providers of a tenant.
#[utoipa::path(
    get, path = "/admin/tenants/{id}/identity-providers", tag = "Tenants",
    operation_id = "listProviders", security(("adminKey" = []), ("adminBearer" = [])),
    params(("id" = String, Path, description = "The tenant's id"), Requested),
    responses((status = 200, description = "A page", body = [ProviderRecord], headers(("Link")))),
)]
pub(super) async fn list_providers(
    State(app): State<App>,
    _: Admin,
    Segments(tenant): Segments<String>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = paging::requested(&uri, "identity-providers", &tenant, "")?;
    let records = tenants::list_providers(&app, &tenant, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Removes an identity provider.
///
/// Tokens of the provider are refused from now on.
#[utoipa::path(
    delete, path = "/admin/tenants/{id}/identity-providers/{idpId}", tag = "Tenants",
    operation_id = "removeProvider", security(("adminKey" = []), ("adminBearer" = [])),
    params(
        ("id" = String, Path, description = "The tenant's id"),
        ("idpId" = Uuid, Path, description = "The provider's id"),
    ),
    responses((status = 204, description = "It is removed")),
)]
pub(super) async fn remove_provider(
    State(app): State<App>,
    _: Admin,
    Segments((tenant, provider)): Segments<(String, String)>,
) -> Result<Response, ApiError> {
    let id = Uuid::try_parse(&provider);
    let id = id.map_err(|_| ApiError::not_found("identity provider"))?;
    tenants::remove_provider(&app, &tenant, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
