//! Resolvers and their modules in every database.

use portcullis_engine::json;
use uuid::Uuid;

use super::*;
use crate::content::resolver_locations::{ResolverLocation, for_tenants, latest};
use crate::store::Store;
use crate::testing::{TestDatabase, on_every_database};
use portcullis_model::Authorship;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::{Manifest, ModuleRecord};

on_every_database!(
    resolvers_come_back_as_they_went_in,
    the_enabled_resolvers_that_changed_last_come_first,
    a_namespace_has_one_resolver,
    a_module_is_kept_for_as_long_as_a_resolver_has_it,
    tenants_do_not_meet,
);

fn resolver(tenant: &str, id: u128, namespace: &str, sha256: &str) -> StoredResolver {
    let text = format!(
        r#"{{"namespace": "{namespace}", "config": {{"region": "eu"}}, "secrets": {{"token": "s3cret"}},
            "endpoints": {{"d": {{"url": "https://hr.example/", "headers": {{"x-key": "${{token}}"}}}}}}}}"#
    );
    let manifest = json::parse(text.as_bytes()).expect("JSON");
    let manifest = Manifest::parse(&manifest, &EgressRules::default()).expect("valid");
    let module: ModuleRecord = serde_json::from_value(serde_json::json!({
        "name": "m", "version": "1", "sha256": sha256, "size": 3, "imports": [], "inputs": ["subject"],
        "attributes": [{"name": "a", "kind": "texts", "default_ttl_ms": 5}],
        "config_keys": [{"name": "region", "required": true}], "endpoints": ["d"],
    }))
    .expect("reads");
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    StoredResolver::new(Uuid::from_u128(id), tenant, &manifest, module, &by)
}

async fn inserted(store: &Store, resolver: &StoredResolver, module: &[u8]) -> bool {
    let mut tx = store.write(&resolver.tenant_id, 0).await.expect("begins");
    let inserted = super::store(&mut tx, resolver, b"sealed", Some(module)).await.expect("works");
    let committed = tx.commit().await.expect("commits");
    assert_eq!(
        committed.touched.is_some(),
        inserted,
        "every plan is made anew, or nothing changed"
    );
    inserted
}

async fn has_module(store: &Store, tenant: &str, sha256: &str) -> bool {
    let mut tx = store.begin_read(tenant).await.expect("begins");
    module(&mut tx, sha256).await.expect("works").is_some()
}

async fn resolvers_come_back_as_they_went_in(database: TestDatabase) {
    let store = database.open().await;
    let (first, mut second) = (resolver("acme", 1, "hr", "aa"), resolver("acme", 2, "geo", "aa"));
    assert!(inserted(&store, &first, b"wasm").await && inserted(&store, &second, b"wasm").await);
    let mut tx = store.write("acme", 0).await.expect("begins");
    second.enabled = false;
    second.version = 2;
    second.manifest.namespace = "places".to_owned();
    second.updated_by = Some("bob".to_owned());
    second.updated_at = Some(Timestamp::from_millis(2_000));
    assert!(super::store(&mut tx, &second, b"other", None).await.expect("works"));
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    assert_eq!(find(&mut tx, first.id).await.expect("works").as_ref(), Some(&first));
    assert_eq!(secrets(&mut tx, second.id).await.expect("works").as_deref(), Some(&b"other"[..]));
    assert_eq!(secrets(&mut tx, first.id).await.expect("works").as_deref(), Some(&b"sealed"[..]));
    assert_eq!(module(&mut tx, "aa").await.expect("works").as_deref(), Some(&b"wasm"[..]));
    assert_eq!(list(&mut tx).await.expect("works"), [first.clone(), second]);
    let names = for_plans(&mut tx).await.expect("works");
    assert_eq!((names.len(), names["hr"].version, names["places"].version), (2, 1, 2));
    let mut tx = store.begin_read_all().await.expect("begins");
    let places = for_tenants(&mut tx, ["acme", "other"]).await.expect("works");
    assert!(for_tenants(&mut tx, ["other"]).await.expect("works").is_empty());
    let of =
        |reference, enabled| ResolverLocation { tenant: "acme".to_owned(), reference, enabled };
    assert_eq!(places, [of(names["hr"], true), of(names["places"], false)]);
}

async fn the_enabled_resolvers_that_changed_last_come_first(database: TestDatabase) {
    let store = database.open().await;
    let mut all = ["acme", "bolt", "coil"].map(|tenant| {
        let id = u128::from(tenant.as_bytes()[0]);
        resolver(tenant, id, "hr", "aa")
    });
    for one in &all {
        assert!(inserted(&store, one, b"wasm").await);
    }
    let [first, second, third] = &mut all;
    for (one, enabled, at) in [(third, false, 9_000), (first, true, 8_000), (second, true, 7_000)] {
        let mut tx = store.write(&one.tenant_id, 0).await.expect("begins");
        (one.enabled, one.version) = (enabled, 2);
        one.updated_at = Some(Timestamp::from_millis(at));
        assert!(super::store(&mut tx, one, b"", None).await.expect("works"));
        tx.commit().await.expect("commits");
    }
    let mut tx = store.begin_read_all().await.expect("begins");
    let mut found = async |most| {
        let places = latest(&mut tx, most).await.expect("works");
        places.into_iter().map(|place| place.tenant).collect::<Vec<_>>()
    };
    assert_eq!(found(2).await, ["acme", "bolt"]);
    assert_eq!(found(1).await, ["acme"]);
}

async fn a_namespace_has_one_resolver(database: TestDatabase) {
    let store = database.open().await;
    let (first, mut second) = (resolver("acme", 1, "hr", "aa"), resolver("acme", 2, "geo", "bb"));
    assert!(inserted(&store, &first, b"a").await && inserted(&store, &second, b"b").await);
    assert!(!inserted(&store, &resolver("acme", 3, "hr", "cc"), b"c").await);
    assert!(!has_module(&store, "acme", "cc").await);
    let mut tx = store.write("acme", 0).await.expect("begins");
    second.manifest.namespace = "hr".to_owned();
    assert!(!super::store(&mut tx, &second, b"", None).await.expect("works"));
    assert_eq!(tx.commit().await.expect("commits").position.revision, 2, "nothing changed");
}

async fn a_module_is_kept_for_as_long_as_a_resolver_has_it(database: TestDatabase) {
    let store = database.open().await;
    let (mut first, second) = (resolver("acme", 1, "hr", "aa"), resolver("acme", 2, "geo", "aa"));
    assert!(inserted(&store, &first, b"a").await && inserted(&store, &second, b"a").await);
    first.module.sha256 = "bb".to_owned();
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert!(super::store(&mut tx, &first, b"", Some(b"b")).await.expect("works"));
    tx.commit().await.expect("commits");
    assert!(has_module(&store, "acme", "aa").await && has_module(&store, "acme", "bb").await);
    let mut tx = store.write("acme", 0).await.expect("begins");
    delete(&mut tx, second.id).await.expect("works");
    assert_eq!(tx.commit().await.expect("commits").position.revision, 4);
    assert!(!has_module(&store, "acme", "aa").await && has_module(&store, "acme", "bb").await);
    assert!(inserted(&store, &resolver("bolt", 3, "hr", "bb"), b"b").await);
    assert!(inserted(&store, &resolver("bolt", 4, "geo", "cc"), b"c").await);
    let mut tx = store.begin_read_all().await.expect("begins");
    assert_eq!(modules(&mut tx).await.expect("works"), ["bb", "cc"], "of every tenant, each once");
}

async fn tenants_do_not_meet(database: TestDatabase) {
    let store = database.open().await;
    let own = resolver("a", 1, "hr", "aa");
    assert!(inserted(&store, &own, b"a").await);
    assert!(inserted(&store, &resolver("b", 1, "hr", "aa"), b"b").await);
    let mut tx = store.write("b", 0).await.expect("begins");
    delete(&mut tx, own.id).await.expect("works");
    tx.commit().await.expect("commits");
    assert!(has_module(&store, "a", "aa").await && !has_module(&store, "b", "aa").await);
    let mut tx = store.begin_read("a").await.expect("begins");
    assert_eq!(find(&mut tx, own.id).await.expect("works"), Some(own));
}
