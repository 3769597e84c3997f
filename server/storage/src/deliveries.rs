//! The tables of deliveries and of delivery attempts.

use portcullis_model::Timestamp;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::event::with_dropped;
use portcullis_model::page::{Listed, Page};
use uuid::Uuid;

use crate::delivery_queues::{self, ClaimTerms, DeliveryQueue, QueueId};
use crate::denial_queues;
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
    body: Vec<u8>,
    /// The number of failures so far.
    pub failures: i64,
    round: i64,
    due_at: i64,
    /// The dropped denials that this delivery reports.
    dropped: i64,
    /// The dropped denials of the queue that no delivery reports yet.
    unreported: i64,
    /// The current address of the webhook.
    pub url: String,
    /// The current secret of the webhook, encrypted.
    pub secret: Vec<u8>,
}

from_row!(Job {
    delivery,
    event,
    event_type,
    body,
    failures,
    round,
    due_at,
    dropped,
    unreported,
    url,
    secret
});

impl Job {
    /// Tells whether there was no attempt so far.
    pub fn is_first(&self) -> bool {
        self.due_at == 0
    }

    /// Tells whether this delivery must report dropped denials, which [`report_dropped`] writes down before the attempt.
    pub fn must_report(&self) -> bool {
        self.is_first() && self.unreported > 0
    }

    /// Returns the bytes that every attempt sends.
    pub fn body(&self) -> Vec<u8> {
        with_dropped(self.body.clone(), self.dropped)
    }
}

/// Finds the delivery of `queue` whose first attempt comes next: the one of the earliest event.
pub async fn next_first(tx: &mut Tx, queue: QueueId) -> Result<Option<Job>, StoreError> {
    const SQL: &str = "SELECT d.id AS delivery, d.event_id AS event, e.type AS event_type, \
        e.body, d.failures, d.round, d.due_at, d.dropped, q.dropped AS unreported, w.url, w.secret \
        FROM webhook_deliveries d \
        JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id \
        JOIN webhooks w ON w.tenant_id = d.tenant_id AND w.id = d.webhook_id \
        JOIN webhook_lanes q ON q.tenant_id = d.tenant_id AND q.webhook_id = d.webhook_id \
        AND q.denials = d.denials WHERE d.tenant_id = $1 AND d.webhook_id = $2 AND d.denials = $3 \
        AND d.due_at = 0 ORDER BY d.event_id LIMIT 1";
    Ok(fetch_optional!(tx, Job, SQL, &tx.tenant, queue.webhook, queue.denials)?)
}

/// Finds the delivery of `queue` whose retry or redelivery has been due for longest.
pub async fn next_retry(
    tx: &mut Tx,
    queue: QueueId,
    terms: &ClaimTerms<'_>,
) -> Result<Option<Job>, StoreError> {
    const SQL: &str = "SELECT d.id AS delivery, d.event_id AS event, e.type AS event_type, \
        e.body, d.failures, d.round, d.due_at, d.dropped, q.dropped AS unreported, w.url, w.secret \
        FROM webhook_deliveries d \
        JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id \
        JOIN webhooks w ON w.tenant_id = d.tenant_id AND w.id = d.webhook_id \
        JOIN webhook_lanes q ON q.tenant_id = d.tenant_id AND q.webhook_id = d.webhook_id \
        AND q.denials = d.denials WHERE d.tenant_id = $1 AND d.webhook_id = $2 AND d.denials = $3 \
        AND d.due_at > 0 AND (d.due_at <= $4 OR d.due_at > $5) ORDER BY d.due_at LIMIT 1";
    let (now, last) = (terms.now.millis(), terms.last_due());
    Ok(fetch_optional!(tx, Job, SQL, &tx.tenant, queue.webhook, queue.denials, now, last)?)
}

/// Makes the delivery of `job` report the dropped denials of its queue that no other delivery reports. The queue must
/// be held, as for [`record_attempt`].
pub async fn report_dropped(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    job: &mut Job,
) -> Result<(), StoreError> {
    const SQL: &str =
        "UPDATE webhook_deliveries SET dropped = dropped + $3 WHERE tenant_id = $1 AND id = $2";
    let dropped = denial_queues::take_dropped(tx, queue.webhook).await?;
    execute!(tx, SQL, &tx.tenant, job.delivery, dropped)?;
    job.dropped += dropped;
    job.unreported = 0;
    Ok(())
}

/// Stores an attempt and the time of the next one, if there is one. The delivery queue must be held: this
/// transaction has renewed its lease.
pub async fn record_attempt(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    job: &Job,
    attempt: &AttemptRecord,
    now: Timestamp,
) -> Result<(), StoreError> {
    // A redelivery that a client requested meanwhile has another `round`, and this statement leaves it alone. It
    // leaves alone what it has settled before, too, if the answer to an earlier commit was lost.
    const SETTLE: &str = "UPDATE webhook_deliveries SET due_at = $4, failures = $5, settled_at = $6 \
        WHERE tenant_id = $1 AND id = $2 AND round = $3 AND due_at IS NOT NULL";
    let failed = i64::from(attempt.state != DeliveryState::Delivered);
    let next = attempt.next_attempt_at.map(Timestamp::millis);
    let written = execute!(
        tx,
        SETTLE,
        &tx.tenant,
        job.delivery,
        job.round,
        next,
        job.failures + failed,
        if next.is_none() { Some(now.millis()) } else { None },
    )?;
    // A denial may have been dropped during the attempt.
    if written == 0 && !exists(tx, job.delivery).await? {
        return Ok(());
    }
    insert_attempt(tx, queue.webhook, attempt).await?;
    if written > 0 && next.is_none() && queue.denials {
        denial_queues::settled(tx, queue.webhook).await?;
    }
    Ok(())
}

async fn exists(tx: &mut Tx, delivery: Uuid) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2";
    Ok(fetch_optional!(tx, (Uuid,), SQL, &tx.tenant, delivery)?.is_some())
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
    const FIND: &str = "SELECT event_id, denials FROM webhook_deliveries \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3";
    const SQL: &str = "UPDATE webhook_deliveries SET failures = 0, round = round + 1, \
        settled_at = NULL, due_at = CASE WHEN due_at = 0 THEN 0 ELSE $3 END \
        WHERE tenant_id = $1 AND id = $2";
    let found = fetch_optional!(tx, (Uuid, bool), FIND, &tx.tenant, webhook, id)?;
    let Some((event, denials)) = found else { return Ok(None) };
    // The queue is locked first, as a delivery worker does, so that the two never wait for each other.
    delivery_queues::schedule_attempt(tx, QueueId { webhook, denials }, now.millis()).await?;
    if denials {
        denial_queues::redelivered(tx, webhook, id).await?;
    }
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
