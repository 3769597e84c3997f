//! The jobs of a delivery worker: the deliveries of a queue whose next attempt is due.

use portcullis_model::event::with_dropped;
use portcullis_model::webhook::EventType;
use uuid::Uuid;

use crate::delivery::delivery_queues::{ClaimTerms, DeliveryQueue, QueueId};
use crate::delivery::denial_segments::{MovedDenial, Place, Segment};
use crate::delivery::{denial_queues, denial_segments};
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, row, select};
use crate::transactions::tx::Tx;

row! {
    /// A delivery whose next attempt is due, and everything that the attempt needs.
    #[derive(Clone, Debug)]
    pub struct Job {
        pub delivery: Uuid,
        pub event: Uuid,
        pub event_type: String,
        pub(crate) body: Vec<u8>,
        /// The number of failures so far.
        pub failures: i64,
        pub(crate) round: i64,
        due_at: i64,
        /// The dropped denials that this delivery reports.
        dropped: i64,
        /// The dropped denials of the queue that no delivery reports yet.
        unreported: i64,
        /// The current address of the webhook.
        pub url: String,
        /// The current secret of the webhook, encrypted.
        pub secret: Vec<u8>,
        ;
        /// The place of a denied check in a segment; `None` if the delivery has its own row.
        pub(crate) place: Option<Place>,
    }
}

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

    /// Returns the delivery's own rows, for a denied check.
    pub(crate) fn moved(&self) -> MovedDenial {
        MovedDenial { delivery: self.delivery, event: self.event, body: self.body.clone() }
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
    // Ordered twice: the inner order selects by the index, and a join keeps no order.
    const SQL: &str = select!(
        "FROM (SELECT id, event_id, failures, round, due_at, dropped FROM webhook_deliveries \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3 AND due_at = 0 \
        ORDER BY tenant_id, webhook_id, denials, due_at, event_id LIMIT $4) d \
        JOIN webhook_events e ON e.tenant_id = $1 AND e.id = d.event_id \
        ORDER BY d.due_at, d.event_id"
    );
    let mut jobs = fetch_all!(tx, Job, SQL, &tx.tenant, queue.webhook, queue.denials, limit)?;
    if !queue.denials {
        return Ok(jobs);
    }
    let segments = denial_segments::oldest(tx, queue.webhook, limit).await?;
    if let Some(first) = segments.first() {
        // A denial that left its segment for a row is before the rest of the segment.
        jobs.retain(|job| job.event < first.id);
    }
    // Denials of segments have their turn when no row comes before them.
    match segments.last() {
        Some(last) if jobs.is_empty() => next_of_segments(tx, queue.webhook, last, limit).await,
        _ => Ok(jobs),
    }
}

/// Lists up to `limit` denials of the segments up to `last`.
async fn next_of_segments(
    tx: &mut Tx,
    webhook: Uuid,
    last: &Segment,
    limit: i64,
) -> Result<Vec<Job>, StoreError> {
    const TARGET: &str = "SELECT w.url, w.secret, q.dropped FROM webhooks w JOIN webhook_lanes q \
        ON q.tenant_id = w.tenant_id AND q.webhook_id = w.id AND q.denials \
        WHERE w.tenant_id = $1 AND w.id = $2";
    let target = fetch_optional!(tx, (String, Vec<u8>, i64), TARGET, &tx.tenant, webhook)?;
    let Some((url, secret, unreported)) = target else { return Ok(Vec::new()) };
    let denials = denial_segments::read(tx, webhook, last.id).await?;
    let jobs = denials.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX));
    let jobs = jobs.map(|(place, denial)| Job {
        delivery: denial.delivery,
        event: denial.event,
        event_type: EventType::AccessDenied.into_str().to_owned(),
        // The text becomes bytes without a copy.
        body: Box::<str>::from(denial.body).into_boxed_bytes().into_vec(),
        failures: 0,
        round: 0,
        due_at: 0,
        dropped: 0,
        unreported,
        url: url.clone(),
        secret: secret.clone(),
        place: Some(place),
    });
    Ok(jobs.collect())
}

/// Lists up to `limit` deliveries of `queue` whose retries or redeliveries are due; the one that waits for longest first.
pub async fn next_retries(
    tx: &mut Tx,
    queue: QueueId,
    terms: &ClaimTerms<'_>,
    limit: i64,
) -> Result<Vec<Job>, StoreError> {
    const SQL: &str = select!(
        "FROM (SELECT id, event_id, failures, round, due_at, dropped FROM webhook_deliveries \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3 AND due_at > 0 \
        AND (due_at <= $4 OR due_at > $5) \
        ORDER BY tenant_id, webhook_id, denials, due_at, event_id LIMIT $6) d \
        JOIN webhook_events e ON e.tenant_id = $1 AND e.id = d.event_id \
        ORDER BY d.due_at, d.event_id"
    );
    let (now, last) = (terms.now.millis(), terms.last_due());
    Ok(fetch_all!(tx, Job, SQL, &tx.tenant, queue.webhook, queue.denials, now, last, limit)?)
}

/// Makes the delivery of `job` report the dropped denials of its queue that no other delivery reports. One in a segment
/// gets its own rows, because each attempt must report the same number. The queue must be held, as for
/// [`record_attempts`](crate::delivery::deliveries::record_attempts).
pub async fn report_dropped(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    job: &mut Job,
) -> Result<(), StoreError> {
    const SQL: &str =
        "UPDATE webhook_deliveries SET dropped = dropped + $3 WHERE tenant_id = $1 AND id = $2";
    let dropped = denial_queues::take_dropped(tx, queue.webhook).await?;
    if let Some(place) = job.place.take() {
        denial_segments::advance(tx, queue.webhook, place).await?;
        denial_segments::insert_rows(tx, queue.webhook, vec![job.moved()]).await?;
    }
    execute!(tx, SQL, &tx.tenant, job.delivery, dropped)?;
    job.dropped += dropped;
    job.unreported = 0;
    Ok(())
}
