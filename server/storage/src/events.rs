//! The outbox: stores the events of a transaction and a delivery for each webhook that subscribes to them.
//!
//! They are written at the end of the transaction that causes them, under the tenant's write lock. So the
//! order of ids is the order of commit. A sequence of the database alone does not give that.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_model::Timestamp;
use portcullis_model::event::Event;
use portcullis_model::ids::Ids;
use portcullis_model::webhook::{EventType, WebhookRecord};
use uuid::Uuid;

use crate::delivery_queues::QueueId;
use crate::delivery_rows::{NewDelivery, NewEvent};
use crate::error::StoreError;
use crate::macros::fetch_optional;
use crate::tx::Tx;
use crate::{delivery_queues, delivery_rows, denial_queues, webhooks};

/// The most deliveries in memory before they are inserted.
const PENDING: usize = 1_000;

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
    let (mut written, mut added) = (Vec::new(), BTreeMap::new());
    let (mut new_events, mut new_deliveries) = (Vec::new(), Vec::new());
    for event in &events {
        if subscribers(event, &webhooks).next().is_none() {
            continue;
        }
        let (id, at) = order.next(event.at);
        let body = event.body(id, &tx.tenant, at);
        new_events.push(NewEvent { id, kind: event.kind.as_str(), body, at });
        for webhook in subscribers(event, &webhooks) {
            let denials = event.kind == EventType::AccessDenied;
            let queue = QueueId { webhook: webhook.id, denials };
            new_deliveries.push(NewDelivery { id: order.ids.next(at), queue, event: id });
            *added.entry(queue).or_insert(0) += 1;
        }
        if new_deliveries.len() >= PENDING {
            insert(tx, &mut new_events, &mut new_deliveries).await?;
        }
        written.push(id);
    }
    insert(tx, &mut new_events, &mut new_deliveries).await?;
    schedule(tx, added).await?;
    Ok(written)
}

/// Inserts the events and deliveries, and empties both lists.
async fn insert(
    tx: &mut Tx,
    events: &mut Vec<NewEvent>,
    deliveries: &mut Vec<NewDelivery>,
) -> Result<(), StoreError> {
    delivery_rows::insert_events(tx, events).await?;
    delivery_rows::insert_deliveries(tx, deliveries).await?;
    events.clear();
    deliveries.clear();
    Ok(())
}

/// Makes the queues due that got deliveries, and drops the oldest denials of a queue that has too many. The queues are
/// locked last, and in the order of their ids, so that two transactions never wait for each other.
async fn schedule(tx: &mut Tx, added: BTreeMap<QueueId, i64>) -> Result<(), StoreError> {
    let mut dropped = BTreeSet::new();
    for (queue, added) in added {
        let waiting = delivery_queues::add(tx, queue, added).await?;
        if queue.denials {
            dropped.extend(denial_queues::drop_surplus(tx, queue.webhook, waiting).await?);
        }
    }
    if dropped.is_empty() {
        return Ok(());
    }
    delivery_rows::delete_unsent(tx, &Vec::from_iter(dropped)).await
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
