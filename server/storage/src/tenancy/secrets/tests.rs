//! Secrets of every column get a new key, and those that nobody can read stay.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::store::Store;
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::macros::fetch_optional;

on_every_database!(
    an_old_key_can_be_dropped,
    a_secret_that_changed_meanwhile_is_not_overwritten,
    values_without_a_whole_key_id_are_counted,
);

fn ring(keys: &[u8]) -> KeyRing {
    let text: Vec<_> = keys.iter().map(|key| STANDARD.encode([*key; 32])).collect();
    KeyRing::parse(&text.join(",")).expect("keys")
}

/// Stores a webhook and a resolver whose secrets `keys` encrypts.
async fn fill(store: &Store, tenant: &str, id: u128, keys: &KeyRing) {
    const WEBHOOK: &str = "INSERT INTO webhooks (tenant_id, id, url, events, secret, created_by, \
        created_at) VALUES ($1, $2, 'u', '[]', $3, 'a', 0)";
    const MODULE: &str = "INSERT INTO resolver_modules (tenant_id, sha256, bytes) \
        VALUES ($1, $2, $3)";
    const RESOLVER: &str = "INSERT INTO resolvers (tenant_id, id, namespace, version, enabled, \
        manifest, secrets, module, sha256, created_by, created_at) \
        VALUES ($1, $2, $3, 1, TRUE, '{}', $4, '{}', $3, 'a', 0)";
    let (id, name) = (Uuid::from_u128(id), format!("n{id}"));
    let mut tx = store.write(tenant, 0).await.expect("begins");
    let secret = keys.encrypt(Context::for_webhook_secret(tenant, id), b"of a webhook");
    execute!(tx, WEBHOOK, tenant, id, secret.expect("encrypts")).expect("works");
    execute!(tx, MODULE, tenant, &name, Vec::<u8>::new()).expect("works");
    let secret = keys.encrypt(Context::for_resolver_secrets(tenant, id), b"of a resolver");
    execute!(tx, RESOLVER, tenant, id, &name, secret.expect("encrypts")).expect("works");
    tx.commit().await.expect("commits");
}

async fn secret(store: &Store, sql: &'static str) -> Vec<u8> {
    let mut tx = store.begin_read_all().await.expect("begins");
    fetch_optional!(tx, (Vec<u8>,), sql).expect("works").expect("there").0
}

/// Re-encrypts a column in steps of `limit`, and returns the number of values of each step.
async fn run(store: &Store, column: &SecretColumn, keys: &KeyRing, limit: i64) -> Vec<usize> {
    let (mut after, mut steps) = ((String::new(), Uuid::nil()), Vec::new());
    loop {
        let mut tx = store.write_all().await.expect("begins");
        let step = reencrypt(&mut tx, column, keys, &after, limit).await.expect("works");
        tx.commit().await.expect("commits");
        let Some(last) = step.last else { return steps };
        after = last;
        steps.push(step.reencrypted);
    }
}

async fn counts(store: &Store) -> BTreeMap<KeyId, u64> {
    let mut counts = BTreeMap::new();
    let mut tx = store.begin_read_all().await.expect("begins");
    for column in &COLUMNS {
        count(&mut tx, column, &mut counts).await.expect("works");
    }
    counts
}

async fn an_old_key_can_be_dropped(database: TestDatabase) {
    let store = database.open().await;
    let (old, both, new, lost) = (ring(b"a"), ring(b"ba"), ring(b"b"), ring(b"c"));
    for (tenant, id) in [("north", 1), ("north", 2), ("south", 3), ("south", 4), ("south", 5)] {
        fill(&store, tenant, id, &old).await;
    }
    fill(&store, "north", 6, &lost).await;
    fill(&store, "south", 7, &new).await;
    let first = run(&store, &COLUMNS[0], &both, 4).await;
    assert_eq!(first, [3, 2], "the one that nobody can read is passed over");
    assert_eq!(run(&store, &COLUMNS[0], &both, 4).await, [0], "the rest is done");
    assert_eq!(run(&store, &COLUMNS[1], &both, 100).await, [5]);
    let expected = [(new.first_id(), 12), (lost.first_id(), 2)];
    assert_eq!(counts(&store).await, BTreeMap::from(expected), "the old key is not needed");
    let webhook = secret(&store, "SELECT secret FROM webhooks ORDER BY id LIMIT 1").await;
    let context = Context::for_webhook_secret("north", Uuid::from_u128(1));
    assert_eq!(new.decrypt(context, &webhook).as_deref(), Ok(&b"of a webhook"[..]));
    assert!(old.decrypt(context, &webhook).is_err());
    let resolver = secret(&store, "SELECT secrets FROM resolvers ORDER BY id LIMIT 1").await;
    let context = Context::for_resolver_secrets("north", Uuid::from_u128(1));
    assert_eq!(new.decrypt(context, &resolver).as_deref(), Ok(&b"of a resolver"[..]));
}

async fn a_secret_that_changed_meanwhile_is_not_overwritten(database: TestDatabase) {
    let store = database.open().await;
    fill(&store, "north", 1, &ring(b"a")).await;
    let mut tx = store.write_all().await.expect("begins");
    let (id, old, new) = (Uuid::from_u128(1), b"an old value".to_vec(), b"a new value".to_vec());
    let changed =
        execute!(tx, AssertSqlSafe(COLUMNS[0].replace()), "north", id, old, new).expect("works");
    assert_eq!(changed, 0, "the value is no longer the one that was read");
}

async fn values_without_a_whole_key_id_are_counted(database: TestDatabase) {
    const CUT: &str = "UPDATE webhooks SET secret = $2 WHERE id = $1";
    let store = database.open().await;
    let keys = ring(b"a");
    for (id, stored) in [(1, &b""[..]), (2, b"1"), (3, b"1ab"), (4, b"1abcdefgh")] {
        fill(&store, "north", id, &keys).await;
        let mut tx = store.write_all().await.expect("begins");
        execute!(tx, CUT, Uuid::from_u128(id), stored).expect("works");
        tx.commit().await.expect("commits");
    }
    let expected = [([0; 4], 2), (*b"ab\0\0", 1), (*b"abcd", 1), (keys.first_id(), 4)];
    assert_eq!(counts(&store).await, BTreeMap::from(expected));
    assert_eq!(run(&store, &COLUMNS[0], &keys, 100).await, [0], "nobody can read them");
}
