//! The storage suite: the behaviour that every database behind [`Store`] must have.

use std::time::Duration;

use portcullis_engine::condition::NamedConditions;
use portcullis_engine::{Effect, Json, ResourcePattern, RuleTuple, json};
use portcullis_model::page::Page;
use portcullis_model::policy::NewPolicy;
use portcullis_model::provider::NewProvider;
use portcullis_model::rule::{NewRule, RuleOrigin, RuleRecord};
use portcullis_model::service_key::NewServiceKey;
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use crate::commits::commit::Committed;
use crate::content::{plan_records, policies, rules};
use crate::databases::database::Database;
use crate::store::Store;
use crate::tenancy::{providers, service_keys, tenants};
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::error::{OpenError, StoreError};
use crate::transactions::macros::{execute, fetch_all};
use crate::transactions::tx::Tx;

mod query_plans;
mod statements;
mod write_turns;

on_every_database!(
    a_commit_raises_the_revision_by_one_whatever_it_holds,
    what_is_dropped_is_rolled_back_and_what_is_committed_survives_a_restart,
    tenants_with_the_same_ids_and_tuples_do_not_meet,
    a_tuple_has_one_rule,
    a_plan_gets_the_patterns_that_match_and_the_policies_that_count,
    a_plan_gets_records_with_any_text,
    the_read_transaction_cannot_write,
    a_store_opened_to_read_makes_no_schema_and_refuses_writes,
    only_an_empty_database_is_opened_as_an_empty_one,
    pages_follow_one_another,
    a_page_ends_where_its_records_reach_a_mebibyte,
    nobody_can_name_every_tenant,
    writes_of_one_tenant_happen_one_after_the_other,
    service_keys_and_providers_come_back_as_they_went_in,
);

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn rule(id: u128, obj: &str) -> RuleRecord {
    let tuple = RuleTuple {
        sub: "reader".to_owned(),
        dom: "acme".to_owned(),
        obj: ResourcePattern::parse(obj).expect("a pattern"),
        act: "read".to_owned(),
    };
    NewRule { tuple, effect: Effect::Allow }.into_record(
        Uuid::from_u128(id),
        RuleOrigin::Explicit,
        &by(),
    )
}

fn object(text: &str) -> Json<'static> {
    json::parse(text.as_bytes()).expect("JSON").into_owned()
}

async fn insert(store: &Store, tenant: &str, rule: &RuleRecord) -> Committed {
    let mut tx = store.write(tenant, 0).await.expect("begins");
    assert!(rules::insert(&mut tx, rule).await.expect("works"), "the tuple must be free");
    tx.commit().await.expect("commits")
}

async fn a_commit_raises_the_revision_by_one_whatever_it_holds(database: TestDatabase) {
    let store = database.open().await;
    assert_eq!(insert(&store, "acme", &rule(1, "doc:read")).await.position.revision, 1);
    let mut tx = store.write("acme", 0).await.expect("begins");
    for id in 2..5 {
        rules::insert(&mut tx, &rule(id, &format!("doc:{id}"))).await.expect("works");
    }
    let committed = tx.commit().await.expect("commits");
    assert_eq!(
        (committed.position.revision, committed.touched.map(|touched| touched.len())),
        (2, Some(3))
    );
    let nothing = store.write("acme", 0).await.expect("begins").commit().await.expect("commits");
    assert_eq!((nothing.position.revision, nothing.touched), (2, None));
    assert_eq!(insert(&store, "other", &rule(1, "doc:read")).await.position.revision, 1);
}

async fn what_is_dropped_is_rolled_back_and_what_is_committed_survives_a_restart(
    database: TestDatabase,
) {
    let store = database.open().await;
    insert(&store, "acme", &rule(1, "doc:read")).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    rules::insert(&mut tx, &rule(2, "doc:write")).await.expect("works");
    drop(tx);
    store.close().await;
    let store = database.open().await;
    let mut tx = store.begin_read("acme").await.expect("begins");
    assert!(rules::find(&mut tx, Uuid::from_u128(1)).await.expect("works").is_some());
    assert!(rules::find(&mut tx, Uuid::from_u128(2)).await.expect("works").is_none());
    assert_eq!(tenants::revision(&mut tx).await.expect("works"), 1);
}

async fn tenants_with_the_same_ids_and_tuples_do_not_meet(database: TestDatabase) {
    let store = database.open().await;
    let own = rule(1, "doc:read");
    insert(&store, "a", &own).await;
    insert(&store, "b", &own).await;
    let mut tx = store.write("a", 0).await.expect("begins");
    let mut changed = own.clone();
    changed.effect = Effect::Deny;
    assert!(rules::update(&mut tx, &own, &changed, &by()).await.expect("works"));
    tx.commit().await.expect("commits");
    let mut tx = store.write("a", 0).await.expect("begins");
    rules::delete(&mut tx, &changed, &by()).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("b").await.expect("begins");
    let found = rules::find(&mut tx, own.id).await.expect("works").expect("untouched");
    assert_eq!(found.effect, Effect::Allow);
    let listed = rules::matching(&mut tx, "doc:read", Page::FIRST).await.expect("works");
    assert_eq!(listed.records.len(), 1);
}

async fn a_tuple_has_one_rule(database: TestDatabase) {
    let store = database.open().await;
    insert(&store, "acme", &rule(1, "doc:read")).await;
    insert(&store, "acme", &rule(2, "doc:write")).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert!(!rules::insert(&mut tx, &rule(3, "doc:read")).await.expect("works"));
    let moved = RuleRecord { id: Uuid::from_u128(2), ..rule(2, "doc:read") };
    let refused =
        !rules::update(&mut tx, &rule(2, "doc:write"), &moved, &by()).await.expect("works");
    assert!(refused);
    assert_eq!(tx.commit().await.expect("commits").position.revision, 2, "nothing changed");
}

async fn a_plan_gets_the_patterns_that_match_and_the_policies_that_count(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    for (id, obj) in [(1, "doc:read"), (2, "doc:*"), (3, "*"), (4, "doc:write"), (5, "docs:*")] {
        rules::insert(&mut tx, &rule(id, obj)).await.expect("works");
    }
    let tree = r#"{"type": "CONDITION", "attribute": "user.a", "operator": "exists"}"#;
    for (id, resource, enabled) in
        [(11, "doc:read", true), (12, "doc:*", true), (13, "doc:read", false), (14, "x:y", true)]
    {
        let body = format!(
            r#"{{"name": "p", "resource": "{resource}", "effect": "deny", "priority": 1,
                "rule_data": {tree}, "enabled": {enabled}}}"#
        );
        let policy = NewPolicy::parse(&object(&body)).expect("valid");
        let record = policy.into_record(Uuid::from_u128(id), "acme", &by());
        policies::insert(&mut tx, &record).await.expect("works");
    }
    let deleted =
        policies::find(&mut tx, Uuid::from_u128(12)).await.expect("works").expect("there");
    policies::delete(&mut tx, &deleted, &by()).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    let rules = plan_records::rules(&mut tx, "doc:read", None).await.expect("works");
    let rules = rules.list().expect("stored rules");
    let mut ids: Vec<_> = rules.iter().map(|rule| rule.id.as_u128()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
    for (broader, left) in [("*", 2), ("doc:*", 1)] {
        let own = plan_records::rules(&mut tx, "doc:read", Some(broader)).await.expect("works");
        assert_eq!(own.list().expect("stored rules").len(), left, "without those on {broader}");
    }
    let stored = plan_records::policies(&mut tx, "doc:read", None).await.expect("works");
    let stored = stored.list().expect("stored policies");
    let stored: Vec<_> =
        stored.iter().map(|stored| stored.policy(&NamedConditions::default())).collect();
    assert_eq!(stored.iter().map(|policy| policy.id.as_u128()).collect::<Vec<_>>(), [11]);
    assert!(stored[0].condition.is_ok());
    let used = plan_records::patterns(&mut tx, 100).await.expect("works");
    assert_eq!(used, ["*", "doc:*", "doc:read", "doc:write", "docs:*", "x:y"]);
    assert_eq!(plan_records::patterns(&mut tx, 2).await.expect("works").len(), 2);
    let listed =
        policies::list(&mut tx, Some("doc:read"), None, None, Page::FIRST).await.expect("works");
    assert_eq!(listed.records.len(), 2, "a disabled policy is listed, a deleted one is not");
    let filtered =
        policies::list(&mut tx, None, Some(Effect::Allow), None, Page::FIRST).await.expect("works");
    assert!(filtered.records.is_empty() && !filtered.more);
}

async fn a_plan_gets_records_with_any_text(database: TestDatabase) {
    let store = database.open().await;
    for separator in ["", "\u{1f}", "\u{1f}\u{1f}12:"] {
        let mut tx = store.write("acme", 0).await.expect("begins");
        let number = separator.len() as u128;
        let mut written = rule(number, "doc:read");
        written.tuple.sub = format!("{separator}a{separator}é{separator}");
        rules::insert(&mut tx, &written).await.expect("works");
        insert_policy(&mut tx, number, 10).await;
        tx.pass_gates();
        tx.commit().await.expect("commits");
        let mut tx = store.begin_read("acme").await.expect("begins");
        let read = plan_records::rules(&mut tx, "doc:read", None).await.expect("works");
        let read = read.list().expect("stored rules");
        let same = read.iter().find(|rule| rule.id == written.id).expect("there");
        assert_eq!(same.tuple, written.tuple);
        let policies = plan_records::policies(&mut tx, "doc:read", None).await.expect("works");
        assert_eq!(policies.list().expect("stored policies").len(), read.len());
    }
}

async fn the_read_transaction_cannot_write(database: TestDatabase) {
    let store = database.open().await;
    insert(&store, "acme", &rule(1, "doc:read")).await;
    let mut tx = store.begin_read("acme").await.expect("begins");
    assert!(rules::insert(&mut tx, &rule(2, "doc:write")).await.is_err());
}

#[tokio::test]
async fn a_url_of_another_database_or_an_unusable_path_is_an_error() {
    for url in ["mysql://x", "postgres", "sqlite:///nonexistent/x.db", "postgres://localhost:1/x"] {
        assert!(Store::open(url).await.is_err(), "{url}");
    }
    let error = Store::open("sqlite:///nonexistent/x.db").await.expect_err("no folder");
    assert!(error.to_string().contains("there is no folder `/nonexistent`"), "{error}");
}

#[tokio::test]
async fn a_missing_file_is_created_only_on_demand() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.db");
    for mode in ["", "?mode=rwc"] {
        let url = format!("sqlite://{}{mode}", file.display());
        let opened = Store::open_existing(&url).await.map(drop);
        assert!(matches!(opened, Err(OpenError::NoFile)), "{opened:?}");
        assert!(!file.exists());
    }
    let url = format!("sqlite://{}", file.display());
    Store::open(&url).await.expect("it is created").close().await;
    Store::open_existing(&url).await.expect("it exists").close().await;
}

async fn a_store_opened_to_read_makes_no_schema_and_refuses_writes(database: TestDatabase) {
    let url = database.url();
    Store::open_to_read(&url).await.expect_err("there is no schema");
    let store = database.open().await;
    let mut tx = store.write("acme", 1).await.expect("begins");
    rules::insert(&mut tx, &rule(1, "doc:read")).await.expect("works");
    tx.commit().await.expect("commits");
    let reading = Store::open_to_read(&url).await.expect("the schema is there");
    let mut tx = reading.begin_read("acme").await.expect("begins");
    assert_eq!(rules::for_every_plan(&mut tx).await.expect("works").len(), 1);
    assert_eq!(policies::for_every_plan(&mut tx).await.expect("works").len(), 0);
    tx.end().await.expect("ends");
    let written = reading.write("acme", 2).await;
    written.map(drop).expect_err("it is only read");
    reading.close().await;
}

async fn only_an_empty_database_is_opened_as_an_empty_one(database: TestDatabase) {
    Store::open_empty(&database.url()).await.expect("it is empty").close().await;
    let again = Store::open_empty(&database.url()).await.map(drop);
    assert!(matches!(again, Err(OpenError::InUse)), "{again:?}");
}

/// Row-level security is a second wall: it must hold where the first one, `WHERE tenant_id`, is missing.
#[tokio::test]
async fn a_statement_without_its_tenant_sees_no_row_of_others() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = database.open().await;
    insert(&store, "a", &rule(1, "doc:read")).await;
    insert(&store, "b", &rule(2, "doc:read")).await;
    const CARELESS: &str = "SELECT tenant_id FROM rbac_rules ORDER BY tenant_id";
    let seen = async |tx: Result<Tx, StoreError>| {
        let mut tx = tx.expect("begins");
        let rows = fetch_all!(tx, (String,), CARELESS).expect("works");
        rows.into_iter().map(|(tenant,)| tenant).collect::<Vec<_>>()
    };
    assert_eq!(seen(store.begin_read("a").await).await, ["a"]);
    assert_eq!(seen(store.begin_read("b").await).await, ["b"]);
    assert!(seen(store.begin_read("c").await).await.is_empty());
    // The control: the rows are there, and the service itself sees them.
    assert_eq!(seen(store.begin_read_all().await).await, ["a", "b"]);
    let mut tx = store.write_as("b").await.expect("begins");
    let changed = execute!(tx, "UPDATE rbac_rules SET effect = 'deny'").expect("works");
    assert_eq!(changed, 1, "its own row alone");
    let foreign = "INSERT INTO resources (tenant_id, id, name, default_roles, created_at) \
        VALUES ('a', gen_random_uuid(), 'x:y', '[]', 0)";
    assert!(execute!(tx, foreign).is_err(), "nor can it write into another tenant");
}

#[test]
fn an_error_of_the_database_says_its_cause_once() {
    let error = StoreError::from(sqlx::Error::PoolClosed);
    assert!(std::error::Error::source(&error).is_none(), "{error}");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_says_what_is_needed() {
    let error = Store::open("sqlite:///proc/x.db").await.expect_err("not a place for files");
    let error = error.to_string();
    assert!(error.contains("the file of the database cannot be opened"), "{error}");
    assert!(error.contains("must be able to write the file and its folder"), "{error}");
}

/// The start refuses a role that the second wall does not hold.
#[tokio::test]
async fn a_role_that_bypasses_row_level_security_is_known() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = database.open().await;
    assert!(
        !store.bypasses_row_security().await.expect("works"),
        "the owner, with forced security"
    );
    let superuser = database.url().replacen("portcullis@", "postgres@", 1);
    let store = Store::open(&superuser).await.expect("opens");
    assert!(store.bypasses_row_security().await.expect("works"), "a superuser");
    let TestDatabase::Postgres(postgres) = &database else { panic!("of PostgreSQL alone") };
    postgres.sql("ALTER TABLE rbac_rules NO FORCE ROW LEVEL SECURITY");
    let store = database.open().await;
    assert!(store.bypasses_row_security().await.expect("works"), "an owner without force");
}

/// A suspended tenant is closed for writes on every replica from the commit on.
#[tokio::test]
async fn a_suspension_stops_writes_and_deliveries() {
    let database = TestDatabase::sqlite().expect("a directory");
    let store = database.open().await;
    insert(&store, "acme", &rule(1, "doc:read")).await;
    let change = async |suspends: bool| {
        let mut tx = store.write_as("acme").await.expect("begins");
        let at = Timestamp::from_millis(2_000);
        let changed = if suspends {
            tenants::suspend(&mut tx, at).await
        } else {
            tenants::resume(&mut tx).await
        };
        tx.commit().await.expect("commits");
        changed.expect("works")
    };
    assert!(change(true).await && !change(true).await);
    let refused = store.write("acme", 3_000).await.map(drop);
    assert!(matches!(refused, Err(StoreError::TenantClosed)), "{refused:?}");
    insert(&store, "other", &rule(1, "doc:read")).await;
    let mut tx = store.begin_read_all().await.expect("begins");
    assert_eq!(tenants::closed(&mut tx).await.expect("works"), ["acme"]);
    assert!(change(false).await && !change(false).await);
    insert(&store, "acme", &rule(2, "doc:write")).await;
}

/// A begin that is given up after some microseconds, on the one connection of `pool`; then a statement that
/// writes without a transaction of its own, and is acknowledged. Gives whether `observer`, on another
/// connection, finds what it wrote.
async fn write_after_cancelled_begin(
    (pool, observer): (&sqlx::PgPool, &sqlx::PgPool),
    attempt: u64,
    guarded: bool,
) -> bool {
    let patience = Duration::from_micros(attempt * 7 % 400);
    let store = Store::new(Database::postgres(pool.clone()));
    let begin = async move { store.write_as("acme").await.map(drop) };
    if guarded {
        // What the service does: the task goes on when nobody waits for it any more.
        let _ = tokio::time::timeout(patience, tokio::spawn(begin)).await;
    } else {
        let _ = tokio::time::timeout(patience, begin).await;
    }
    let id = format!("tenant-{attempt}");
    let write = "INSERT INTO tenants (id, revision, created_at) VALUES ($1, 0, 0)";
    sqlx::query(write).bind(&id).execute(pool).await.expect("is acknowledged");
    let read = "SELECT id FROM tenants WHERE id = $1";
    let found = sqlx::query(read).bind(&id).fetch_optional(observer).await.expect("works");
    found.is_some()
}

/// Returns the number of lost writes among up to `attempts` acknowledged ones; ends at the first.
async fn lost_writes(database: &TestDatabase, attempts: u64, guarded: bool) -> usize {
    database.open().await.close().await;
    let TestDatabase::Postgres(postgres) = database else { panic!("of PostgreSQL alone") };
    let connect = async || {
        let one = sqlx::postgres::PgPoolOptions::new().max_connections(1);
        one.connect(postgres.url()).await.expect("connects")
    };
    let (pool, observer) = (connect().await, connect().await);
    for attempt in 1..=attempts {
        if !write_after_cancelled_begin((&pool, &observer), attempt, guarded).await {
            return 1;
        }
    }
    0
}

/// transact-rs/sqlx#4385: a cancelled `begin` can leave its transaction open on the connection, and the
/// next write on it is acknowledged and never committed.
#[tokio::test(flavor = "multi_thread")]
async fn a_begin_in_its_own_task_loses_no_write() {
    let Some(database) = TestDatabase::postgres() else { return };
    assert_eq!(lost_writes(&database, 500, true).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_begin_loses_writes() {
    let Some(database) = TestDatabase::postgres() else { return };
    let lost = lost_writes(&database, 5_000, false).await;
    assert_eq!(lost, 1, "the control must lose a write; if sqlx is mended, the guard can go");
}

async fn pages_follow_one_another(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    for id in 1..=5 {
        let record = RuleRecord { id: Uuid::from_u128(id), ..rule(id, "doc:read") };
        let record =
            RuleRecord { tuple: RuleTuple { sub: format!("role-{id}"), ..record.tuple }, ..record };
        assert!(rules::insert(&mut tx, &record).await.expect("works"));
    }
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    let mut seen = Vec::new();
    let mut after = Uuid::nil();
    loop {
        let page = Page { after, limit: 2 };
        let listed = rules::matching(&mut tx, "doc:read", page).await.expect("works");
        seen.extend(listed.records.iter().map(|rule| rule.id.as_u128()));
        if !listed.more {
            break;
        }
        after = listed.records.last().expect("a page that goes on has a record").id;
    }
    assert_eq!(seen, [1, 2, 3, 4, 5]);
}

/// Inserts a policy whose `rule_data` has about this many bytes.
async fn insert_policy(tx: &mut Tx, id: u128, bytes: usize) {
    let body = format!(
        r#"{{"name": "p", "resource": "doc:read", "effect": "deny", "priority": 1, "rule_data":
            {{"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": "{}"}}}}"#,
        "x".repeat(bytes)
    );
    let policy = NewPolicy::parse(&object(&body)).expect("valid");
    policies::insert(tx, &policy.into_record(Uuid::from_u128(id), "acme", &by()))
        .await
        .expect("works");
}

async fn a_page_ends_where_its_records_reach_a_mebibyte(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    for id in 1..=7 {
        insert_policy(&mut tx, id, 250 * 1024).await;
    }
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    let first = policies::list(&mut tx, None, None, None, Page::FIRST).await.expect("works");
    assert_eq!((first.records.len(), first.more), (4, true));
    let after = first.records.last().expect("a record").id;
    let page = Page { after, limit: 1_000 };
    let second = policies::list(&mut tx, None, None, None, page).await.expect("works");
    assert_eq!((second.records.len(), second.more), (3, false));
    // A plan has every policy, whatever the size of a page.
    let stored = plan_records::policies(&mut tx, "doc:read", None).await.expect("works");
    assert_eq!(stored.list().expect("stored policies").len(), 7);
}

async fn nobody_can_name_every_tenant(database: TestDatabase) {
    let store = database.open().await;
    for begun in [store.begin_read("*").await, store.write_as("*").await, store.write("*", 0).await]
    {
        assert!(matches!(begun, Err(StoreError::NotATenant)), "{begun:?}");
    }
    // The service itself sees every tenant.
    store.begin_read_all().await.expect("begins").end().await.expect("ends");
    store.write_all().await.expect("begins").end().await.expect("ends");
}

async fn writes_of_one_tenant_happen_one_after_the_other(database: TestDatabase) {
    let store = database.open().await;
    let writers = (1..=20).map(|id| {
        let store = store.clone();
        // Each reads the revision that it will raise: if two ran at once, two would read the same.
        tokio::spawn(async move {
            let mut tx = store.write("acme", 0).await.expect("begins");
            let before = tenants::revision(&mut tx).await.expect("works");
            let new = rule(id, &format!("doc:{id}"));
            rules::insert(&mut tx, &new).await.expect("works");
            (before, tx.commit().await.expect("commits").position.revision)
        })
    });
    let mut revisions = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        let (before, after) = writer.await.expect("no panic");
        assert_eq!(before + 1, after);
        revisions.push(after);
    }
    revisions.sort_unstable();
    assert_eq!(revisions, (1..=20).collect::<Vec<_>>());
}

async fn service_keys_and_providers_come_back_as_they_went_in(database: TestDatabase) {
    let store = database.open().await;
    let (key, _) = NewServiceKey::named("ci").issue(Uuid::from_u128(7), &by());
    let body =
        object(r#"{"issuer_url": "https://id.example/", "jwks_uri": "https://id.example/k"}"#);
    let provider =
        NewProvider::parse(&body, &portcullis_model::egress_rules::EgressRules::default())
            .expect("valid");
    let (provider, _) = provider.into_record(Uuid::from_u128(8), "acme", by().at);
    let mut tx = store.write("acme", 0).await.expect("begins");
    service_keys::insert(&mut tx, &key).await.expect("works");
    assert!(providers::insert(&mut tx, &provider, None).await.expect("works"));
    assert_eq!(
        tx.commit().await.expect("commits").position.revision,
        0,
        "no decision depends on them"
    );
    let mut tx = store.write("other", 0).await.expect("begins");
    let taken =
        portcullis_model::provider::ProviderRecord { id: Uuid::from_u128(9), ..provider.clone() };
    assert!(
        !providers::insert(&mut tx, &taken, None).await.expect("works"),
        "an issuer has one tenant"
    );
    assert!(!service_keys::delete(&mut tx, key.id, &by()).await.expect("works"), "a foreign key");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read_all().await.expect("begins");
    let found = service_keys::find_anywhere(&mut tx, key.id).await.expect("works").expect("there");
    assert_eq!((&*found.tenant, found.slug, found.is_open), ("acme", None, true));
    assert_eq!(found.record.secret_hash, key.secret_hash);
    assert_eq!(found.record.permissions, key.permissions);
    let found = providers::for_tenants(&mut tx, &["acme", "other"]).await.expect("works");
    assert_eq!(found, std::slice::from_ref(&provider));
    assert_eq!(providers::used_last(&mut tx, 9).await.expect("works"), [""; 0]);
    tx.end().await.expect("ends");
    let mut tx = store.write_all().await.expect("begins");
    providers::note_uses(&mut tx, &[provider.id], Timestamp::from_millis(5)).await.expect("works");
    assert_eq!(providers::used_last(&mut tx, 9).await.expect("works"), [&*provider.issuer_url]);
    let found = providers::find_anywhere(&mut tx, &provider.issuer_url).await.expect("works");
    assert_eq!(found.expect("there").id, provider.id);
    assert!(providers::find_anywhere(&mut tx, "https://").await.expect("works").is_none());
    tx.commit().await.expect("commits");
}
