//! Audit records in every database: they come back, they stay, and they never change.

use portcullis_model::audit::{ChangeSource, CredentialKind};
use portcullis_model::revision::RevisionVia;
use serde_json::json;
use sqlx::AssertSqlSafe;

use super::*;
use crate::store::Store;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    a_change_and_its_audit_record_are_one_transaction,
    filters_and_pages_select,
    a_record_is_found_by_its_whole_name_alone,
    many_changes_share_records,
    nobody_changes_or_deletes_an_audit_record,
    tenants_see_their_own_records,
    refused_credentials_drive_out_no_record_of_the_operator,
    sign_ins_drive_out_no_record_of_a_change,
    a_record_says_what_changed_and_where_it_is_from,
    a_call_names_records_whose_content_does_not_fit,
);

fn origin() -> Origin {
    let address = "203.0.113.7".parse().expect("an address");
    Origin::new("ann", CredentialKind::ServiceKey)
        .with_key("7")
        .with_request(Some(address), Some("r-1".to_owned()))
}

/// Commits one change of each of `records`.
async fn changed(store: &Store, tenant: &str, at: i64, action: AuditAction, records: &[Uuid]) {
    let mut tx = store.write(tenant, at).await.expect("begins");
    tx.attribute_to(&origin(), Timestamp::from_millis(at));
    records.iter().for_each(|record| tx.audit(action, record));
    tx.commit().await.expect("commits");
}

async fn listed(store: &Store, tenant: &str, filter: &AuditFilter, page: Page) -> Vec<AuditRecord> {
    let mut tx = store.begin_read(tenant).await.expect("begins");
    list(&mut tx, filter, page).await.expect("works").records
}

async fn a_change_and_its_audit_record_are_one_transaction(database: TestDatabase) {
    let store = database.open().await;
    let id = Uuid::from_u128(1);
    changed(&store, "acme", 1_000, AuditAction::RuleCreated, &[id]).await;
    let mut tx = store.write("acme", 2_000).await.expect("begins");
    tx.audit(AuditAction::RuleDeleted, id);
    drop(tx);
    let records = listed(&store, "acme", &AuditFilter::default(), Page::FIRST).await;
    let expected = AuditRecord {
        id: records.first().expect("one").id,
        tenant_id: Some("acme".to_owned()),
        at: Timestamp::from_millis(1_000),
        author: ChangeAuthor {
            actor: "ann".to_owned(),
            credential: "service_key".to_owned(),
            key: Some("7".to_owned()),
            key_name: None,
        },
        action: "rule.created".to_owned(),
        records: vec![id.to_string()],
        count: 1,
        before: None,
        after: None,
        source: None,
        address: Some("203.0.113.7".to_owned()),
        request_id: Some("r-1".to_owned()),
    };
    assert_eq!(records, [expected]);
}

async fn filters_and_pages_select(database: TestDatabase) {
    let store = database.open().await;
    let [one, two] = [1, 2].map(Uuid::from_u128);
    for (at, action, id) in [
        (1_000, AuditAction::RuleCreated, one),
        (2_000, AuditAction::RuleCreated, two),
        (3_000, AuditAction::RuleDeleted, one),
    ] {
        changed(&store, "acme", at, action, &[id]).await;
    }
    let of = |action: Option<AuditAction>, actor: Option<&str>, record: Option<Uuid>| AuditFilter {
        action,
        actor: actor.map(str::to_owned),
        record: record.map(|id| id.to_string()),
        ..AuditFilter::default()
    };
    let between = |from: i64, to: i64| AuditFilter {
        from: Some(Timestamp::from_millis(from)),
        to: Some(Timestamp::from_millis(to)),
        ..AuditFilter::default()
    };
    for (filter, expected) in [
        (of(None, None, None), &[3_000, 2_000, 1_000][..]),
        (of(Some(AuditAction::RuleCreated), None, None), &[2_000, 1_000]),
        (of(None, Some("ann"), Some(one)), &[3_000, 1_000]),
        (of(None, Some("bob"), None), &[]),
        (of(None, None, Some(Uuid::from_u128(3))), &[]),
        (between(1_001, 3_000), &[2_000]),
        (between(2_000, 3_001), &[3_000, 2_000]),
    ] {
        let times = |records: Vec<AuditRecord>| {
            records.iter().map(|record| record.at.millis()).collect::<Vec<_>>()
        };
        assert_eq!(times(listed(&store, "acme", &filter, Page::FIRST).await), expected);
        let mut tx = store.begin_read_all().await.expect("begins");
        let all = list_all(&mut tx, Some("acme"), &filter, Page::FIRST).await.expect("works");
        assert_eq!(times(all.records), expected);
        let mut after = Uuid::nil();
        for expected in expected {
            let page = listed(&store, "acme", &filter, Page { after, limit: 1 }).await;
            after = page.first().expect("one").id;
            assert_eq!(times(page), [*expected]);
        }
    }
}

async fn a_record_is_found_by_its_whole_name_alone(database: TestDatabase) {
    let store = database.open().await;
    for (at, names) in [(1, ["a,", ",b"]), (2, ["q\"x", "back\\"]), (3, [",", "x"])] {
        let mut tx = store.write("acme", at).await.expect("begins");
        names.iter().for_each(|name| tx.audit(AuditAction::RoleCreated, name));
        tx.commit().await.expect("commits");
    }
    for (name, expected) in [
        (",", &[3][..]),
        ("x", &[3]),
        ("q\"x", &[2]),
        ("back\\", &[2]),
        ("back", &[]),
        ("a,", &[1]),
        ("a", &[]),
    ] {
        let filter = AuditFilter { record: Some(name.to_owned()), ..AuditFilter::default() };
        let records = listed(&store, "acme", &filter, Page::FIRST).await;
        let times: Vec<_> = records.iter().map(|record| record.at.millis()).collect();
        assert_eq!(times, expected, "{name}");
        let mut tx = store.begin_read_all().await.expect("begins");
        let all = list_all(&mut tx, None, &filter, Page::FIRST).await.expect("works").records;
        assert_eq!(all, records);
    }
}

async fn many_changes_share_records(database: TestDatabase) {
    let store = database.open().await;
    let ids: Vec<_> = (0..250).map(Uuid::from_u128).collect();
    changed(&store, "acme", 1_000, AuditAction::ResourceRegistered, &ids).await;
    let records = listed(&store, "acme", &AuditFilter::default(), Page::FIRST).await;
    let counts: Vec<_> = records.iter().map(|one| (one.count, one.records.len())).collect();
    assert_eq!(counts, [(50, 50), (100, 100), (100, 100)]);
    let last = AuditFilter { record: ids.last().map(Uuid::to_string), ..AuditFilter::default() };
    assert_eq!(listed(&store, "acme", &last, Page::FIRST).await.len(), 1);
}

async fn nobody_changes_or_deletes_an_audit_record(database: TestDatabase) {
    let store = database.open().await;
    changed(&store, "acme", 1_000, AuditAction::RuleCreated, &[Uuid::nil()]).await;
    let is_postgres = matches!(database, TestDatabase::Postgres(_));
    for sql in [
        "UPDATE audit_records SET actor = 'nobody'",
        "UPDATE audit_records SET count = count",
        "DELETE FROM audit_records",
        "TRUNCATE audit_records",
    ] {
        if sql.starts_with("TRUNCATE") && !is_postgres {
            continue;
        }
        let mut tx = store.write_all().await.expect("begins");
        execute!(tx, AssertSqlSafe(sql)).expect_err(sql);
    }
    assert_eq!(listed(&store, "acme", &AuditFilter::default(), Page::FIRST).await.len(), 1);
    // The control: only the permission is missing.
    let mut tx = store.write_all().await.expect("begins");
    let now = Timestamp::from_millis(5_000);
    assert_eq!(prune(&mut tx, "other", now, 10, 10).await.expect("works"), 0);
    assert_eq!(prune(&mut tx, "acme", now, 10, 10).await.expect("works"), 1);
    execute!(tx, "SELECT 1").expect("works");
    tx.commit().await.expect("commits");
    assert!(listed(&store, "acme", &AuditFilter::default(), Page::FIRST).await.is_empty());
    changed(&store, "acme", 1_000, AuditAction::RuleCreated, &[Uuid::nil()]).await;
    let mut tx = store.write_all().await.expect("begins");
    execute!(tx, "DELETE FROM audit_records").expect_err("the permission ended with the deletion");
}

async fn tenants_see_their_own_records(database: TestDatabase) {
    let store = database.open().await;
    for tenant in ["a", "b"] {
        changed(&store, tenant, 1_000, AuditAction::RuleCreated, &[Uuid::nil()]).await;
    }
    let mut tx = store.write_all().await.expect("begins");
    let at = Timestamp::from_millis(2_000);
    insert_refusal(&mut tx, Uuid::from_u128(9), &origin(), at, 3).await.expect("works");
    tx.commit().await.expect("commits");
    let own = listed(&store, "a", &AuditFilter::default(), Page::FIRST).await;
    assert_eq!(own.iter().map(|one| one.tenant_id.as_deref()).collect::<Vec<_>>(), [Some("a")]);
    let mut tx = store.begin_read_all().await.expect("begins");
    for (tenant, expected) in [(None, 3), (Some("b"), 1), (Some(NO_TENANT), 1), (Some("c"), 0)] {
        let found = list_all(&mut tx, tenant, &AuditFilter::default(), Page::FIRST).await;
        assert_eq!(found.expect("works").records.len(), expected, "{tenant:?}");
    }
}

async fn refused_credentials_drive_out_no_record_of_the_operator(database: TestDatabase) {
    let store = database.open().await;
    let ids = Ids::new();
    let refused = async |instants: std::ops::Range<i64>| {
        let mut tx = store.write_all().await.expect("begins");
        for at in instants.map(Timestamp::from_millis) {
            insert_refusal(&mut tx, ids.next(at), &origin(), at, 1).await.expect("works");
        }
        tx.commit().await.expect("commits");
    };
    let pruned = async |before: i64| {
        let mut tx = store.write_all().await.expect("begins");
        let before = Timestamp::from_millis(before);
        let is_due = is_prunable(&mut tx, NO_TENANT, before, 2).await.expect("works");
        let deleted = prune(&mut tx, NO_TENANT, before, 2, 100).await.expect("works");
        tx.commit().await.expect("commits");
        assert_eq!(is_due, deleted > 0);
        let mut tx = store.begin_read_all().await.expect("begins");
        let kept = list_all(&mut tx, Some(NO_TENANT), &AuditFilter::default(), Page::FIRST).await;
        let kept = kept.expect("works").records;
        kept.into_iter().map(|record| (record.at.millis(), record.action)).collect::<Vec<_>>()
    };
    let record = |at, action: AuditAction| (at, action.into_str().to_owned());
    refused(1_000..1_005).await;
    let mut tx = store.write_all().await.expect("begins");
    for at in 2_000..2_003 {
        tx.attribute_to_service(Timestamp::from_millis(at));
        tx.audit(AuditAction::TenantDeleted, "gone");
        let author = Author::read(&mut tx).await.expect("works");
        write(&mut tx, &author).await.expect("works");
    }
    tx.commit().await.expect("commits");
    refused(3_000..3_005).await;
    let expected = [
        record(3_004, AuditAction::CredentialRefused),
        record(3_003, AuditAction::CredentialRefused),
        record(2_002, AuditAction::TenantDeleted),
        record(2_001, AuditAction::TenantDeleted),
        record(2_000, AuditAction::TenantDeleted),
    ];
    assert_eq!(pruned(0).await, expected);
    assert_eq!(pruned(0).await, expected, "nothing is left to delete");
    assert_eq!(pruned(2_001).await, expected[..4], "the age holds for each record");
}

async fn sign_ins_drive_out_no_record_of_a_change(database: TestDatabase) {
    let store = database.open().await;
    for (at, action) in [
        (1_000, AuditAction::RuleCreated),
        (2_000, AuditAction::ConsoleSignedIn),
        (3_000, AuditAction::RuleDeleted),
        (4_000, AuditAction::ConsoleSignedOut),
        (5_000, AuditAction::ConsoleSignedIn),
    ] {
        changed(&store, "acme", at, action, &[Uuid::nil()]).await;
    }
    for (newest, expected) in [(3, &[5_000, 3_000, 1_000][..]), (2, &[3_000, 1_000]), (1, &[3_000])]
    {
        let mut tx = store.write_all().await.expect("begins");
        let none = Timestamp::from_millis(0);
        while prune(&mut tx, "acme", none, newest, 100).await.expect("works") > 0 {}
        tx.commit().await.expect("commits");
        let left = listed(&store, "acme", &AuditFilter::default(), Page::FIRST).await;
        let left: Vec<_> = left.iter().map(|record| record.at.millis()).collect();
        assert_eq!(left, expected);
    }
}

async fn a_record_says_what_changed_and_where_it_is_from(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 1_000).await.expect("begins");
    let source = ChangeSource { commit: Some("3f2c".to_owned()), ..ChangeSource::default() };
    tx.came_by(RevisionVia::Apply, source.clone());
    for name in ["a\\b", "A%", "_"] {
        tx.audit_change(AuditAction::RoleUpdated, name, Some(&1), Some(&2));
    }
    tx.audit_change(AuditAction::RoleDeleted, "b\"", Some(&"x".repeat(9_000)), None);
    tx.commit().await.expect("commits");
    let about =
        |record: &str| AuditFilter { record: Some(record.to_owned()), ..AuditFilter::default() };
    let found = listed(&store, "acme", &about("A%"), Page::FIRST).await;
    let [record] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&record.before, &record.after), (&Some(json!([1, 1, 1])), &Some(json!([2, 2, 2]))));
    assert_eq!(record.source, Some(source));
    let deleted = listed(&store, "acme", &about("b\""), Page::FIRST).await;
    let changes: Vec<_> = deleted.into_iter().map(|one| (one.before, one.after)).collect();
    assert_eq!(changes, [(Some(json!({"omitted_bytes": 9_002})), None)]);
    for other in ["a%", "b", "A", "%", "a"] {
        assert!(listed(&store, "acme", &about(other), Page::FIRST).await.is_empty(), "{other}");
    }
}

async fn a_call_names_records_whose_content_does_not_fit(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 1_000).await.expect("begins");
    let text = Some(format!("\"{}\"", "x".repeat(1_000)));
    let entries: Vec<_> = (0..100)
        .map(|number| AuditEntry::new(AuditAction::EntitiesWritten, format!("user:u{number}")))
        .map(|entry| entry.with_change(None, text.clone()))
        .collect();
    write_call(&mut tx, &entries, 500).await.expect("works");
    tx.commit().await.expect("commits");
    let last = AuditFilter { record: Some("user:u99".to_owned()), ..AuditFilter::default() };
    let found = listed(&store, "acme", &last, Page::FIRST).await;
    let [record] = &found[..] else { panic!("{found:?}") };
    assert_eq!((record.records.len(), record.count, &record.before), (100, 500, &None));
    let after = record.after.as_ref().expect("a list");
    assert!(after[15].is_string(), "{after}");
    assert_eq!(after[16], json!({"omitted_bytes": 1_002}));
    assert_eq!(after[99], json!({"omitted_bytes": 1_002}));
}
