use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::DateTime;
use portcullis_model::Authorship;
use portcullis_model::service_key::{NewServiceKey, Permission, key_prefix};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use sha2::{Digest, Sha256};

use super::*;
use crate::check_caller::CheckCaller;

on_every_database!(
    a_key_in_memory_costs_no_query,
    a_wrong_key_with_a_known_id_is_refused_and_not_kept,
    a_revoked_key_is_refused,
    a_key_expires_in_memory,
    a_key_of_a_closed_tenant_is_not_kept,
    the_domain_of_a_check_is_that_of_the_key,
);

fn now() -> Timestamp {
    Timestamp::from_millis(1_000_000)
}

/// Creates a key of `tenant`.
async fn issue(store: &Store, tenant: &str, key: NewServiceKey) -> (Uuid, String) {
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    let (record, key) = key.issue(Uuid::from_bytes(id_of(tenant)), &by);
    let mut tx = store.write(tenant, 0).await.expect("begins");
    service_keys::insert(&mut tx, &record).await.expect("works");
    tx.commit().await.expect("commits");
    (record.id, key)
}

/// Returns the id of the one key of a tenant.
fn id_of(tenant: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(tenant.bytes()).for_each(|(to, from)| *to = from);
    bytes
}

/// Returns a well-formed key with the id of `key` and the secret of `other`.
fn with_id_of(key: &str, other: &str) -> PresentedKey {
    let secret = &other[key_prefix(parsed(other).id).len()..];
    let text = format!("{}{}", key_prefix(parsed(key).id), &secret[..secret.len() - 6]);
    let checksum = URL_SAFE_NO_PAD.encode(Sha256::digest(&text));
    parsed(&format!("{text}{}", &checksum[..6]))
}

fn parsed(key: &str) -> PresentedKey {
    parse_key(key).expect("well-formed")
}

async fn opened(database: &TestDatabase) -> (Store, ServiceKeys) {
    let store = database.open().await;
    (store.clone(), ServiceKeys::new(store, true))
}

fn cached(keys: &ServiceKeys, key: &PresentedKey, now: Timestamp) -> Option<bool> {
    keys.verify_cached(key, now).map(|verified| verified.is_ok())
}

async fn a_key_in_memory_costs_no_query(database: TestDatabase) {
    let (store, keys) = opened(&database).await;
    let (_, key) = issue(&store, "acme", NewServiceKey::named("k")).await;
    let (_, other) = issue(&store, "other", NewServiceKey::named("k")).await;
    assert_eq!(cached(&keys, &parsed(&key), now()), None);
    keys.verify(&parsed(&key), now()).await.expect("it is good");
    store.close().await;
    let verified = keys.verify_cached(&parsed(&key), now()).expect("in memory").expect("good");
    assert_eq!(verified.tenant(), "acme");
    assert_eq!(verified.manager().tenant(), "acme");
    // The control: there is no store to ask.
    assert!(matches!(keys.verify(&parsed(&other), now()).await, Err(AuthError::Store(_))));
}

async fn a_wrong_key_with_a_known_id_is_refused_and_not_kept(database: TestDatabase) {
    let (store, keys) = opened(&database).await;
    let (_, key) = issue(&store, "acme", NewServiceKey::named("k")).await;
    let (_, other) = issue(&store, "other", NewServiceKey::named("k")).await;
    let wrong = with_id_of(&key, &other);
    for _ in 0..2 {
        assert!(matches!(keys.verify(&wrong, now()).await, Err(AuthError::CredentialRefused(_))));
    }
    assert!(keys.is_empty(), "neither it nor the good key is kept");
    keys.verify(&parsed(&key), now()).await.expect("it is good");
    assert_eq!(cached(&keys, &wrong, now()), Some(false));
    assert_eq!(cached(&keys, &parsed(&key), now()), Some(true), "it is no worse for that");
    store.close().await;
}

async fn a_revoked_key_is_refused(database: TestDatabase) {
    let (store, keys) = opened(&database).await;
    let (id, key) = issue(&store, "acme", NewServiceKey::named("k")).await;
    let (_, other) = issue(&store, "other", NewServiceKey::named("k")).await;
    for key in [&key, &other] {
        keys.verify(&parsed(key), now()).await.expect("it is good");
    }
    let by = Authorship { actor: "ann".to_owned(), at: now() };
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert!(service_keys::delete(&mut tx, id, &by).await.expect("works"));
    assert_eq!(tx.commit().await.expect("commits").revoked_keys, [id]);
    assert_eq!(cached(&keys, &parsed(&key), now()), Some(true), "the control: nobody was notified");
    // Another process reads that something of the tenant changed.
    keys.forget_tenants(["acme"]);
    assert_eq!(cached(&keys, &parsed(&key), now()), None);
    assert_eq!(cached(&keys, &parsed(&other), now()), Some(true));
    assert!(matches!(
        keys.verify(&parsed(&key), now()).await,
        Err(AuthError::CredentialRefused(_))
    ));
    // The process that revokes a key forgets it at once.
    keys.forget(parsed(&other).id);
    assert_eq!(cached(&keys, &parsed(&other), now()), None);
}

async fn a_key_expires_in_memory(database: TestDatabase) {
    let (store, keys) = opened(&database).await;
    let expiry = now().millis() + 10;
    let expires_at = DateTime::from_timestamp_millis(expiry);
    let key = NewServiceKey { expires_at, ..NewServiceKey::named("k") };
    let (_, key) = issue(&store, "acme", key).await;
    keys.verify(&parsed(&key), now()).await.expect("it is good");
    let at = Timestamp::from_millis;
    assert_eq!(cached(&keys, &parsed(&key), at(expiry - 1)), Some(true));
    let refusal = |keys: &ServiceKeys, key: &PresentedKey| match keys.verify_cached(key, at(expiry))
    {
        Some(Err(AuthError::CredentialRefused(why))) => why,
        other => panic!("{other:?}"),
    };
    let expected = format!(
        "the service key expired at {}; create another one",
        Timestamp::from_millis(expiry)
    );
    assert_eq!(refusal(&keys, &parsed(&key)), expected);
    // Who does not have the secret does not learn that the key exists.
    let (_, other) = issue(&store, "other", NewServiceKey::named("k")).await;
    let guessed = with_id_of(&key, &other);
    assert_eq!(refusal(&keys, &guessed), "the service key is unknown or revoked");
    // The store says the same as the memory.
    keys.forget_all();
    match keys.verify(&parsed(&key), at(expiry)).await {
        Err(AuthError::CredentialRefused(why)) => assert_eq!(why, expected),
        other => panic!("{other:?}"),
    }
}

async fn a_key_of_a_closed_tenant_is_not_kept(database: TestDatabase) {
    let (store, keys) = opened(&database).await;
    let (_, key) = issue(&store, "acme", NewServiceKey::named("k")).await;
    let mut tx = store.write_as("acme").await.expect("begins");
    assert!(portcullis_storage::tenants::suspend(&mut tx, now()).await.expect("works"));
    tx.commit().await.expect("commits");
    assert!(matches!(keys.verify(&parsed(&key), now()).await, Err(AuthError::TenantSuspended)));
    assert!(keys.is_empty());
}

async fn the_domain_of_a_check_is_that_of_the_key(database: TestDatabase) {
    let store = database.open().await;
    let permissions = vec![Permission::AccessEvaluate];
    let domain = Some("eu".to_owned());
    let named =
        NewServiceKey { permissions: permissions.clone(), domain, ..NewServiceKey::named("k") };
    let (_, named) = issue(&store, "acme", named).await;
    let free = NewServiceKey { permissions, ..NewServiceKey::named("k") };
    let (_, free) = issue(&store, "other", free).await;
    let (selfhost, saas) = (ServiceKeys::new(store.clone(), true), ServiceKeys::new(store, false));
    // The domain of a key counts in `saas` mode only.
    for (keys, key, sent, expected) in [
        (&selfhost, &named, None, Ok("acme")),
        (&selfhost, &free, None, Ok("other")),
        (&selfhost, &free, Some("other"), Ok("other")),
        (&selfhost, &free, Some("acme"), Err("expected `other`")),
        (&saas, &named, None, Ok("eu")),
        (&saas, &named, Some("eu"), Ok("eu")),
        (&saas, &named, Some("us"), Err("expected `eu`")),
        (&saas, &free, Some("us"), Ok("us")),
        (&saas, &free, None, Err("DomainMissing")),
    ] {
        let caller = CheckCaller::Key(keys.verify(&parsed(key), now()).await.expect("it is good"));
        match (caller.domain_of(sent), expected) {
            (Ok(domain), Ok(expected)) => assert_eq!(domain, expected),
            (Err(error), Err(expected)) => {
                assert!(format!("{error:?}").contains(expected), "{error:?}");
            }
            (judged, _) => panic!("{sent:?}: {judged:?}, not {expected:?}"),
        }
        assert!(caller.may_explain(None, &[]).is_err(), "it does not have `policies:read`");
    }
}
