//! The table of webhooks. No decision reads it, so no function in this file raises the policy revision.

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::page::{Listed, Page};
use portcullis_model::quota::Quota;
use portcullis_model::webhook::{EventType, WebhookRecord};
use uuid::Uuid;

use crate::delivery::{deliveries, delivery_queues};
use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

stored! {
    WebhookRecord as Row of "webhooks" {
        id, tenant_id, url, events, created_by, created_at, updated_at, managed_by,
    }
}

/// Finds the webhook with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<WebhookRecord>, StoreError> {
    const SQL: &str = select!("FROM webhooks WHERE tenant_id = $1 AND id = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, id)?)
}

/// Lists all webhooks of the tenant, in order of creation.
pub async fn all(tx: &mut Tx) -> Result<Vec<WebhookRecord>, StoreError> {
    const SQL: &str = select!("FROM webhooks WHERE tenant_id = $1 ORDER BY id");
    records(fetch_all!(tx, Row, SQL, &tx.tenant)?)
}

/// Lists a page of the tenant's webhooks, in order of creation.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Listed<WebhookRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [url, events],
        "FROM webhooks WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    );
    fetch_page!(tx, Row, page.limit, PAGES, &tx.tenant, page.after)
}

/// Reads the secret of a webhook, encrypted.
pub async fn secret(tx: &mut Tx, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
    const SQL: &str = "SELECT secret FROM webhooks WHERE tenant_id = $1 AND id = $2";
    let row = fetch_optional!(tx, (Vec<u8>,), SQL, &tx.tenant, id)?;
    Ok(row.map(|(secret,)| secret))
}

/// Inserts `webhook` with its secret, which is encrypted already.
pub async fn insert(tx: &mut Tx, webhook: &WebhookRecord, secret: &[u8]) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO webhooks \
        (tenant_id, id, url, events, secret, created_by, created_at, managed_by) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    execute!(
        tx,
        SQL,
        &tx.tenant,
        webhook.id,
        &webhook.url,
        to_json_list(&webhook.events),
        secret,
        &webhook.created_by,
        webhook.created_at.millis(),
        webhook.managed_by.as_deref(),
    )?;
    delivery_queues::insert(tx, webhook.id).await?;
    tx.count(Quota::Webhooks, 1);
    tx.writes.webhooks = true;
    tx.audit(AuditAction::WebhookCreated, webhook.id);
    Ok(())
}

/// Stores an update of `webhook`. `secret` is encrypted already; without one the old secret stays.
pub async fn update(
    tx: &mut Tx,
    webhook: &WebhookRecord,
    secret: Option<&[u8]>,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhooks SET url = $3, events = $4, \
        secret = COALESCE($5, secret), updated_at = $6, managed_by = $7 \
        WHERE tenant_id = $1 AND id = $2";
    execute!(
        tx,
        SQL,
        &tx.tenant,
        webhook.id,
        &webhook.url,
        to_json_list(&webhook.events),
        secret,
        webhook.updated_at.map(Timestamp::millis),
        webhook.managed_by.as_deref(),
    )?;
    tx.writes.webhooks = true;
    tx.audit(AuditAction::WebhookUpdated, webhook.id);
    Ok(())
}

/// Deletes the webhook with this id and its pending deliveries. False if it does not exist.
pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM webhooks WHERE tenant_id = $1 AND id = $2";
    // The queues first: a delivery worker that serves one completes its transaction, and then finds no queue.
    delivery_queues::delete(tx, id).await?;
    deliveries::delete_of(tx, id).await?;
    tx.writes.webhooks = true;
    tx.audit(AuditAction::WebhookDeleted, id);
    let deleted = execute!(tx, SQL, &tx.tenant, id)? > 0;
    tx.count(Quota::Webhooks, -i64::from(deleted));
    Ok(deleted)
}

/// Returns whether the tenant has a webhook for denied checks.
pub async fn subscribes_to_denials(tx: &mut Tx) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT id FROM webhooks WHERE tenant_id = $1 AND events LIKE $2 LIMIT 1";
    // The column is a JSON list, so that a type stands in it in quotes.
    let pattern = format!("%\"{}\"%", EventType::AccessDenied.into_str());
    Ok(fetch_optional!(tx, (Uuid,), SQL, &tx.tenant, pattern)?.is_some())
}

#[cfg(test)]
mod tests;
