//! The use cases of webhooks (`docs/semantics.md`, sections 7.1 and 7.9).

use portcullis_auth::Manager;
use portcullis_model::audit::AuditAction;
use portcullis_model::delivery::AttemptRecord;
use portcullis_model::event::Event;
use portcullis_model::page::{Listed, Page};
use portcullis_model::webhook::{NewWebhook, Secret, WebhookRecord, WebhookUpdate};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::encryption::{Context, CryptoError};
use portcullis_storage::{attempts, deliveries, events, webhooks};
use uuid::Uuid;

use crate::changes::ownership;

const NOT_FOUND: OperationError = OperationError::NotFound("webhook");

/// Registers a webhook of the caller's tenant.
pub async fn create(
    app: &App,
    caller: &Manager,
    webhook: NewWebhook,
) -> Result<WebhookRecord, OperationError> {
    app.change(caller, async |tx, by| {
        let (record, secret) = webhook.into_record(app.ids.next(by.at), caller.tenant(), by);
        let secret = encrypt_secret(app, &record, &secret)?;
        webhooks::insert(tx, &record, &secret).await?;
        Ok(record)
    })
    .await
}

/// Lists the webhooks of the caller's tenant, in order of creation.
pub async fn list(
    app: &App,
    caller: &Manager,
    page: Page,
) -> Result<Listed<WebhookRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| webhooks::list(tx, page).await).await
}

/// Returns a webhook of the caller's tenant.
///
/// # Errors
/// The tenant has no such webhook, or the store failed.
pub async fn get(app: &App, caller: &Manager, id: Uuid) -> Result<WebhookRecord, OperationError> {
    app.read(caller.tenant(), async |tx| webhooks::find(tx, id).await?.ok_or(NOT_FOUND)).await
}

/// Updates a webhook of the caller's tenant. An update that changes nothing keeps the record as it is.
///
/// # Errors
/// The tenant has no such webhook, or the store failed.
pub async fn update(
    app: &App,
    caller: &Manager,
    id: Uuid,
    update: &WebhookUpdate,
    force: bool,
) -> Result<WebhookRecord, OperationError> {
    app.change(caller, async |tx, by| {
        let old = webhooks::find(tx, id).await?.ok_or(NOT_FOUND)?;
        ownership::check(caller, old.managed_by.as_deref(), force)?;
        let mut record = update.applied_to(&old);
        let secret = update.secret.as_ref();
        let secret = secret.map(|secret| encrypt_secret(app, &old, secret)).transpose()?;
        // A secret that is sent counts as a change. It is not compared with the stored one.
        if record != old || secret.is_some() {
            record.updated_at = Some(by.at);
            webhooks::update(tx, &record, secret.as_deref()).await?;
        }
        Ok(record)
    })
    .await
}

/// Deletes a webhook of the caller's tenant, with its deliveries.
///
/// # Errors
/// The tenant has no such webhook, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    id: Uuid,
    force: bool,
) -> Result<(), OperationError> {
    app.change(caller, async |tx, _| {
        let webhook = webhooks::find(tx, id).await?.ok_or(NOT_FOUND)?;
        ownership::check(caller, webhook.managed_by.as_deref(), force)?;
        webhooks::delete(tx, id).await?;
        Ok(())
    })
    .await
}

/// Sends a test event to a webhook of the caller's tenant, and returns the id of the event.
///
/// # Errors
/// The tenant has no such webhook, or the store failed.
pub async fn test(app: &App, caller: &Manager, id: Uuid) -> Result<Uuid, OperationError> {
    app.change(caller, async |tx, by| {
        webhooks::find(tx, id).await?.ok_or(NOT_FOUND)?;
        tx.record(Event::test(id, by.at));
        tx.audit(AuditAction::WebhookTested, id);
        // Here and not by the commit, because the answer has the id of the event.
        let written = events::write(tx).await?;
        Ok(written.first().copied().unwrap_or_default())
    })
    .await
}

/// Lists the delivery attempts of a webhook, newest first.
///
/// # Errors
/// The tenant has no such webhook, or the store failed.
pub async fn list_attempts(
    app: &App,
    caller: &Manager,
    id: Uuid,
    page: Page,
) -> Result<Listed<AttemptRecord>, OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    webhooks::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    let attempts = attempts::list(&mut tx, id, page).await?;
    tx.end().await?;
    Ok(attempts)
}

/// Delivers an event again, and returns the id of the event. Its failures count from 0 again.
///
/// # Errors
/// The webhook has no such delivery, or the store failed.
pub async fn redeliver(
    app: &App,
    caller: &Manager,
    webhook: Uuid,
    delivery: Uuid,
) -> Result<Uuid, OperationError> {
    app.change(caller, async |tx, by| {
        let event = deliveries::redeliver(tx, webhook, delivery, by.at).await?;
        event.ok_or(OperationError::NotFound("delivery"))
    })
    .await
}

/// Encrypts the secret of `record` for the store. It can be decrypted only as the secret of this record.
fn encrypt_secret(
    app: &App,
    record: &WebhookRecord,
    secret: &Secret,
) -> Result<Vec<u8>, CryptoError> {
    let context = Context::for_webhook_secret(&record.tenant_id, record.id);
    app.keys.encrypt(context, secret.as_bytes())
}
