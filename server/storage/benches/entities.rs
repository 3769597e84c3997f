//! Measures the load of a million entities from the database, and the memory that they take, and compares both with their
//! bars: `cargo bench -p portcullis-storage --features testing --bench entities`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

use std::time::{Duration, Instant};

use portcullis_engine::Json;
use portcullis_engine::entities::{EntityInput, EntityTable};
use portcullis_storage::entities;
use portcullis_storage::testing::{TestDatabase, execute};

const ENTITIES: usize = 1_000_000;
/// Most time of a load.
const LOAD_BAR: Duration = Duration::from_secs(5);
/// Most bytes of an entity beyond its properties.
const MEMORY_BAR: usize = 300;
const TENANT: &str = "acme";

/// Stores the entities, on either database. One statement: by calls of the API it would take minutes.
fn insert(count: usize) -> String {
    format!(
        r#"INSERT INTO entities (tenant_id, type, id, roles, domain_roles, properties, revision, updated_at, is_deleted)
        WITH RECURSIVE series(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM series WHERE n < {count} - 1)
        SELECT '{TENANT}', 'user', 'user-' || substr(CAST(100000000 + n AS TEXT), 2) || '@example.org',
            '["role-' || (n % 40) || '","staff"]',
            '{{"ws-' || (n % 5000) || '":["owner"]}}',
            '{{"active":true,"badge":"b-' || n || '","level":' || (n % 10) || ',"ward":"ward-' || (n % 300) || '"}}',
            1, 0, FALSE FROM series"#
    )
}

/// Returns a table of the same entities without properties.
fn without_properties(table: &EntityTable) -> EntityTable {
    let mut builder = EntityTable::builder();
    for entity in table.for_type("user", None) {
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
    let mut statements = vec![
        format!("INSERT INTO tenants (id, revision, created_at) VALUES ('{TENANT}', 0, 0)"),
        insert(count),
    ];
    if name == "PostgreSQL" {
        // Autovacuum would do it some minutes later.
        statements.push("ANALYZE entities".to_owned());
    }
    execute(&store, statements).await;
    println!("{name}: {count} entities stored in {:.1} s", began.elapsed().as_secs_f64());
    for round in ["first", "second"] {
        let began = Instant::now();
        let mut tx = store.begin_read(TENANT).await.expect("begins");
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
