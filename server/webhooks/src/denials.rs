//! The events of denied checks, stored by group commit: one transaction stores the events of all checks of a tenant
//! that were denied during the transaction before it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_model::event::Event;
use portcullis_storage::{Store, StoreError, WriteTurn};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::time::Instant;

/// The longest time that an answer waits for its event. After that, the decision matters more.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most events of one transaction. Each has a delivery for up to 50 webhooks, and other writes wait meanwhile.
const MAX_GROUP: usize = 256;
/// The most events of a tenant in memory. They grow only while the store is slow or down.
const MAX_WAITING: usize = 10_000;
/// The most transactions at a time. The limit leaves connections to other requests.
const MAX_TRANSACTIONS: usize = 4;

/// Stores the events of denied checks.
#[derive(Clone, Debug)]
pub(crate) struct Denials(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    /// The events that are not stored yet, by tenant. Each tenant in this map has a task that stores them.
    queues: Mutex<HashMap<String, Vec<Waiting>>>,
    transactions: Semaphore,
    wake: Arc<Notify>,
    /// Counts the events that may be lost.
    lost: Counter,
    /// Counts the deliveries that were dropped because too many waited.
    dropped: Counter,
}

/// The tenant that an event was added for.
enum Added {
    /// It has no task that stores its events.
    Idle,
    /// It has one.
    Busy,
    /// It has too many events, and this one was not added.
    Full,
}

#[derive(Debug)]
struct Waiting {
    event: Event,
    /// Notified after the commit of the event.
    written: oneshot::Sender<()>,
}

impl Denials {
    pub(crate) fn new(store: Store, wake: Arc<Notify>, lost: Counter, dropped: Counter) -> Self {
        Self(Arc::new(Shared {
            store,
            queues: Mutex::default(),
            transactions: Semaphore::new(MAX_TRANSACTIONS),
            wake,
            lost,
            dropped,
        }))
    }

    /// Returns the number of events that are not stored yet.
    pub(crate) fn len(&self) -> usize {
        self.0.queues.lock().values().map(Vec::len).sum()
    }

    /// Stores `events` of `tenant`, or counts and logs those that may be lost.
    pub(crate) async fn write(&self, tenant: &str, events: Vec<Event>) {
        let deadline = Instant::now() + PATIENCE;
        let mut notified = Vec::with_capacity(events.len());
        for event in events {
            let (written, waits) = oneshot::channel();
            if let Added::Idle = self.0.enqueue(tenant, Waiting { event, written }) {
                let (shared, tenant) = (Arc::clone(&self.0), tenant.to_owned());
                tokio::spawn(async move { shared.write_all(&tenant).await });
            }
            notified.push(waits);
        }
        let mut missing = 0;
        for waits in notified {
            // An event that was not added drops its sender, so this does not wait.
            if !matches!(tokio::time::timeout_at(deadline, waits).await, Ok(Ok(()))) {
                missing += 1;
            }
        }
        if missing > 0 {
            let lost = self.0.lost.inc_by(missing) + missing;
            tracing::error!(lost, "an `access.denied` event may be lost: the store is unavailable");
        }
    }
}

impl Shared {
    /// Adds an event to the queue of its tenant.
    fn enqueue(&self, tenant: &str, waiting: Waiting) -> Added {
        let mut queues = self.queues.lock();
        match queues.get_mut(tenant) {
            Some(queue) if queue.len() >= MAX_WAITING => Added::Full,
            Some(queue) => {
                queue.push(waiting);
                Added::Busy
            }
            None => {
                queues.insert(tenant.to_owned(), vec![waiting]);
                Added::Idle
            }
        }
    }

    /// Removes the next group of events from the queue of the tenant. An empty queue is removed itself.
    fn dequeue(&self, tenant: &str) -> Vec<Waiting> {
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(tenant) else { return Vec::new() };
        let group: Vec<_> = queue.drain(..queue.len().min(MAX_GROUP)).collect();
        if group.is_empty() {
            queues.remove(tenant);
        }
        group
    }

    async fn write_all(&self, tenant: &str) {
        loop {
            // The turn first: a tenant whose writes take long must not hold a permit meanwhile.
            let turn = self.store.patient_turn(tenant).await;
            let permit = self.transactions.acquire().await;
            let group = self.dequeue(tenant);
            if group.is_empty() {
                return;
            }
            let (events, waiting): (Vec<_>, Vec<_>) =
                group.into_iter().map(|one| (one.event, one.written)).unzip();
            let due = match self.commit(turn, events).await {
                Ok(due) => due,
                Err(error) => {
                    // The senders are dropped, so each waiting check counts its event as lost.
                    tracing::warn!(%error, "cannot write `access.denied` events");
                    continue;
                }
            };
            drop(permit);
            // A check that gave up waiting has counted its event as lost already.
            for one in waiting {
                let _ = one.send(());
            }
            if due {
                self.wake.notify_one();
            }
        }
    }

    /// Stores the events, and returns whether the dispatcher must look for due delivery queues.
    async fn commit(
        &self,
        turn: Result<WriteTurn, StoreError>,
        events: Vec<Event>,
    ) -> Result<bool, StoreError> {
        let now = events.first().map_or(0, |event| event.at.millis());
        let mut tx = self.store.write_in(turn?, now).await?;
        events.into_iter().for_each(|event| tx.record(event));
        let committed = tx.commit().await?;
        self.dropped.inc_by(committed.writes.dropped_denials);
        Ok(committed.writes.deliveries)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::Timestamp;
    use portcullis_storage::testing::TestDatabase;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_tenant_has_a_limited_number_of_events_in_memory() {
        let Some(database) = TestDatabase::sqlite() else { return };
        let (store, wake) = (database.open().await, Arc::new(Notify::new()));
        let Denials(shared) = Denials::new(store, wake, Counter::default(), Counter::default());
        let add = |tenant| {
            let event = Event::test(Uuid::nil(), Timestamp::from_millis(0));
            shared.enqueue(tenant, Waiting { event, written: oneshot::channel().0 })
        };
        assert!(matches!(add("acme"), Added::Idle));
        assert!((1..MAX_WAITING).all(|_| matches!(add("acme"), Added::Busy)));
        assert!(matches!(add("acme"), Added::Full));
        assert!(matches!(add("bolt"), Added::Idle), "another tenant");
        // A tenant without an event takes no memory.
        for tenant in ["acme", "bolt"] {
            while !shared.dequeue(tenant).is_empty() {}
        }
        assert!(shared.queues.lock().is_empty());
    }
}
