//! Webhooks (semantics.md section 7).

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
use crate::app::App;
use crate::auth::{Allowed, WebhooksRead, WebhooksWrite};
use crate::crypto::Context;
use crate::error::ApiError;
use crate::model::webhook::{NewWebhook, Secret, WebhookRecord, WebhookUpdate};
use crate::storage::webhooks;

const NOT_FOUND: ApiError = ApiError::NotFound("webhook");

/// Registers a webhook.
#[utoipa::path(
    post, path = "/api/v1/webhooks", tag = "Webhooks", operation_id = "createWebhook",
    security(("bearer" = []), ("serviceKey" = ["webhooks:write"])), request_body = NewWebhook,
    responses((status = 201, description = "The record", body = WebhookRecord, headers(("Location")))),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let webhook = NewWebhook::parse(&body.parse()?, &app.egress)?;
    let by = app.authored_by(caller.actor());
    let (record, secret) = webhook.into_record(app.ids.next(by.at), caller.tenant(), &by);
    let secret = encrypted(&app, &record, &secret)?;
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    webhooks::insert(&mut tx, &record, &secret).await?;
    app.plans.commit(tx).await?;
    let location = format!("/api/v1/webhooks/{}", record.id);
    Ok((StatusCode::CREATED, [(LOCATION, location)], Json(record)).into_response())
}

/// Lists the tenant's webhooks.
#[utoipa::path(
    get, path = "/api/v1/webhooks", tag = "Webhooks", operation_id = "listWebhooks",
    security(("bearer" = []), ("serviceKey" = ["webhooks:read"])), params(Requested),
    responses((status = 200, description = "A page", body = [WebhookRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<WebhooksRead>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = paging::requested(&uri, "webhooks", caller.tenant(), "")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let records = webhooks::list(&mut tx, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(records, |record| record.id))
}

/// Updates a webhook.
///
/// What the body leaves out stays.
#[utoipa::path(
    put, path = "/api/v1/webhooks/{id}", tag = "Webhooks", operation_id = "updateWebhook",
    security(("bearer" = []), ("serviceKey" = ["webhooks:write"])), params(RecordId),
    request_body = WebhookUpdate,
    responses((status = 200, description = "The record", body = WebhookRecord)),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    id: RecordId,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = WebhookUpdate::parse(&body.parse()?, &app.egress)?;
    let id = id.known("webhook")?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let old = webhooks::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    let mut new = update.applied_to(&old);
    let secret = update.secret.map(|secret| encrypted(&app, &old, &secret)).transpose()?;
    if new != old || secret.is_some() {
        new.updated_at = Some(by.at);
        webhooks::update(&mut tx, &new, secret.as_deref()).await?;
    }
    app.plans.commit(tx).await?;
    Ok(Json(new).into_response())
}

/// Deletes a webhook.
#[utoipa::path(
    delete, path = "/api/v1/webhooks/{id}", tag = "Webhooks", operation_id = "deleteWebhook",
    security(("bearer" = []), ("serviceKey" = ["webhooks:write"])), params(RecordId),
    responses((status = 204, description = "It is gone")),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("webhook")?;
    let now = app.clock.now().timestamp_millis();
    let mut tx = app.store.write(caller.tenant(), now).await?;
    if !webhooks::delete(&mut tx, id).await? {
        return Err(NOT_FOUND);
    }
    app.plans.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Lists the attempts to deliver to a webhook, newest first.
///
/// Nothing is delivered so far, so that there is none to show.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries", tag = "Webhooks", operation_id = "listDeliveries",
    security(("bearer" = []), ("serviceKey" = ["webhooks:read"])), params(RecordId),
    responses((status = 200, description = "The attempts", body = [Delivery], example = json!([]))),
)]
pub(super) async fn deliveries(
    State(app): State<App>,
    caller: Allowed<WebhooksRead>,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("webhook")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    webhooks::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    tx.end().await?;
    Ok(Json::<[Delivery; 0]>([]).into_response())
}

/// An attempt to deliver.
#[derive(Serialize, ToSchema)]
struct Delivery {}

/// `secret` as the store keeps it: it decrypts in this record's column alone.
fn encrypted(app: &App, record: &WebhookRecord, secret: &Secret) -> Result<Vec<u8>, ApiError> {
    let context =
        Context { tenant: &record.tenant_id, record: record.id, column: "webhooks.secret" };
    let encrypted = app.keys.encrypt(context, secret.as_bytes());
    encrypted.map_err(|error| ApiError::Internal(error.into()))
}
