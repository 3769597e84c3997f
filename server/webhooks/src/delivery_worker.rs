//! Serves delivery queues: one attempt after the other, and no attempt inside a transaction.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use portcullis_egress::Client;
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::ids::Ids;
use portcullis_storage::deliveries::{self, Job};
use portcullis_storage::delivery_queues::{self, ClaimTerms, DeliveryQueue};
use portcullis_storage::encryption::{Context, KeyRing};
use portcullis_storage::{Store, StoreError, Tx};
use tokio::sync::Semaphore;

use crate::attempt::{self, AttemptOutcome};
use crate::metrics::DeliveryMetrics;
use crate::schedule::Schedule;

/// Deliveries in a row before a queue is released, so that other queues get their turn.
const MAX_IN_A_ROW: usize = 32;
/// An attempt that takes longer makes its queue a slow one.
const SLOW: Duration = Duration::from_secs(1);
/// The time from the longest attempt to the end of its lease (`docs/semantics.md`, section 7.8).
const LEASE_MARGIN: Duration = Duration::from_secs(5);
/// The most transactions of all queues at a time. The limit leaves connections to requests.
pub const MAX_TRANSACTIONS: usize = 4;
/// The pause before a failed transaction is repeated.
const STORE_PAUSE: Duration = Duration::from_millis(500);

/// Delivers the due deliveries of a queue.
#[derive(Debug)]
pub struct DeliveryWorker {
    pub store: Store,
    /// A client that obeys the egress rules and whose requests take at most `timeout`.
    pub client: Client,
    pub timeout: Duration,
    pub keys: KeyRing,
    pub clock: Clock,
    pub ids: Ids,
    pub schedule: Schedule,
    /// Names this process as the holder of queues.
    pub holder: String,
    /// [`MAX_TRANSACTIONS`] permits.
    pub transactions: Semaphore,
    /// Set when the process begins to stop.
    pub stopping: AtomicBool,
    pub metrics: DeliveryMetrics,
}

/// A completed attempt.
struct CompletedAttempt {
    job: Job,
    record: AttemptRecord,
    /// It failed or took long.
    slow: bool,
}

/// The next step of a queue after an attempt.
#[derive(Clone, Copy)]
enum Next {
    /// Another delivery: a retry before a first attempt, or the other way round.
    Deliver { retry_first: bool },
    /// The release of the queue.
    Release,
}

impl DeliveryWorker {
    /// Returns the terms of a claim at this moment.
    pub(crate) fn terms(&self) -> ClaimTerms<'_> {
        ClaimTerms {
            holder: &self.holder,
            now: self.clock.now().into(),
            lease: self.timeout + LEASE_MARGIN,
            longest_wait: self.schedule.longest_wait(),
        }
    }

    /// Serves a claimed queue until nothing is due or it is the turn of other queues, and releases it.
    pub(crate) async fn serve(&self, queue: &DeliveryQueue) {
        let mut job = self.persist(|| self.first_job(queue)).await;
        for count in 1.. {
            let Some(current) = job else { return };
            // A retry follows each first attempt, so that no kind of attempt waits for all of the other kind.
            let retry_first = current.is_first();
            let done = self.attempt(queue, current).await;
            let turned_slow = done.slow && !queue.slow;
            let more = count < MAX_IN_A_ROW && !turned_slow && !self.is_stopping();
            let next = if more { Next::Deliver { retry_first } } else { Next::Release };
            job = self.persist(|| self.next_job(queue, Some(&done), next)).await;
        }
    }

    /// Releases a queue without an attempt.
    pub(crate) async fn release(&self, queue: &DeliveryQueue) {
        self.persist(|| self.next_job(queue, None, Next::Release)).await;
    }

    /// Makes the worker begin nothing new.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Repeats `step` while the store fails, so that the outcome of an attempt is not lost.
    async fn persist<F>(&self, step: impl Fn() -> F) -> Option<Job>
    where
        F: Future<Output = Result<Option<Job>, StoreError>>,
    {
        for failures in 1.. {
            match step().await {
                Ok(job) => return job,
                Err(_) if self.is_stopping() => break,
                // One line is enough: the dispatcher logs each failure of the store.
                Err(error) if failures == 1 => {
                    tracing::warn!(%error, "cannot record a delivery attempt");
                }
                Err(_) => {}
            }
            tokio::time::sleep(STORE_PAUSE).await;
        }
        None
    }

    async fn first_job(&self, queue: &DeliveryQueue) -> Result<Option<Job>, StoreError> {
        let permit = self.transactions.acquire().await;
        let mut tx = self.store.read(&queue.tenant).await?;
        let job = next_due(&mut tx, queue, &self.terms(), false).await?;
        tx.end().await?;
        drop(permit);
        match job {
            Some(job) if job.must_report() => {
                self.next_job(queue, None, Next::Deliver { retry_first: false }).await
            }
            Some(job) => Ok(Some(job)),
            None => self.next_job(queue, None, Next::Release).await,
        }
    }

    /// Stores the outcome of `done` and returns the next job, if `next` asks for one and one is due. Otherwise it
    /// releases the queue. Stores nothing if another process has claimed the queue: its attempts count.
    async fn next_job(
        &self,
        queue: &DeliveryQueue,
        done: Option<&CompletedAttempt>,
        next: Next,
    ) -> Result<Option<Job>, StoreError> {
        let _permit = self.transactions.acquire().await;
        let terms = self.terms();
        let mut tx = self.store.write_as(&queue.tenant).await?;
        if !delivery_queues::renew(&mut tx, queue, &terms).await? {
            tx.end().await?;
            return Ok(None);
        }
        if let Some(CompletedAttempt { job, record, .. }) = done {
            deliveries::record_attempt(&mut tx, queue, job, record, terms.now).await?;
        }
        let mut job = match next {
            Next::Deliver { retry_first } => next_due(&mut tx, queue, &terms, retry_first).await?,
            Next::Release => None,
        };
        if let Some(job) = job.as_mut().filter(|job| job.must_report()) {
            deliveries::report_dropped(&mut tx, queue, job).await?;
        }
        if job.is_none() {
            let slow = done.map_or(queue.slow, |done| done.slow);
            delivery_queues::release(&mut tx, queue, slow, terms.now).await?;
        }
        tx.commit().await?;
        Ok(job)
    }

    async fn attempt(&self, queue: &DeliveryQueue, job: Job) -> CompletedAttempt {
        let at = Timestamp::from(self.clock.now());
        let context = Context::of_webhook_secret(&queue.tenant, queue.webhook);
        let outcome = match self.keys.decrypt(context, &job.secret) {
            Ok(secret) => attempt::send(&self.client, &job, &secret, at).await,
            Err(error) => {
                tracing::error!(%error, webhook = %queue.webhook, "cannot sign a delivery");
                AttemptOutcome::unsigned()
            }
        };
        let record = self.attempt_record(&job, outcome, at);
        self.metrics.made(record.state);
        let slow = record.state != DeliveryState::Delivered
            || u128::try_from(record.duration_ms).unwrap_or(0) > SLOW.as_millis();
        CompletedAttempt { job, record, slow }
    }

    /// Returns the record of an attempt at `at`, with the state of the delivery after it.
    fn attempt_record(&self, job: &Job, outcome: AttemptOutcome, at: Timestamp) -> AttemptRecord {
        let wait = self.schedule.wait_after(job.failures + 1);
        let (state, wait) = match (&outcome.error, wait) {
            (None, _) => (DeliveryState::Delivered, None),
            (Some(_), Some(wait)) => (DeliveryState::Retrying, Some(wait)),
            (Some(_), None) => (DeliveryState::Dead, None),
        };
        let now = Timestamp::from(self.clock.now());
        AttemptRecord {
            id: self.ids.next(at),
            delivery_id: job.delivery,
            event_id: job.event,
            event_type: job.event_type.clone(),
            retry_count: job.failures,
            http_status: outcome.status.map(i64::from),
            response_body: outcome.body,
            error: outcome.error,
            duration_ms: i64::try_from(outcome.duration.as_millis()).unwrap_or(i64::MAX),
            state,
            attempted_at: at,
            next_attempt_at: wait.map(|wait| now.after(wait)),
        }
    }
}

/// Finds the due delivery of a queue that comes next.
async fn next_due(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    terms: &ClaimTerms<'_>,
    retry_first: bool,
) -> Result<Option<Job>, StoreError> {
    let id = queue.id();
    if retry_first && let Some(job) = deliveries::next_retry(tx, id, terms).await? {
        return Ok(Some(job));
    }
    match deliveries::next_first(tx, id).await? {
        None if !retry_first => deliveries::next_retry(tx, id, terms).await,
        job => Ok(job),
    }
}
