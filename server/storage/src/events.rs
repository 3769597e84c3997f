//! The outbox: the events of a transaction, and what is to be delivered of them.
//!
//! They are written at the end of the transaction that caused them, behind the tenant's write lock. So the
//! order of ids is the order of commit, which a sequence alone would not give.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{StoreError, Tx, execute, fetch_optional, lanes, webhooks};
use portcullis_model::Timestamp;
use portcullis_model::event::Event;
use portcullis_model::ids::Ids;
use portcullis_model::page::Page;

/// Writes the events that the transaction has noted so far, as far as some webhook wants them, and gives
/// the ids of those.
pub async fn write(tx: &mut Tx) -> Result<Vec<Uuid>, StoreError> {
    let events = std::mem::take(&mut tx.events);
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let webhooks = webhooks::list(tx, Page::ALL).await?;
    let concerned = |event| webhooks.iter().filter(move |webhook| Event::concerns(event, webhook));
    if !events.iter().any(|event| concerned(event).next().is_some()) {
        return Ok(Vec::new());
    }
    let mut order = Order::after(latest(tx).await?);
    let (mut written, mut told) = (Vec::new(), BTreeSet::new());
    for event in &events {
        if concerned(event).next().is_none() {
            continue;
        }
        let (id, at) = order.next(event.at);
        let body = event.body(id, &tx.tenant, at);
        insert(tx, id, event.kind.as_str(), &body, at).await?;
        for webhook in concerned(event) {
            insert_delivery(tx, order.ids.next(at), webhook.id, id).await?;
            told.insert(webhook.id);
        }
        written.push(id);
    }
    for webhook in told {
        lanes::has_first_attempt(tx, webhook).await?;
    }
    tx.wrote.deliveries = true;
    Ok(written)
}

/// Makes ids that ascend, and times that never go back, from one transaction to the next, although
/// clocks are put back and those of two replicas differ.
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
