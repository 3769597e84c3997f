//! The outbox: stores the events of a transaction and a delivery for each webhook that subscribes to them.
//!
//! They are written at the end of the transaction that causes them, under the tenant's write lock. So the
//! order of ids is the order of commit. A sequence of the database alone does not give that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use portcullis_model::Timestamp;
use portcullis_model::event::Event;
use portcullis_model::ids::Ids;
use portcullis_model::webhook::{EventType, WebhookRecord};
use uuid::Uuid;

use crate::delivery_queues::QueueId;
use crate::error::StoreError;
use crate::macros::{execute, fetch_optional};
use crate::tx::{Inner, Tx};
use crate::{delivery_queues, denial_queues, webhooks};

/// Deliveries that one statement inserts. A transaction with many events for many webhooks is much shorter for it.
const BATCH: usize = 16;
/// Deliveries in memory before they are inserted, so that few are left that fill no batch.
const PENDING: usize = 64 * BATCH;

/// Stores the events that the transaction recorded so far and that some webhook subscribes to. Returns their ids.
pub async fn write(tx: &mut Tx) -> Result<Vec<Uuid>, StoreError> {
    let events = std::mem::take(&mut tx.events);
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let webhooks = webhooks::all(tx).await?;
    if !events.iter().any(|event| subscribers(event, &webhooks).next().is_some()) {
        return Ok(Vec::new());
    }
    let mut order = Order::after(latest(tx).await?);
    let (mut written, mut pending, mut added) = (Vec::new(), Vec::new(), BTreeMap::new());
    for event in &events {
        if subscribers(event, &webhooks).next().is_none() {
            continue;
        }
        let (id, at) = order.next(event.at);
        let body = event.body(id, &tx.tenant, at);
        insert(tx, id, event.kind.as_str(), &body, at).await?;
        for webhook in subscribers(event, &webhooks) {
            let denials = event.kind == EventType::AccessDenied;
            let queue = QueueId { webhook: webhook.id, denials };
            pending.push(NewDelivery { id: order.ids.next(at), queue, event: id });
            *added.entry(queue).or_insert(0) += 1;
        }
        if pending.len() >= PENDING {
            insert_deliveries(tx, &pending).await?;
            pending.clear();
        }
        written.push(id);
    }
    insert_deliveries(tx, &pending).await?;
    schedule(tx, added).await?;
    tx.writes.deliveries = true;
    Ok(written)
}

/// Makes the queues due that got deliveries, and drops the oldest denials of a queue that has too many. The queues are
/// locked last, and in the order of their ids, so that two transactions never wait for each other.
async fn schedule(tx: &mut Tx, added: BTreeMap<QueueId, i64>) -> Result<(), StoreError> {
    let mut dropped = BTreeSet::new();
    for (queue, added) in added {
        delivery_queues::schedule_first_attempt(tx, queue).await?;
        if queue.denials {
            dropped.extend(denial_queues::add(tx, queue.webhook, added).await?);
        }
    }
    for event in dropped {
        denial_queues::delete_unsent(tx, event).await?;
    }
    Ok(())
}

/// The webhooks that subscribe to `event`.
fn subscribers<'w>(
    event: &'w Event,
    webhooks: &'w [WebhookRecord],
) -> impl Iterator<Item = &'w WebhookRecord> {
    webhooks.iter().filter(move |webhook| event.concerns(webhook))
}

/// Makes ids that ascend and times that never go back, from one transaction to the next. The clock may be put back,
/// and the clocks of two replicas may differ.
struct Order {
    ids: Ids,
    last: Uuid,
}

impl Order {
    fn after(last: Option<Uuid>) -> Self {
        Self { ids: Ids::new(), last: last.unwrap_or_default() }
    }

    fn next(&mut self, at: Timestamp) -> (Uuid, Timestamp) {
        let last_at = Timestamp::of(self.last);
        let mut at = at.max(last_at);
        let mut id = self.ids.next(at);
        if id <= self.last {
            at = Timestamp::from_millis(last_at.millis() + 1);
            id = self.ids.next(at);
        }
        self.last = id;
        (id, at)
    }
}

async fn latest(tx: &mut Tx) -> Result<Option<Uuid>, StoreError> {
    const SQL: &str = "SELECT id FROM webhook_events WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1";
    let row = fetch_optional!(tx, (Uuid,), SQL, &tx.tenant)?;
    Ok(row.map(|(id,)| id))
}

async fn insert(
    tx: &mut Tx,
    id: Uuid,
    kind: &str,
    body: &[u8],
    at: Timestamp,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO webhook_events (tenant_id, id, type, body, created_at) \
        VALUES ($1, $2, $3, $4, $5)";
    execute!(tx, SQL, &tx.tenant, id, kind, body, at.millis())?;
    Ok(())
}

/// A delivery that is not stored yet.
struct NewDelivery {
    id: Uuid,
    queue: QueueId,
    event: Uuid,
}

/// Returns the statement that inserts `count` deliveries.
fn insertion(count: usize) -> String {
    let rows: Vec<String> = (0..count)
        .map(|row| {
            let first = 4 * row + 2;
            format!("($1, ${first}, ${}, ${}, ${}, 0)", first + 1, first + 2, first + 3)
        })
        .collect();
    let columns = "tenant_id, id, webhook_id, denials, event_id, due_at";
    format!("INSERT INTO webhook_deliveries ({columns}) VALUES {}", rows.join(", "))
}

async fn insert_deliveries(tx: &mut Tx, deliveries: &[NewDelivery]) -> Result<(), StoreError> {
    static ONE: LazyLock<String> = LazyLock::new(|| insertion(1));
    static MANY: LazyLock<String> = LazyLock::new(|| insertion(BATCH));
    let batches = deliveries.chunks_exact(BATCH);
    let rest = batches.remainder().chunks(1).map(|one| (ONE.as_str(), one));
    for (sql, rows) in batches.map(|rows| (MANY.as_str(), rows)).chain(rest) {
        let tenant = &tx.tenant;
        macro_rules! bound {
            () => {{
                let mut query = sqlx::query(sql).bind(tenant);
                for NewDelivery { id, queue, event } in rows {
                    query = query.bind(id).bind(queue.webhook).bind(queue.denials).bind(event);
                }
                query
            }};
        }
        match &mut tx.inner {
            Inner::Sqlite(connection) => bound!().execute(&mut **connection).await.map(drop),
            Inner::Postgres(connection) => bound!().execute(&mut **connection).await.map(drop),
        }?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_ascend_and_times_never_go_back() {
        let mut last = Order::after(None).next(Timestamp::from_millis(5_000));
        // Each transaction has an order of its own, and the clock jumps between them.
        for at in [5_000, 5_000, 4_000, 0, 5_000, 6_000, 5_999, 6_000] {
            let mut order = Order::after(Some(last.0));
            for _ in 0..100 {
                let next = order.next(Timestamp::from_millis(at));
                assert!(next.0 > last.0 && next.1 >= last.1, "{last:?} {next:?}");
                assert_eq!(Timestamp::of(next.0), next.1);
                last = next;
            }
        }
        assert!(last.1.millis() < 6_010, "{last:?}");
    }
}
