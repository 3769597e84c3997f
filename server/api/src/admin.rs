//! Tenants and their identity providers: the operator's routes, in `saas` mode (`docs/semantics.md`,
//! sections 6.9 and 6.10).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{StatusCode, Uri};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Segments;
use super::body::JsonBody;
use super::openapi::Conflict;
use super::paging::{self, Requested};
use crate::callers::Admin;
use crate::error::ApiError;
use portcullis_auth::ADMIN_ACTOR;
use portcullis_model::provider::{NewProvider, ProviderRecord};
use portcullis_model::service_key::NewServiceKey;
use portcullis_model::tenant::{NewTenant, TenantRecord};
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_storage::{Tx, providers, service_keys, tenants};

const NO_TENANT: OperationError = OperationError::NotFound("tenant");

/// The answer to a creation: the only time that the key is seen.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedTenant)]
#[serde(rename_all = "camelCase")]
struct Created {
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
        (status = 201, description = "The tenant", body = Created, headers(("Location"))),
        Conflict,
    ),
)]
pub(super) async fn create_tenant(
    State(app): State<App>,
    _: Admin,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let tenant = NewTenant::parse(&body.parse()?)?;
    let by = app.authored_by(ADMIN_ACTOR);
    let record = tenant.into_record(app.ids.next(by.at), by.at);
    let (key, bootstrap_key) = NewServiceKey::named("bootstrap").issue(app.ids.next(by.at), &by);
    let mut tx = app.store.write_as(&record.id).await?;
    if !tenants::insert(&mut tx, &record).await? {
        return Err(OperationError::Conflict(format!(
            "there is a tenant `{}` already",
            record.slug
        ))
        .into());
    }
    service_keys::insert(&mut tx, &key).await?;
    app.commit(tx).await?;
    let location = format!("/admin/tenants/{}", record.id);
    let body = Json(Created { record, bootstrap_key });
    Ok((StatusCode::CREATED, [(LOCATION, location)], body).into_response())
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
    let mut tx = app.store.read_all().await?;
    let records = tenants::list(&mut tx, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(records, |record| Uuid::try_parse(&record.id).unwrap_or_default()))
}

/// Registers an identity provider of a tenant.
///
/// Its tokens are accepted at once.
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
    let by = app.authored_by(ADMIN_ACTOR);
    let record = provider.into_record(app.ids.next(by.at), &tenant, by.at);
    let mut tx = existing(&app, &tenant).await?;
    if !providers::insert(&mut tx, &record).await? {
        return Err(OperationError::Conflict(format!(
            "the issuer `{}` is registered already",
            record.issuer_url
        ))
        .into());
    }
    app.commit(tx).await?;
    app.reload_providers().await?;
    let location = format!("/admin/tenants/{tenant}/identity-providers/{}", record.id);
    Ok((StatusCode::CREATED, [(LOCATION, location)], Json(record)).into_response())
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
    let mut tx = app.store.read(&tenant).await?;
    tenants::find(&mut tx, &tenant).await?.ok_or(NO_TENANT)?;
    let records = providers::list(&mut tx, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(records, |record| record.id))
}

/// Removes an identity provider.
///
/// Its tokens are refused from now on.
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
    const NO_PROVIDER: OperationError = OperationError::NotFound("identity provider");
    let id = Uuid::try_parse(&provider).map_err(|_| NO_PROVIDER)?;
    let mut tx = existing(&app, &tenant).await?;
    if !providers::delete(&mut tx, id).await? {
        return Err(NO_PROVIDER.into());
    }
    app.commit(tx).await?;
    app.reload_providers().await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A transaction that may write for `tenant`, which must be there.
async fn existing(app: &App, tenant: &str) -> Result<Tx, ApiError> {
    let mut tx = app.store.write_as(tenant).await?;
    tenants::find(&mut tx, tenant).await?.ok_or(NO_TENANT)?;
    Ok(tx)
}
