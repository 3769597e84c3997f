//! Providers are read once, when a token first names them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex as StdMutex;
use portcullis_model::Timestamp;
use portcullis_model::jitter::Jitter;
use portcullis_model::provider::ClaimConfig;
use serde_json::json;
use tokio::sync::Notify;

use super::*;
use crate::keysets::{Fetch, KeySet};
use crate::testing::EC;

/// A store of providers that counts its reads, and the fetches from each address.
#[derive(Default)]
struct Stage {
    stored: StdMutex<HashMap<String, ProviderRecord>>,
    reads: AtomicUsize,
    fetches: Arc<StdMutex<HashMap<String, usize>>>,
    /// A read that found its answer waits for this, if it is set.
    held: StdMutex<Option<Arc<Notify>>>,
}

impl Stage {
    fn providers(self: &Arc<Self>) -> Providers {
        let fetches = Arc::clone(&self.fetches);
        let fetch = move |address: &Url| -> Fetch {
            let (fetches, address) = (Arc::clone(&fetches), address.to_string());
            Arc::new(move || {
                *fetches.lock().entry(address.clone()).or_default() += 1;
                let keys = json!({"keys": [EC.jwk(json!({"kid": "ec"}))]}).to_string();
                Box::pin(async move { KeySet::parse(keys.as_bytes()) })
            })
        };
        let stage = Arc::clone(self);
        let lookup = move |issuer: String| -> BoxFuture<'static, _> {
            stage.reads.fetch_add(1, Ordering::SeqCst);
            let record = stage.stored.lock().get(&issuer).cloned();
            let held = stage.held.lock().clone();
            Box::pin(async move {
                if let Some(held) = held {
                    held.notified().await;
                }
                tokio::task::yield_now().await;
                Ok(record.map(|record| FoundProvider { record, is_closed: false }))
            })
        };
        let key_sets = SharedKeySets::new(Box::new(fetch), Jitter::new(|| 0.5));
        Providers::new(Box::new(lookup), key_sets)
    }

    fn register(&self, tenant: &str, issuer: &str) -> ProviderRecord {
        let record = ProviderRecord {
            id: Uuid::from_u128(self.stored.lock().len() as u128),
            tenant_id: tenant.to_owned(),
            issuer_url: issuer.to_owned(),
            jwks_uri: "https://id.example/keys".to_owned(),
            audience: None,
            claim_config: ClaimConfig::default(),
            sign_in: None,
            created_at: Timestamp::from_millis(0),
        };
        self.stored.lock().insert(issuer.to_owned(), record.clone());
        record
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }
}

const ISSUER: &str = "https://id.example/";

#[tokio::test]
async fn invented_issuers_leave_nothing_behind() {
    let stage = Arc::new(Stage::default());
    let providers = stage.providers();
    stage.register("acme", ISSUER);
    providers.choose(ISSUER).await.expect("registered");
    for n in 0..10_000 {
        let issuer = format!("https://invented-{n}.example/");
        let refused = providers.choose(&issuer).await;
        assert!(matches!(refused, Err(AuthError::TokenRefused(_))), "{n}: {refused:?}");
        providers.choose(&issuer).await.expect_err("again");
    }
    assert_eq!(stage.reads(), 10_001, "one read for each");
    assert!(providers.len().0 <= 4_097, "{:?}", providers.len());
    let reads = stage.reads();
    providers.choose(&"x".repeat(10_000)).await.expect_err("nobody can register it");
    assert_eq!(stage.reads(), reads);
}

#[tokio::test]
async fn an_issuer_is_read_once_for_all_who_wait() {
    let stage = Arc::new(Stage::default());
    let providers = Arc::new(stage.providers());
    stage.register("acme", ISSUER);
    let choose = || {
        let providers = Arc::clone(&providers);
        tokio::spawn(async move { providers.choose(ISSUER).await.map(|(_, tenant)| tenant) })
    };
    for chosen in (0..100).map(|_| choose()).collect::<Vec<_>>() {
        assert_eq!(chosen.await.expect("no panic").expect("registered"), "acme");
    }
    assert_eq!(stage.reads(), 1);
}

#[tokio::test]
async fn providers_with_one_address_share_its_keys() {
    let stage = Arc::new(Stage::default());
    let providers = stage.providers();
    let issuers: Vec<_> = (0..50).map(|n| format!("https://id.example/{n}")).collect();
    for issuer in &issuers {
        stage.register(issuer, issuer);
    }
    providers.warm_up(&issuers).await;
    assert_eq!(providers.len(), (50, 1));
    assert_eq!(stage.fetches.lock().values().copied().collect::<Vec<_>>(), [1]);
}

#[tokio::test(start_paused = true)]
async fn unused_providers_are_forgotten() {
    let stage = Arc::new(Stage::default());
    let providers = stage.providers();
    let used = stage.register("used", ISSUER);
    let idle = stage.register("idle", "https://idle.example/");
    for record in [&used, &idle] {
        providers.choose(&record.issuer_url).await.expect("registered");
    }
    let (_, noted) = providers.tidy();
    assert_eq!(noted.len(), 2, "the store notes a use");
    let mut forgotten = Vec::new();
    for _ in 0..61 {
        providers.choose(ISSUER).await.expect("registered");
        let (idle, noted) = providers.tidy();
        assert!(noted.is_empty() || noted == [used.id], "once an hour");
        forgotten.extend(idle);
    }
    assert_eq!((forgotten, providers.len().0), (vec!["idle".to_owned()], 1));
    providers.choose(&idle.issuer_url).await.expect("it is read again");
    assert_eq!(stage.reads(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_registered_later_is_found() {
    let stage = Arc::new(Stage::default());
    let providers = stage.providers();
    providers.choose(ISSUER).await.expect_err("nobody registered it");
    stage.register("acme", ISSUER);
    providers.choose(ISSUER).await.expect_err("the control: it is remembered");
    assert!(providers.remembered(&["acme"]).is_empty());
    providers.choose(ISSUER).await.expect("the stream named the tenant");
    providers.clear();
    stage.stored.lock().clear();
    providers.choose(ISSUER).await.expect_err("nobody registered it");
    stage.register("acme", ISSUER);
    tokio::time::advance(Duration::from_secs(11)).await;
    providers.choose(ISSUER).await.expect("for ten seconds");
}

/// A read that is overtaken by a removal must not bring the provider back.
#[tokio::test]
async fn a_provider_that_is_removed_while_it_is_read_is_not_kept() {
    for removes in [false, true] {
        let stage = Arc::new(Stage::default());
        let providers = Arc::new(stage.providers());
        stage.register("acme", ISSUER);
        let gate = Arc::new(Notify::new());
        *stage.held.lock() = Some(Arc::clone(&gate));
        let reading = Arc::clone(&providers);
        let reading = tokio::spawn(async move { reading.choose(ISSUER).await.map(drop) });
        while stage.reads() == 0 {
            tokio::task::yield_now().await;
        }
        *stage.held.lock() = None;
        if removes {
            stage.stored.lock().clear();
            providers.remembered(&["acme"]);
            assert!(providers.apply(&["acme"], &[], &ClosedTenants::default()).is_empty());
        }
        gate.notify_one();
        reading.await.expect("no panic").expect("it was there when the read began");
        let chosen = providers.choose(ISSUER).await;
        assert_eq!(chosen.is_err(), removes, "{removes}");
        assert_eq!(stage.reads(), if removes { 2 } else { 1 });
    }
}
