//! Databases of version 0.1 are upgraded.

use std::sync::Arc;

use portcullis_model::event::with_dropped;
use sqlx::{PgPool, SqlitePool};
use uuid::Uuid;

use super::*;
use crate::databases::database::Database;
use crate::databases::sqlite_pools::SqlitePools;
use crate::delivery::delivery_queues::QueueId;
use crate::delivery::jobs;
use crate::store::{Store, StoreLimits};
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::macros::{execute, fetch_all, fetch_optional};
use crate::transactions::tx::Inner;

on_every_database!(the_records_of_version_0_1_are_counted_and_its_denials_get_their_queue);

/// The migrations of version 0.1.
const RELEASED: usize = 4;

/// Opens the database with the schema of version 0.1.
async fn opened_as_0_1(database: &TestDatabase) -> Store {
    let url = database.url();
    let database = match database {
        TestDatabase::Sqlite(_) => {
            let pool = SqlitePool::connect(&format!("{url}?mode=rwc")).await.expect("opens");
            migrator(&SQLITE[..RELEASED]).run(&pool).await.expect("migrates");
            Database::Sqlite(Arc::new(SqlitePools::fixed(pool.clone(), pool)))
        }
        TestDatabase::Postgres(_) => {
            let pool = PgPool::connect(&url).await.expect("opens");
            migrator(&POSTGRES[..RELEASED]).run(&pool).await.expect("migrates");
            Database::postgres(pool)
        }
    };
    Store::new(database)
}

/// Stores records of tenant `a`: rules, a resource, and a webhook with three denials that wait, one that is settled, and another event
/// that waits.
async fn fill(store: &Store) {
    let (webhook, at) = (Uuid::from_u128(1), 1_000_i64);
    let mut tx = store.write_as("a").await.expect("begins");
    const TENANT: &str = "INSERT INTO tenants (id, revision, created_at) VALUES ('a', 3, $1)";
    execute!(tx, TENANT, at).expect("works");
    const RULE: &str = "INSERT INTO rbac_rules (tenant_id, id, sub, dom, obj, act, effect, origin, \
        created_by, created_at) VALUES ('a', $1, $2, 'd', 'x:y', 'y', 'allow', 'explicit', 'ann', $3)";
    for number in 0..4_u128 {
        let subject = format!("rôle-{number}");
        execute!(tx, RULE, Uuid::from_u128(number), subject, at).expect("works");
    }
    const RESOURCE: &str = "INSERT INTO resources (tenant_id, id, name, default_roles, created_at) \
        VALUES ('a', $1, 'wörk:space:read', '[]', $2)";
    execute!(tx, RESOURCE, Uuid::from_u128(1), at).expect("works");
    const WEBHOOK: &str = "INSERT INTO webhooks (tenant_id, id, url, events, secret, created_by, \
        created_at) VALUES ('a', $1, 'https://h.example/', '[]', $2, 'ann', $3)";
    execute!(tx, WEBHOOK, webhook, b"s".as_slice(), at).expect("works");
    const QUEUE: &str =
        "INSERT INTO webhook_lanes (tenant_id, webhook_id, due_at) VALUES ('a', $1, 0)";
    execute!(tx, QUEUE, webhook).expect("works");
    const EVENT: &str = "INSERT INTO webhook_events (tenant_id, id, type, body, created_at) \
        VALUES ('a', $1, $2, $3, $4)";
    const DELIVERY: &str = "INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, event_id, due_at) \
        VALUES ('a', $1, $2, $1, $3)";
    for (number, kind, due_at) in [
        (11_u128, "access.denied", None),
        (12, "access.denied", Some(0)),
        (13, "access.denied", Some(0)),
        (14, "policy.abac.created", Some(0)),
        (15, "access.denied", Some(9_000)),
    ] {
        let id = Uuid::from_u128(number);
        execute!(tx, EVENT, id, kind, b"{\"data\":{}}".as_slice(), at).expect("works");
        execute!(tx, DELIVERY, id, webhook, due_at).expect("works");
    }
    // The commit of this version needs this version's schema.
    match tx.inner {
        Inner::Sqlite(inner) => inner.commit().await.expect("commits"),
        Inner::Postgres(inner) => inner.commit().await.expect("commits"),
    }
}

async fn the_records_of_version_0_1_are_counted_and_its_denials_get_their_queue(
    database: TestDatabase,
) {
    let store = opened_as_0_1(&database).await;
    fill(&store).await;
    store.close().await;
    let store = database.open().await.with_limits(StoreLimits::default());
    let mut tx = store.begin_read("a").await.expect("begins");
    const USED: &str = "SELECT used_rules, used_webhooks, used_policies, used_bytes FROM tenants";
    let used = fetch_optional!(tx, (i64, i64, i64, i64), USED).expect("works").expect("a tenant");
    let bytes = 4 * "rôle-0dx:yy".len() + "wörk:space:read[]".len();
    assert_eq!(used, (4, 1, 0, i64::try_from(bytes).expect("few")));
    const PARTS: &str = "SELECT stem, verb FROM resources";
    let parts = fetch_optional!(tx, (String, String), PARTS).expect("works").expect("a resource");
    assert_eq!(parts, ("wörk:space".to_owned(), "read".to_owned()));
    const REVISIONS: &str = "SELECT revision, via, changes FROM revisions";
    let revisions = fetch_all!(tx, (i64, String, i64), REVISIONS).expect("works");
    assert_eq!(revisions, [(3, "import".to_owned(), 0)]);
    const QUEUES: &str = "SELECT denials, due_at, waiting FROM webhook_lanes ORDER BY denials";
    let queues = fetch_all!(tx, (bool, Option<i64>, i64), QUEUES).expect("works");
    assert_eq!(queues, [(false, Some(0), 0), (true, Some(0), 3)]);
    for (denials, expected) in [(false, 14), (true, 12)] {
        let queue = QueueId { webhook: Uuid::from_u128(1), denials };
        let job = jobs::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
        assert_eq!(job.event, Uuid::from_u128(expected));
        assert_eq!(job.body(), with_dropped(b"{\"data\":{}}".to_vec(), 0));
    }
}
