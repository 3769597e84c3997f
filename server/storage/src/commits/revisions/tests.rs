//! The history in every database: what a revision changed, what was before, and what goes.

use portcullis_model::Authorship;
use portcullis_model::role::{NewRole, RoleRecord};
use portcullis_model::settings::Gates;

use super::*;
use crate::commits::revision_changes::{ChangedRecord, between};
use crate::content::roles;
use crate::store::Store;
use crate::tenancy::tenant_settings;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    changes_of_several_revisions_are_one_change,
    a_record_is_stored_once,
    old_revisions_go_and_the_newest_stays,
);

/// Commits that the role `name` includes `includes` alone; without any, that it is gone.
async fn put(store: &Store, at: i64, name: &str, includes: &[&str]) -> u64 {
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(at) };
    let mut tx = store.write("acme", at).await.expect("begins");
    tx.attribute_to(&portcullis_model::audit::Origin::new("ann", CredentialKind::Token), by.at);
    if includes.is_empty() {
        roles::delete(&mut tx, name).await.expect("works");
    } else {
        roles::store(&mut tx, &role(name, includes)).await.expect("works");
    }
    tx.commit().await.expect("commits").position.revision
}

fn role(name: &str, includes: &[&str]) -> RoleRecord {
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    let includes = includes.iter().map(|name| (*name).to_owned()).collect();
    NewRole { name: name.to_owned(), includes }.into_record(&by)
}

/// Returns the names of the roles that differ between two revisions, with what they include before and after.
async fn differing(store: &Store, from: u64, to: u64) -> Vec<(String, String, String)> {
    let mut tx = store.begin_read("acme").await.expect("begins");
    let page = between(&mut tx, (from, to), ("", ""), 10).await.expect("works");
    let includes = |text: Option<String>| {
        let record: Option<serde_json::Value> =
            text.map(|text| serde_json::from_str(&text).expect("JSON"));
        record.map_or(String::new(), |record| record["includes"].to_string())
    };
    let shown = |one: ChangedRecord| (one.record, includes(one.before), includes(one.after));
    page.records.into_iter().map(shown).collect()
}

async fn changes_of_several_revisions_are_one_change(database: TestDatabase) {
    let store = database.open().await;
    for (at, (name, includes)) in
        (1..).zip([("a", &["x"][..]), ("a", &["y"]), ("b", &["x"]), ("a", &["x"]), ("b", &[])])
    {
        assert_eq!(put(&store, at, name, includes).await, u64::try_from(at).expect("positive"));
    }
    let change = |name: &str, before: &str, after: &str| {
        let list = |one: &str| if one.is_empty() { String::new() } else { format!("[\"{one}\"]") };
        (name.to_owned(), list(before), list(after))
    };
    for (from, to, expected) in [
        (0, 1, vec![change("a", "", "x")]),
        (1, 2, vec![change("a", "x", "y")]),
        (0, 3, vec![change("a", "", "y"), change("b", "", "x")]),
        // What changes back does not differ.
        (1, 4, vec![change("b", "", "x")]),
        (1, 5, vec![]),
        (3, 5, vec![change("a", "y", "x"), change("b", "x", "")]),
    ] {
        assert_eq!(differing(&store, from, to).await, expected, "{from} to {to}");
    }
    let mut tx = store.begin_read("acme").await.expect("begins");
    let newest = list(&mut tx, u64::MAX, 2).await.expect("works");
    let shown: Vec<_> =
        newest.records.iter().map(|one| (one.revision, one.count, one.via)).collect();
    assert_eq!(
        (shown, newest.more),
        (vec![(5, 1, RevisionVia::Api), (4, 1, RevisionVia::Api)], true)
    );
    let of_a = revision_changes::for_record(&mut tx, ("role", "a"), 4, 10).await.expect("works");
    let numbers: Vec<u64> = of_a.records.iter().map(|one| one.revision).collect();
    assert_eq!(numbers, [2, 1]);
    let revisions = for_record(&mut tx, ("role", "a"), 4, 10).await.expect("works");
    assert_eq!(revisions.iter().map(|one| one.revision).collect::<Vec<_>>(), numbers);
}

async fn a_record_is_stored_once(database: TestDatabase) {
    let store = database.open().await;
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    for settings in ["{\"a\":1}", "{\"a\":2}", "{\"a\":1}", "{\"a\":2}"] {
        let mut tx = store.write("acme", 0).await.expect("begins");
        let gates = Gates::default();
        tenant_settings::store(&mut tx, settings, gates, &by).await.expect("works");
        tx.commit().await.expect("commits");
    }
    // The same settings again raise the revision, and change nothing.
    let mut tx = store.write("acme", 0).await.expect("begins");
    tenant_settings::store(&mut tx, "{\"a\":2}", Gates::default(), &by).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    const VALUES: &str = "SELECT last_revision FROM revision_values ORDER BY last_revision";
    let values = fetch_all!(tx, (i64,), VALUES).expect("works");
    assert_eq!(values, [(4,), (4,)]);
    let newest = find(&mut tx, 5).await.expect("works").expect("is kept");
    assert_eq!(newest.count, 0);
}

async fn old_revisions_go_and_the_newest_stays(database: TestDatabase) {
    let store = database.open().await;
    for (at, includes) in (1..).zip(["x", "y", "x", "z"]) {
        put(&store, at * 10, "a", &[includes]).await;
    }
    let mut tx = store.write_all().await.expect("begins");
    let (early, late) = (Timestamp::from_millis(0), Timestamp::from_millis(99));
    const BYTES: &str = "SELECT bytes FROM revisions ORDER BY revision";
    let bytes = fetch_all!(tx, (i64,), BYTES).expect("works");
    let newest_two: i64 = bytes[2..].iter().map(|(bytes,)| bytes).sum();
    let newest_two = u64::try_from(newest_two).expect("positive");
    for (before, bytes, expected) in [
        (early, u64::MAX, 1),
        (Timestamp::from_millis(20), u64::MAX, 2),
        (late, u64::MAX, 4),
        (early, newest_two, 3),
        (early, newest_two - 1, 4),
        (early, 0, 4),
    ] {
        let first = first_kept(&mut tx, "acme", before, bytes).await.expect("works");
        assert_eq!(first, expected, "{before:?} {bytes}");
    }
    let (due, all) = prunable_tenants(&mut tx, early, newest_two).await.expect("works");
    assert!(due == ["acme"] && all > i64::try_from(newest_two).expect("few"));
    while prune(&mut tx, "acme", 3, 1).await.expect("works").1 > 0 {}
    tx.commit().await.expect("commits");
    // `x` is before revision 4, and is needed by it.
    assert_eq!(differing(&store, 3, 4).await[0].1, "[\"x\"]");
    let mut tx = store.begin_read("acme").await.expect("begins");
    assert!(find(&mut tx, 2).await.expect("works").is_none());
    const ROWS: &str =
        "SELECT (SELECT COUNT(*) FROM revision_changes), (SELECT COUNT(*) FROM revision_values)";
    // The records of `y` go.
    assert_eq!(fetch_optional!(tx, (i64, i64), ROWS).expect("works"), Some((2, 3)));
}
