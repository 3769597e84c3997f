use portcullis_model::service_key::NewServiceKey;
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::service_keys::FoundKey;

use super::*;

fn key(tenant: &str, id: u128) -> Arc<VerifiedKey> {
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    let (record, _) = NewServiceKey::named("k").issue(Uuid::from_u128(id), &by);
    let found = FoundKey { record, tenant: tenant.to_owned(), slug: None, is_open: true };
    Arc::new(VerifiedKey::new(found, true))
}

fn keep(cache: &KeyCache, tenant: &str, id: u128) {
    cache.keep(cache.changes(), &key(tenant, id));
}

fn has(cache: &KeyCache, id: u128) -> bool {
    cache.get(Uuid::from_u128(id)).is_some()
}

#[test]
fn a_tenant_with_many_keys_drops_its_own() {
    let cache = KeyCache::new(100, 10);
    keep(&cache, "small", 1);
    for id in 1_000..2_000 {
        keep(&cache, "large", id);
    }
    assert_eq!(cache.len(), 11);
    assert!(has(&cache, 1) && has(&cache, 1_999) && has(&cache, 1_990));
    assert!(!has(&cache, 1_989), "the oldest goes first");
}

#[test]
fn forgotten_entries_leave_nothing_behind() {
    let cache = KeyCache::default();
    for id in 0..1_000 {
        keep(&cache, &format!("tenant-{id}"), id);
        cache.forget(Uuid::from_u128(id));
    }
    assert_eq!((cache.bookkeeping.lock().shares.total(), cache.len()), (0, 0));
}

#[test]
fn a_key_that_is_revoked_while_it_is_read_is_not_kept() {
    let cache = KeyCache::default();
    let changes = cache.changes();
    cache.forget(Uuid::from_u128(1));
    cache.keep(changes, &key("acme", 1));
    assert!(!has(&cache, 1));
    // The control: nothing came in between.
    keep(&cache, "acme", 1);
    assert!(has(&cache, 1));
}

#[test]
fn the_keys_of_a_changed_tenant_are_read_again() {
    let cache = KeyCache::default();
    keep(&cache, "acme", 1);
    keep(&cache, "acme", 2);
    keep(&cache, "other", 3);
    let changes = cache.changes();
    cache.forget_tenants(["acme", "unknown"]);
    cache.keep(changes, &key("acme", 4));
    let left: Vec<_> = (1..5).filter(|id| has(&cache, *id)).collect();
    assert_eq!(left, [3], "a key whose read began before may be revoked");
    keep(&cache, "acme", 1);
    let changes = cache.changes();
    cache.clear();
    cache.keep(changes, &key("acme", 4));
    assert_eq!((cache.bookkeeping.lock().shares.total(), cache.len()), (0, 0));
}
