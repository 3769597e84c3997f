//! The outbox: stores the events of a transaction and a delivery for each webhook that subscribes to them.
//!
//! They are written at the end of the transaction that causes them, under the tenant's write lock. So the
//! order of ids is the order of commit. A sequence of the database alone does not give that.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_model::event::Event;
use portcullis_model::webhook::{EventType, WebhookRecord};
use uuid::Uuid;

use crate::delivery::delivery_queues::{Added, QueueId};
use crate::delivery::delivery_rows::{NewDelivery, NewEvent};
use crate::delivery::denial_segments::{Denial, NewSegment};
use crate::delivery::{delivery_queues, delivery_rows, denial_queues, denial_segments, webhooks};
use crate::transactions::error::StoreError;
use crate::transactions::macros::fetch_all;
use crate::transactions::ordered_ids::OrderedIds;
use crate::transactions::tx::Tx;

/// The most deliveries in memory before they are inserted.
const PENDING: usize = 1_000;

/// Stores the events that the transaction recorded so far and that some webhook subscribes to. Returns their ids.
pub async fn write(tx: &mut Tx) -> Result<Vec<Uuid>, StoreError> {
    let events = std::mem::take(&mut tx.events);
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let webhooks = webhooks::all(tx).await?;
    // Most events concern no webhook: then the newest id is not looked up.
    if !events.iter().any(|event| subscribers(event, &webhooks).next().is_some()) {
        return Ok(Vec::new());
    }
    let mut order = OrderedIds::after(latest(tx).await?);
    let (mut written, mut pending, mut added) = (Vec::new(), Pending::default(), BTreeMap::new());
    for event in &events {
        let subscribed: Vec<_> = subscribers(event, &webhooks).collect();
        if subscribed.is_empty() {
            continue;
        }
        let (id, at) = order.next(event.at);
        let body = event.body(id, &tx.tenant, at);
        let denials = event.kind == EventType::AccessDenied;
        for webhook in subscribed {
            let queue = QueueId { webhook: webhook.id, denials };
            let delivery = NewDelivery { id: order.ids.next(at), queue, event: id };
            pending.add(delivery, &body);
            Added::count(&mut added, queue, id);
        }
        // A denied check has no row here: the segments of its webhooks have its body.
        if !denials {
            pending.events.push(NewEvent { id, kind: event.kind.into_str(), body, at });
        }
        if pending.deliveries() >= PENDING {
            pending.insert(tx).await?;
        }
        written.push(id);
    }
    pending.insert(tx).await?;
    schedule(tx, added).await?;
    Ok(written)
}

/// Rows that are not inserted yet.
#[derive(Default)]
struct Pending {
    /// The events, except denied checks.
    events: Vec<NewEvent>,
    /// The deliveries of these events.
    rows: Vec<NewDelivery>,
    /// The denied checks of each webhook.
    denials: BTreeMap<Uuid, Vec<Denial>>,
}

impl Pending {
    fn add(&mut self, delivery: NewDelivery, body: &[u8]) {
        let NewDelivery { id, queue, event } = delivery;
        if queue.denials {
            let denial = Denial::new(id, event, body);
            self.denials.entry(queue.webhook).or_default().extend(denial);
        } else {
            self.rows.push(delivery);
        }
    }

    fn deliveries(&self) -> usize {
        self.rows.len() + self.denials.values().map(Vec::len).sum::<usize>()
    }

    /// Inserts everything, and empties the lists.
    async fn insert(&mut self, tx: &mut Tx) -> Result<(), StoreError> {
        let Self { events, rows, denials } = std::mem::take(self);
        if !rows.is_empty() {
            // Events first, because deliveries refer to them.
            delivery_rows::insert_events(tx, &events).await?;
            delivery_rows::insert_deliveries(tx, &rows).await?;
        }
        let segments: Vec<NewSegment> = denials
            .iter()
            .flat_map(|(webhook, denials)| NewSegment::split(*webhook, denials))
            .collect();
        denial_segments::insert(tx, &segments).await
    }
}

/// Makes the queues due that got deliveries, and drops the oldest denials of a queue that has too many. The queues are
/// locked last, and in the order of their ids, so that two transactions never wait for each other.
async fn schedule(tx: &mut Tx, added: BTreeMap<QueueId, Added>) -> Result<(), StoreError> {
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

/// Returns the newest event of the tenant. Its row may be gone, and a denied check never had one.
async fn latest(tx: &mut Tx) -> Result<Option<Uuid>, StoreError> {
    const SQL: &str = "SELECT last_event FROM webhook_lanes \
        WHERE tenant_id = $1 AND last_event IS NOT NULL UNION ALL SELECT id FROM (SELECT id \
        FROM webhook_events WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1) newest";
    let rows = fetch_all!(tx, (Uuid,), SQL, &tx.tenant)?;
    Ok(rows.into_iter().map(|(id,)| id).max())
}
