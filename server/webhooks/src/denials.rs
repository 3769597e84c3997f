//! Denied checks become events by group commit: whatever a tenant's checks denied while a transaction was
//! under way is written by the next one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use tokio::sync::{Notify, Semaphore, oneshot};

use portcullis_model::event::Event;
use portcullis_storage::{Store, StoreError};

/// How long an answer waits for its event to be written: the decision matters more.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most events of one transaction.
const MAX_GROUP: usize = 500;
/// Most transactions at a time, so that denied checks leave connections to everything else.
const MAX_TRANSACTIONS: usize = 4;

/// Writes denied checks down.
#[derive(Clone, Debug)]
pub(super) struct Denials(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    /// What waits to be written, by tenant. A tenant that is in here has a task that writes.
    queues: Mutex<HashMap<String, Vec<Waiting>>>,
    transactions: Semaphore,
    wake: Arc<Notify>,
    /// Events that were not written.
    lost: Counter,
}

#[derive(Debug)]
struct Waiting {
    event: Event,
    /// Told once the event is committed.
    written: oneshot::Sender<()>,
}

impl Denials {
    pub(super) fn new(store: Store, wake: Arc<Notify>, lost: Counter) -> Self {
        Self(Arc::new(Shared {
            store,
            queues: Mutex::default(),
            transactions: Semaphore::new(MAX_TRANSACTIONS),
            wake,
            lost,
        }))
    }

    /// Writes `event` of `tenant`, or counts and logs that it may be lost.
    pub(super) async fn write(&self, tenant: &str, event: Event) {
        let (written, told) = oneshot::channel();
        if self.0.enqueue(tenant, Waiting { event, written }) {
            let (shared, tenant) = (Arc::clone(&self.0), tenant.to_owned());
            tokio::spawn(async move { shared.write_all(&tenant).await });
        }
        if !matches!(tokio::time::timeout(PATIENCE, told).await, Ok(Ok(()))) {
            let lost = self.0.lost.inc() + 1;
            tracing::error!(lost, "an `access.denied` event may be lost: the store is unavailable");
        }
    }
}

impl Shared {
    /// Gives whether the tenant needs a task that writes.
    fn enqueue(&self, tenant: &str, waiting: Waiting) -> bool {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get_mut(tenant) {
            queue.push(waiting);
            return false;
        }
        queues.insert(tenant.to_owned(), vec![waiting]);
        true
    }

    /// The next group of the tenant; none once its queue is empty, and gone.
    fn dequeue(&self, tenant: &str) -> Vec<Waiting> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = queues.get_mut(tenant) else { return Vec::new() };
        let group: Vec<_> = queue.drain(..queue.len().min(MAX_GROUP)).collect();
        if group.is_empty() {
            queues.remove(tenant);
        }
        group
    }

    async fn write_all(&self, tenant: &str) {
        loop {
            let turn = self.transactions.acquire().await;
            let group = self.dequeue(tenant);
            if group.is_empty() {
                return;
            }
            let (events, waiting): (Vec<_>, Vec<_>) =
                group.into_iter().map(|one| (one.event, one.written)).unzip();
            if let Err(error) = self.commit(tenant, events).await {
                // Whoever waits is told by the channel's end.
                tracing::warn!(%error, "cannot write `access.denied` events");
                continue;
            }
            drop(turn);
            // A check that waits no longer has counted its event already.
            for one in waiting {
                let _ = one.send(());
            }
            self.wake.notify_one();
        }
    }

    async fn commit(&self, tenant: &str, events: Vec<Event>) -> Result<(), StoreError> {
        let now = events.first().map_or(0, |event| event.at.millis());
        let mut tx = self.store.write(tenant, now).await?;
        events.into_iter().for_each(|event| tx.happened(event));
        tx.commit().await.map(drop)
    }
}
