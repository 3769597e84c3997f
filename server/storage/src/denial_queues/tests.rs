//! Queues of denied checks: the limit, what is dropped, and what is reported of it.

use std::time::Duration;

use chrono::DateTime;
use portcullis_engine::{Check, CheckBody, json};
use portcullis_model::Timestamp;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::event::Event;
use portcullis_model::page::Page;
use portcullis_model::webhook::{EventType, WebhookRecord};

use super::*;
use crate::delivery_queues::{self, ClaimTerms, DeliveryQueue, QueueId};
use crate::store::{Store, StoreLimits};
use crate::testing::{TestDatabase, on_every_database};
use crate::{deliveries, webhooks};

on_every_database!(
    the_oldest_denials_beyond_the_limit_are_dropped_and_reported,
    without_a_limit_nothing_is_dropped,
    a_transaction_that_is_rolled_back_drops_nothing,
    other_events_are_not_behind_denials,
    a_dropped_delivery_passes_on_what_it_should_report,
    an_attempt_of_a_dropped_delivery_is_forgotten,
    what_is_settled_makes_room_and_what_is_redelivered_takes_it,
    an_event_stays_until_no_webhook_waits_for_it,
    webhooks_get_their_deliveries_in_batches,
    of_what_is_over_as_much_is_kept_as_may_wait,
    what_an_earlier_version_kept_goes_in_bounded_steps,
);

const T0: i64 = 1_700_000_000_000;
const TENANT: &str = "acme";

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn terms(now: i64) -> ClaimTerms<'static> {
    ClaimTerms {
        holder: "x",
        now: Timestamp::from_millis(now),
        lease: Duration::from_secs(15),
        longest_wait: Duration::from_secs(3_600),
    }
}

/// Opens a store whose queues hold `limit` denials, with `count` webhooks.
async fn opened(database: &TestDatabase, limit: u32, count: u128) -> Store {
    let limits = StoreLimits { waiting_denials: limit, ..StoreLimits::default() };
    let store = database.open().await.with_limits(limits);
    for number in 1..=count {
        insert_webhook(&store, number, vec![EventType::AccessDenied]).await;
    }
    store
}

async fn insert_webhook(store: &Store, number: u128, events: Vec<EventType>) {
    let record = WebhookRecord {
        id: id(number),
        url: "https://hooks.example/".to_owned(),
        events,
        tenant_id: TENANT.to_owned(),
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(T0),
        updated_at: None,
        managed_by: None,
    };
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    webhooks::insert(&mut tx, &record, b"encrypted").await.expect("works");
    tx.commit().await.expect("commits");
}

fn denial(subject: u32) -> Event {
    let body = format!(r#"{{"subject": "{subject}", "resource": "a:b", "action": "c"}}"#);
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("valid");
    let now = DateTime::from_timestamp_millis(T0).expect("an instant");
    Event::denied(&Check::new(body, TENANT, None, now), "default-deny", "no rule")
}

/// Stores the denials of these subjects in one transaction, and returns the number of dropped deliveries.
async fn deny(store: &Store, subjects: std::ops::Range<u32>) -> u64 {
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    subjects.for_each(|subject| tx.record(denial(subject)));
    tx.commit().await.expect("commits").writes.dropped_denials
}

/// The numbers of the queue of a webhook: what waits, and what was dropped and is not reported.
async fn counted(store: &Store, webhook: u128) -> (i64, i64) {
    const SQL: &str = "SELECT waiting, dropped FROM webhook_lanes \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    let mut tx = store.read(TENANT).await.expect("begins");
    let row = fetch_optional!(tx, (i64, i64), SQL, TENANT, id(webhook)).expect("works");
    row.expect("a queue")
}

/// The number of rows of events, deliveries and attempts.
async fn rows(store: &Store) -> [i64; 3] {
    let mut tx = store.read(TENANT).await.expect("begins");
    let mut counts = [0; 3];
    let tables = [
        "SELECT count(*) FROM webhook_events WHERE tenant_id = $1",
        "SELECT count(*) FROM webhook_deliveries WHERE tenant_id = $1",
        "SELECT count(*) FROM webhook_attempts WHERE tenant_id = $1",
    ];
    for (count, sql) in counts.iter_mut().zip(tables) {
        *count = fetch_optional!(tx, (i64,), sql, TENANT).expect("works").expect("a row").0;
    }
    counts
}

async fn claim(store: &Store, denials: bool, now: i64) -> DeliveryQueue {
    let mut tx = store.write_all().await.expect("begins");
    let queues = delivery_queues::claim(&mut tx, &terms(now), false, 10).await.expect("works");
    tx.commit().await.expect("commits");
    queues.into_iter().find(|queue| queue.denials == denials).expect("it is due")
}

/// Takes the next delivery, as a delivery worker does, and returns the subject and the reported number of its body.
async fn next(tx: &mut Tx, queue: &DeliveryQueue) -> (deliveries::Job, String, Option<i64>) {
    let mut job = deliveries::next_firsts(tx, queue.id(), 1).await.expect("works").remove(0);
    if job.must_report() {
        deliveries::report_dropped(tx, queue, &mut job).await.expect("works");
    }
    let body: serde_json::Value = serde_json::from_slice(&job.body()).expect("JSON");
    let data = &body["data"];
    let subject = data["subject"].as_str().expect("a subject").to_owned();
    (job, subject, data["dropped"].as_i64())
}

fn attempt(job: &deliveries::Job, number: u128) -> AttemptRecord {
    AttemptRecord {
        id: id(number),
        delivery_id: job.delivery,
        event_id: job.event,
        event_type: job.event_type.clone(),
        retry_count: 0,
        http_status: Some(200),
        response_body: None,
        error: None,
        duration_ms: 1,
        state: DeliveryState::Delivered,
        attempted_at: Timestamp::from_millis(T0),
        next_attempt_at: None,
    }
}

/// Records that `job` was delivered.
async fn delivered(store: &Store, queue: &DeliveryQueue, job: &deliveries::Job, number: u128) {
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let now = Timestamp::from_millis(T0);
    let record = attempt(job, number);
    deliveries::record_attempts(&mut tx, queue, &[(job, &record)], now).await.expect("works");
    tx.commit().await.expect("commits");
}

async fn the_oldest_denials_beyond_the_limit_are_dropped_and_reported(database: TestDatabase) {
    let store = opened(&database, 3, 1).await;
    assert_eq!(deny(&store, 0..3).await, 0);
    assert_eq!((counted(&store, 1).await, rows(&store).await), ((3, 0), [3, 3, 0]));
    assert_eq!(deny(&store, 3..5).await, 2);
    assert_eq!((counted(&store, 1).await, rows(&store).await), ((3, 2), [3, 3, 0]));
    // Another process counts on.
    store.close().await;
    let limits = StoreLimits { waiting_denials: 3, ..StoreLimits::default() };
    let store = database.open().await.with_limits(limits);
    assert_eq!(deny(&store, 5..6).await, 1);
    let queue = claim(&store, true, T0).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (job, subject, dropped) = next(&mut tx, &queue).await;
    assert_eq!((&*subject, dropped), ("3", Some(3)));
    tx.commit().await.expect("commits");
    // Each attempt sends the same bytes.
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (again, _, dropped) = next(&mut tx, &queue).await;
    assert_eq!((again.body(), dropped), (job.body(), Some(3)));
    tx.end().await.expect("ends");
    delivered(&store, &queue, &job, 100).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (_, subject, dropped) = next(&mut tx, &queue).await;
    assert_eq!((&*subject, dropped), ("4", None), "each dropped denial is reported once");
}

async fn without_a_limit_nothing_is_dropped(database: TestDatabase) {
    let store = opened(&database, u32::MAX, 1).await;
    assert_eq!(deny(&store, 0..50).await, 0);
    assert_eq!((counted(&store, 1).await, rows(&store).await), ((50, 0), [50, 50, 0]));
}

async fn a_transaction_that_is_rolled_back_drops_nothing(database: TestDatabase) {
    let store = opened(&database, 3, 1).await;
    deny(&store, 0..3).await;
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    (3..6).for_each(|subject| tx.record(denial(subject)));
    crate::events::write(&mut tx).await.expect("works");
    assert_eq!(tx.writes.dropped_denials, 3);
    tx.end().await.expect("ends");
    assert_eq!((counted(&store, 1).await, rows(&store).await), ((3, 0), [3, 3, 0]));
}

async fn other_events_are_not_behind_denials(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..500).await;
    let held = claim(&store, true, T0).await;
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    tx.record(Event::test(id(1), Timestamp::from_millis(T0)));
    tx.commit().await.expect("commits");
    let other = claim(&store, false, T0).await;
    assert_eq!((held.webhook, other.webhook), (id(1), id(1)));
    let mut tx = store.read(TENANT).await.expect("begins");
    let job = deliveries::next_firsts(&mut tx, other.id(), 1).await.expect("works").remove(0);
    assert_eq!(job.event_type, "webhook.test");
    let queue = QueueId { webhook: id(1), denials: true };
    let job = deliveries::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
    assert_eq!(job.event_type, "access.denied");
}

async fn a_dropped_delivery_passes_on_what_it_should_report(database: TestDatabase) {
    let store = opened(&database, 2, 1).await;
    deny(&store, 0..5).await;
    let queue = claim(&store, true, T0).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    assert_eq!(next(&mut tx, &queue).await.2, Some(3));
    tx.commit().await.expect("commits");
    // Nobody made the attempt, and now the delivery goes, too.
    deny(&store, 5..6).await;
    assert_eq!(counted(&store, 1).await, (2, 4));
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (_, subject, dropped) = next(&mut tx, &queue).await;
    assert_eq!((&*subject, dropped), ("4", Some(4)));
}

async fn an_attempt_of_a_dropped_delivery_is_forgotten(database: TestDatabase) {
    let store = opened(&database, 1, 1).await;
    deny(&store, 0..1).await;
    let queue = claim(&store, true, T0).await;
    let mut tx = store.read(TENANT).await.expect("begins");
    let job = deliveries::next_firsts(&mut tx, queue.id(), 1).await.expect("works").remove(0);
    tx.end().await.expect("ends");
    deny(&store, 1..2).await;
    delivered(&store, &queue, &job, 100).await;
    assert_eq!((counted(&store, 1).await, rows(&store).await), ((1, 1), [1, 1, 0]));
}

async fn what_is_settled_makes_room_and_what_is_redelivered_takes_it(database: TestDatabase) {
    let store = opened(&database, 2, 1).await;
    deny(&store, 0..2).await;
    let queue = claim(&store, true, T0).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (job, ..) = next(&mut tx, &queue).await;
    tx.end().await.expect("ends");
    // The answer to the first commit may be lost, so the same attempt comes twice.
    delivered(&store, &queue, &job, 100).await;
    delivered(&store, &queue, &job, 100).await;
    assert_eq!((counted(&store, 1).await, rows(&store).await), ((1, 0), [2, 2, 1]));
    assert_eq!(deny(&store, 2..3).await, 0, "there is room");
    let redeliver = async || {
        let mut tx = store.write(TENANT, T0).await.expect("begins");
        let now = Timestamp::from_millis(T0);
        let event = deliveries::redeliver(&mut tx, id(1), job.delivery, now).await;
        tx.commit().await.expect("commits");
        event.expect("works")
    };
    assert_eq!(redeliver().await, Some(job.event));
    assert_eq!(counted(&store, 1).await, (3, 0));
    redeliver().await;
    assert_eq!(counted(&store, 1).await, (3, 0), "it waits already");
    assert_eq!(deny(&store, 3..4).await, 2);
    assert_eq!(counted(&store, 1).await, (2, 2));
    assert_eq!(redeliver().await, None, "it was the oldest");
    // The attempts of what was dropped go with it.
    let mut tx = store.read(TENANT).await.expect("begins");
    let page = Page { after: Uuid::nil(), limit: 10 };
    let attempts = deliveries::attempts(&mut tx, id(1), page).await.expect("works");
    assert!(attempts.records.is_empty());
}

async fn an_event_stays_until_no_webhook_waits_for_it(database: TestDatabase) {
    let store = opened(&database, 2, 1).await;
    deny(&store, 0..2).await;
    insert_webhook(&store, 2, vec![EventType::AccessDenied]).await;
    assert_eq!(deny(&store, 2..4).await, 2, "of the first webhook alone");
    assert_eq!((counted(&store, 1).await, counted(&store, 2).await), ((2, 2), (2, 0)));
    assert_eq!(rows(&store).await, [2, 4, 0]);
    // A dropped delivery of one webhook leaves the event to the other.
    let queue = QueueId { webhook: id(2), denials: true };
    let mut tx = store.write_as(TENANT).await.expect("begins");
    const SETTLE: &str = "UPDATE webhook_deliveries SET due_at = NULL, settled_at = 1 \
        WHERE tenant_id = $1 AND webhook_id = $2";
    execute!(tx, SETTLE, TENANT, queue.webhook).expect("works");
    settled(&mut tx, queue.webhook, 1).await.expect("works");
    settled(&mut tx, queue.webhook, 1).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!(deny(&store, 4..6).await, 2);
    assert_eq!(rows(&store).await, [4, 6, 0]);
}

async fn webhooks_get_their_deliveries_in_batches(database: TestDatabase) {
    let store = opened(&database, 1_000, 37).await;
    deny(&store, 0..3).await;
    assert_eq!(rows(&store).await, [3, 3 * 37, 0]);
    let mut tx = store.read(TENANT).await.expect("begins");
    for webhook in 1..=37 {
        let queue = QueueId { webhook: id(webhook), denials: true };
        let job = deliveries::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
        assert_eq!(job.event_type, "access.denied", "{webhook}");
    }
}

async fn of_what_is_over_as_much_is_kept_as_may_wait(database: TestDatabase) {
    let store = opened(&database, 5, 1).await;
    let total = 5 + u32::try_from(SETTLED_SLACK).expect("small");
    for first in (0..total).step_by(5) {
        deny(&store, first..first + 5).await;
        let queue = QueueId { webhook: id(1), denials: true };
        let mut tx = store.write(TENANT, T0).await.expect("begins");
        for number in first..first + 5 {
            let job = deliveries::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
            const SETTLE: &str = "UPDATE webhook_deliveries SET due_at = NULL, settled_at = $3 \
                WHERE tenant_id = $1 AND id = $2";
            execute!(tx, SETTLE, TENANT, job.delivery, i64::from(number)).expect("works");
            settled(&mut tx, queue.webhook, 1).await.expect("works");
        }
        tx.commit().await.expect("commits");
    }
    assert_eq!(rows(&store).await, [5, 5, 0]);
    const OLDEST: &str = "SELECT MIN(settled_at), MAX(settled_at) FROM webhook_deliveries";
    let mut tx = store.read(TENANT).await.expect("begins");
    let kept = fetch_optional!(tx, (i64, i64), OLDEST).expect("works").expect("a row");
    assert_eq!(kept, (i64::from(total) - 5, i64::from(total) - 1));
}

async fn what_an_earlier_version_kept_goes_in_bounded_steps(database: TestDatabase) {
    const SETTLE: &str = "UPDATE webhook_deliveries SET due_at = NULL, settled_at = numbered.n \
        FROM (SELECT id, row_number() OVER (ORDER BY event_id) AS n FROM webhook_deliveries) numbered \
        WHERE numbered.id = webhook_deliveries.id";
    const LANE: &str = "UPDATE webhook_lanes SET settled = $1 WHERE denials";
    const COUNT: &str = "SELECT settled FROM webhook_lanes WHERE denials";
    let (kept, total) = (5, MAX_DELETED + 600);
    let store = opened(&database, u32::MAX, 1).await;
    deny(&store, 0..u32::try_from(total).expect("small")).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    execute!(tx, SETTLE).expect("works");
    execute!(tx, LANE, total).expect("works");
    tx.commit().await.expect("commits");
    let limits = StoreLimits { waiting_denials: kept, ..StoreLimits::default() };
    let store = store.with_limits(limits);
    // Each settlement counts one more, though none of these settles a delivery.
    for (rest, counted) in [(600, 601), (5, 7), (5, 8)] {
        let mut tx = store.write_as(TENANT).await.expect("begins");
        settled(&mut tx, id(1), 1).await.expect("works");
        let count = fetch_optional!(tx, (i64,), COUNT).expect("works").expect("a queue");
        tx.commit().await.expect("commits");
        assert_eq!((rows(&store).await, count), ([rest, rest, 0], (counted,)));
    }
}
