//! Webhooks (`docs/semantics.md`, sections 7.1 and 7.9).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{StatusCode, Uri};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::body::JsonBody;
use super::paging::{self, Requested};
use super::{RecordId, Segments};
use crate::callers::{Allowed, WebhooksRead, WebhooksWrite};
use crate::error::ApiError;
use portcullis_model::delivery::AttemptRecord;
use portcullis_model::event::Event;
use portcullis_model::webhook::{NewWebhook, Secret, WebhookRecord, WebhookUpdate};
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_storage::encryption::Context;
use portcullis_storage::{deliveries, events, webhooks};

const NOT_FOUND: OperationError = OperationError::NotFound("webhook");

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
    let webhook = NewWebhook::parse(&body.parse()?, &app.egress.rules)?;
    let by = app.authored_by(caller.actor());
    let (record, secret) = webhook.into_record(app.ids.next(by.at), caller.tenant(), &by);
    let secret = encrypted(&app, &record, &secret)?;
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    webhooks::insert(&mut tx, &record, &secret).await?;
    app.commit(tx).await?;
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
    let update = WebhookUpdate::parse(&body.parse()?, &app.egress.rules)?;
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
    app.commit(tx).await?;
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
        return Err(NOT_FOUND.into());
    }
    app.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Sends a test event to the webhook.
///
/// Whatever its `events` are. It goes the way of all events: look for it among the deliveries.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/test", tag = "Webhooks", operation_id = "testWebhook",
    security(("bearer" = []), ("serviceKey" = ["webhooks:write"])), params(RecordId),
    responses((status = 202, description = "It will be sent", body = Accepted)),
)]
pub(super) async fn test(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("webhook")?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    webhooks::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    tx.record(Event::test(id, by.at));
    let written = events::write(&mut tx).await?;
    app.commit(tx).await?;
    let event_id = written.first().copied().unwrap_or_default();
    Ok((StatusCode::ACCEPTED, Json(Accepted { event_id })).into_response())
}

/// An event that will be sent.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({"event_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b72"})))]
struct Accepted {
    event_id: Uuid,
}

/// Lists the attempts to deliver to a webhook, newest first.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries", tag = "Webhooks", operation_id = "listDeliveries",
    security(("bearer" = []), ("serviceKey" = ["webhooks:read"])), params(RecordId, Requested),
    responses((status = 200, description = "A page", body = [AttemptRecord], headers(("Link")))),
)]
pub(super) async fn deliveries(
    State(app): State<App>,
    caller: Allowed<WebhooksRead>,
    id: RecordId,
    uri: Uri,
) -> Result<Response, ApiError> {
    let id = id.known("webhook")?;
    let page = paging::requested(&uri, "deliveries", caller.tenant(), &id.to_string())?;
    let mut tx = app.store.read(caller.tenant()).await?;
    webhooks::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    let attempts = deliveries::attempts(&mut tx, id, page.fetch()).await?;
    tx.end().await?;
    Ok(page.respond(attempts, |attempt| attempt.id))
}

/// Delivers an event again.
///
/// It is the same event and delivery, with the same id and body; its failures count from 0 again.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", tag = "Webhooks",
    operation_id = "redeliver", security(("bearer" = []), ("serviceKey" = ["webhooks:write"])),
    params(
        ("id" = Uuid, Path, description = "The webhook's id"),
        ("delivery_id" = Uuid, Path, description = "The delivery's id"),
    ),
    responses((status = 202, description = "It will be sent", body = Accepted)),
)]
pub(super) async fn redeliver(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    Segments((webhook, delivery)): Segments<(String, String)>,
) -> Result<Response, ApiError> {
    const NO_DELIVERY: OperationError = OperationError::NotFound("delivery");
    let parse = |text: &str| Uuid::try_parse(text).map_err(|_| NO_DELIVERY);
    let (webhook, delivery) = (parse(&webhook)?, parse(&delivery)?);
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let event = deliveries::redeliver(&mut tx, webhook, delivery, by.at).await?;
    let event_id = event.ok_or(NO_DELIVERY)?;
    app.commit(tx).await?;
    Ok((StatusCode::ACCEPTED, Json(Accepted { event_id })).into_response())
}

/// `secret` as the store keeps it: it decrypts in this record's column alone.
fn encrypted(app: &App, record: &WebhookRecord, secret: &Secret) -> Result<Vec<u8>, ApiError> {
    let context = Context::of_webhook_secret(&record.tenant_id, record.id);
    Ok(app.keys.encrypt(context, secret.as_bytes())?)
}
