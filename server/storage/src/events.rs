//! The outbox: stores the events of a transaction and a delivery for each webhook that subscribes to them.
//!
//! They are written at the end of the transaction that causes them, under the tenant's write lock. So the
//! order of ids is the order of commit. A sequence of the database alone does not give that.

use std::collections::BTreeSet;

use portcullis_model::Timestamp;
use portcullis_model::event::Event;
use portcullis_model::ids::Ids;
use portcullis_model::webhook::WebhookRecord;
use uuid::Uuid;

use crate::error::StoreError;
use crate::macros::{execute, fetch_optional};
use crate::tx::Tx;
use crate::{delivery_queues, webhooks};

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
    let (mut written, mut notified) = (Vec::new(), BTreeSet::new());
    for event in &events {
        if subscribers(event, &webhooks).next().is_none() {
            continue;
        }
        let (id, at) = order.next(event.at);
        let body = event.body(id, &tx.tenant, at);
        insert(tx, id, event.kind.as_str(), &body, at).await?;
        for webhook in subscribers(event, &webhooks) {
            insert_delivery(tx, order.ids.next(at), webhook.id, id).await?;
            notified.insert(webhook.id);
        }
        written.push(id);
    }
    for webhook in notified {
        delivery_queues::schedule_first_attempt(tx, webhook).await?;
    }
    tx.writes.deliveries = true;
    Ok(written)
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

async fn insert_delivery(
    tx: &mut Tx,
    id: Uuid,
    webhook: Uuid,
    event: Uuid,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, event_id, due_at) \
        VALUES ($1, $2, $3, $4, 0)";
    execute!(tx, SQL, &tx.tenant, id, webhook, event)?;
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
