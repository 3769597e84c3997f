//! Attacks on the memory of verified tokens. Each attack begins with a token that is answered from memory: without the
//! binding that it is about, the token would be answered from memory after it, too.

use std::collections::HashMap;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use jsonwebtoken::Algorithm;
use parking_lot::Mutex;
use portcullis_model::Timestamp;
use portcullis_model::jitter::Jitter;
use portcullis_model::provider::ClaimConfig;
use serde_json::{Value, json};
use url::Url;

use super::*;
use crate::config::MAX_TOKEN;
use crate::keysets::{Fetch, KeySet};
use crate::providers::FoundProvider;
use crate::shared_key_sets::SharedKeySets;
use crate::testing::{EC, ISSUER, OTHER, TestKey, claims, header, now, sign, sign_texts};

/// Longer than the time after which a key set is fetched again.
const REFRESHED: Duration = Duration::from_secs(310);
/// Longer than the time for which the last good keys serve.
const TOO_OLD: Duration = Duration::from_secs(3_700);
const ANOTHER_ISSUER: &str = "https://id.example/realms/other";

/// The key sets that addresses serve; an address without one fails.
type KeySets = Arc<Mutex<HashMap<String, Vec<Value>>>>;

/// A service in `saas` mode with the issuer [`ISSUER`] of the tenant `acme`.
struct Service {
    authenticator: Authenticator,
    key_sets: KeySets,
    /// The registered providers, and the closed tenants.
    stored: Arc<Mutex<(Vec<ProviderRecord>, Vec<String>)>>,
}

impl Service {
    /// Returns a service whose issuer serves `keys`.
    fn with_keys(keys: &[Value]) -> Self {
        let key_sets = KeySets::default();
        let served = Arc::clone(&key_sets);
        let fetches = move |address: &Url| -> Fetch {
            let (served, address) = (Arc::clone(&served), address.to_string());
            Arc::new(move || {
                let keys = served.lock().get(&address).cloned();
                Box::pin(async move {
                    let keys = keys.ok_or_else(|| anyhow::anyhow!("down"))?;
                    KeySet::parse(json!({"keys": keys}).to_string().as_bytes())
                })
            })
        };
        let key_sets_by_address = SharedKeySets::new(Box::new(fetches), Jitter::new(|| 1.0));
        let stored = Arc::new(Mutex::new((Vec::new(), Vec::new())));
        let read = Arc::clone(&stored);
        let lookup = move |issuer: String| -> BoxFuture<'static, _> {
            let (records, closed): (Vec<ProviderRecord>, Vec<String>) = read.lock().clone();
            let record = records.into_iter().find(|record| record.issuer_url == issuer);
            let found = record.map(|record| FoundProvider {
                is_closed: closed.contains(&record.tenant_id),
                record,
            });
            Box::pin(async move { Ok(found) })
        };
        let providers = Providers::new(Box::new(lookup), key_sets_by_address);
        let registered = Some(Issuers::Registered(Box::new(providers)));
        let service =
            Self { authenticator: Authenticator::new(registered, MAX_TOKEN), key_sets, stored };
        service.serve(ISSUER, keys);
        service.register(vec![record()]);
        service
    }

    fn serve(&self, issuer: &str, keys: &[Value]) {
        self.key_sets.lock().insert(address(issuer), keys.to_vec());
    }

    fn register(&self, records: Vec<ProviderRecord>) {
        let tenants = self.store(&records, &[]);
        let tenants: Vec<&str> = tenants.iter().map(|tenant| &**tenant).collect();
        self.authenticator.remembered_tenants(&tenants);
        self.authenticator.apply(&tenants, &records, &ClosedTenants::default());
    }

    /// Replaces the providers as [`Service::register`] does, and frees no memory: a request that runs meanwhile may
    /// remember its token after that.
    fn register_alone(&self, records: &[ProviderRecord], closed: &[&str]) {
        let tenants = self.store(records, closed);
        let tenants: Vec<&str> = tenants.iter().map(|tenant| &**tenant).collect();
        let Some(Issuers::Registered(registered)) = &self.authenticator.issuers else { return };
        registered.remembered(&tenants);
        registered.apply(&tenants, records, &closed_tenants(closed));
    }

    /// Stores the providers and the closed tenants. Returns the tenants whose access changed.
    fn store(&self, records: &[ProviderRecord], closed: &[&str]) -> Vec<String> {
        let closed = closed.iter().copied().map(str::to_owned).collect();
        let before = std::mem::replace(&mut *self.stored.lock(), (records.to_vec(), closed));
        before.0.iter().chain(records).map(|record| record.tenant_id.clone()).collect()
    }

    async fn verify_at(&self, token: &str, now: DateTime<Utc>) -> Result<Arc<TokenHolder>, String> {
        self.authenticator.verify(token, now).await.map_err(|error| match error {
            AuthError::TokenRefused(why) | AuthError::NoKeys(why) => why,
            other => format!("{other:?}"),
        })
    }

    async fn verify(&self, token: &str) -> Result<Arc<TokenHolder>, String> {
        self.verify_at(token, now()).await
    }

    /// Verifies a good token, and then gets its caller from memory.
    async fn remember(&self, token: &str) -> Arc<TokenHolder> {
        let verified = self.verify(token).await.expect("a good token");
        self.must_remember(token, &verified).await;
        verified
    }

    async fn must_remember(&self, token: &str, known: &Arc<TokenHolder>) {
        let again = self.verify(token).await.expect("a good token");
        assert!(Arc::ptr_eq(known, &again), "verified anew");
    }
}

fn closed_tenants(tenants: &[&str]) -> ClosedTenants {
    let closed = ClosedTenants::default();
    closed.replace(tenants.iter().copied().map(str::to_owned).collect());
    closed
}

/// Returns the address of the keys of `issuer`.
fn address(issuer: &str) -> String {
    format!("{issuer}/keys")
}

fn record() -> ProviderRecord {
    ProviderRecord {
        id: Uuid::nil(),
        tenant_id: "acme".to_owned(),
        issuer_url: ISSUER.to_owned(),
        jwks_uri: address(ISSUER),
        audience: None,
        claim_config: ClaimConfig::default(),
        sign_in: None,
        created_at: Timestamp::from_millis(0),
    }
}

fn jwk(key: &TestKey, kid: &str) -> Value {
    key.jwk(json!({"kid": kid}))
}

fn signed_by(key: &TestKey, header: &Value, claims: &Value) -> String {
    sign_texts(&header.to_string(), &claims.to_string(), key, Algorithm::ES256)
}

#[track_caller]
fn refused(result: Result<Arc<TokenHolder>, String>, expected: &str) {
    let why = result.expect_err(expected);
    assert!(why.contains(expected), "{why}");
}

#[tokio::test]
async fn a_service_key_sent_as_a_token_is_refused_with_the_right_header() {
    let off = Authenticator::new(None, MAX_TOKEN);
    for (token, expected) in [("pck_019e301f05c0_x", KEY_AS_TOKEN), ("a.b.c", SWITCHED_OFF)] {
        let why = off.verify(token, DateTime::UNIX_EPOCH).await;
        let Err(AuthError::TokenRefused(why)) = why else { panic!("{why:?}") };
        assert_eq!(why, expected);
        assert!(why.contains("`X-Service-Api-Key`"), "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_verified_once_while_its_keys_stay() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&header(), &claims());
    let known = service.remember(&token).await;
    assert_eq!((known.tenant(), &*known.identity.subject), ("acme", "ann"));
    tokio::time::sleep(REFRESHED).await;
    service.must_remember(&token, &known).await;
    service.serve(ISSUER, &[jwk(&OTHER, "new"), jwk(&EC, "ec")]);
    tokio::time::sleep(REFRESHED).await;
    service.must_remember(&token, &known).await;
    service.register(vec![record()]);
    service.must_remember(&token, &known).await;
    assert_eq!(service.authenticator.remembered(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_removed_ends_its_tokens() {
    let service = Service::with_keys(&[jwk(&EC, "ec"), jwk(&OTHER, "other")]);
    let token = sign(&header(), &claims());
    service.remember(&token).await;
    service.serve(ISSUER, &[jwk(&OTHER, "other")]);
    tokio::time::sleep(REFRESHED).await;
    refused(service.verify(&token).await, "exactly one key");
}

#[tokio::test(start_paused = true)]
async fn another_key_of_the_same_id_ends_the_tokens_of_the_first() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&header(), &claims());
    let before = service.remember(&token).await;
    service.serve(ISSUER, &[jwk(&OTHER, "ec")]);
    tokio::time::sleep(REFRESHED).await;
    refused(service.verify(&token).await, "signature");
    // The key that comes back serves at once, and what it verified counts again.
    service.serve(ISSUER, &[jwk(&EC, "ec")]);
    tokio::time::sleep(REFRESHED).await;
    let after = service.remember(&token).await;
    assert!(!Arc::ptr_eq(&before, &after));
    assert_eq!(service.authenticator.remembered(), 1, "one text, one token");
}

#[tokio::test(start_paused = true)]
async fn a_restricted_key_ends_its_tokens() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&header(), &claims());
    service.remember(&token).await;
    for members in [json!({"kid": "ec", "use": "enc"}), json!({"kid": "ec", "alg": "ES384"})] {
        service.serve(ISSUER, &[EC.jwk(members), jwk(&OTHER, "other")]);
        tokio::time::sleep(REFRESHED).await;
        refused(service.verify(&token).await, "exactly one key");
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_key_that_fits_ends_tokens_without_a_key_id() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&json!({"alg": "ES256"}), &claims());
    service.remember(&token).await;
    service.serve(ISSUER, &[jwk(&EC, "ec"), jwk(&OTHER, "other")]);
    tokio::time::sleep(REFRESHED).await;
    refused(service.verify(&token).await, "exactly one key");
}

#[tokio::test(start_paused = true)]
async fn keys_that_are_too_old_end_their_tokens() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&header(), &claims());
    let known = service.remember(&token).await;
    service.key_sets.lock().clear();
    tokio::time::sleep(REFRESHED).await;
    service.must_remember(&token, &known).await;
    tokio::time::sleep(TOO_OLD).await;
    refused(service.verify(&token).await, "no key set");
}

#[tokio::test]
async fn a_provider_that_is_removed_ends_its_tokens() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&header(), &claims());
    service.remember(&token).await;
    service.register_alone(&[], &[]);
    refused(service.verify(&token).await, "not registered");
    // The same record again is another provider.
    service.register(vec![record()]);
    let before = service.remember(&token).await;
    service.register(Vec::new());
    assert_eq!(service.authenticator.remembered(), 0, "their memory is free");
    service.register(vec![record()]);
    assert!(!Arc::ptr_eq(&before, &service.remember(&token).await));
}

#[tokio::test]
async fn a_provider_that_is_changed_ends_its_tokens() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let mut claims = claims();
    claims["groups"] = json!(["writer"]);
    let token = sign(&header(), &claims);
    assert_eq!(service.remember(&token).await.identity.roles, ["reader"]);
    let by_groups = ClaimConfig { roles_claim: "groups".to_owned(), ..ClaimConfig::default() };
    let change = |record| service.register_alone(&[record], &[]);
    change(ProviderRecord { claim_config: by_groups, ..record() });
    assert_eq!(service.remember(&token).await.identity.roles, ["writer"]);
    change(ProviderRecord { tenant_id: "other".to_owned(), ..record() });
    assert_eq!(service.remember(&token).await.tenant(), "other");
    assert_eq!(service.authenticator.remembered(), 1, "one text, one token");
    change(ProviderRecord { audience: Some("portcullis".to_owned()), ..record() });
    refused(service.verify(&token).await, "`aud`");
    service.register(vec![record()]);
    service.remember(&token).await;
    service.register(vec![ProviderRecord { tenant_id: "other".to_owned(), ..record() }]);
    assert_eq!(service.authenticator.remembered(), 0, "their memory is free");
}

#[tokio::test]
async fn a_closed_tenant_ends_its_tokens() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&header(), &claims());
    service.remember(&token).await;
    service.register_alone(&[record()], &["acme"]);
    refused(service.verify(&token).await, "TenantSuspended");
    assert_eq!(service.authenticator.remembered(), 1);
    service.authenticator.apply(&["acme"], &[record()], &closed_tenants(&["acme"]));
    assert_eq!(service.authenticator.remembered(), 0, "their memory is free");
    service.register(vec![record()]);
    service.remember(&token).await;
}

#[tokio::test]
async fn times_are_compared_at_each_use() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let mut claims = claims();
    claims["nbf"] = json!(now().timestamp() + 20);
    let token = sign(&header(), &claims);
    let known = service.remember(&token).await;
    for (millis, expected) in [
        (-10_001, Some("not valid yet")),
        (-10_000, None),
        (0, None),
        (89_999, None),
        (90_000, Some("expired")),
        (900_000, Some("expired")),
    ] {
        let verified = service.verify_at(&token, now() + TimeDelta::milliseconds(millis)).await;
        match expected {
            Some(why) => refused(verified, why),
            None => assert!(Arc::ptr_eq(&known, &verified.expect("in time")), "{millis}"),
        }
    }
}

#[tokio::test]
async fn a_changed_text_of_a_remembered_token_is_refused() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    let token = sign(&header(), &claims());
    service.remember(&token).await;
    let (message, signature) = token.rsplit_once('.').expect("three parts");
    let (head, _) = message.split_once('.').expect("three parts");
    let mut administrator = claims();
    administrator["adm"] = json!("*");
    let other = sign(&header(), &administrator);
    let payload = other.split('.').nth(1).expect("three parts");
    let mut variants: Vec<String> = (1..token.len()).map(|end| token[..end].to_owned()).collect();
    variants.extend((1..token.len()).map(|begin| token[begin..].to_owned()));
    variants.extend(["A", "=", ".", " ", "\0"].map(|suffix| format!("{token}{suffix}")));
    variants.extend(["A", ".", " ", "\u{feff}"].map(|prefix| format!("{prefix}{token}")));
    variants.push(format!("{head}.{payload}.{signature}"));
    variants.push(format!("{message}."));
    variants.push(token.to_ascii_uppercase());
    variants.push(token.repeat(2));
    for variant in variants {
        assert!(service.verify(&variant).await.is_err(), "{variant}");
    }
    assert_eq!(service.authenticator.remembered(), 1);
}

#[tokio::test]
async fn a_token_counts_for_its_own_issuer_alone() {
    let service = Service::with_keys(&[jwk(&EC, "ec")]);
    service.serve(ANOTHER_ISSUER, &[jwk(&OTHER, "ec"), jwk(&OTHER, "other")]);
    let other = ProviderRecord {
        id: Uuid::max(),
        tenant_id: "other".to_owned(),
        issuer_url: ANOTHER_ISSUER.to_owned(),
        jwks_uri: address(ANOTHER_ISSUER),
        ..record()
    };
    service.register(vec![record(), other]);
    service.remember(&sign(&header(), &claims())).await;
    let mut of_other = claims();
    of_other["iss"] = json!(ANOTHER_ISSUER);
    let own = signed_by(&OTHER, &header(), &of_other);
    assert_eq!(service.remember(&own).await.tenant(), "other");
    // The other issuer signs the claims of the first, by a key of the same id and by its own one.
    refused(service.verify(&signed_by(&OTHER, &header(), &claims())).await, "signature");
    let foreign = json!({"alg": "ES256", "kid": "other"});
    refused(service.verify(&signed_by(&OTHER, &foreign, &claims())).await, "exactly one key");
    // The first issuer signs with the name of the other.
    refused(service.verify(&signed_by(&EC, &header(), &of_other)).await, "signature");
    assert_eq!(service.authenticator.remembered(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_remembered() {
    let service = Service::with_keys(&[jwk(&OTHER, "other")]);
    let token = sign(&header(), &claims());
    for _ in 0..3 {
        refused(service.verify(&token).await, "exactly one key");
    }
    assert_eq!(service.authenticator.remembered(), 0);
    service.serve(ISSUER, &[jwk(&EC, "ec")]);
    tokio::time::sleep(REFRESHED).await;
    service.remember(&token).await;
}
