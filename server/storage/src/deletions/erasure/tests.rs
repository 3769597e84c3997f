//! Nothing of a deleted tenant stays, in any table that the schema has.

use std::collections::BTreeSet;

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::*;
use crate::store::Store;
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::macros::fetch_optional;
use crate::transactions::tx::Inner;

on_every_database!(
    each_table_with_rows_of_tenants_is_erased,
    nothing_of_the_tenant_stays_and_nothing_of_others_goes,
);

/// Statements that insert a row into each table: `$1` is the tenant, `$2` the id, `$3` some bytes.
const ROWS: [(&str, &str); 36] = [
    (
        "tenant_settings",
        "INSERT INTO tenant_settings (tenant_id, settings, updated_by, updated_at) \
        VALUES ($1, '{}', 'a', 0)",
    ),
    (
        "decision_parts",
        "INSERT INTO decision_parts (tenant_id, first_id, path, last_id, records, bytes, file_bytes, last_at, \
        expires_at) VALUES ($1, $2, 'p', $2, 1, 1, 1, 0, 0)",
    ),
    (
        "decision_erasures",
        "INSERT INTO decision_erasures (tenant_id, subject, erased_at) VALUES ($1, $3, 0)",
    ),
    (
        "record_answers",
        "INSERT INTO record_answers (tenant_id, question, replica, at, complete, records) \
        VALUES ($1, $2, 1, 0, TRUE, $3)",
    ),
    (
        "tenant_cases",
        "INSERT INTO tenant_cases (tenant_id, domain, cases, users, skipped, updated_by, updated_at) \
        VALUES ($1, 'd', '[]', '[]', '[]', 'a', 0)",
    ),
    (
        "proposals",
        "INSERT INTO proposals (tenant_id, id, state, owner, domain, request, plan, fingerprint, \
        proposed_by, proposed_at, expires_at) \
        VALUES ($1, $2, 'open', 'o', 'd', $3, '{}', 'f', 'a', 0, 0)",
    ),
    (
        "drafts",
        "INSERT INTO drafts (tenant_id, name, bundle, domain, shadow, created_by, created_at) \
        VALUES ($1, 'd', '{}', 'd', TRUE, 'a', 0)",
    ),
    (
        "revisions",
        "INSERT INTO revisions (tenant_id, revision, created_at, actor, credential, via, changes, bytes) \
        VALUES ($1, 1, 0, 'a', 'token', 'api', 1, 1)",
    ),
    (
        "revision_changes",
        "INSERT INTO revision_changes (tenant_id, kind, record, revision, after_hash) \
        VALUES ($1, 'rule', 'r', 1, $3)",
    ),
    (
        "revision_values",
        "INSERT INTO revision_values (tenant_id, hash, last_revision, value) VALUES ($1, $3, 1, '{}')",
    ),
    (
        "resources",
        "INSERT INTO resources (tenant_id, id, name, default_roles, created_at) \
        VALUES ($1, $2, 'x:y', '[]', 0)",
    ),
    (
        "rbac_rules",
        "INSERT INTO rbac_rules (tenant_id, id, sub, dom, obj, act, effect, origin, created_by, \
        created_at) VALUES ($1, $2, 'a', 'b', 'c:d', 'e', 'allow', 'explicit', 'f', 0)",
    ),
    (
        "abac_policies",
        "INSERT INTO abac_policies (tenant_id, id, name, resource, effect, format, rule_data, \
        priority, enabled, created_by, created_at) \
        VALUES ($1, $2, 'p', 'x:y', 'deny', 'f', '{}', 1, TRUE, 'a', 0)",
    ),
    ("plan_sizes", "INSERT INTO plan_sizes (tenant_id, pattern, bytes) VALUES ($1, 'x:y', 1)"),
    (
        "identity_providers",
        "INSERT INTO identity_providers (tenant_id, id, issuer_url, jwks_uri, roles_claim, \
        domain_claim, admin_domain_claim, created_at) VALUES ($1, $2, $1, 'k', 'r', 'd', 'a', 0)",
    ),
    (
        "console_sessions",
        "INSERT INTO console_sessions (tenant_id, id, hash, subject, tokens, created_at, used_at, ends_at) \
        VALUES ($1, $2, $3, 'a', $3, 0, 0, 0)",
    ),
    (
        "console_links",
        "INSERT INTO console_links (tenant_id, id, hash, subject, roles, created_at, expires_at) \
        VALUES ($1, $2, $3, 'a', '[]', 0, 0)",
    ),
    (
        "service_keys",
        "INSERT INTO service_keys (tenant_id, id, name, secret_hash, permissions, created_by, \
        created_at) VALUES ($1, $2, 'n', $3, '[]', 'a', 0)",
    ),
    (
        "webhooks",
        "INSERT INTO webhooks (tenant_id, id, url, events, secret, created_by, created_at) \
        VALUES ($1, $2, 'u', '[]', $3, 'a', 0)",
    ),
    ("webhook_lanes", "INSERT INTO webhook_lanes (tenant_id, webhook_id) VALUES ($1, $2)"),
    (
        "denial_segments",
        "INSERT INTO denial_segments (tenant_id, webhook_id, id, total, denials) \
        VALUES ($1, $2, $2, 1, $3)",
    ),
    (
        "delivered_denials",
        "INSERT INTO delivered_denials (tenant_id, webhook_id, id, last_attempt, first_delivery, \
        last_delivery, total, attempts, bodies, settled_at) \
        VALUES ($1, $2, $2, $2, $2, $2, 1, $3, $3, 0)",
    ),
    (
        "webhook_events",
        "INSERT INTO webhook_events (tenant_id, id, type, body, created_at) \
        VALUES ($1, $2, 't', $3, 0)",
    ),
    (
        "webhook_deliveries",
        "INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, event_id) \
        VALUES ($1, $2, $2, $2)",
    ),
    (
        "webhook_attempts",
        "INSERT INTO webhook_attempts (tenant_id, id, webhook_id, delivery_id, retry_count, \
        duration_ms, state, attempted_at) VALUES ($1, $2, $2, $2, 0, 0, 'dead', 0)",
    ),
    (
        "resolver_modules",
        "INSERT INTO resolver_modules (tenant_id, sha256, bytes) VALUES ($1, 'aa', $3)",
    ),
    (
        "resolvers",
        "INSERT INTO resolvers (tenant_id, id, namespace, version, enabled, manifest, secrets, \
        module, sha256, created_by, created_at) \
        VALUES ($1, $2, 'n', 1, TRUE, '{}', $3, '{}', 'aa', 'a', 0)",
    ),
    (
        "entities",
        "INSERT INTO entities (tenant_id, type, id, roles, domain_roles, properties, revision, \
        updated_at, is_deleted) VALUES ($1, 'user', 'a', '[]', '{}', '{}', 1, 0, FALSE)",
    ),
    ("entity_roles", "INSERT INTO entity_roles (tenant_id, name, holders) VALUES ($1, 'r', 1)"),
    (
        "entity_syncs",
        "INSERT INTO entity_syncs (tenant_id, source, id, begun_at) VALUES ($1, 's', $2, 0)",
    ),
    (
        "relations",
        "INSERT INTO relations (tenant_id, object_type, object_id, relation, subject_type, subject_id, \
        subject_relation, revision, updated_at, is_deleted) VALUES ($1, 'd', 'a', 1, 'user', 'a', 0, 1, 0, FALSE)",
    ),
    (
        "relation_syncs",
        "INSERT INTO relation_syncs (tenant_id, source, id, begun_at, tuples) VALUES ($1, 's', $2, 0, 0)",
    ),
    (
        "roles",
        "INSERT INTO roles (tenant_id, name, includes, created_by, created_at) \
        VALUES ($1, 'r', '[]', 'a', 0)",
    ),
    (
        "types",
        "INSERT INTO types (tenant_id, name, definition, sources, created_by, created_at) \
        VALUES ($1, 't', '{}', '{}', 'a', 0)",
    ),
    (
        "conditions",
        "INSERT INTO conditions (tenant_id, name, condition, created_by, created_at) \
        VALUES ($1, 'c', '\"user.a\"', 'a', 0)",
    ),
    (
        "audit_records",
        "INSERT INTO audit_records (tenant_id, id, created_at, actor, credential, action, records, \
        count) VALUES ($1, $2, 0, 'a', 'token', 'x', '[]', 1)",
    ),
];

/// Another rule of the tenant `$1`.
const RULE: &str = "INSERT INTO rbac_rules (tenant_id, id, sub, dom, obj, act, effect, origin, \
    created_by, created_at) VALUES ($1, $2, $3, 'b', 'c:d', 'e', 'allow', 'explicit', 'f', 0)";

/// The tables with a column `tenant_id`, as the database itself knows them.
async fn tables(store: &Store) -> BTreeSet<String> {
    const SQLITE: &str = "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c \
        WHERE m.type = 'table' AND c.name = 'tenant_id'";
    const POSTGRES: &str = "SELECT table_name::text FROM information_schema.columns \
        WHERE table_schema = current_schema() AND column_name = 'tenant_id'";
    let mut tx = store.begin_read_all().await.expect("begins");
    let sql = if matches!(tx.inner, Inner::Sqlite(_)) { SQLITE } else { POSTGRES };
    let rows = fetch_all!(tx, (String,), sql).expect("works");
    rows.into_iter().map(|(name,)| name).collect()
}

async fn each_table_with_rows_of_tenants_is_erased(database: TestDatabase) {
    let store = database.open().await;
    let of_schema = tables(&store).await;
    let erased: BTreeSet<_> = STEPS.iter().map(|(table, ..)| (*table).to_owned()).collect();
    assert_eq!(erased, of_schema, "a new table needs a step in `erasure.rs`");
    let filled: BTreeSet<_> = ROWS.iter().map(|(table, _)| (*table).to_owned()).collect();
    assert_eq!(filled, of_schema, "and a row in this test");
}

/// Stores a row of `tenant` in each table.
async fn fill(store: &Store, tenant: &str) {
    let mut tx = store.write(tenant, 0).await.expect("begins");
    for (table, sql) in ROWS {
        let id = Uuid::from_u128(if tenant == "gone" { 1 } else { 2 });
        let inserted = if sql.contains("$3") {
            execute!(tx, sql, tenant, id, tenant.as_bytes().to_vec())
        } else if sql.contains("$2") {
            execute!(tx, sql, tenant, id)
        } else {
            execute!(tx, sql, tenant)
        };
        inserted.unwrap_or_else(|error| panic!("{table}: {error}"));
    }
    tx.commit().await.expect("commits");
}

async fn count(store: &Store, table: &str, tenant: &str) -> i64 {
    let mut tx = store.begin_read_all().await.expect("begins");
    let sql = format!("SELECT count(*) FROM {table} WHERE tenant_id = $1");
    let row = fetch_optional!(tx, (i64,), AssertSqlSafe(sql.clone()), tenant);
    row.expect("works").expect("a number").0
}

async fn nothing_of_the_tenant_stays_and_nothing_of_others_goes(database: TestDatabase) {
    let store = database.open().await;
    fill(&store, "gone").await;
    fill(&store, "stays").await;
    let mut tx = store.write("gone", 0).await.expect("begins");
    for n in 0..1_200_u32 {
        let id = Uuid::from_u128(1_000 + u128::from(n));
        execute!(tx, RULE, "gone", id, format!("role-{n}")).expect("works");
    }
    tx.commit().await.expect("commits");
    let mut steps = 0;
    let mut before = 1_201;
    let mut store = store;
    loop {
        let mut tx = store.write_as("gone").await.expect("begins");
        let more = step(&mut tx).await.expect("works");
        tx.commit().await.expect("commits");
        let left = count(&store, "rbac_rules", "gone").await;
        assert!(before - left <= 500, "a step is bounded: {before}, then {left}");
        before = left;
        if !more {
            break;
        }
        steps += 1;
        // A crash after a step: the next process continues.
        store.close().await;
        store = database.open().await;
    }
    assert_eq!(steps, STEPS.len() + 2, "one for each table, and two more for the rules");
    for table in tables(&store).await {
        assert_eq!(count(&store, &table, "gone").await, 0, "{table}");
        assert_eq!(count(&store, &table, "stays").await, 1, "{table}");
    }
}
