//! The registry answers by the parts of the registered names.

use portcullis_engine::ResourcePattern;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use crate::content::resources::{delete, find, have_verb, matches, matching, names, upsert};
use crate::store::Store;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(patterns_and_verbs_are_compared_with_the_names_of_the_tenant);

fn resource(tenant: &str, id: u128, name: &str) -> ResourceRecord {
    ResourceRecord {
        id: Uuid::from_u128(id),
        tenant_id: tenant.to_owned(),
        registration: Registration {
            name: name.to_owned(),
            display_name: None,
            service_name: None,
            default_roles: Vec::new(),
        },
        created_at: Timestamp::from_millis(1_000),
        updated_at: None,
        managed_by: None,
    }
}

async fn register(store: &Store, resource: &ResourceRecord) {
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    let mut tx = store.write(&resource.tenant_id, 0).await.expect("begins");
    upsert(&mut tx, None, resource, &by).await.expect("works");
    tx.commit().await.expect("commits");
}

async fn patterns_and_verbs_are_compared_with_the_names_of_the_tenant(database: TestDatabase) {
    let store = database.open().await;
    let first = resource("a", 1, "wörk:space:read");
    register(&store, &first).await;
    register(&store, &resource("a", 2, "doc:write")).await;
    register(&store, &resource("b", 1, "other:export")).await;
    let mut tx = store.write("a", 0).await.expect("begins");
    for (pattern, expected) in [
        ("*", true),
        ("wörk:space:*", true),
        ("wörk:space:read", true),
        ("doc:*", true),
        ("wörk:*", false),
        ("space:*", false),
        ("wörk:space:write", false),
        ("doc:read", false),
        ("other:*", false),
        ("other:export", false),
    ] {
        let parsed = ResourcePattern::parse(pattern).expect("a pattern");
        assert_eq!(matches(&mut tx, &parsed).await.expect("works"), expected, "{pattern}");
        let found = matching(&mut tx, &parsed, 9).await.expect("works");
        assert_eq!(!found.is_empty(), expected, "{pattern}: {found:?}");
        assert!(found.iter().all(|name| parsed.matches(name)), "{pattern}: {found:?}");
    }
    for (verb, expected) in
        [("read", true), ("write", true), ("export", false), ("space:read", false), ("", false)]
    {
        assert_eq!(have_verb(&mut tx, verb).await.expect("works"), expected, "{verb}");
    }
    assert_eq!(names(&mut tx, 1).await.expect("works"), ["doc:write"]);
    assert_eq!(names(&mut tx, 9).await.expect("works"), ["doc:write", "wörk:space:read"]);
    delete(&mut tx, &first).await.expect("works");
    assert!(find(&mut tx, first.id).await.expect("works").is_none());
    assert!(!have_verb(&mut tx, "read").await.expect("works"), "it went with its resource");
    assert_eq!(tx.commit().await.expect("commits").position.revision, 3);
}
