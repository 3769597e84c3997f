//! The stream of changes on both databases.

use portcullis_engine::ResourcePattern;
use portcullis_model::Timestamp;

use super::*;
use crate::deletions::erasure;
use crate::store::Store;
use crate::tenancy::tenants;
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::history::HistoryPosition;

on_every_database!(
    a_reader_gets_what_changed_after_its_position,
    changes_of_access_are_marked,
    a_reader_notices_that_changes_were_lost,
    many_changes_are_read_in_parts,
);

async fn begun(store: &Store, tenant: &str) -> Tx {
    let mut tx = store.write(tenant, 1).await.expect("begins");
    tx.touch([ResourcePattern::Any.into()]);
    tx
}

async fn change(store: &Store, tenant: &str) {
    begun(store, tenant).await.commit().await.expect("commits");
}

async fn position(store: &Store) -> StreamPosition {
    let mut tx = store.begin_read_all().await.expect("begins");
    end(&mut tx).await.expect("reads")
}

/// Returns the tenants that changed after `last`, each once, and the position after them.
async fn read(store: &Store, last: &StreamPosition) -> Option<(Vec<TenantChange>, StreamPosition)> {
    let mut tx = store.begin_read_all().await.expect("begins");
    let Changes { mut tenants, position, .. } = since(&mut tx, last).await.expect("reads")?;
    tx.end().await.expect("ends");
    tenants.sort_by(|a, b| a.tenant.cmp(&b.tenant));
    tenants.dedup_by(|a, b| a.tenant == b.tenant);
    Some((tenants, position))
}

async fn names(store: &Store, last: &mut StreamPosition) -> Vec<String> {
    let (tenants, after) = read(store, last).await.expect("nothing is lost");
    *last = after;
    tenants.into_iter().map(|change| change.tenant).collect()
}

async fn a_reader_gets_what_changed_after_its_position(database: TestDatabase) {
    let store = database.open().await;
    let mut at = position(&store).await;
    assert_eq!(names(&store, &mut at).await, [""; 0]);
    for tenant in ["a", "b", "a"] {
        change(&store, tenant).await;
    }
    let (changes, _) = read(&store, &at).await.expect("nothing is lost");
    let revisions: Vec<_> = changes.iter().map(|change| change.position.revision).collect();
    assert_eq!(revisions, [2, 1]);
    assert!(changes.iter().all(|change| !change.concerns_access));
    assert_eq!(names(&store, &mut at).await, ["a", "b"]);
    assert_eq!(names(&store, &mut at).await, [""; 0]);
    // A transaction that changes nothing is no change.
    store.write("a", 1).await.expect("begins").commit().await.expect("commits");
    assert_eq!(names(&store, &mut at).await, [""; 0]);
    change(&store, "b").await;
    assert_eq!(names(&store, &mut at).await, ["b"]);
    let mut fresh = position(&store).await;
    assert_eq!(names(&store, &mut fresh).await, [""; 0], "a start reads nothing old");
}

async fn changes_of_access_are_marked(database: TestDatabase) {
    let store = database.open().await;
    change(&store, "a").await;
    let mut at = position(&store).await;
    let marked = async |at: &mut StreamPosition| {
        let (changes, after) = read(&store, at).await.expect("nothing is lost");
        *at = after;
        changes.first().map(|change| change.concerns_access)
    };
    for sql in [
        "INSERT INTO identity_providers (tenant_id, id, issuer_url, jwks_uri, roles_claim, \
         domain_claim, admin_domain_claim, created_at) VALUES ('a', $1, 'i', 'j', '', '', '', 0)",
        "DELETE FROM identity_providers WHERE id = $1",
        "INSERT INTO webhooks (tenant_id, id, url, events, secret, created_by, created_at) \
         VALUES ('a', $1, '', '', $2, '', 0)",
        "UPDATE webhooks SET events = '' WHERE id = $1",
        "DELETE FROM webhooks WHERE id = $1",
        "UPDATE tenants SET suspended_at = 1 WHERE id = 'a' AND $1 IS NOT NULL",
    ] {
        let mut tx = store.write_as("a").await.expect("begins");
        let id = uuid::Uuid::from_u128(7);
        let done = match sql.contains("$2") {
            true => crate::transactions::macros::execute!(tx, sql, id, vec![1_u8]),
            false => crate::transactions::macros::execute!(tx, sql, id),
        };
        assert_eq!(done.expect("works"), 1, "{sql}");
        tx.commit().await.expect("commits");
        assert_eq!(marked(&mut at).await, Some(true), "{sql}");
        assert_eq!(marked(&mut at).await, None, "{sql}");
    }
    let mut tx = store.write_as("a").await.expect("begins");
    assert!(tenants::resume(&mut tx).await.expect("works"));
    tx.commit().await.expect("commits");
    assert_eq!(marked(&mut at).await, Some(true));
    change(&store, "a").await;
    assert_eq!(marked(&mut at).await, Some(false), "the rules alone");
}

async fn a_reader_notices_that_changes_were_lost(database: TestDatabase) {
    let store = database.open().await;
    change(&store, "a").await;
    change(&store, "b").await;
    let at = position(&store).await;
    let forge = async |sql: &'static str| {
        let mut tx = store.write_as("a").await.expect("begins");
        assert_eq!(crate::transactions::macros::execute!(tx, sql).expect("works"), 1);
        tx.commit().await.expect("commits");
    };
    assert!(read(&store, &at).await.is_some());
    // As if `b` had never been written, and then written otherwise.
    forge("UPDATE tenants SET changed = 0, history = '' WHERE id = 'b'").await;
    assert!(read(&store, &at).await.is_none());
    let mut again = position(&store).await;
    assert_eq!(names(&store, &mut again).await, [""; 0]);
    let before = position(&store).await;
    let mut tx = store.write_all().await.expect("begins");
    erasure::request(&mut tx, "a", Timestamp::from_millis(1)).await.expect("works");
    erasure::finish(&mut tx, "a", Timestamp::from_millis(2)).await.expect("works");
    tx.commit().await.expect("commits");
    assert!(read(&store, &before).await.is_some(), "a tenant that goes is a change");
    let after = position(&store).await;
    forge("DELETE FROM revisions WHERE tenant_id = 'a'").await;
    forge("DELETE FROM tenants WHERE id = 'a'").await;
    assert!(read(&store, &after).await.is_none(), "nobody vouches for the position any more");
    assert_eq!(HistoryPosition::default().revision, 0);
}

async fn many_changes_are_read_in_parts(database: TestDatabase) {
    let store = database.open().await;
    let at = position(&store).await;
    let mut tx = store.write_all().await.expect("begins");
    let sql = "INSERT INTO tenants (id, revision, created_at, changed) VALUES ($1, 1, 0, $2)";
    let many = i64::try_from(MAX_ROWS).expect("small") + 5;
    for number in 1..=many {
        // Far below the ids of transactions on PostgreSQL.
        crate::transactions::macros::execute!(tx, sql, number.to_string(), number).expect("works");
    }
    tx.commit().await.expect("commits");
    let at = StreamPosition { newest: 0, snapshot: at.snapshot, witness: None };
    let mut tx = store.begin_read_all().await.expect("begins");
    let first = since(&mut tx, &at).await.expect("reads").expect("nothing is lost");
    assert!(first.has_more);
    let rest = since(&mut tx, &first.position).await.expect("reads").expect("nothing is lost");
    assert!(!rest.has_more);
    let all = first.tenants.iter().chain(&rest.tenants).map(|change| &change.tenant);
    let all: std::collections::HashSet<_> = all.collect();
    assert_eq!(all.len(), MAX_ROWS + 5);
}

/// Transactions of PostgreSQL that are open at the same time commit in another order than they began.
#[tokio::test]
async fn changes_that_commit_out_of_order_are_all_read() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = database.open().await;
    let mut at = position(&store).await;
    let (first, second) = (begun(&store, "first").await, begun(&store, "second").await);
    second.commit().await.expect("commits");
    // At once, although an older transaction runs, and once only.
    assert_eq!(names(&store, &mut at).await, ["second"]);
    assert_eq!(names(&store, &mut at).await, [""; 0]);
    change(&store, "third").await;
    assert_eq!(names(&store, &mut at).await, ["third"]);
    first.commit().await.expect("commits");
    assert_eq!(names(&store, &mut at).await, ["first"]);
    assert_eq!(names(&store, &mut at).await, [""; 0]);
}

/// Two writes of one tenant wait for each other, and the one with the smaller number can be the later one.
#[tokio::test]
async fn a_later_change_with_a_smaller_number_is_read() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = database.open().await;
    change(&store, "a").await;
    let mut old = store.write_as("a").await.expect("begins");
    // The transaction gets its number here.
    crate::transactions::macros::execute!(old, "INSERT INTO audit_pruning (tenant) VALUES ('a')")
        .expect("works");
    let mut at = position(&store).await;
    change(&store, "a").await;
    assert_eq!(names(&store, &mut at).await, ["a"]);
    old.touch([ResourcePattern::Any.into()]);
    old.commit().await.expect("commits");
    assert_eq!(names(&store, &mut at).await, ["a"]);
    assert_eq!(names(&store, &mut at).await, [""; 0], "the witness has the smaller number now");
}
