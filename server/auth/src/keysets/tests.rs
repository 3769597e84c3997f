use std::sync::Mutex as StdMutex;
use std::sync::atomic::AtomicUsize;

use portcullis_egress::Client;
use portcullis_model::jitter::Jitter;
use serde_json::{Value, json};

use super::fetch::{MAX_BYTES, address_in, read_document};
use super::*;

fn refreshes() -> Arc<Refreshes> {
    Arc::new(Refreshes::new(Jitter::new(|| 1.0)))
}

/// A public P-256 key; what it verifies is of no consequence here.
pub(super) fn key(kid: &str) -> Value {
    json!({
        "kty": "EC", "crv": "P-256", "kid": kid,
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    })
}

/// A provider whose answers the test sets; `None` fails.
struct Provider {
    keys: StdMutex<Option<Vec<Value>>>,
    fetches: AtomicUsize,
}

impl Provider {
    fn start(keys: &[Value]) -> (Arc<Self>, KeySource) {
        let provider = Arc::new(Self {
            keys: StdMutex::new(Some(keys.to_vec())),
            fetches: AtomicUsize::new(0),
        });
        let asked = Arc::clone(&provider);
        let fetch: Fetch = Arc::new(move || {
            asked.fetches.fetch_add(1, Ordering::SeqCst);
            let keys = asked.keys.lock().expect("sound").clone();
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                let keys = keys.ok_or_else(|| anyhow::anyhow!("down"))?;
                KeySet::parse(json!({"keys": keys}).to_string().as_bytes())
            })
        });
        (provider, KeySource::new("https://id.example/", fetch, &refreshes()))
    }

    fn set(&self, keys: Option<&[Value]>) {
        *self.keys.lock().expect("sound") = keys.map(<[Value]>::to_vec);
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

async fn finds(source: &KeySource, kid: &str) -> Result<bool, AuthError> {
    source.find(Algorithm::ES256, Some(kid.to_owned())).await.map(|key| key.is_some())
}

#[tokio::test(start_paused = true)]
async fn an_unknown_kid_fetches_at_most_once_in_thirty_seconds() {
    let (provider, source) = Provider::start(&[key("old")]);
    assert!(finds(&source, "old").await.expect("keys"));
    provider.set(Some(&[key("new")]));
    for _ in 0..5 {
        assert!(!finds(&source, "new").await.expect("keys"), "the interval is not over");
    }
    assert_eq!(provider.fetches(), 1);
    tokio::time::advance(MIN_INTERVAL).await;
    assert!(finds(&source, "new").await.expect("keys"));
    assert!(!finds(&source, "old").await.expect("keys"), "rotated away");
    assert_eq!(provider.fetches(), 2);
}

#[tokio::test(start_paused = true)]
async fn failures_count_for_the_interval_too() {
    let (provider, source) = Provider::start(&[key("a")]);
    provider.set(None);
    for _ in 0..5 {
        assert!(finds(&source, "a").await.is_err());
    }
    assert_eq!(provider.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_checks_share_one_fetch() {
    let (provider, source) = Provider::start(&[key("a")]);
    let checks: Vec<_> = (0..20)
        .map(|_| {
            let source = source.clone();
            tokio::spawn(async move { finds(&source, "a").await })
        })
        .collect();
    for check in checks {
        assert!(check.await.expect("no panic").expect("keys"));
    }
    assert_eq!(provider.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failing_provider_keeps_its_last_good_keys_for_an_hour() {
    let (provider, source) = Provider::start(&[key("a")]);
    source.refresh_for_ever();
    assert!(finds(&source, "a").await.expect("keys"));
    provider.set(None);
    tokio::time::sleep(MAX_AGE - REFRESH).await;
    assert!(finds(&source, "a").await.expect("the last good keys"));
    assert!(provider.fetches() > 5, "it is asked again and again");
    tokio::time::sleep(REFRESH + REFRESH).await;
    assert!(finds(&source, "a").await.is_err(), "too old to be trusted");
    provider.set(Some(&[key("a")]));
    tokio::time::sleep(MIN_INTERVAL * 2).await;
    assert!(finds(&source, "a").await.expect("it is back"));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_delays_a_token_by_five_seconds_at_most() {
    let source = KeySource::new("x", Arc::new(|| Box::pin(std::future::pending())), &refreshes());
    let began = Instant::now();
    assert!(finds(&source, "a").await.is_err());
    assert!(began.elapsed() <= FETCH_TIMEOUT + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn the_log_has_one_line_about_a_provider_in_five_minutes() {
    let mut fetches = Fetches::default();
    assert_eq!((0..1_000).filter(|_| fetches.may_warn()).count(), 1);
    tokio::time::advance(WARNING_INTERVAL).await;
    assert_eq!((0..1_000).filter(|_| fetches.may_warn()).count(), 1);
}

/// A key set of 64 KiB with a long name above very many duplicate members.
fn wrong_in_many_ways() -> Vec<u8> {
    let name = "n".repeat(MAX_BYTES / 2);
    let members = vec![r#""":{}"#; MAX_BYTES / 2 / 6 - 10].join(",");
    let text = format!(r#"{{"{name}": {{{members}}}}}"#);
    assert!(text.len() <= MAX_BYTES && text.len() > MAX_BYTES * 9 / 10, "{}", text.len());
    text.into_bytes()
}

#[test]
fn a_key_set_that_is_wrong_in_many_ways_has_a_short_error() {
    let error = KeySet::parse(&wrong_in_many_ways()).expect_err("duplicate members");
    let cause = format!("{error:#}");
    assert!(cause.contains("more") && cause.len() <= 8 * 1024, "{} bytes", cause.len());
    assert!(excerpt(&cause, MAX_CAUSE).len() <= MAX_CAUSE + '…'.len_utf8());
}

#[tokio::test(start_paused = true)]
async fn invented_kids_leave_nothing_behind() {
    let (provider, source) = Provider::start(&[key("a")]);
    for kid in 0..10_000 {
        assert!(!finds(&source, &format!("invented-{kid}")).await.expect("keys"));
    }
    // The fetch at the first token, and one for an unknown key.
    assert!(provider.fetches() <= 2, "{}", provider.fetches());
    let good = source.good().expect("keys");
    assert!(good.keys.knows("a") && !good.keys.knows("invented-1"));
}

/// Returns the error of a fetch from `jwks_uri`, or by discovery, of a port where nobody listens.
async fn unreachable(issuer: &str, jwks_uri: Option<&str>) -> String {
    let client = Client::trusted(FETCH_TIMEOUT).expect("a client");
    let jwks_uri = jwks_uri.map(|uri| uri.parse().expect("a URL"));
    let failed = http_fetch(client, issuer, jwks_uri)().await;
    format!("{:#}", failed.expect_err("nobody listens"))
}

#[tokio::test]
async fn a_key_set_that_cannot_be_fetched_is_named_by_its_url_without_secrets() {
    let error = unreachable("x", Some("http://me:hush@127.0.0.1:1/keys?key=hush#hush")).await;
    assert!(error.starts_with("http://127.0.0.1:1/keys: cannot connect"), "{error}");
    assert!(!error.contains("hush"), "{error}");
    let error = unreachable("http://127.0.0.1:1/realm/", None).await;
    let expected = "http://127.0.0.1:1/realm/.well-known/openid-configuration: cannot connect";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn an_issuer_with_credentials_is_shown_without_them() {
    let document = br#"{"issuer": "https://me:hush@other.example"}"#;
    let error = read_document(document, "https://me:hush@id.example/realm").expect_err("another");
    let error = error.to_string();
    let expected = "`https://***@id.example/realm`, not of `https://***@other.example/`";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_wrong_discovery_document_says_what_is_wrong() {
    let issuer = "https://id.example/";
    for (document, expected) in [
        (
            r#"{"issuer": "https://id.example", "jwks_uri": "https://id.example/keys"}"#,
            "expected the discovery document of the issuer `https://id.example/`, not of \
             `https://id.example`",
        ),
        (r#"{"issuer": "https://id.example/"}"#, "the discovery document has no `jwks_uri`"),
        (
            r#"{"issuer": "https://id.example/", "jwks_uri": "/keys"}"#,
            "the `jwks_uri` `/keys` is not a URL: relative URL without a base",
        ),
        (
            r#"{"issuer": "https://id.example/", "jwks_uri": "https://id.example/keys"}"#,
            "https://id.example/keys",
        ),
    ] {
        let found = read_document(document.as_bytes(), issuer)
            .and_then(|document| address_in(&document, "jwks_uri"));
        let found = found.map_or_else(|error| format!("{error:#}"), String::from);
        assert_eq!(found, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn keys_are_fetched_again_while_they_are_used() {
    let (provider, source) = Provider::start(&[key("a")]);
    for _ in 0..100 {
        assert!(finds(&source, "a").await.expect("keys"));
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let fetches = provider.fetches();
    assert!((20..=24).contains(&fetches), "{fetches} in 6,000 s, one in 285 s");
    tokio::time::sleep(REFRESH * 20).await;
    let last = provider.fetches();
    assert!(last <= fetches + 3, "{last}: nobody uses the keys any more");
}

#[tokio::test(start_paused = true)]
async fn keys_that_nobody_used_are_fetched_before_they_serve() {
    let (provider, source) = Provider::start(&[key("a"), key("b")]);
    let used = source.find(Algorithm::ES256, Some("a".to_owned())).await.expect("keys");
    let used = used.expect("a key");
    tokio::time::sleep(MAX_AGE / 2).await;
    provider.set(Some(&[key("b")]));
    assert!(!source.has(&used), "the provider may have removed the key");
    assert!(!finds(&source, "a").await.expect("keys"));
    assert!(finds(&source, "b").await.expect("keys"));
    tokio::time::sleep(MAX_AGE / 2).await;
    provider.set(None);
    assert!(finds(&source, "b").await.expect("the last good keys, after one attempt"));
    let fetches = provider.fetches();
    assert!(finds(&source, "b").await.expect("the last good keys"));
    assert_eq!(provider.fetches(), fetches, "no token waits for the next attempt");
}
