//! The tables of deliveries and of delivery attempts.

use std::collections::HashSet;

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::event::with_dropped;
use portcullis_model::page::{Listed, Page};
use uuid::Uuid;

use crate::delivery_queues::{self, ClaimTerms, DeliveryQueue, QueueId};
use crate::delivery_rows::Outcome;
use crate::error::StoreError;
use crate::macros::{execute, fetch_all, fetch_optional, from_row};
use crate::paging::fetch_page;
use crate::tx::Tx;
use crate::{delivery_rows, denial_queues};

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

/// The columns of a [`Job`], of delivery `d` and its event `e`. A statement selects the deliveries before it joins them with
/// their events, so that only as many events are read.
macro_rules! columns {
    () => {
        "d.id AS delivery, d.event_id AS event, e.type AS event_type, e.body, \
        d.failures, d.round, d.due_at, d.dropped, (SELECT dropped FROM webhook_lanes \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3) AS unreported, \
        (SELECT url FROM webhooks WHERE tenant_id = $1 AND id = $2) AS url, \
        (SELECT secret FROM webhooks WHERE tenant_id = $1 AND id = $2) AS secret"
    };
}

/// Lists up to `limit` deliveries of `queue` whose first attempts come next, in the order of their events.
pub async fn next_firsts(tx: &mut Tx, queue: QueueId, limit: i64) -> Result<Vec<Job>, StoreError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM (SELECT id, event_id, failures, round, due_at, dropped FROM webhook_deliveries \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3 AND due_at = 0 \
        ORDER BY tenant_id, webhook_id, denials, due_at, event_id LIMIT $4) d \
        JOIN webhook_events e ON e.tenant_id = $1 AND e.id = d.event_id \
        ORDER BY d.due_at, d.event_id"
    );
    Ok(fetch_all!(tx, Job, SQL, &tx.tenant, queue.webhook, queue.denials, limit)?)
}

/// Lists up to `limit` deliveries of `queue` whose retries or redeliveries are due; the one that waits for longest first.
pub async fn next_retries(
    tx: &mut Tx,
    queue: QueueId,
    terms: &ClaimTerms<'_>,
    limit: i64,
) -> Result<Vec<Job>, StoreError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM (SELECT id, event_id, failures, round, due_at, dropped FROM webhook_deliveries \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3 AND due_at > 0 \
        AND (due_at <= $4 OR due_at > $5) \
        ORDER BY tenant_id, webhook_id, denials, due_at, event_id LIMIT $6) d \
        JOIN webhook_events e ON e.tenant_id = $1 AND e.id = d.event_id \
        ORDER BY d.due_at, d.event_id"
    );
    let (now, last) = (terms.now.millis(), terms.last_due());
    Ok(fetch_all!(tx, Job, SQL, &tx.tenant, queue.webhook, queue.denials, now, last, limit)?)
}

/// Makes the delivery of `job` report the dropped denials of its queue that no other delivery reports. The queue must
/// be held, as for [`record_attempts`].
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

/// Stores attempts and the times of the next ones, as far as there are any. The delivery queue must be held: this
/// transaction has renewed its lease.
pub async fn record_attempts(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    made: &[(&Job, &AttemptRecord)],
    now: Timestamp,
) -> Result<(), StoreError> {
    if made.is_empty() {
        return Ok(());
    }
    let outcome = |(job, attempt): &(&Job, &AttemptRecord)| Outcome {
        delivery: job.delivery,
        round: job.round,
        failures: job.failures + i64::from(attempt.state != DeliveryState::Delivered),
        due_at: attempt.next_attempt_at.map(Timestamp::millis),
    };
    let outcomes: Vec<Outcome> = made.iter().map(outcome).collect();
    let written: HashSet<Uuid> =
        delivery_rows::settle(tx, &outcomes, now).await?.into_iter().collect();
    let mut attempts = Vec::with_capacity(made.len());
    for (job, attempt) in made {
        // A denial may have been dropped during the attempt.
        if written.contains(&job.delivery) || exists(tx, job.delivery).await? {
            attempts.push(*attempt);
        }
    }
    delivery_rows::insert_attempts(tx, queue.webhook, &attempts).await?;
    let is_over = |one: &&Outcome| one.due_at.is_none() && written.contains(&one.delivery);
    let over = outcomes.iter().filter(is_over).count();
    if queue.denials && over > 0 {
        let over = i64::try_from(over).unwrap_or(i64::MAX);
        denial_queues::settled(tx, queue.webhook, over).await?;
    }
    Ok(())
}

async fn exists(tx: &mut Tx, delivery: Uuid) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2";
    Ok(fetch_optional!(tx, (Uuid,), SQL, &tx.tenant, delivery)?.is_some())
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
    tx.audit(AuditAction::DeliveryRepeated, id);
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
