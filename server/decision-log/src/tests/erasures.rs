//! Erasures that outlive their request, and records of tenants that are gone.

use std::time::Duration;

use portcullis_model::webhook::{EventType, WebhookRecord};
use portcullis_storage::testing::{TestDatabase, execute, on_every_database};
use portcullis_storage::{Store, decision_erasures, webhooks};
use tokio::time::timeout;

use super::at_rest::{Place, erase, of_subject, record, texts};
use super::*;
use crate::DecisionOrder;

on_every_database!(
    an_erasure_goes_on_without_its_request_and_in_another_process,
    a_tenant_whose_deliveries_cannot_be_read_does_not_prevent_others,
    what_is_in_memory_is_sealed_with_the_rest,
    the_end_of_an_erasure_is_seen_whatever_the_clocks_say,
    a_name_that_is_not_known_is_not_needed,
    erasures_that_come_together_write_a_file_anew_once,
    records_of_a_tenant_that_is_gone_do_not_come_to_rest,
    an_erasure_is_forgotten_when_nothing_from_before_can_come,
    a_tenant_has_a_share_of_erasures,
);

const PERSON: &str = "user \"3\"";
/// The milliseconds for which a tenant keeps a record: a week.
const KEEP: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Returns the number of erasures that are not done.
async fn pending(store: &Store) -> usize {
    let pending = async |tx: &mut _| decision_erasures::pending(tx, 10).await;
    store.read_all(pending).await.expect("reads").len()
}

/// Waits until so many erasures are not done.
async fn have(store: &Store, count: usize) {
    let is_there = async {
        while pending(store).await != count {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), is_there).await.expect("in time");
}

/// Returns a log with records of before noon, of which half are sealed.
async fn written(place: &Place, buffer: &str) -> DecisionLog {
    let (log, ids) = (place.log_in(buffer, u64::MAX), Numbered::default());
    ids.1.store(-10_000, Ordering::Relaxed);
    record(&log, &ids, "acme", 20).await;
    log.seal().await.expect("sealed");
    record(&log, &ids, "acme", 20).await;
    log
}

async fn an_erasure_goes_on_without_its_request_and_in_another_process(database: TestDatabase) {
    let place = Place::of(&database).await;
    let log = written(&place, "first").await;
    let request = log.clone();
    let request = tokio::spawn(async move { request.erase("acme", PERSON).await });
    have(place.store(), 1).await;
    request.abort();
    assert!(request.await.is_err(), "the client went away, and nothing is erased yet");
    assert_eq!(texts(&log, &of_subject(PERSON), DecisionOrder::NewestFirst).await.len(), 4);
    // The process ends, and the records that it has not sealed come at its next start.
    drop(log);
    let other = place.log_in("second", u64::MAX);
    let keeper = tokio::spawn(other.clone().run_maintenance());
    have(place.store(), 0).await;
    keeper.abort();
    assert!(texts(&other, &of_subject(PERSON), DecisionOrder::NewestFirst).await.is_empty());
    let log = place.log_in("first", u64::MAX);
    assert_eq!(erase(&log, PERSON).await, 4, "the repetition counts everything");
    assert_eq!(erase(&log, PERSON).await, 0);
    let all = DecisionSelection::default();
    assert_eq!(texts(&log, &all, DecisionOrder::NewestFirst).await.len(), 36);
}

/// Begins the erasure of a person of `tenant`, and forgets the name.
async fn begin(place: &Place, tenant: &str) {
    let code = place.archive().code_of(tenant, PERSON);
    let mut tx = place.store().write_as(tenant).await.expect("begins");
    let noon = Timestamp::from_millis(NOON);
    decision_erasures::begin(&mut tx, &code, noon, KEEP).await.expect("is noted");
    tx.commit().await.expect("is kept");
}

async fn a_tenant_whose_deliveries_cannot_be_read_does_not_prevent_others(database: TestDatabase) {
    // The secret of the webhook is not a list of denials.
    const DAMAGED: &str = "INSERT INTO denial_segments (tenant_id, webhook_id, id, total, denials) \
        SELECT tenant_id, id, id, 1, secret FROM webhooks";
    let place = Place::of(&database).await;
    let log = written(&place, "buffer").await;
    let webhook = WebhookRecord {
        id: Uuid::from_u128(1),
        url: "https://hooks.example/".to_owned(),
        events: vec![EventType::AccessDenied],
        // Before the other one.
        tenant_id: "aaron".to_owned(),
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(NOON),
        updated_at: None,
        managed_by: None,
    };
    let made = "INSERT INTO tenants (id, revision, created_at) VALUES ('aaron', 1, 0)";
    execute(place.store(), [made.to_owned()]).await;
    let mut tx = place.store().write("aaron", NOON).await.expect("begins");
    webhooks::insert(&mut tx, &webhook, b"encrypted").await.expect("works");
    tx.commit().await.expect("is kept");
    execute(place.store(), [DAMAGED.to_owned()]).await;
    for tenant in ["aaron", "acme"] {
        begin(&place, tenant).await;
    }
    let keeper = tokio::spawn(log.clone().run_maintenance());
    have(place.store(), 1).await;
    keeper.abort();
    assert!(texts(&log, &of_subject(PERSON), DecisionOrder::NewestFirst).await.is_empty());
    let pending = async |tx: &mut _| decision_erasures::pending(tx, 10).await;
    let pending = place.store().read_all(pending).await.expect("reads");
    assert_eq!(pending[0].tenant_id, "aaron");
}

async fn what_is_in_memory_is_sealed_with_the_rest(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids, json) = (place.log_of(u64::MAX), Numbered::default(), attributes());
    for files in 1..20 {
        log.append(&denial(ids.next(), "ann", sent(&json)), None).expect("is kept");
        log.seal().await.expect("is sealed");
        assert_eq!(place.files().len(), files);
    }
}

async fn the_end_of_an_erasure_is_seen_whatever_the_clocks_say(database: TestDatabase) {
    let place = Place::of(&database).await;
    let ends = async || {
        let ends = async |tx: &mut _| decision_erasures::ends(tx).await;
        place.store().read("acme", ends).await.expect("reads")
    };
    let mut before = ends().await;
    // Another replica, whose clock is behind, ends the second one; the last one ends that of the same person again.
    for (person, at) in [(b"first", NOON), (b"other", NOON - 60_000), (b"other", NOON - 59_000)] {
        let (begun, ended) = (Timestamp::from_millis(at - 1), Timestamp::from_millis(at));
        let mut tx = place.store().write_as("acme").await.expect("begins");
        decision_erasures::begin(&mut tx, person, begun, KEEP).await.expect("is noted");
        tx.commit().await.expect("is kept");
        assert_eq!(ends().await, before, "it runs");
        let mut tx = place.store().write_all().await.expect("begins");
        for erasure in decision_erasures::pending(&mut tx, 10).await.expect("reads") {
            decision_erasures::end(&mut tx, &erasure, ended).await.expect("is noted");
        }
        tx.commit().await.expect("is kept");
        let after = ends().await;
        assert_ne!(after, before);
        before = after;
    }
}

async fn a_name_that_is_not_known_is_not_needed(database: TestDatabase) {
    let place = Place::of(&database).await;
    let log = written(&place, "buffer").await;
    begin(&place, "acme").await;
    let keeper = tokio::spawn(log.clone().run_maintenance());
    have(place.store(), 0).await;
    keeper.abort();
    assert!(texts(&log, &of_subject(PERSON), DecisionOrder::NewestFirst).await.is_empty());
}

async fn records_of_a_tenant_that_is_gone_do_not_come_to_rest(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids, json) = (place.log_of(u64::MAX), Numbered::default(), attributes());
    let made = format!(
        "INSERT INTO tenants (id, revision, created_at) VALUES ('anew', 1, {}), ('late', 1, {})",
        NOON + 600_000,
        NOON + 60_000
    );
    execute(place.store(), [made]).await;
    // One without a write need not be in the database, and the clock of another replica may be late.
    for (tenant, revision, kept) in [
        ("acme", 812, 1),
        ("gone", 812, 0),
        ("anew", 812, 0),
        ("anew", 0, 1),
        ("late", 812, 1),
        ("fresh", 0, 1),
    ] {
        let id = ids.next();
        let decision = RecordedDecision { tenant, revision, ..denial(id, "ann", sent(&json)) };
        let pending = log.append_durably(&decision, None).expect("is taken");
        pending.written().await.expect("is written");
        log.seal().await.expect("sealed");
        let found = log.find(tenant, id, ReadLimit::none()).await.expect("reads").into;
        assert_eq!(found.iter().count(), kept, "{tenant} {revision}");
    }
}

async fn erasures_that_come_together_write_a_file_anew_once(database: TestDatabase) {
    let place = Place::of(&database).await;
    let log = written(&place, "buffer").await;
    log.seal().await.expect("sealed");
    let requests = [1, 3, 5, 7, 9].map(|number| {
        let (log, person) = (log.clone(), format!("user \"{number}\""));
        tokio::spawn(async move { log.erase("acme", &person).await })
    });
    have(place.store(), requests.len()).await;
    let keeper = tokio::spawn(log.clone().run_maintenance());
    for request in requests {
        let erased = request.await.expect("runs").expect("works");
        assert_eq!(erased.records, 4);
    }
    keeper.abort();
    let all = DecisionSelection::default();
    assert_eq!(texts(&log, &all, DecisionOrder::NewestFirst).await.len(), 20);
    let verified = place.archive().verify().await.expect("reads");
    assert_eq!((verified.erased.len(), verified.findings), (2, vec![]), "one for each file");
}

/// Notes an erasure of `acme`, and its end, at the same instant.
async fn begin_and_end(store: &Store, person: &[u8], at: Timestamp) {
    let mut tx = store.write_as("acme").await.expect("begins");
    assert!(decision_erasures::begin(&mut tx, person, at, KEEP).await.expect("works"));
    tx.commit().await.expect("is kept");
    let mut tx = store.write_all().await.expect("begins");
    for erasure in decision_erasures::pending(&mut tx, 10).await.expect("reads") {
        decision_erasures::end(&mut tx, &erasure, at).await.expect("is noted");
    }
    tx.commit().await.expect("is kept");
}

async fn an_erasure_is_forgotten_when_nothing_from_before_can_come(database: TestDatabase) {
    /// The days that a record is kept, and two more.
    const DAYS: i64 = 9;
    let place = Place::of(&database).await;
    let store = place.store();
    let day = |day| Timestamp::from_millis(NOON + day * 24 * 60 * 60 * 1_000);
    for (number, person) in [b"first", b"other", b"third"].into_iter().enumerate() {
        begin_and_end(store, person, day(i64::try_from(number).expect("is small"))).await;
    }
    let ends = async || {
        let ends = async |tx: &mut _| decision_erasures::ends(tx).await;
        store.read("acme", ends).await.expect("reads")
    };
    let before = ends().await;
    for (at, kept) in [(day(DAYS), 3), (day(DAYS + 1), 2), (day(DAYS + 2), 1)] {
        let mut tx = store.write_as("acme").await.expect("begins");
        assert!(decision_erasures::begin(&mut tx, b"asks", at, KEEP).await.expect("works"));
        tx.commit().await.expect("is kept");
        let list = async |tx: &mut _| decision_erasures::list(tx, &["acme"]).await;
        let listed = store.read_all(list).await.expect("reads");
        let persons = listed.iter().filter(|row| row.subject.len() == 5);
        assert_eq!(persons.count(), kept);
        assert_eq!(ends().await, before, "no replay takes it for an end");
    }
    let of_others = async |tx: &mut _| decision_erasures::list(tx, &["bolt"]).await;
    assert!(store.read_all(of_others).await.expect("reads").is_empty());
}

async fn a_tenant_has_a_share_of_erasures(database: TestDatabase) {
    let place = Place::of(&database).await;
    let code = match &database {
        TestDatabase::Sqlite(_) => "randomblob(16)",
        TestDatabase::Postgres(_) => "decode(md5(CAST(n AS TEXT)), 'hex')",
    };
    let others = decision_erasures::MAX - 1;
    let rows = format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {others}) \
        INSERT INTO decision_erasures (tenant_id, subject, erased_at, pending, ended_at) \
        SELECT 'acme', {code}, {NOON}, FALSE, {NOON} FROM numbers"
    );
    execute(place.store(), [rows]).await;
    let begin = async |tenant: &str, person: &[u8], at: i64| {
        let mut tx = place.store().write_as(tenant).await.expect("begins");
        let at = Timestamp::from_millis(at);
        let is_noted = decision_erasures::begin(&mut tx, person, at, KEEP).await.expect("works");
        tx.commit().await.expect("is kept");
        is_noted
    };
    assert!(begin("acme", b"last", NOON).await);
    assert!(!begin("acme", b"more", NOON).await);
    let refused = place.log_of(u64::MAX).erase("acme", PERSON).await;
    assert!(matches!(refused, Err(crate::ArchiveError::TooManyErasures(_))), "{refused:?}");
    assert!(begin("acme", b"last", NOON).await, "a repetition needs no more room");
    assert!(begin("bolt", b"more", NOON).await);
    assert!(begin("acme", b"more", NOON + 10 * 24 * 60 * 60 * 1_000).await);
}
