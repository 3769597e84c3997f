use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::*;

/// A public P-256 key; what it verifies is of no consequence here.
fn key(kid: &str) -> Value {
    json!({
        "kty": "EC", "crv": "P-256", "kid": kid,
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    })
}

fn rsa(modulus_bytes: usize) -> Value {
    let mut modulus = vec![0xff; modulus_bytes];
    modulus[0] = 0x80;
    json!({"kty": "RSA", "kid": "rsa", "n": URL_SAFE_NO_PAD.encode(modulus), "e": "AQAB"})
}

fn parse(keys: &[Value]) -> anyhow::Result<KeySet> {
    KeySet::parse(json!({"keys": keys}).to_string().as_bytes())
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
        let source = KeySource::new(Arc::new(move || {
            asked.fetches.fetch_add(1, Ordering::SeqCst);
            let keys = asked.keys.lock().expect("sound").clone();
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                let keys = keys.ok_or_else(|| anyhow::anyhow!("down"))?;
                Ok(json!({"keys": keys}).to_string().into_bytes())
            })
        }));
        (provider, source)
    }

    fn set(&self, keys: Option<&[Value]>) {
        *self.keys.lock().expect("sound") = keys.map(<[Value]>::to_vec);
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

async fn finds(source: &KeySource, kid: &str) -> Result<bool, NoKeys> {
    source.find(Algorithm::ES256, Some(kid)).await.map(|key| key.is_some())
}

#[test]
fn keys_that_must_not_verify_are_left_out() {
    let encryption = {
        let mut key = key("enc");
        key["use"] = json!("enc");
        key
    };
    for unusable in [
        encryption,
        json!({"kty": "oct", "kid": "mac", "k": "c2VjcmV0"}),
        json!({"kty": "XYZ", "kid": "new"}),
        json!({"kty": "EC", "crv": "P-256", "kid": "bad"}),
        json!("no object"),
        rsa(255),
        rsa(128),
    ] {
        let set = parse(&[unusable.clone(), key("good")]).expect("one key is good");
        assert_eq!(set.0.len(), 1, "{unusable}");
        assert!(parse(std::slice::from_ref(&unusable)).is_err(), "{unusable}");
    }
    assert_eq!(parse(&[rsa(256), key("good")]).expect("both are good").0.len(), 2);
}

#[test]
fn ambiguous_and_oversized_sets_are_refused() {
    assert!(parse(&[key("a"), key("b")]).is_ok());
    assert!(parse(&[key("a"), key("a")]).is_err());
    let many: Vec<Value> = (0..=MAX_KEYS).map(|index| key(&index.to_string())).collect();
    assert!(parse(&many[1..]).is_ok());
    assert!(parse(&many).is_err());
    for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#] {
        assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
    }
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
    source.refresh_in_background();
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
    let source = KeySource::new(Arc::new(|| Box::pin(std::future::pending())));
    let began = Instant::now();
    assert!(finds(&source, "a").await.is_err());
    assert!(began.elapsed() <= FETCH_TIMEOUT + Duration::from_secs(1));
}
