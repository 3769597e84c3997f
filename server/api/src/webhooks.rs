//! Webhooks (`docs/semantics.md`, sections 7.1 and 7.9).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, WebhooksRead, WebhooksWrite};
use portcullis_http::error::ApiError;
use portcullis_http::force::Force;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::{RecordId, Segments};
use portcullis_http::query::Query;
use portcullis_http::respond::created_at;
use portcullis_http::text_answer::Json;
use portcullis_model::delivery::AttemptRecord;
use portcullis_model::webhook::{NewWebhook, WebhookRecord, WebhookUpdate};
use portcullis_operations::webhooks;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::openapi::{Conflict, QuotaExceeded};

/// Registers a webhook.
#[utoipa::path(
    post, path = "/api/v1/webhooks", tag = "Webhooks", operation_id = "createWebhook", request_body = NewWebhook,
    responses(
        (status = 201, description = "The record", body = WebhookRecord, headers(("Location"))),
        QuotaExceeded,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let webhook = NewWebhook::parse(&body.parse()?, &app.egress.rules)?;
    let record = webhooks::create(&app, &caller, webhook).await?;
    Ok(created_at(&format!("/api/v1/webhooks/{}", record.id), record))
}

/// Lists the tenant's webhooks.
#[utoipa::path(
    get, path = "/api/v1/webhooks", tag = "Webhooks", operation_id = "listWebhooks",
    responses((status = 200, description = "A page", body = [WebhookRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<WebhooksRead>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("webhooks", caller.tenant(), "")?;
    let records = webhooks::list(&app, &caller, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Shows a webhook.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}", tag = "Webhooks", operation_id = "getWebhook",
    responses((status = 200, description = "The record", body = WebhookRecord)),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<WebhooksRead>,
    id: RecordId,
) -> Result<Response, ApiError> {
    Ok(Json(webhooks::get(&app, &caller, id.known("webhook")?).await?).into_response())
}

/// Updates a webhook.
///
/// Members that the body leaves out stay as they are.
#[utoipa::path(
    put, path = "/api/v1/webhooks/{id}", tag = "Webhooks", operation_id = "updateWebhook", request_body = WebhookUpdate,
    responses((status = 200, description = "The record", body = WebhookRecord), Conflict),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    id: RecordId,
    Query(Force(force)): Query<Force>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = WebhookUpdate::parse(&body.parse()?, &app.egress.rules)?;
    let id = id.known("webhook")?;
    Ok(Json(webhooks::update(&app, &caller, id, &update, force).await?).into_response())
}

/// Deletes a webhook.
#[utoipa::path(
    delete, path = "/api/v1/webhooks/{id}", tag = "Webhooks", operation_id = "deleteWebhook",
    responses((status = 204, description = "It is gone"), Conflict),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    id: RecordId,
    Query(Force(force)): Query<Force>,
) -> Result<Response, ApiError> {
    webhooks::delete(&app, &caller, id.known("webhook")?, force).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Sends a test event to the webhook.
///
/// Whatever its `events` are. It goes the way of all events: look for it among the deliveries.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/test", tag = "Webhooks", operation_id = "testWebhook",
    responses((status = 202, description = "It will be sent", body = Accepted)),
)]
pub(super) async fn test(
    State(app): State<App>,
    caller: Allowed<WebhooksWrite>,
    id: RecordId,
) -> Result<Response, ApiError> {
    let event_id = webhooks::test(&app, &caller, id.known("webhook")?).await?;
    Ok((StatusCode::ACCEPTED, Json(Accepted { event_id })).into_response())
}

/// The answer to a request for a delivery.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({"event_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b72"})))]
struct Accepted {
    event_id: Uuid,
}

/// Lists the attempts to deliver to a webhook, newest first.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries", tag = "Webhooks", operation_id = "listDeliveries",
    responses((status = 200, description = "A page", body = [AttemptRecord], headers(("Link")))),
)]
pub(super) async fn deliveries(
    State(app): State<App>,
    caller: Allowed<WebhooksRead>,
    id: RecordId,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let id = id.known("webhook")?;
    let page = page.in_list("deliveries", caller.tenant(), &id.to_string())?;
    let attempts = webhooks::list_attempts(&app, &caller, id, page.fetch()).await?;
    Ok(page.respond(attempts, |attempt| attempt.id))
}

/// Delivers an event again.
///
/// It is the same event and delivery, with the same id and body; its failures count from 0 again.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", tag = "Webhooks",
    operation_id = "redeliver",
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
    let [webhook, delivery] =
        [webhook, delivery].map(|id| RecordId::from_text(&id).known("delivery"));
    let event_id = webhooks::redeliver(&app, &caller, webhook?, delivery?).await?;
    Ok((StatusCode::ACCEPTED, Json(Accepted { event_id })).into_response())
}
