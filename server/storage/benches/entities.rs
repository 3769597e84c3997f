//! Measures the load of a million entities from the database, and the memory that they take, and compares both with their
//! bars: `cargo bench -p portcullis-storage --features testing --bench entities`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use portcullis_engine::entities::{EntityInput, EntityTable};
use portcullis_engine::{Json, json};
use portcullis_model::entity::EntitiesBody;
use portcullis_storage::entities::{self, EntityOrigin};
use portcullis_storage::testing::TestDatabase;

const ENTITIES: usize = 1_000_000;
/// Most time of a load.
const LOAD_BAR: Duration = Duration::from_secs(5);
/// Most bytes of an entity beyond its properties.
const MEMORY_BAR: usize = 300;
const TENANT: &str = "acme";

/// Returns a body with a thousand entities.
fn body(first: usize) -> String {
    let mut text = r#"{"entities": ["#.to_owned();
    for n in first..first + 1_000 {
        let comma = if n == first { "" } else { "," };
        write!(
            text,
            r#"{comma}{{"type": "user", "id": "user-{n:08}@example.org", "roles": ["role-{}", "staff"],
            "domain_roles": {{"ws-{}": ["owner"]}},
            "properties": {{"ward": "ward-{}", "level": {}, "badge": "b-{n}", "active": true}}}}"#,
            n % 40,
            n % 5_000,
            n % 300,
            n % 10,
        )
        .expect("a string grows");
    }
    text + "]}"
}

/// Returns a table of the same entities without properties.
fn without_properties(table: &EntityTable) -> EntityTable {
    let mut builder = EntityTable::builder();
    for entity in table.of_type("user", None) {
        let roles: Vec<_> = entity.roles().map(|role| Json::String(role.into())).collect();
        let domain_roles = entity
            .domain_roles()
            .map(|(domain, role)| (domain.into(), Json::Array(vec![Json::String(role.into())])));
        let domain_roles: Vec<_> = domain_roles.collect();
        let entity = EntityInput {
            entity_type: "user",
            id: entity.id(),
            roles: &roles,
            domain_roles: &domain_roles,
            properties: &[],
        };
        builder.push(&entity).expect("fits");
    }
    builder.finish().expect("fits")
}

async fn measure(database: &TestDatabase, name: &str, count: usize) {
    let store = database.open().await;
    let began = Instant::now();
    for first in (0..count).step_by(1_000) {
        let text = body(first);
        let json = json::parse(text.as_bytes()).expect("JSON");
        let entities = EntitiesBody::parse(&json).expect("sound").entities;
        let mut tx = store.write(TENANT, 0).await.expect("begins");
        entities::upsert(&mut tx, &entities, EntityOrigin::default()).await.expect("works");
        tx.commit().await.expect("commits");
    }
    let written = began.elapsed().as_secs_f64();
    println!("{name}: {count} entities written by calls of 1,000: {written:.1} s");
    for round in ["first", "second"] {
        let began = Instant::now();
        let mut tx = store.read(TENANT).await.expect("begins");
        let table = entities::table(&mut tx).await.expect("works").expect("fits");
        tx.end().await.expect("ends");
        let time = began.elapsed();
        let verdict = if time <= LOAD_BAR { "met" } else { "missed" };
        println!(
            "{name}: {round} load: {:.2} s, bar {:.0} s: {verdict}",
            time.as_secs_f64(),
            LOAD_BAR.as_secs_f64()
        );
        let (whole, bare) = (table.weight() / count, without_properties(&table).weight() / count);
        let verdict = if bare <= MEMORY_BAR { "met" } else { "missed" };
        println!(
            "{name}: {whole} bytes each, {bare} without properties, bar {MEMORY_BAR}: {verdict}"
        );
    }
}

#[tokio::main]
async fn main() {
    if let Some(database) = TestDatabase::sqlite() {
        measure(&database, "SQLite", ENTITIES).await;
    }
    if let Some(database) = TestDatabase::postgres() {
        measure(&database, "PostgreSQL", ENTITIES).await;
    }
}
