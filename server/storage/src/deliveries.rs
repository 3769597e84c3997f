//! The tables of deliveries and of delivery attempts.

use portcullis_model::Timestamp;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::page::{Listed, Page};
use uuid::Uuid;

use crate::delivery_queues::{self, ClaimTerms};
use crate::error::StoreError;
use crate::macros::{execute, fetch_optional, from_row};
use crate::paging::fetch_page;
use crate::tx::Tx;

/// A delivery whose next attempt is due, and everything that the attempt needs.
#[derive(Clone, Debug)]
pub struct Job {
    pub delivery: Uuid,
    pub event: Uuid,
    pub event_type: String,
    pub body: Vec<u8>,
    /// The number of failures so far.
    pub failures: i64,
    round: i64,
    due_at: i64,
    /// The current address of the webhook.
    pub url: String,
    /// The current secret of the webhook, encrypted.
    pub secret: Vec<u8>,
}

from_row!(Job { delivery, event, event_type, body, failures, round, due_at, url, secret });

impl Job {
    /// Tells whether there was no attempt so far.
    pub fn is_first(&self) -> bool {
        self.due_at == 0
    }
}

/// Finds the delivery of `webhook` whose first attempt comes next: the one of the earliest event.
pub async fn next_first(tx: &mut Tx, webhook: Uuid) -> Result<Option<Job>, StoreError> {
    const SQL: &str = "SELECT d.id AS delivery, d.event_id AS event, e.type AS event_type, \
        e.body, d.failures, d.round, d.due_at, w.url, w.secret FROM webhook_deliveries d \
        JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id \
        JOIN webhooks w ON w.tenant_id = d.tenant_id AND w.id = d.webhook_id \
        WHERE d.tenant_id = $1 AND d.webhook_id = $2 AND d.due_at = 0 ORDER BY d.event_id LIMIT 1";
    Ok(fetch_optional!(tx, Job, SQL, &tx.tenant, webhook)?)
}

/// Finds the delivery of `webhook` whose retry or redelivery has been due for longest.
pub async fn next_retry(
    tx: &mut Tx,
    webhook: Uuid,
    terms: &ClaimTerms<'_>,
) -> Result<Option<Job>, StoreError> {
    const SQL: &str = "SELECT d.id AS delivery, d.event_id AS event, e.type AS event_type, \
        e.body, d.failures, d.round, d.due_at, w.url, w.secret FROM webhook_deliveries d \
        JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id \
        JOIN webhooks w ON w.tenant_id = d.tenant_id AND w.id = d.webhook_id \
        WHERE d.tenant_id = $1 AND d.webhook_id = $2 AND d.due_at > 0 \
        AND (d.due_at <= $3 OR d.due_at > $4) ORDER BY d.due_at LIMIT 1";
    let now = terms.now.millis();
    Ok(fetch_optional!(tx, Job, SQL, &tx.tenant, webhook, now, terms.last_due())?)
}

/// Stores an attempt and the time of the next one, if there is one. The delivery queue must be held: this
/// transaction has renewed its lease.
pub async fn record_attempt(
    tx: &mut Tx,
    webhook: Uuid,
    job: &Job,
    attempt: &AttemptRecord,
    now: Timestamp,
) -> Result<(), StoreError> {
    // A redelivery that a client requested meanwhile has another `round`, and this statement leaves it alone.
    const SETTLE: &str = "UPDATE webhook_deliveries SET due_at = $4, failures = $5, settled_at = $6 \
        WHERE tenant_id = $1 AND id = $2 AND round = $3";
    let failed = i64::from(attempt.state != DeliveryState::Delivered);
    let next = attempt.next_attempt_at.map(Timestamp::millis);
    execute!(
        tx,
        SETTLE,
        &tx.tenant,
        job.delivery,
        job.round,
        next,
        job.failures + failed,
        if next.is_none() { Some(now.millis()) } else { None },
    )?;
    insert_attempt(tx, webhook, attempt).await
}

/// Inserts an attempt. It may exist already, if the answer to an earlier commit was lost.
async fn insert_attempt(
    tx: &mut Tx,
    webhook: Uuid,
    attempt: &AttemptRecord,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO webhook_attempts (tenant_id, id, webhook_id, delivery_id, \
        retry_count, http_status, response_body, error, duration_ms, state, attempted_at, \
        next_attempt_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
        ON CONFLICT DO NOTHING";
    execute!(
        tx,
        SQL,
        &tx.tenant,
        attempt.id,
        webhook,
        attempt.delivery_id,
        attempt.retry_count,
        attempt.http_status,
        attempt.response_body.as_deref(),
        attempt.error.as_deref(),
        attempt.duration_ms,
        attempt.state.as_str(),
        attempt.attempted_at.millis(),
        attempt.next_attempt_at.map(Timestamp::millis),
    )?;
    Ok(())
}

struct Row {
    id: Uuid,
    delivery_id: Uuid,
    event_id: Uuid,
    event_type: String,
    retry_count: i64,
    http_status: Option<i64>,
    response_body: Option<String>,
    error: Option<String>,
    duration_ms: i64,
    state: String,
    attempted_at: i64,
    next_attempt_at: Option<i64>,
}

from_row!(Row {
    id,
    delivery_id,
    event_id,
    event_type,
    retry_count,
    http_status,
    response_body,
    error,
    duration_ms,
    state,
    attempted_at,
    next_attempt_at
});

impl TryFrom<Row> for AttemptRecord {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id,
            delivery_id: row.delivery_id,
            event_id: row.event_id,
            event_type: row.event_type,
            retry_count: row.retry_count,
            http_status: row.http_status,
            response_body: row.response_body,
            error: row.error,
            duration_ms: row.duration_ms,
            state: DeliveryState::parse(&row.state)
                .ok_or(StoreError::Corrupt { what: "webhook_attempts.state" })?,
            attempted_at: Timestamp::from_millis(row.attempted_at),
            next_attempt_at: row.next_attempt_at.map(Timestamp::from_millis),
        })
    }
}

/// Lists a page of the attempts to deliver to `webhook`, newest first. A page other than the first has the attempts
/// before the id `page.after`, which is nil for the first.
pub async fn attempts(
    tx: &mut Tx,
    webhook: Uuid,
    page: Page,
) -> Result<Listed<AttemptRecord>, StoreError> {
    // Every attempt has a delivery, and every delivery an event.
    const SIZES: &str = "SELECT CAST(COALESCE(octet_length(response_body), 0) \
        + COALESCE(octet_length(error), 0) AS BIGINT) FROM webhook_attempts \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4";
    const SQL: &str = "SELECT a.id, a.delivery_id, d.event_id, e.type AS event_type, \
        a.retry_count, a.http_status, a.response_body, a.error, a.duration_ms, a.state, \
        a.attempted_at, a.next_attempt_at FROM webhook_attempts a \
        JOIN webhook_deliveries d ON d.tenant_id = a.tenant_id AND d.id = a.delivery_id \
        JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id \
        WHERE a.tenant_id = $1 AND a.webhook_id = $2 AND a.id < $3 ORDER BY a.id DESC LIMIT $4";
    let before = if page.after.is_nil() { Uuid::max() } else { page.after };
    fetch_page!(tx, Row, page, SIZES, SQL, &tx.tenant, webhook, before)
}

/// Starts a delivery of `webhook` again from the beginning, at `now`, and returns the id of its event. `None` if
/// there is no such delivery.
pub async fn redeliver(
    tx: &mut Tx,
    webhook: Uuid,
    id: Uuid,
    now: Timestamp,
) -> Result<Option<Uuid>, StoreError> {
    const FIND: &str = "SELECT event_id FROM webhook_deliveries \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3";
    const SQL: &str = "UPDATE webhook_deliveries SET failures = 0, round = round + 1, \
        settled_at = NULL, due_at = CASE WHEN due_at = 0 THEN 0 ELSE $3 END \
        WHERE tenant_id = $1 AND id = $2";
    let Some((event,)) = fetch_optional!(tx, (Uuid,), FIND, &tx.tenant, webhook, id)? else {
        return Ok(None);
    };
    // The queue is locked first, as a delivery worker does, so that the two never wait for each other.
    delivery_queues::schedule_attempt(tx, webhook, now.millis()).await?;
    execute!(tx, SQL, &tx.tenant, id, now.millis())?;
    tx.writes.deliveries = true;
    Ok(Some(event))
}

/// Deletes all deliveries to `webhook` and their attempts.
pub(crate) async fn delete_of(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE tenant_id = $1 AND webhook_id = $2";
    const DELIVERIES: &str =
        "DELETE FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2";
    execute!(tx, ATTEMPTS, &tx.tenant, webhook)?;
    execute!(tx, DELIVERIES, &tx.tenant, webhook)?;
    Ok(())
}

/// Deletes up to `limit` attempts, deliveries and events each that ended before `before`, of every tenant. Returns
/// the number of deleted rows.
pub async fn prune(tx: &mut Tx, before: Timestamp, limit: i64) -> Result<u64, StoreError> {
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE (tenant_id, id) IN \
        (SELECT tenant_id, id FROM webhook_attempts WHERE attempted_at < $1 LIMIT $2)";
    const DELIVERIES: &str = "DELETE FROM webhook_deliveries WHERE (tenant_id, id) IN \
        (SELECT d.tenant_id, d.id FROM webhook_deliveries d WHERE d.settled_at < $1 \
        AND NOT EXISTS (SELECT 1 FROM webhook_attempts a WHERE a.tenant_id = d.tenant_id \
        AND a.delivery_id = d.id) LIMIT $2)";
    const EVENTS: &str = "DELETE FROM webhook_events WHERE (tenant_id, id) IN \
        (SELECT e.tenant_id, e.id FROM webhook_events e WHERE e.created_at < $1 \
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.tenant_id = e.tenant_id \
        AND d.event_id = e.id) LIMIT $2)";
    let mut removed = 0;
    for sql in [ATTEMPTS, DELIVERIES, EVENTS] {
        removed += execute!(tx, sql, before.millis(), limit)?;
    }
    Ok(removed)
}
