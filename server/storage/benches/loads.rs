//! Measures loads of 100,000 tuples and of 100,000 entities in calls of 1,000, and compares them with their bars:
//! `cargo bench -p portcullis-storage --features testing --bench loads`. Names of databases and records select some:
//! `… --bench loads -- SQLite tuples`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

use std::time::{Duration, Instant};

use portcullis_directory::RelationNumber;
use portcullis_engine::json;
use portcullis_model::entity::{EntitiesBody, NewEntity};
use portcullis_model::input::DeclaredBody;
use portcullis_model::relation::ObjectName;
use portcullis_model::types::TypeBody;
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::entities::{EntityOrigin, Upsert};
use portcullis_storage::relations::{self, NumberedTuple, TupleKey};
use portcullis_storage::testing::TestDatabase;
use portcullis_storage::{Store, entities, types};

const RECORDS: usize = 100_000;
const CALL: usize = 1_000;
const TENANT: &str = "acme";
/// Longest time in which a call holds other writes up.
const HELD_BAR: Duration = Duration::from_millis(100);
const SOURCE: EntityOrigin<'_> = EntityOrigin { source: Some("hr"), sync: None };

/// Returns a tuple of groups with 50 members and folders with 20 documents, in no order that an index has.
fn tuple(number: usize) -> NumberedTuple {
    let scattered = number * 7_919 % RECORDS;
    let key = TupleKey {
        object: ObjectName::new("document", &format!("doc-{scattered:06}")),
        relation: RelationNumber(2),
        subject: ObjectName::new("user", &format!("user-{:05}@example.org", number / 3)),
        subject_relation: None,
    };
    NumberedTuple { key, expires_at: None }
}

/// Returns entities with five properties.
fn entities_of(numbers: std::ops::Range<usize>) -> Vec<NewEntity> {
    let entity = |number: usize| {
        format!(
            r#"{{"type": "user", "id": "user-{:06}@example.org", "roles": ["role-{}"], "properties": {{"active": true, "badge": "b-{number}",
            "level": {}, "ward": "ward-{}", "manager": "user-{:06}@example.org"}}}}"#,
            number * 7_919 % RECORDS,
            number % 40,
            number % 10,
            number % 300,
            number / 50
        )
    };
    let all: Vec<String> = numbers.map(entity).collect();
    let body = format!(r#"{{"entities": [{}]}}"#, all.join(","));
    let json = json::parse(body.as_bytes()).expect("JSON");
    EntitiesBody::parse(&json).expect("entities").entities
}

async fn declare(store: &Store) {
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    for (kind, relations) in [
        ("group", r#"{"relations": {"member": "[user]"}}"#),
        ("document", r#"{"relations": {"viewer": "[user]"}}"#),
    ] {
        let json = json::parse(relations.as_bytes()).expect("JSON");
        let new = TypeBody::parse(&json).and_then(|body| body.into_type(kind)).expect("a type");
        let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
        types::store(&mut tx, &new.into_record(&by)).await.expect("works");
    }
    tx.commit().await.expect("commits");
}

/// Writes a call of tuples. Returns how long its transaction held others up.
async fn write_tuples(store: &Store, first: usize) -> Duration {
    let tuples: Vec<NumberedTuple> = (first..first + CALL).map(tuple).collect();
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    let began = Instant::now();
    relations::write(&mut tx, &tuples, SOURCE).await.expect("works");
    tx.commit().await.expect("commits");
    began.elapsed()
}

/// Writes a call of entities. Returns how long its transaction held others up.
async fn write_entities(store: &Store, first: usize) -> Duration {
    let all = entities_of(first..first + CALL);
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    assert_eq!(entities::clash(&mut tx, &all).await.expect("works"), None);
    let upsert = Upsert::compare(&mut tx, &all, SOURCE).await.expect("works");
    tx.end().await.expect("ends");
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    let began = Instant::now();
    upsert.write(&mut tx).await.expect("works");
    tx.commit().await.expect("commits");
    began.elapsed()
}

/// Returns the CPU time of this process, which has SQLite in it and not PostgreSQL (proc(5)).
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
    let ticks =
        fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("ticks"));
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

async fn measure(database: &TestDatabase, name: &str, what: &str, bar: Duration) {
    let store = database.open().await;
    declare(&store).await;
    let (began, used) = (Instant::now(), cpu());
    let mut longest = Duration::ZERO;
    for first in (0..RECORDS).step_by(CALL) {
        let held = match what {
            "tuples" => write_tuples(&store, first).await,
            _ => write_entities(&store, first).await,
        };
        longest = longest.max(held);
    }
    let (time, used) = (began.elapsed(), cpu() - used);
    let verdict = |is_met| if is_met { "met" } else { "missed" };
    println!(
        "{name}: {RECORDS} {what}: {:.2} s, bar {:.0} s: {}; CPU of this process {:.2} s; longest hold {} ms: {}",
        time.as_secs_f64(),
        bar.as_secs_f64(),
        verdict(time <= bar),
        used.as_secs_f64(),
        longest.as_millis(),
        verdict(longest <= HELD_BAR),
    );
}

#[tokio::main]
async fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|one| !one.starts_with('-')).collect();
    let is_wanted = |name: &str, others: [&str; 2]| {
        let is_named = wanted.iter().any(|one| one == name);
        is_named || !wanted.iter().any(|one| others.contains(&&**one))
    };
    for name in ["SQLite", "PostgreSQL"] {
        for (what, bar) in [("tuples", 4), ("entities", 8)] {
            if !is_wanted(name, ["SQLite", "PostgreSQL"])
                || !is_wanted(what, ["tuples", "entities"])
            {
                continue;
            }
            let database = match name {
                "SQLite" => TestDatabase::sqlite(),
                _ => TestDatabase::postgres(),
            };
            if let Some(database) = database {
                measure(&database, name, what, Duration::from_secs(bar)).await;
            }
        }
    }
}
