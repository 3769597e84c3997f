//! Claims delivery queues that are due and starts a task of the delivery worker for each. Sleeps until a queue is due
//! or a notification wakes it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use portcullis_storage::StoreError;
use portcullis_storage::delivery_queues::{self, DeliveryQueue};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::delivery_worker::DeliveryWorker;

/// The most queues that are served at a time. Each needs a socket, and memory for an event and a response.
const MAX_QUEUES: usize = 256;
/// The most slow queues among them. The limit leaves room for receivers that are neither dead nor slow.
const MAX_SLOW_QUEUES: usize = 128;
/// The longest sleep, because a notification can get lost.
const MAX_SLEEP: Duration = Duration::from_secs(5);
/// The pause after a failure of the store, and after a round in which no due queue could be claimed.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest time that attempts in progress get when the process stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Delivers events in the background.
#[derive(Debug)]
pub struct Dispatcher {
    worker: Arc<DeliveryWorker>,
    /// The name of this replica, which a restart keeps.
    replica: String,
    wake: Arc<Notify>,
    slow_queues: Arc<AtomicUsize>,
}

impl Dispatcher {
    pub fn new(worker: Arc<DeliveryWorker>, replica: String, wake: Arc<Notify>) -> Self {
        Self { worker, replica, wake, slow_queues: Arc::default() }
    }

    /// Delivers until the delivery worker stops, and then waits for the attempts in progress.
    pub async fn run(self) {
        let mut served = JoinSet::new();
        let mut taken_over = false;
        while !self.worker.is_stopping() {
            if !taken_over {
                taken_over = self.take_over().await;
            }
            let pause = self.claim(&mut served).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "cannot read the due delivery queues");
                PAUSE
            });
            tokio::select! {
                () = self.wake.notified() => {}
                // While nothing is served this branch is disabled, and the others decide.
                Some(_) = served.join_next() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        let rest = async { while served.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, rest).await.is_err() {
            tracing::warn!("stopped with deliveries in progress; they will be repeated");
        }
    }

    /// Releases the queues that this replica held when its last process ended. False if the store is down.
    async fn take_over(&self) -> bool {
        let release = self.worker.store.repeated(|| self.release_all()).await;
        match &release {
            Ok(count) => tracing::debug!(count, "took over delivery queues"),
            Err(error) => tracing::warn!(%error, "cannot take over delivery queues"),
        }
        release.is_ok()
    }

    async fn release_all(&self) -> Result<u64, StoreError> {
        let mut tx = self.worker.store.write_all().await?;
        let count = delivery_queues::release_all(&mut tx, &self.replica).await?;
        tx.commit().await?;
        Ok(count)
    }

    /// Claims due queues, as far as there is room, and starts to serve them. Returns the time to sleep.
    async fn claim(&self, served: &mut JoinSet<()>) -> Result<Duration, StoreError> {
        // A finished task counts in `len` until it is joined.
        while served.try_join_next().is_some() {}
        let room = MAX_QUEUES.saturating_sub(served.len());
        if room == 0 {
            return Ok(MAX_SLEEP);
        }
        let terms = self.worker.terms();
        let store = &self.worker.store;
        // A read comes first: while nothing is due, no transaction that writes is begun.
        let due =
            store.read_all(async |tx| delivery_queues::next_due(tx, terms.holder).await).await?;
        match due {
            None => return Ok(MAX_SLEEP),
            Some(due) if terms.is_ahead(due) => {
                let millis = u64::try_from(due - terms.now.millis()).unwrap_or(0);
                return Ok(Duration::from_millis(millis).min(MAX_SLEEP));
            }
            Some(_) => {}
        }
        let slow_room = MAX_SLOW_QUEUES.saturating_sub(self.slow_queues.load(Ordering::Relaxed));
        let mut tx = self.worker.store.write_all().await?;
        let mut claimed = delivery_queues::claim(&mut tx, &terms, false, room).await?;
        // `claim` returns at most `room` queues.
        let slow_room = slow_room.min(room - claimed.len());
        claimed.extend(delivery_queues::claim(&mut tx, &terms, true, slow_room).await?);
        tx.commit().await?;
        if claimed.is_empty() {
            return Ok(PAUSE);
        }
        for queue in claimed {
            self.start(served, queue);
        }
        Ok(Duration::ZERO)
    }

    fn start(&self, served: &mut JoinSet<()>, queue: DeliveryQueue) {
        let worker = Arc::clone(&self.worker);
        let guard = queue.slow.then(|| SlowQueueGuard::enter(&self.slow_queues));
        served.spawn(async move {
            let _guard = guard;
            // A panic must not keep the queue held: this process never claims a queue that it holds itself.
            if AssertUnwindSafe(worker.serve(&queue)).catch_unwind().await.is_err() {
                tracing::error!(webhook = %queue.webhook, "the delivery to a webhook panicked");
                worker.release(&queue).await;
            }
        });
    }
}

/// Counts a slow queue while it is served, also if its task panics.
struct SlowQueueGuard(Arc<AtomicUsize>);

impl SlowQueueGuard {
    fn enter(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for SlowQueueGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
