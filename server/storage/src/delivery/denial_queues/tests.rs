//! Queues of denied checks, on both databases.

use std::time::Duration;

use chrono::DateTime;
use portcullis_engine::{Check, CheckBody, MatchedRuleId, json};
use portcullis_model::Timestamp;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::event::Event;
use portcullis_model::page::Page;
use portcullis_model::webhook::{EventType, WebhookRecord};

use super::*;
use crate::delivery::delivery_queues::{self, ClaimTerms, DeliveryQueue, QueueId};
use crate::delivery::denial_segments::MovedDenial;
use crate::delivery::settled_denials::{MAX_DELETED, SETTLED_SLACK};
use crate::delivery::{attempts, deliveries, delivery_rows, jobs, webhooks};
use crate::store::{Store, StoreLimits};
use crate::testing::{TestDatabase, on_every_database};

mod erased;
mod limit;
mod locks;
mod segments;
mod wakes;

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
    Event::denied(&Check::new(body, TENANT, None, now), MatchedRuleId(None), "no rule")
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
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let row = fetch_optional!(tx, (i64, i64), SQL, TENANT, id(webhook)).expect("works");
    row.expect("a queue")
}

/// The denials in segments, those in rows of their own, and those that were delivered at the first attempt.
async fn stored(store: &Store) -> [i64; 3] {
    let mut tx = store.begin_read(TENANT).await.expect("begins");
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
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    jobs::next_firsts(&mut tx, queue.id(), limit).await.expect("works")
}

async fn listed(store: &Store, page: Page) -> Vec<AttemptRecord> {
    let mut tx = store.begin_read(TENANT).await.expect("begins");
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
        assert_eq!(Oldest::new(&rows, &segments, count), expected, "{count}");
    }
}
