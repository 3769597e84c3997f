//! Serves one lane: one attempt after the other, none inside of a transaction.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::attempt::{self, Outcome};
use super::schedule::Schedule;
use crate::metrics::DeliveryMetrics;
use portcullis_egress::Client;
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::ids::Ids;
use portcullis_storage::deliveries::{self, Job};
use portcullis_storage::encryption::{Context, KeyRing};
use portcullis_storage::lanes::{self, Lane, Terms};
use portcullis_storage::{Store, StoreError, Tx};

/// Deliveries in a row before a lane goes back into the queue.
const MAX_IN_A_ROW: usize = 32;
/// An attempt that takes longer makes its lane a slow one.
const SLOW: Duration = Duration::from_secs(1);
/// How long a lease outlasts an attempt (`docs/semantics.md`, section 7.8).
const LEASE_MARGIN: Duration = Duration::from_secs(5);
/// Transactions of all lanes at a time, so that they leave connections to whoever waits for an answer.
pub const MAX_TRANSACTIONS: usize = 4;
/// Pause before the store is asked again after a failure.
const STORE_PAUSE: Duration = Duration::from_millis(500);

/// Delivers what is due in a lane.
#[derive(Debug)]
pub struct Courier {
    pub store: Store,
    /// A guarded one, whose requests take no longer than `timeout`.
    pub client: Client,
    pub timeout: Duration,
    pub keys: KeyRing,
    pub clock: Clock,
    pub ids: Ids,
    pub schedule: Schedule,
    /// Who holds the lanes that this process serves.
    pub holder: String,
    /// [`MAX_TRANSACTIONS`] permits.
    pub transactions: Semaphore,
    /// Set when the process is to end.
    pub stopping: AtomicBool,
    pub metrics: DeliveryMetrics,
}

/// An attempt that is over.
struct Done {
    job: Job,
    attempt: AttemptRecord,
    slow: bool,
}

impl Courier {
    /// The terms of a claim at this moment.
    pub(super) fn terms(&self) -> Terms<'_> {
        Terms {
            holder: &self.holder,
            now: self.clock.now().into(),
            lease: self.timeout + LEASE_MARGIN,
            longest_wait: self.schedule.longest_wait(),
        }
    }

    /// Serves a lane that was claimed, until nothing is due or it is others' turn, and gives it back.
    pub(super) async fn serve(&self, lane: &Lane) {
        // After each first attempt a retry has its turn, so that neither waits for all of the others.
        let mut job = self.persist(|| self.first_job(lane)).await;
        for count in 1.. {
            let Some(current) = job else { return };
            let retry_first = current.is_first();
            let done = self.attempt(lane, current).await;
            let turned_slow = done.slow && !lane.slow;
            let on = count < MAX_IN_A_ROW && !turned_slow && !self.is_stopping();
            job = self.persist(|| self.next_job(lane, Some(&done), on, retry_first)).await;
        }
    }

    /// Gives back a lane, whatever has become of it.
    pub(super) async fn give_back(&self, lane: &Lane) {
        self.persist(|| self.next_job(lane, None, false, false)).await;
    }

    /// Begins nothing new from here on.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Does it again and again while the store fails. What an attempt achieved is not forgotten for that.
    async fn persist<F>(&self, step: impl Fn() -> F) -> Option<Job>
    where
        F: Future<Output = Result<Option<Job>, StoreError>>,
    {
        for failures in 1.. {
            match step().await {
                Ok(job) => return job,
                Err(_) if self.is_stopping() => break,
                // Once is enough: the worker goes on saying so.
                Err(error) if failures == 1 => {
                    tracing::warn!(%error, "cannot write down what was delivered");
                }
                Err(_) => {}
            }
            tokio::time::sleep(STORE_PAUSE).await;
        }
        None
    }

    async fn first_job(&self, lane: &Lane) -> Result<Option<Job>, StoreError> {
        let turn = self.transactions.acquire().await;
        let mut tx = self.store.read(&lane.tenant).await?;
        let job = due(&mut tx, lane, &self.terms(), false).await?;
        tx.end().await?;
        drop(turn);
        match job {
            Some(job) => Ok(Some(job)),
            None => self.next_job(lane, None, false, false).await,
        }
    }

    /// Writes down what is done, and gives the next job, if there is to be one; without, the lane is given
    /// back. `None` too if somebody else has claimed the lane: then it is theirs to say what was done.
    async fn next_job(
        &self,
        lane: &Lane,
        done: Option<&Done>,
        on: bool,
        retry_first: bool,
    ) -> Result<Option<Job>, StoreError> {
        let _turn = self.transactions.acquire().await;
        let terms = self.terms();
        let mut tx = self.store.write_as(&lane.tenant).await?;
        if !lanes::renew(&mut tx, lane, &terms).await? {
            tx.end().await?;
            return Ok(None);
        }
        if let Some(done) = done {
            let (job, attempt) = (&done.job, &done.attempt);
            deliveries::record(&mut tx, lane.webhook, job, attempt, terms.now).await?;
        }
        let job = if on { due(&mut tx, lane, &terms, retry_first).await? } else { None };
        if job.is_none() {
            let slow = done.map_or(lane.slow, |done| done.slow);
            lanes::release(&mut tx, lane, slow, terms.now).await?;
        }
        tx.commit().await?;
        Ok(job)
    }

    async fn attempt(&self, lane: &Lane, job: Job) -> Done {
        let at = Timestamp::from(self.clock.now());
        let context = Context::of_webhook_secret(&lane.tenant, lane.webhook);
        let outcome = match self.keys.decrypt(context, &job.secret) {
            Ok(secret) => attempt::send(&self.client, &job, &secret, at).await,
            Err(error) => {
                tracing::error!(%error, webhook = %lane.webhook, "cannot sign a delivery");
                Outcome::unsigned()
            }
        };
        let attempt = self.judge(&job, outcome, at);
        self.metrics.made(attempt.state);
        let slow = attempt.state != DeliveryState::Delivered
            || u128::try_from(attempt.duration_ms).unwrap_or(0) > SLOW.as_millis();
        Done { job, attempt, slow }
    }

    /// The record of an attempt at `at`, and what follows from it.
    fn judge(&self, job: &Job, outcome: Outcome, at: Timestamp) -> AttemptRecord {
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

/// The delivery whose turn it is.
async fn due(
    tx: &mut Tx,
    lane: &Lane,
    terms: &Terms<'_>,
    retry_first: bool,
) -> Result<Option<Job>, StoreError> {
    if retry_first && let Some(job) = deliveries::next_retry(tx, lane.webhook, terms).await? {
        return Ok(Some(job));
    }
    match deliveries::next_first(tx, lane.webhook).await? {
        None if !retry_first => deliveries::next_retry(tx, lane.webhook, terms).await,
        job => Ok(job),
    }
}
