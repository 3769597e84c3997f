//! Serves delivery queues: takes a batch of deliveries, makes their attempts in order, and records them together. No
//! attempt is made inside a transaction.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use portcullis_egress::Client;
use portcullis_fairness::{TurnLimits, TurnQueue};
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::ids::Ids;
use portcullis_storage::delivery_queues::{self, ClaimTerms, DeliveryQueue};
use portcullis_storage::encryption::{Context, KeyRing};
use portcullis_storage::jobs::{self, Job};
use portcullis_storage::{Store, StoreError, Tx, deliveries};
use tokio::time::Instant;
use url::Url;

use crate::attempt::{self, AttemptOutcome, Target};
use crate::metrics::DeliveryMetrics;
use crate::schedule::Schedule;

/// Batches in a row before a queue is released, so that other queues get their turn. A batch of other events than denied
/// checks is one delivery.
const MAX_BATCHES: usize = 32;
/// Batches of denied checks in a row: fewer, because a batch is more work.
const MAX_BATCHES_OF_DENIALS: usize = 8;
/// The most denied checks of a batch. 256 queues with batches of 1 KiB each hold 32 MiB.
const DENIALS_IN_BATCH: i64 = 128;
/// The time after which a batch begins no further attempt, so that the longest attempt ends before the lease does.
const MAX_BATCH_TIME: Duration = Duration::from_secs(1);
/// An attempt that takes longer makes its queue a slow one.
const SLOW: Duration = Duration::from_secs(1);
/// The time from the longest attempt to the end of its lease (`docs/semantics.md`, section 7.8).
const LEASE_MARGIN: Duration = Duration::from_secs(5);
/// The most transactions of all queues at a time. The limit leaves connections to requests.
pub const TRANSACTIONS: TurnLimits = TurnLimits { at_once: 4, ..TurnLimits::NONE };
/// The pause before a failed transaction is repeated.
const STORE_PAUSE: Duration = Duration::from_millis(500);

/// Delivers the due deliveries of a queue.
#[derive(Debug)]
pub struct DeliveryWorker {
    pub store: Store,
    /// A client that obeys the egress rules and whose requests take at most `timeout`.
    pub client: Client,
    pub timeout: Duration,
    /// The most denied checks that are sent to one webhook at a time.
    pub denials_at_once: usize,
    pub keys: KeyRing,
    pub clock: Clock,
    pub ids: Ids,
    pub schedule: Schedule,
    /// Names this process as the holder of queues.
    pub holder: String,
    /// Turns within [`TRANSACTIONS`].
    pub transactions: TurnQueue,
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
        let most = if queue.denials { MAX_BATCHES_OF_DENIALS } else { MAX_BATCHES };
        let mut jobs = self.persist(|| self.first_jobs(queue)).await;
        for count in 1.. {
            // A batch of retries follows each one of first attempts, so that no kind waits for all of the other kind.
            let Some(retry_first) = jobs.first().map(Job::is_first) else { return };
            let done = self.attempts(queue, jobs).await;
            let turned_slow = is_slow(&done) && !queue.slow;
            let more = count < most && !turned_slow && !self.is_stopping();
            let next = if more { Next::Deliver { retry_first } } else { Next::Release };
            jobs = self.persist(|| self.next_jobs(queue, &done, next)).await;
        }
    }

    /// Releases a queue without an attempt.
    pub(crate) async fn release(&self, queue: &DeliveryQueue) {
        self.persist(|| self.next_jobs(queue, &[], Next::Release)).await;
    }

    /// Makes the worker begin nothing new.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Repeats `step` while the store fails, so that the outcome of an attempt is not lost.
    async fn persist<F>(&self, step: impl Fn() -> F) -> Vec<Job>
    where
        F: Future<Output = Result<Vec<Job>, StoreError>>,
    {
        for failures in 1.. {
            match self.store.repeated(&step).await {
                Ok(jobs) => return jobs,
                Err(_) if self.is_stopping() => break,
                // One line is enough: the dispatcher logs each failure of the store.
                Err(error) if failures == 1 => {
                    tracing::warn!(%error, "cannot record delivery attempts");
                }
                Err(_) => {}
            }
            tokio::time::sleep(STORE_PAUSE).await;
        }
        Vec::new()
    }

    async fn first_jobs(&self, queue: &DeliveryQueue) -> Result<Vec<Job>, StoreError> {
        let turn = self.transactions.begin_patiently(&queue.tenant).await;
        let jobs = self
            .store
            .read(&queue.tenant, async |tx| next_due(tx, queue, &self.terms(), false).await)
            .await?;
        // `next_jobs` takes a turn of its own: holding two could keep all queues waiting for each other.
        drop(turn);
        match jobs.first() {
            Some(job) if job.must_report() => {
                self.next_jobs(queue, &[], Next::Deliver { retry_first: false }).await
            }
            Some(_) => Ok(jobs),
            None => self.next_jobs(queue, &[], Next::Release).await,
        }
    }

    /// Stores the outcomes of `done` and returns the next jobs, if `next` asks for some and some are due. Otherwise it
    /// releases the queue. Stores nothing if another process has claimed the queue: its attempts count.
    async fn next_jobs(
        &self,
        queue: &DeliveryQueue,
        done: &[CompletedAttempt],
        next: Next,
    ) -> Result<Vec<Job>, StoreError> {
        let _turn = self.transactions.begin_patiently(&queue.tenant).await;
        let terms = self.terms();
        let mut tx = self.store.write_as(&queue.tenant).await?;
        if !delivery_queues::renew(&mut tx, queue, &terms).await? {
            tx.end().await?;
            return Ok(Vec::new());
        }
        let made: Vec<_> = done.iter().map(|done| (&done.job, &done.record)).collect();
        deliveries::record_attempts(&mut tx, queue, &made, terms.now).await?;
        let mut due = match next {
            Next::Deliver { retry_first } => next_due(&mut tx, queue, &terms, retry_first).await?,
            Next::Release => Vec::new(),
        };
        if let Some(job) = due.first_mut().filter(|job| job.must_report()) {
            jobs::report_dropped(&mut tx, queue, job).await?;
        }
        if due.is_empty() {
            // Without an attempt, nothing new is known about the receiver.
            let slow = if done.is_empty() { queue.slow } else { is_slow(done) };
            delivery_queues::release(&mut tx, queue, slow, terms.now).await?;
        }
        tx.commit().await?;
        Ok(due)
    }

    /// Makes the attempts of a batch, which begin in order. After an attempt that failed or took long, or when the batch
    /// takes long, no other one begins: their deliveries stay due.
    async fn attempts(&self, queue: &DeliveryQueue, jobs: Vec<Job>) -> Vec<CompletedAttempt> {
        let began = Instant::now();
        let goes_on = AtomicBool::new(true);
        let target = jobs.first().and_then(|job| self.target(queue, job));
        let attempt = async |job| {
            let done = self.attempt(target.as_ref(), job).await;
            if done.slow {
                goes_on.store(false, Ordering::Relaxed);
            }
            done
        };
        let at_once = if queue.denials { self.denials_at_once } else { 1 };
        // The condition is asked when an attempt may begin, so that it sees how earlier ones ended.
        let begun = stream::iter(jobs).take_while(|_| {
            std::future::ready(
                goes_on.load(Ordering::Relaxed)
                    && began.elapsed() < MAX_BATCH_TIME
                    && !self.is_stopping(),
            )
        });
        begun.map(attempt).buffer_unordered(at_once).collect().await
    }

    /// Returns the receiver of a batch, which was read with its jobs. `None` if its secret cannot be decrypted.
    fn target(&self, queue: &DeliveryQueue, job: &Job) -> Option<Target> {
        let context = Context::for_webhook_secret(&queue.tenant, queue.webhook);
        match self.keys.decrypt(context, &job.secret) {
            Ok(secret) => {
                let client = self.client.for_tenant(&queue.tenant);
                Some(Target { client, url: Url::parse(&job.url), secret })
            }
            Err(error) => {
                tracing::error!(%error, webhook = %queue.webhook, "cannot sign a delivery");
                None
            }
        }
    }

    async fn attempt(&self, target: Option<&Target>, job: Job) -> CompletedAttempt {
        let at = Timestamp::from(self.clock.now());
        let outcome = match target {
            Some(target) => attempt::send(&job, target, at).await,
            None => AttemptOutcome::unsigned(),
        };
        let is_gone = outcome.is_gone();
        let record = self.attempt_record(&job, outcome, at);
        self.metrics.made(record.state, is_gone);
        let slow = record.state != DeliveryState::Delivered
            || u128::try_from(record.duration_ms).unwrap_or(0) > SLOW.as_millis();
        CompletedAttempt { job, record, slow }
    }

    /// Returns the record of an attempt at `at`, with the state of the delivery after it.
    fn attempt_record(&self, job: &Job, outcome: AttemptOutcome, at: Timestamp) -> AttemptRecord {
        let wait = self.schedule.wait_after(job.failures + 1, outcome.pause);
        let (state, wait) = match (&outcome.error, wait) {
            (None, _) => (DeliveryState::Delivered, None),
            (Some(_), Some(wait)) => (DeliveryState::Retrying, Some(wait)),
            (Some(_), None) => (DeliveryState::Dead, None),
        };
        // The wait begins with the end of the attempt: `at` is its begin.
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

/// Tells whether an attempt failed or took long.
fn is_slow(done: &[CompletedAttempt]) -> bool {
    done.iter().any(|done| done.slow)
}

/// Finds the due deliveries of a queue that come next: first attempts or retries. Of a slow queue it is one, because the
/// others would probably not get their turn.
async fn next_due(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    terms: &ClaimTerms<'_>,
    retry_first: bool,
) -> Result<Vec<Job>, StoreError> {
    let id = queue.id();
    let limit = if queue.denials && !queue.slow { DENIALS_IN_BATCH } else { 1 };
    if retry_first {
        let retries = jobs::next_retries(tx, id, terms, limit).await?;
        if !retries.is_empty() {
            return Ok(retries);
        }
    }
    let firsts = jobs::next_firsts(tx, id, limit).await?;
    if firsts.is_empty() && !retry_first {
        return jobs::next_retries(tx, id, terms, limit).await;
    }
    Ok(firsts)
}
