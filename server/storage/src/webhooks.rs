//! The table of webhooks. No decision reads it, so that no function here raises the policy revision.

use sqlx::FromRow;
use uuid::Uuid;

use super::{
    StoreError, Tx, deliveries, execute, fetch_all, fetch_optional, from_json_list, lanes,
    to_json_list,
};
use portcullis_model::Timestamp;
use portcullis_model::page::Page;
use portcullis_model::webhook::{EventType, WebhookRecord};

/// Every column but the secret, which only a delivery needs.
#[derive(FromRow)]
struct Row {
    id: Uuid,
    tenant_id: String,
    url: String,
    events: String,
    created_by: String,
    created_at: i64,
    updated_at: Option<i64>,
}

impl TryFrom<Row> for WebhookRecord {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        const EVENTS: &str = "webhooks.events";
        let parse =
            |text: &String| EventType::parse(text).ok_or(StoreError::Corrupt { what: EVENTS });
        let events = from_json_list(&row.events, EVENTS)?;
        Ok(Self {
            id: row.id,
            url: row.url,
            events: events.iter().map(parse).collect::<Result<_, _>>()?,
            tenant_id: row.tenant_id,
            created_by: row.created_by,
            created_at: Timestamp::from_millis(row.created_at),
            updated_at: row.updated_at.map(Timestamp::from_millis),
        })
    }
}

/// The webhook with this id.
pub async fn find(tx: &mut Tx, id: Uuid) -> Result<Option<WebhookRecord>, StoreError> {
    const SQL: &str = "SELECT id, tenant_id, url, events, created_by, created_at, updated_at \
        FROM webhooks WHERE tenant_id = $1 AND id = $2";
    let row = fetch_optional!(tx, Row, SQL, &tx.tenant, id)?;
    row.map(WebhookRecord::try_from).transpose()
}

/// A page of the tenant's webhooks, in order of creation.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Vec<WebhookRecord>, StoreError> {
    const SQL: &str = "SELECT id, tenant_id, url, events, created_by, created_at, updated_at \
        FROM webhooks WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    let rows = fetch_all!(tx, Row, SQL, &tx.tenant, page.after, page.limit)?;
    rows.into_iter().map(WebhookRecord::try_from).collect()
}

/// Inserts `webhook` with its secret, which is encrypted already.
pub async fn insert(tx: &mut Tx, webhook: &WebhookRecord, secret: &[u8]) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO webhooks \
        (tenant_id, id, url, events, secret, created_by, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
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
    )?;
    lanes::insert(tx, webhook.id).await?;
    tx.wrote.webhooks = true;
    Ok(())
}

/// Stores what an update changed; without a `secret`, which is encrypted already, the old one stays.
pub async fn update(
    tx: &mut Tx,
    webhook: &WebhookRecord,
    secret: Option<&[u8]>,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhooks SET url = $3, events = $4, \
        secret = COALESCE($5, secret), updated_at = $6 WHERE tenant_id = $1 AND id = $2";
    execute!(
        tx,
        SQL,
        &tx.tenant,
        webhook.id,
        &webhook.url,
        to_json_list(&webhook.events),
        secret,
        webhook.updated_at.map(Timestamp::millis),
    )?;
    tx.wrote.webhooks = true;
    Ok(())
}

/// Removes the webhook with this id, and whatever is pending for it; false when there is none.
pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM webhooks WHERE tenant_id = $1 AND id = $2";
    // The lane first: whoever serves it finishes what it is writing, and finds the lane gone.
    lanes::delete(tx, id).await?;
    deliveries::delete_of(tx, id).await?;
    tx.wrote.webhooks = true;
    Ok(execute!(tx, SQL, &tx.tenant, id)? > 0)
}

/// The tenants that have a webhook for denied checks. For a transaction that sees every tenant.
pub async fn tenants_told_of_denials(tx: &mut Tx) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT DISTINCT tenant_id FROM webhooks WHERE events LIKE $1";
    let listed = format!("%\"{}\"%", EventType::AccessDenied.as_str());
    let rows = fetch_all!(tx, (String,), SQL, listed)?;
    Ok(rows.into_iter().map(|(tenant,)| tenant).collect())
}

#[cfg(test)]
mod tests;
