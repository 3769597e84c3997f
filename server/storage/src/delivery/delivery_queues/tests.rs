//! Claims of delivery queues: one holder at a time, and none for a holder that lost its queue.

use super::*;
use crate::delivery::{events, jobs, webhooks};
use crate::store::Store;
use crate::tenancy::tenants;
use crate::testing::{TestDatabase, on_every_database};
use portcullis_model::event::Event;
use portcullis_model::webhook::{EventType, WebhookRecord};

on_every_database!(
    a_queue_is_claimed_by_one_holder_at_a_time,
    a_lease_that_is_over_is_claimed_by_another_and_the_fence_keeps_the_first_one_out,
    a_clock_that_was_put_back_holds_nothing_up,
    first_attempts_come_in_the_order_of_their_events,
    a_delivery_that_comes_while_the_queue_is_held_is_not_overlooked,
    a_release_frees_the_queues_of_one_process_alone,
    slow_queues_are_claimed_apart,
    the_queues_of_a_suspended_tenant_pause,
);

const T0: i64 = 1_700_000_000_000;
const MINUTE: i64 = 60_000;

fn terms(holder: &str, now: i64) -> ClaimTerms<'_> {
    ClaimTerms {
        holder,
        now: Timestamp::from_millis(now),
        lease: Duration::from_secs(15),
        longest_wait: Duration::from_secs(3_600),
    }
}

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// Names the queue of all events but denied checks.
fn queue_of(number: u128) -> QueueId {
    QueueId { webhook: id(number), denials: false }
}

async fn webhook(store: &Store, tenant: &str, number: u128) {
    let record = WebhookRecord {
        id: id(number),
        url: "https://hooks.example/".to_owned(),
        events: vec![EventType::WebhookTest],
        tenant_id: tenant.to_owned(),
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(T0),
        updated_at: None,
        managed_by: None,
    };
    let mut tx = store.write(tenant, T0).await.expect("begins");
    webhooks::insert(&mut tx, &record, b"encrypted").await.expect("works");
    assert!(tx.commit().await.expect("commits").writes.webhooks);
}

/// Causes an event for a webhook, at an instant, and gives its id.
async fn event(store: &Store, tenant: &str, number: u128, at: i64) -> Uuid {
    let mut tx = store.write(tenant, T0).await.expect("begins");
    tx.record(Event::test(id(number), Timestamp::from_millis(at)));
    let written = events::write(&mut tx).await.expect("works");
    assert!(tx.commit().await.expect("commits").writes.deliveries);
    written[0]
}

async fn claim_all(store: &Store, holder: &str, now: i64, slow: bool) -> Vec<DeliveryQueue> {
    let mut tx = store.write_all().await.expect("begins");
    let mut queues = claim(&mut tx, &terms(holder, now), slow, 10).await.expect("works");
    tx.commit().await.expect("commits");
    queues.sort_by_key(|queue| queue.webhook);
    queues
}

async fn due(store: &Store, holder: &str) -> Option<i64> {
    let mut tx = store.begin_read_all().await.expect("begins");
    next_due(&mut tx, holder).await.expect("works")
}

async fn renewed(store: &Store, queue: &DeliveryQueue, holder: &str, now: i64) -> bool {
    let mut tx = store.write_as(&queue.tenant).await.expect("begins");
    let renewed = renew(&mut tx, queue, &terms(holder, now)).await.expect("works");
    tx.commit().await.expect("commits");
    renewed
}

async fn give_back(store: &Store, queue: &DeliveryQueue, slow: bool, now: i64) {
    let mut tx = store.write_as(&queue.tenant).await.expect("begins");
    release(&mut tx, queue, slow, Timestamp::from_millis(now)).await.expect("works");
    tx.commit().await.expect("commits");
}

async fn a_queue_is_claimed_by_one_holder_at_a_time(database: TestDatabase) {
    let store = database.open().await;
    webhook(&store, "a", 1).await;
    webhook(&store, "b", 2).await;
    assert_eq!(due(&store, "x").await, None);
    assert!(claim_all(&store, "x", T0, false).await.is_empty(), "nothing is due");
    event(&store, "a", 1, T0).await;
    event(&store, "b", 2, T0).await;
    assert_eq!(due(&store, "x").await, Some(0));
    let queues = claim_all(&store, "x", T0, false).await;
    let whose: Vec<_> = queues.iter().map(|queue| (&*queue.tenant, queue.webhook)).collect();
    assert_eq!(whose, [("a", id(1)), ("b", id(2))]);
    for (holder, now) in [("x", T0), ("y", T0), ("y", T0 + 14_999)] {
        assert!(claim_all(&store, holder, now, false).await.is_empty(), "{holder} {now}");
    }
    assert_eq!(due(&store, "y").await, Some(T0 + 15_000));
    assert_eq!(due(&store, "x").await, None, "a task of its own is at work");
    assert!(claim_all(&store, "x", T0 + 60 * MINUTE, false).await.is_empty());
}

async fn a_lease_that_is_over_is_claimed_by_another_and_the_fence_keeps_the_first_one_out(
    database: TestDatabase,
) {
    let store = database.open().await;
    webhook(&store, "a", 1).await;
    event(&store, "a", 1, T0).await;
    let first = claim_all(&store, "x", T0, false).await.remove(0);
    assert!(renewed(&store, &first, "x", T0 + 10_000).await);
    assert!(claim_all(&store, "y", T0 + 24_999, false).await.is_empty(), "it was prolonged");
    let second = claim_all(&store, "y", T0 + 25_000, false).await.remove(0);
    assert!(!renewed(&store, &first, "x", T0 + 25_000).await);
    assert!(renewed(&store, &second, "y", T0 + 25_000).await);
    // The same holder again is another claim.
    let third = claim_all(&store, "x", T0 + 2 * MINUTE, false).await.remove(0);
    assert!(!renewed(&store, &first, "x", T0).await && renewed(&store, &third, "x", T0).await);
}

async fn a_clock_that_was_put_back_holds_nothing_up(database: TestDatabase) {
    let store = database.open().await;
    webhook(&store, "a", 1).await;
    event(&store, "a", 1, T0).await;
    let before = T0 - 24 * 60 * MINUTE;
    // First attempts wait for no clock, and a lease of tomorrow is none.
    let queue = claim_all(&store, "x", T0, false).await.remove(0);
    assert!(claim_all(&store, "x", before, false).await.is_empty(), "{queue:?} is held");
    let queue = claim_all(&store, "y", before, false).await.remove(0);
    // Nor is a retry that is due tomorrow.
    let mut tx = store.write_as("a").await.expect("begins");
    const SQL: &str = "UPDATE webhook_deliveries SET due_at = $2 WHERE tenant_id = $1";
    execute!(tx, SQL, "a", T0).expect("works");
    release(&mut tx, &queue, false, Timestamp::from_millis(before)).await.expect("works");
    tx.commit().await.expect("commits");
    assert!(!terms("y", before).is_ahead(due(&store, "y").await.expect("something")));
    assert_eq!(claim_all(&store, "y", before, false).await.len(), 1);
    let mut tx = store.begin_read("a").await.expect("begins");
    let terms = terms("y", before);
    let jobs = jobs::next_retries(&mut tx, queue_of(1), &terms, 1).await.expect("works");
    assert_eq!(jobs.len(), 1);
}

async fn first_attempts_come_in_the_order_of_their_events(database: TestDatabase) {
    let store = database.open().await;
    webhook(&store, "a", 1).await;
    // The clock jumps back and forth meanwhile.
    let mut events = Vec::new();
    for at in [T0, T0 - MINUTE, T0 + MINUTE, T0, T0] {
        events.push(event(&store, "a", 1, at).await);
    }
    let mut tx = store.write_as("a").await.expect("begins");
    for event in events {
        let job = jobs::next_firsts(&mut tx, queue_of(1), 1).await.expect("works").remove(0);
        assert_eq!(job.event, event);
        const SQL: &str = "UPDATE webhook_deliveries SET due_at = NULL WHERE event_id = $1";
        execute!(tx, SQL, event).expect("works");
    }
    assert!(jobs::next_firsts(&mut tx, queue_of(1), 1).await.expect("works").is_empty());
}

async fn a_delivery_that_comes_while_the_queue_is_held_is_not_overlooked(database: TestDatabase) {
    let store = database.open().await;
    webhook(&store, "a", 1).await;
    for round in 0..20 {
        event(&store, "a", 1, T0).await;
        let queue = claim_all(&store, "x", T0 + round, false).await.remove(0);
        // The holder has seen that nothing is left, and gives the queue back; meanwhile something comes.
        let mut tx = store.write_as("a").await.expect("begins");
        assert!(renew(&mut tx, &queue, &terms("x", T0 + round)).await.expect("works"));
        const SQL: &str = "UPDATE webhook_deliveries SET due_at = NULL WHERE tenant_id = $1";
        execute!(tx, SQL, "a").expect("works");
        let writer = {
            let store = store.clone();
            tokio::spawn(async move { event(&store, "a", 1, T0).await })
        };
        tokio::task::yield_now().await;
        let now = Timestamp::from_millis(T0 + round);
        release(&mut tx, &queue, false, now).await.expect("works");
        tx.commit().await.expect("commits");
        writer.await.expect("no panic");
        assert_eq!(due(&store, "x").await, Some(0), "round {round}");
        let queue = claim_all(&store, "x", T0 + round, false).await.remove(0);
        let mut tx = store.write_as("a").await.expect("begins");
        execute!(tx, SQL, "a").expect("works");
        release(&mut tx, &queue, false, now).await.expect("works");
        tx.commit().await.expect("commits");
    }
}

async fn a_release_frees_the_queues_of_one_process_alone(database: TestDatabase) {
    let store = database.open().await;
    for number in [1, 2, 3] {
        webhook(&store, "a", number).await;
    }
    event(&store, "a", 1, T0).await;
    claim_all(&store, "host 127.0.0.1:80 1", T0, false).await;
    event(&store, "a", 2, T0).await;
    claim_all(&store, "host 127.0.0.1:8080 1", T0, false).await;
    event(&store, "a", 3, T0).await;
    claim_all(&store, "other 127.0.0.1:80 1", T0, false).await;
    let mut tx = store.write_all().await.expect("begins");
    assert_eq!(release_all(&mut tx, "host 127.0.0.1:80 ").await.expect("works"), 1);
    tx.commit().await.expect("commits");
    let queues = claim_all(&store, "host 127.0.0.1:80 2", T0, false).await;
    assert_eq!(queues.iter().map(|queue| queue.webhook).collect::<Vec<_>>(), [id(1)]);
    // On SQLite there is no other process.
    let mut tx = store.write_all().await.expect("begins");
    assert_eq!(release_all(&mut tx, "").await.expect("works"), 3);
}

async fn slow_queues_are_claimed_apart(database: TestDatabase) {
    let store = database.open().await;
    webhook(&store, "a", 1).await;
    webhook(&store, "a", 2).await;
    event(&store, "a", 1, T0).await;
    event(&store, "a", 2, T0).await;
    let queues = claim_all(&store, "x", T0, false).await;
    give_back(&store, &queues[0], true, T0).await;
    give_back(&store, &queues[1], false, T0).await;
    assert_eq!(claim_all(&store, "x", T0, true).await[0].webhook, id(1));
    assert_eq!(claim_all(&store, "x", T0, false).await[0].webhook, id(2));
}

async fn the_queues_of_a_suspended_tenant_pause(database: TestDatabase) {
    let store = database.open().await;
    for (tenant, number) in [("a", 1), ("a", 2), ("b", 3)] {
        webhook(&store, tenant, number).await;
        event(&store, tenant, number, T0).await;
    }
    let held = claim_all(&store, "x", T0, false).await;
    assert!(renewed(&store, &held[0], "x", T0).await, "the control: nothing is paused yet");
    let mut tx = store.write_as("a").await.expect("begins");
    assert!(tenants::suspend(&mut tx, Timestamp::from_millis(T0)).await.expect("works"));
    tx.commit().await.expect("commits");
    assert!(
        !renewed(&store, &held[0], "x", T0).await,
        "a worker that holds it writes nothing more"
    );
    assert!(renewed(&store, &held[2], "x", T0).await, "the queue of another tenant");
    // The operator revokes a key, which is an event.
    let mut tx = store.write_as("a").await.expect("begins");
    tx.record(Event::test(id(1), Timestamp::from_millis(T0)));
    tx.commit().await.expect("commits");
    let claimed = claim_all(&store, "y", T0 + 60 * MINUTE, false).await;
    assert_eq!(claimed.iter().map(|queue| queue.webhook).collect::<Vec<_>>(), [id(3)]);
    let mut tx = store.write_as("a").await.expect("begins");
    assert!(tenants::resume(&mut tx).await.expect("works"));
    assert!(tx.commit().await.expect("commits").writes.deliveries, "the dispatcher wakes");
    let claimed = claim_all(&store, "y", T0, false).await;
    assert_eq!(claimed.iter().map(|queue| queue.webhook).collect::<Vec<_>>(), [id(1), id(2)]);
}
