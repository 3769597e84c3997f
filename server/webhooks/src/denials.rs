//! The events of denied checks, stored by group commit: one transaction stores the events of all checks of a tenant
//! that were denied during the transaction before it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_fairness::{TurnLimits, TurnQueue};
use portcullis_model::event::Event;
use portcullis_storage::{Store, StoreError};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// The longest time that an answer waits for its event. After that, the decision matters more.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most events of one transaction. Each has a delivery for up to 50 webhooks, and other writes wait meanwhile.
const MAX_GROUP: usize = 256;
/// The most events of a tenant in memory. They grow only while the store is slow or down.
const MAX_WAITING: usize = 10_000;
/// The most transactions at a time. The limit leaves connections to other requests.
const TRANSACTIONS: TurnLimits = TurnLimits { at_once: 4, ..TurnLimits::NONE };

/// Stores the events of denied checks.
#[derive(Clone, Debug)]
pub(crate) struct Denials(Arc<DenialParts>);

#[derive(Debug)]
struct DenialParts {
    store: Store,
    /// The events that are not stored yet, by tenant. Each tenant in this map has a task that stores them.
    queues: Mutex<HashMap<String, Vec<Waiting>>>,
    transactions: TurnQueue,
    wake: Arc<Notify>,
    /// Counts the events that may be lost.
    lost: Counter,
    /// Counts the deliveries that were dropped because too many waited.
    dropped: Counter,
}

#[derive(Debug)]
struct Waiting {
    event: Event,
    /// Notified after the commit of the event.
    written: oneshot::Sender<()>,
}

impl Denials {
    pub(crate) fn new(store: Store, wake: Arc<Notify>, lost: Counter, dropped: Counter) -> Self {
        Self(Arc::new(DenialParts {
            store,
            queues: Mutex::default(),
            transactions: TurnQueue::new(TRANSACTIONS),
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
            if self.0.enqueue(tenant, Waiting { event, written }) {
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
            // `inc_by` returns the value from before.
            let lost = self.0.lost.inc_by(missing) + missing;
            tracing::error!(
                lost,
                "an `access.denied` event may be lost: it was not stored within 2 s"
            );
        }
    }
}

impl DenialParts {
    /// Adds an event to the queue of its tenant unless that is full. Returns whether the tenant had no queue, so that no task
    /// stores its events.
    fn enqueue(&self, tenant: &str, waiting: Waiting) -> bool {
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(tenant) else {
            queues.insert(tenant.to_owned(), vec![waiting]);
            return true;
        };
        if queue.len() < MAX_WAITING {
            queue.push(waiting);
        }
        false
    }

    /// Removes the next group of events from the queue of the tenant. An empty queue is removed itself.
    fn dequeue(&self, tenant: &str) -> Vec<Waiting> {
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(tenant) else { return Vec::new() };
        let group: Vec<_> = queue.drain(..queue.len().min(MAX_GROUP)).collect();
        if group.is_empty() {
            // This happens under the lock of `enqueue`: the next event finds no queue, and starts a task again.
            queues.remove(tenant);
        }
        group
    }

    async fn write_all(&self, tenant: &str) {
        loop {
            let group = OnceLock::new();
            // A repetition writes the same group: it was taken from the queue already.
            let due = self.store.repeated(|| self.write_group(tenant, &group)).await;
            let group = group.into_inner().unwrap_or_default();
            match due {
                Ok(_) if group.is_empty() => return,
                Ok(true) => self.wake.notify_one(),
                Ok(false) => {}
                Err(error) => {
                    // The senders are dropped, so each waiting check counts its event as lost.
                    tracing::warn!(%error, "cannot write `access.denied` events");
                    continue;
                }
            }
            // A check that gave up waiting has counted its event as lost already.
            for one in group {
                let _ = one.written.send(());
            }
        }
    }

    /// Stores the next group of events of the tenant, which it takes from the queue at the first run. Returns whether the
    /// dispatcher must look for due delivery queues.
    async fn write_group(
        &self,
        tenant: &str,
        group: &OnceLock<Vec<Waiting>>,
    ) -> Result<bool, StoreError> {
        // The turn first: a tenant whose writes take long must not hold a transaction meanwhile.
        let turn = self.store.patient_turn(tenant).await;
        let _transaction = self.transactions.begin_patiently(tenant).await;
        let group = group.get_or_init(|| self.dequeue(tenant));
        let Some(first) = group.first() else { return Ok(false) };
        let mut tx = self.store.write_in(turn, first.event.at.millis()).await?;
        group.iter().for_each(|one| tx.record(one.event.clone()));
        let committed = tx.commit().await?;
        self.dropped.inc_by(committed.writes.dropped_denials);
        Ok(committed.writes.deliveries)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::Timestamp;
    use portcullis_model::webhook::{EventType, WebhookRecord};
    use portcullis_storage::delivery_queues::QueueId;
    use portcullis_storage::testing::{self, TestDatabase};
    use portcullis_storage::{jobs, webhooks};
    use uuid::Uuid;

    use super::*;

    /// A database of PostgreSQL that undoes the first transaction with a denied check because of a deadlock.
    const FIRST_IS_UNDONE: [&str; 3] = [
        "CREATE SEQUENCE runs",
        "CREATE FUNCTION undo_first() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN \
            IF nextval('runs') = 1 THEN RAISE EXCEPTION 'undone' USING ERRCODE = '40P01'; END IF; \
            RETURN NEW; END $$",
        "CREATE TRIGGER undo BEFORE INSERT ON denial_segments \
            FOR EACH ROW EXECUTE FUNCTION undo_first()",
    ];

    #[tokio::test]
    async fn a_deadlock_loses_no_event() {
        let Some(database) = TestDatabase::postgres() else { return };
        let (store, wake) = (database.open().await, Arc::new(Notify::new()));
        testing::execute(&store, FIRST_IS_UNDONE.map(str::to_owned)).await;
        let webhook = WebhookRecord {
            managed_by: None,
            id: Uuid::from_u128(1),
            url: "https://hooks.example/".to_owned(),
            events: vec![EventType::AccessDenied],
            tenant_id: "acme".to_owned(),
            created_by: "ann".to_owned(),
            created_at: Timestamp::from_millis(0),
            updated_at: None,
        };
        let mut tx = store.write("acme", 0).await.expect("begins");
        webhooks::insert(&mut tx, &webhook, b"encrypted").await.expect("works");
        tx.commit().await.expect("commits");
        let lost = Counter::default();
        let denials = Denials::new(store.clone(), wake, lost.clone(), Counter::default());
        let events = [1, 2].map(|_| {
            let mut event = Event::test(webhook.id, Timestamp::from_millis(0));
            event.kind = EventType::AccessDenied;
            event
        });
        denials.write("acme", events.to_vec()).await;
        assert_eq!((lost.get(), store.conflicts(), denials.len()), (0, 1, 0));
        let mut tx = store.begin_read("acme").await.expect("begins");
        let queue = QueueId { webhook: webhook.id, denials: true };
        assert_eq!(jobs::next_firsts(&mut tx, queue, 9).await.expect("works").len(), 2);
    }

    #[tokio::test]
    async fn a_tenant_has_a_limited_number_of_events_in_memory() {
        let Some(database) = TestDatabase::sqlite() else { return };
        let (store, wake) = (database.open().await, Arc::new(Notify::new()));
        let Denials(shared) = Denials::new(store, wake, Counter::default(), Counter::default());
        let add = |tenant| {
            let event = Event::test(Uuid::nil(), Timestamp::from_millis(0));
            shared.enqueue(tenant, Waiting { event, written: oneshot::channel().0 })
        };
        assert!(add("acme"));
        assert!((1..MAX_WAITING + 1).all(|_| !add("acme")));
        assert_eq!(shared.queues.lock()["acme"].len(), MAX_WAITING);
        assert!(add("bolt"), "another tenant");
        // A tenant without an event takes no memory.
        for tenant in ["acme", "bolt"] {
            while !shared.dequeue(tenant).is_empty() {}
        }
        assert!(shared.queues.lock().is_empty());
    }
}
