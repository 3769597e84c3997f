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
use crate::denial_segments::MovedDenial;
use crate::settled_denials::{MAX_DELETED, SETTLED_SLACK};
use crate::store::{Store, StoreLimits};
use crate::testing::{TestDatabase, on_every_database};
use crate::{attempts, deliveries, delivery_rows, jobs, webhooks};

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
    an_attempt_that_fails_takes_its_denial_alone_out_of_the_segment,
    an_outcome_is_recorded_once,
    a_delivered_denial_is_delivered_again,
    pages_of_attempts_have_those_of_rows_and_of_denials,
    denials_in_rows_of_an_earlier_version_come_first,
    a_batch_has_many_small_segments,
    a_queue_that_an_earlier_version_released_wakes,
    a_released_queue_of_segments_is_due,
    ids_ascend_also_when_no_event_has_a_row,
    delivered_denials_are_kept_for_the_retention,
    a_webhook_goes_with_its_denials,
);

const T0: i64 = 1_700_000_000_000;
const RETRY: i64 = T0 + 10_000;
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

/// The denials in segments, those in rows of their own, and those that were delivered at the first attempt.
async fn stored(store: &Store) -> [i64; 3] {
    let mut tx = store.read(TENANT).await.expect("begins");
    let mut counts = [0; 3];
    let tables = [
        "SELECT CAST(COALESCE(SUM(total - gone), 0) AS BIGINT) FROM denial_segments WHERE tenant_id = $1",
        "SELECT count(*) FROM webhook_deliveries WHERE tenant_id = $1",
        "SELECT CAST(COALESCE(SUM(total), 0) AS BIGINT) FROM delivered_denials WHERE tenant_id = $1",
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
async fn next(tx: &mut Tx, queue: &DeliveryQueue) -> (jobs::Job, String, Option<i64>) {
    let mut job = jobs::next_firsts(tx, queue.id(), 1).await.expect("works").remove(0);
    if job.must_report() {
        jobs::report_dropped(tx, queue, &mut job).await.expect("works");
    }
    let body: serde_json::Value = serde_json::from_slice(&job.body()).expect("JSON");
    let data = &body["data"];
    let subject = data["subject"].as_str().expect("a subject").to_owned();
    (job, subject, data["dropped"].as_i64())
}

fn attempt(job: &jobs::Job, number: u128) -> AttemptRecord {
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

/// An attempt that failed, after which the next one is due at [`RETRY`].
fn failed_attempt(job: &jobs::Job, number: u128) -> AttemptRecord {
    AttemptRecord {
        http_status: Some(500),
        response_body: Some("no".to_owned()),
        error: Some("it failed".to_owned()),
        state: DeliveryState::Retrying,
        next_attempt_at: Some(Timestamp::from_millis(RETRY)),
        ..attempt(job, number)
    }
}

async fn recorded(
    store: &Store,
    queue: &DeliveryQueue,
    made: &[(&jobs::Job, &AttemptRecord)],
    now: i64,
) {
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let now = Timestamp::from_millis(now);
    deliveries::record_attempts(&mut tx, queue, made, now).await.expect("works");
    tx.commit().await.expect("commits");
}

/// Records that `job` was delivered.
async fn delivered(store: &Store, queue: &DeliveryQueue, job: &jobs::Job, number: u128) {
    recorded(store, queue, &[(job, &attempt(job, number))], T0).await;
}

async fn firsts(store: &Store, queue: &DeliveryQueue, limit: i64) -> Vec<jobs::Job> {
    let mut tx = store.read(TENANT).await.expect("begins");
    jobs::next_firsts(&mut tx, queue.id(), limit).await.expect("works")
}

async fn listed(store: &Store, page: Page) -> Vec<AttemptRecord> {
    let mut tx = store.read(TENANT).await.expect("begins");
    attempts::list(&mut tx, id(1), page).await.expect("works").records
}

/// Moves the denials of the first webhook into rows, where an earlier version kept them.
async fn as_earlier(store: &Store) {
    const DELETE: &str = "DELETE FROM denial_segments";
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let denials = denial_segments::read(&mut tx, id(1), Uuid::max()).await.expect("works");
    let moved = denials.into_iter().map(|(_, denial)| MovedDenial {
        delivery: denial.delivery,
        event: denial.event,
        body: denial.body.get().as_bytes().to_vec(),
    });
    denial_segments::insert_rows(&mut tx, id(1), moved.collect()).await.expect("works");
    execute!(tx, DELETE).expect("works");
    tx.commit().await.expect("commits");
}

async fn the_oldest_denials_beyond_the_limit_are_dropped_and_reported(database: TestDatabase) {
    let store = opened(&database, 3, 1).await;
    assert_eq!(deny(&store, 0..3).await, 0);
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((3, 0), [3, 0, 0]));
    assert_eq!(deny(&store, 3..5).await, 2);
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((3, 2), [3, 0, 0]));
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
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((50, 0), [50, 0, 0]));
}

async fn a_transaction_that_is_rolled_back_drops_nothing(database: TestDatabase) {
    let store = opened(&database, 3, 1).await;
    deny(&store, 0..3).await;
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    (3..6).for_each(|subject| tx.record(denial(subject)));
    crate::events::write(&mut tx).await.expect("works");
    assert_eq!(tx.writes.dropped_denials, 3);
    tx.end().await.expect("ends");
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((3, 0), [3, 0, 0]));
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
    let job = jobs::next_firsts(&mut tx, other.id(), 1).await.expect("works").remove(0);
    assert_eq!(job.event_type, "webhook.test");
    let queue = QueueId { webhook: id(1), denials: true };
    let job = jobs::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
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
    let job = jobs::next_firsts(&mut tx, queue.id(), 1).await.expect("works").remove(0);
    tx.end().await.expect("ends");
    deny(&store, 1..2).await;
    delivered(&store, &queue, &job, 100).await;
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((1, 1), [1, 0, 0]));
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
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((1, 0), [1, 0, 1]));
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
    let attempts = attempts::list(&mut tx, id(1), page).await.expect("works");
    assert!(attempts.records.is_empty());
}

async fn an_event_stays_until_no_webhook_waits_for_it(database: TestDatabase) {
    let store = opened(&database, 2, 2).await;
    deny(&store, 0..2).await;
    // The first attempts of both webhooks fail, so that their deliveries of one event get rows.
    let mut queue = claim(&store, true, T0).await;
    for webhook in [1, 2] {
        queue.webhook = id(webhook);
        let mut tx = store.read(TENANT).await.expect("begins");
        let (job, ..) = next(&mut tx, &queue).await;
        tx.end().await.expect("ends");
        let record = failed_attempt(&job, webhook);
        recorded(&store, &queue, &[(&job, &record)], T0).await;
    }
    const EVENTS: &str = "SELECT count(*) FROM webhook_events";
    let events = async || {
        let mut tx = store.read(TENANT).await.expect("begins");
        fetch_optional!(tx, (i64,), EVENTS).expect("works").expect("a row").0
    };
    assert_eq!((stored(&store).await, events().await), ([2, 2, 0], 1));
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let gone = drop_oldest(&mut tx, id(1), 1).await.expect("works");
    delivery_rows::delete_unsent(&mut tx, &gone).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!((stored(&store).await, events().await), ([2, 1, 0], 1), "the other one waits");
    assert_eq!(deny(&store, 2..4).await, 3, "one of the first webhook, two of the other");
    assert_eq!((stored(&store).await, events().await), ([4, 0, 0], 0));
}

async fn webhooks_get_their_deliveries_in_batches(database: TestDatabase) {
    let store = opened(&database, 1_000, 37).await;
    deny(&store, 0..3).await;
    assert_eq!(stored(&store).await, [3 * 37, 0, 0]);
    let mut tx = store.read(TENANT).await.expect("begins");
    for webhook in 1..=37 {
        let queue = QueueId { webhook: id(webhook), denials: true };
        let job = jobs::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
        assert_eq!(job.event_type, "access.denied", "{webhook}");
    }
}

async fn of_what_is_over_as_much_is_kept_as_may_wait(database: TestDatabase) {
    let store = opened(&database, 5, 1).await;
    let (mut queue, mut newest) = (None, Vec::new());
    for first in (0..5 + u32::try_from(SETTLED_SLACK).expect("small")).step_by(5) {
        deny(&store, first..first + 5).await;
        if queue.is_none() {
            queue = Some(claim(&store, true, T0).await);
        }
        let queue = queue.as_ref().expect("claimed");
        let mut tx = store.write_as(TENANT).await.expect("begins");
        let jobs = jobs::next_firsts(&mut tx, queue.id(), 5).await.expect("works");
        let records: Vec<_> = jobs.iter().map(|job| attempt(job, job.event.as_u128())).collect();
        let made: Vec<_> = jobs.iter().zip(&records).collect();
        let now = Timestamp::from_millis(T0 + i64::from(first));
        deliveries::record_attempts(&mut tx, queue, &made, now).await.expect("works");
        tx.commit().await.expect("commits");
        newest = jobs.iter().map(|job| job.event).collect();
    }
    assert_eq!(stored(&store).await, [0, 0, 5]);
    let mut kept: Vec<_> =
        listed(&store, Page::FIRST).await.iter().map(|one| one.event_id).collect();
    kept.reverse();
    assert_eq!(kept, newest);
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
    as_earlier(&store).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    execute!(tx, SETTLE).expect("works");
    execute!(tx, LANE, total).expect("works");
    tx.commit().await.expect("commits");
    let limits = StoreLimits { waiting_denials: kept, ..StoreLimits::default() };
    let store = store.with_limits(limits);
    // Each settlement counts one more, though none of these settles a delivery.
    for (rest, counted) in [(600, 600), (5, 5), (5, 6)] {
        let mut tx = store.write_as(TENANT).await.expect("begins");
        settled(&mut tx, id(1), 1).await.expect("works");
        let count = fetch_optional!(tx, (i64,), COUNT).expect("works").expect("a queue");
        tx.commit().await.expect("commits");
        assert_eq!((stored(&store).await, count), ([0, rest, 0], (counted,)));
    }
}

async fn an_attempt_that_fails_takes_its_denial_alone_out_of_the_segment(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    // More than one segment.
    deny(&store, 0..100).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 80).await;
    assert_eq!(jobs.len(), 80);
    let records: Vec<_> = (0..70)
        .map(|index| match index {
            3 | 66 => failed_attempt(&jobs[index], index as u128),
            _ => attempt(&jobs[index], index as u128),
        })
        .collect();
    // Several at once may end in another order.
    let made: Vec<_> = jobs.iter().zip(&records).rev().collect();
    recorded(&store, &queue, &made, T0).await;
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((32, 0), [30, 2, 68]));
    let next = firsts(&store, &queue, 1_000).await;
    let expected: Vec<_> = jobs[70..].iter().map(|job| job.event).collect();
    assert_eq!(next.iter().map(|job| job.event).take(10).collect::<Vec<_>>(), expected);
    assert_eq!(next.len(), 30);
    let mut tx = store.read(TENANT).await.expect("begins");
    let retries = jobs::next_retries(&mut tx, queue.id(), &terms(RETRY), 9).await.expect("works");
    tx.end().await.expect("ends");
    let of = |jobs: &[&jobs::Job]| -> Vec<_> {
        jobs.iter().map(|job| (job.delivery, job.event, job.failures, job.body())).collect()
    };
    let expected: Vec<_> =
        of(&[&jobs[3], &jobs[66]]).into_iter().map(|(d, e, _, body)| (d, e, 1, body)).collect();
    assert_eq!(of(&retries.iter().collect::<Vec<_>>()), expected);
    // In the list each attempt stands once.
    let list = listed(&store, Page::FIRST).await;
    let mut deliveries: Vec<_> = list.iter().map(|one| one.delivery_id).collect();
    deliveries.sort_unstable();
    assert_eq!(deliveries, jobs[..70].iter().map(|job| job.delivery).collect::<Vec<_>>());
    assert_eq!(list.iter().filter(|one| one.state == DeliveryState::Retrying).count(), 2);
}

async fn an_outcome_is_recorded_once(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..10).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 5).await;
    let records = [attempt(&jobs[0], 1), failed_attempt(&jobs[1], 2)];
    let made: Vec<_> = jobs.iter().zip(&records).collect();
    // The answer to the first commit may be lost.
    for _ in 0..2 {
        recorded(&store, &queue, &made, T0).await;
        assert_eq!((counted(&store, 1).await, stored(&store).await), ((9, 0), [8, 1, 1]));
        assert_eq!(listed(&store, Page::FIRST).await.len(), 2);
    }
}

async fn a_delivered_denial_is_delivered_again(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..3).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 3).await;
    let records: Vec<_> = jobs.iter().zip(1..).map(|(job, number)| attempt(job, number)).collect();
    recorded(&store, &queue, &jobs.iter().zip(&records).collect::<Vec<_>>(), T0).await;
    let before = listed(&store, Page::FIRST).await;
    for (done, job) in jobs.iter().enumerate() {
        let mut tx = store.write(TENANT, T0).await.expect("begins");
        let now = Timestamp::from_millis(T0);
        let event = deliveries::redeliver(&mut tx, id(1), job.delivery, now).await;
        assert_eq!(event.expect("works"), Some(job.event));
        tx.commit().await.expect("commits");
        let done = i64::try_from(done).expect("small");
        assert_eq!(counted(&store, 1).await, (done + 1, 0));
        assert_eq!(stored(&store).await, [0, done + 1, 2 - done]);
        assert_eq!(listed(&store, Page::FIRST).await, before, "the list stays");
    }
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    let now = Timestamp::from_millis(T0);
    let other = deliveries::redeliver(&mut tx, id(1), id(77), now).await.expect("works");
    assert_eq!(other, None);
    let again = jobs::next_retries(&mut tx, queue.id(), &terms(T0), 9).await.expect("works");
    let bytes = |jobs: &[jobs::Job]| -> Vec<_> {
        jobs.iter().map(|job| (job.delivery, job.body(), job.failures)).collect()
    };
    assert_eq!(bytes(&again), bytes(&jobs));
}

async fn pages_of_attempts_have_those_of_rows_and_of_denials(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    let (mut queue, mut number) = (None, 0);
    for batch in 0..5_usize {
        deny(&store, 0..7).await;
        if queue.is_none() {
            queue = Some(claim(&store, true, T0).await);
        }
        let queue = queue.as_ref().expect("claimed");
        let jobs = firsts(&store, queue, 7).await;
        let record = |(index, job): (usize, &jobs::Job)| {
            number += 1;
            let id = Uuid::from_u128(((T0 as u128) << 80) + number);
            match index == batch {
                true => AttemptRecord { id, ..failed_attempt(job, 0) },
                false => AttemptRecord { id, ..attempt(job, 0) },
            }
        };
        let records: Vec<_> = jobs.iter().enumerate().map(record).collect();
        recorded(&store, queue, &jobs.iter().zip(&records).collect::<Vec<_>>(), T0).await;
    }
    let all = listed(&store, Page::FIRST).await;
    assert!(all.len() == 35 && all.is_sorted_by(|a, b| a.id > b.id));
    for limit in [1, 2, 3, 10, 34, 35, 36] {
        let (mut pages, mut after) = (Vec::new(), Uuid::nil());
        loop {
            let mut tx = store.read(TENANT).await.expect("begins");
            let page = Page { after, limit };
            let page = attempts::list(&mut tx, id(1), page).await.expect("works");
            assert!(page.records.len() <= usize::try_from(limit).expect("small"));
            pages.extend(page.records);
            if !page.more {
                break;
            }
            after = pages.last().expect("a record").id;
        }
        assert_eq!(pages, all, "{limit}");
    }
}

async fn denials_in_rows_of_an_earlier_version_come_first(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    deny(&store, 0..3).await;
    as_earlier(&store).await;
    deny(&store, 3..6).await;
    let queue = claim(&store, true, T0).await;
    let subjects = |jobs: Vec<jobs::Job>| -> Vec<String> {
        let body = |job: &jobs::Job| serde_json::from_slice::<serde_json::Value>(&job.body());
        let subject = |job| body(job).expect("JSON")["data"]["subject"].as_str().map(str::to_owned);
        jobs.iter().map(|job| subject(job).expect("a subject")).collect()
    };
    assert_eq!(subjects(firsts(&store, &queue, 9).await), ["0", "1", "2"]);
    assert_eq!(deny(&store, 6..8).await, 2);
    assert_eq!(subjects(firsts(&store, &queue, 9).await), ["2"]);
    assert_eq!(deny(&store, 8..10).await, 2);
    assert_eq!(subjects(firsts(&store, &queue, 9).await), ["4", "5", "6", "7", "8", "9"]);
    assert_eq!(counted(&store, 1).await, (6, 4));
}

async fn a_batch_has_many_small_segments(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    for subject in 0..12 {
        deny(&store, subject..subject + 1).await;
    }
    let queue = claim(&store, true, T0).await;
    for (limit, expected) in [(1, 1), (8, 8), (9, 9), (12, 12), (13, 12)] {
        assert_eq!(firsts(&store, &queue, limit).await.len(), expected, "{limit}");
    }
}

async fn due_at(store: &Store) -> Option<i64> {
    const SQL: &str = "SELECT due_at FROM webhook_lanes WHERE denials";
    let mut tx = store.read(TENANT).await.expect("begins");
    fetch_optional!(tx, (Option<i64>,), SQL).expect("works").expect("a queue").0
}

async fn a_queue_that_an_earlier_version_released_wakes(database: TestDatabase) {
    const RELEASE: &str = "UPDATE webhook_lanes SET due_at = NULL";
    const SUSPEND: &str = "UPDATE tenants SET suspended_at = $1";
    let store = opened(&database, 6, 1).await;
    for (denied, suspended_at, expected) in
        [(false, None, None), (true, Some(1), None), (true, None, Some(0_i64))]
    {
        if denied {
            deny(&store, 0..1).await;
        }
        let mut tx = store.write_all().await.expect("begins");
        execute!(tx, RELEASE).expect("works");
        execute!(tx, SUSPEND, suspended_at).expect("works");
        wake_forgotten(&mut tx).await.expect("works");
        execute!(tx, SUSPEND, None::<i64>).expect("works");
        tx.commit().await.expect("commits");
        assert_eq!(due_at(&store).await, expected, "{denied} {suspended_at:?}");
    }
}

async fn a_released_queue_of_segments_is_due(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    deny(&store, 0..2).await;
    let queue = claim(&store, true, T0).await;
    for expected in [Some(0), None] {
        let mut tx = store.write_as(TENANT).await.expect("begins");
        let now = Timestamp::from_millis(T0);
        let jobs = jobs::next_firsts(&mut tx, queue.id(), 1).await.expect("works");
        let made = (&jobs[0], &attempt(&jobs[0], 1));
        deliveries::record_attempts(&mut tx, &queue, &[made], now).await.expect("works");
        delivery_queues::release(&mut tx, &queue, false, now).await.expect("works");
        tx.commit().await.expect("commits");
        assert_eq!(due_at(&store).await, expected);
    }
    deny(&store, 2..3).await;
    let mut tx = store.write_all().await.expect("begins");
    delivery_queues::pause(&mut tx, TENANT).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!(due_at(&store).await, None);
    let mut tx = store.write_all().await.expect("begins");
    delivery_queues::resume(&mut tx, TENANT).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!(due_at(&store).await, Some(0));
}

async fn ids_ascend_also_when_no_event_has_a_row(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    let mut last = Uuid::nil();
    for at in [T0, T0 - 60_000, T0] {
        let mut tx = store.write(TENANT, at).await.expect("begins");
        let mut event = denial(1);
        event.at = Timestamp::from_millis(at);
        tx.record(event);
        let written = crate::events::write(&mut tx).await.expect("works");
        tx.commit().await.expect("commits");
        assert!(written[0] > last, "{at}");
        last = written[0];
    }
}

async fn delivered_denials_are_kept_for_the_retention(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    deny(&store, 0..4).await;
    let queue = claim(&store, true, T0).await;
    for now in [T0, T0 + 1] {
        let job = firsts(&store, &queue, 1).await.remove(0);
        recorded(&store, &queue, &[(&job, &attempt(&job, 1))], now).await;
    }
    for (before, kept) in [(T0, 2), (T0 + 1, 1), (T0 + 2, 0)] {
        let mut tx = store.write_all().await.expect("begins");
        let before = Timestamp::from_millis(before);
        while crate::retention::prune(&mut tx, before, 10).await.expect("works") > 0 {}
        tx.commit().await.expect("commits");
        assert_eq!(stored(&store).await, [2, 0, kept]);
    }
}

async fn a_webhook_goes_with_its_denials(database: TestDatabase) {
    let store = opened(&database, 6, 2).await;
    deny(&store, 0..4).await;
    let mut queue = claim(&store, true, T0).await;
    queue.webhook = id(1);
    let job = firsts(&store, &queue, 1).await.remove(0);
    delivered(&store, &queue, &job, 1).await;
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    assert!(webhooks::delete(&mut tx, id(1)).await.expect("works"));
    tx.commit().await.expect("commits");
    assert_eq!(stored(&store).await, [4, 0, 0], "of the other webhook");
}

#[test]
fn the_oldest_are_taken_from_rows_and_segments() {
    let segment = |number, total, gone| Segment { id: id(number), total, gone };
    let segments = [segment(20, 5, 2), segment(30, 4, 0)];
    let rows = [id(3), id(4), id(25), id(40)];
    let place = |segment, index| Some(Place { segment: id(segment), index });
    for (count, last_row, last_place, of_segments) in [
        (1, Some(3), None, 0),
        (2, Some(4), None, 0),
        (3, Some(4), place(20, 2), 1),
        (5, Some(4), place(20, 4), 3),
        (6, Some(25), place(20, 4), 3),
        (8, Some(25), place(30, 1), 5),
        (10, Some(25), place(30, 3), 7),
        (11, Some(40), place(30, 3), 7),
        (99, Some(40), place(30, 3), 7),
    ] {
        let expected = Oldest { last_row: last_row.map(id), last_place, of_segments };
        assert_eq!(Oldest::of(&rows, &segments, count), expected, "{count}");
    }
}
