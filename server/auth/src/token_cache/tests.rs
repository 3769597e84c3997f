use portcullis_model::provider::ClaimConfig;
use serde_json::{Value, json};

use super::*;
use crate::claims::Claims;
use crate::config::MAX_TOKEN;
use crate::config::OidcConfig;
use crate::testing::{EC, ISSUER, claims, header, key_source, now, sign};
use crate::token::{Proof, Unverified};

fn verifier() -> Arc<Verifier> {
    let config = OidcConfig {
        issuer: ISSUER.to_owned(),
        jwks_uri: None,
        audience: None,
        claims: ClaimConfig::default(),
    };
    Arc::new(Verifier::new(config, key_source(vec![EC.jwk(json!({"kid": "ec"}))])))
}

/// Signs a token of the domain `tenant`.
fn signed(tenant: &str, subject: usize, extra: Value) -> String {
    let mut claims = claims();
    claims["dom"] = json!(tenant);
    claims["sub"] = json!(subject.to_string());
    claims["extra"] = extra;
    sign(&header(), &claims)
}

async fn verified(verifier: &Arc<Verifier>, text: &str) -> CachedToken {
    let read = Unverified::read(text, MAX_TOKEN).expect("a token");
    let Proof { identity, key, validity } = verifier.verify(read, now()).await.expect("good");
    let tenant = identity.domain.clone();
    let holder = Arc::new(TokenHolder { tenant, identity, one_tenant_per_domain: true });
    CachedToken::new(verifier, key, validity, &holder)
}

async fn keep(
    cache: &TokenCache,
    verifier: &Arc<Verifier>,
    tenant: &str,
    subject: usize,
) -> String {
    let text = signed(tenant, subject, Value::Null);
    cache.keep(cache.presented(&text), verified(verifier, &text).await);
    text
}

fn has(cache: &TokenCache, text: &str) -> bool {
    cache.find(cache.presented(text), |_| true).is_some()
}

#[tokio::test]
async fn a_tenant_with_many_tokens_drops_its_own() {
    let bounds = ShareBounds { all: 100_000, tenant: 50_000 };
    let (cache, verifier) = (TokenCache::new(bounds), verifier());
    let small = keep(&cache, &verifier, "small", 0).await;
    let mut large = Vec::new();
    for subject in 0..100 {
        large.push(keep(&cache, &verifier, "large", subject).await);
        let shares = cache.shares.lock();
        assert!(shares.total() <= bounds.all && shares.weight("large") <= bounds.tenant);
    }
    assert!(has(&cache, &small), "the flood of one tenant takes nothing from another");
    assert!(has(&cache, &large[99]) && !has(&cache, &large[0]), "the oldest goes first");
}

#[tokio::test]
async fn forgotten_entries_leave_nothing_behind() {
    let (cache, verifier) = (TokenCache::default(), verifier());
    for subject in 0..10 {
        let text = keep(&cache, &verifier, "acme", subject).await;
        cache.keep(cache.presented(&text), verified(&verifier, &text).await);
    }
    assert_eq!(cache.len(), 10, "a text is one token");
    let other = keep(&cache, &verifier, "other", 0).await;
    cache.forget("acme");
    assert_eq!((cache.len(), has(&cache, &other)), (1, true));
    cache.forget("other");
    assert_eq!((cache.shares.lock().total(), cache.len()), (0, 0));
}

#[tokio::test]
async fn a_removed_verifier_is_not_kept_alive() {
    let (cache, verifier) = (TokenCache::default(), verifier());
    keep(&cache, &verifier, "acme", 0).await;
    let weak = Arc::downgrade(&verifier);
    drop(verifier);
    assert!(weak.upgrade().is_none());
}

/// Tokens of the test of weights.
const TOKENS: usize = 200;

/// The weight is what bounds the memory, so it must follow the memory.
#[tokio::test]
async fn the_weight_is_the_memory() {
    for extra in [
        Value::Null,
        json!("x".repeat(3_000)),
        json!(vec![0; 2_000]),
        json!(vec!["a"; 1_000]),
        json!(vec![json!({"a": {"b": [1]}}); 200]),
    ] {
        let (cache, verifier) = (TokenCache::default(), verifier());
        let (mut texts, mut tokens, mut callers) = (Vec::new(), Vec::new(), 0);
        for subject in 0..TOKENS {
            let text = signed("acme", subject, extra.clone());
            let token = verified(&verifier, &text).await;
            let payload = token.holder.identity.claims.borrow_owner();
            let mut again = None;
            let read = allocation_counter::measure(|| again = Claims::read(payload.clone()));
            assert!(again.is_some());
            callers += u64::try_from(read.bytes_current).expect("more than before");
            texts.push(text);
            tokens.push(token);
        }
        let kept = allocation_counter::measure(|| {
            for (text, token) in texts.iter().zip(tokens.drain(..)) {
                cache.keep(cache.presented(text), token);
            }
        });
        let kept = u64::try_from(kept.bytes_current).expect("more than before");
        let holders = (TOKENS * size_of::<TokenHolder>()) as u64;
        let measured = (callers + kept + holders) as f64;
        let ratio = cache.shares.lock().total() as f64 / measured;
        assert!((0.9..1.3).contains(&ratio), "{ratio} of {measured} bytes: {extra:.20}");
    }
}
