//! Key sets (RFC 7517): the choice of the key that may verify a token, the fetch of a set, and its refresh.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use portcullis_egress::Client;
use portcullis_engine::json::{self, Json};
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

/// Most keys of a set: real ones have two to ten.
const MAX_KEYS: usize = 64;
/// Largest key set and discovery document, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Shortest RSA modulus, in bits (NIST SP 800-131A).
const MIN_RSA_BITS: usize = 2_048;
/// Longest fetch, including discovery. The first token of an issuer waits at most this long.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Age at which a key set is fetched again in the background.
const REFRESH: Duration = Duration::from_secs(300);
/// Shortest time between two fetches for an unknown `kid`, including failed ones. Everybody can invent a `kid`.
const MIN_INTERVAL: Duration = Duration::from_secs(30);
/// Age up to which the last good keys are used while the provider fails.
const MAX_AGE: Duration = Duration::from_secs(3_600);

/// A function that fetches the text of a key set.
pub(crate) type Fetch = Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<Vec<u8>>> + Send + Sync>;

/// No key set of the issuer is available.
#[derive(Debug, thiserror::Error)]
#[error("no key set of the issuer could be fetched so far")]
pub struct NoKeys;

/// The keys of one set that may verify tokens.
#[derive(Debug)]
struct KeySet(Vec<VerificationKey>);

#[derive(Debug)]
struct VerificationKey {
    kid: Option<String>,
    jwk: Jwk,
    key: Arc<DecodingKey>,
}

impl KeySet {
    /// Reads a JWK set. It leaves out keys that cannot verify a token: symmetric and unknown keys, keys for another use,
    /// and RSA keys that are too short.
    fn parse(text: &[u8]) -> anyhow::Result<Self> {
        let set = json::parse(text)?;
        let Some(keys) = set.get("keys").and_then(Json::as_array) else {
            anyhow::bail!("a key set is an object with an array `keys`");
        };
        anyhow::ensure!(keys.len() <= MAX_KEYS, "the key set has more than {MAX_KEYS} keys");
        let keys: Vec<_> = keys.iter().filter_map(VerificationKey::parse).collect();
        anyhow::ensure!(!keys.is_empty(), "the key set has no key that can verify tokens");
        for (index, key) in keys.iter().enumerate() {
            let twice = keys[..index].iter().any(|other| key.kid.is_some() && other.kid == key.kid);
            anyhow::ensure!(!twice, "two keys of the key set have the same `kid`");
        }
        Ok(Self(keys))
    }

    /// Returns whether the set has a key with this `kid`.
    fn knows(&self, kid: &str) -> bool {
        self.0.iter().any(|key| key.kid.as_deref() == Some(kid))
    }

    /// Returns the one key that matches. Without a `kid`, exactly one key must match the algorithm.
    fn find(&self, algorithm: Algorithm, kid: Option<&str>) -> Option<Arc<DecodingKey>> {
        let mut fitting = self
            .0
            .iter()
            .filter(|key| key.fits(algorithm) && (kid.is_none() || key.kid.as_deref() == kid));
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Some(Arc::clone(&key.key)),
            _ => None,
        }
    }
}

impl VerificationKey {
    fn parse(json: &Json<'_>) -> Option<Self> {
        let jwk: Jwk = serde_json::from_str(&json.to_string()).ok()?;
        let for_signatures = jwk
            .common
            .public_key_use
            .as_ref()
            .is_none_or(|r#use| *r#use == PublicKeyUse::Signature);
        let may_verify = jwk
            .common
            .key_operations
            .as_ref()
            .is_none_or(|operations| operations.contains(&KeyOperations::Verify));
        let strong = match &jwk.algorithm {
            AlgorithmParameters::RSA(rsa) => rsa_bits(&rsa.n) >= MIN_RSA_BITS,
            AlgorithmParameters::EllipticCurve(_) | AlgorithmParameters::OctetKeyPair(_) => true,
            _ => false,
        };
        if !(for_signatures && may_verify && strong) {
            return None;
        }
        let key = Arc::new(DecodingKey::from_jwk(&jwk).ok()?);
        Some(Self { kid: jwk.common.key_id.clone(), jwk, key })
    }

    /// Returns whether the key's type, curve and own `alg` allow it to verify `algorithm`.
    fn fits(&self, algorithm: Algorithm) -> bool {
        let by_type = match &self.jwk.algorithm {
            AlgorithmParameters::RSA(_) => matches!(
                algorithm,
                Algorithm::RS256
                    | Algorithm::RS384
                    | Algorithm::RS512
                    | Algorithm::PS256
                    | Algorithm::PS384
                    | Algorithm::PS512
            ),
            AlgorithmParameters::EllipticCurve(parameters) => match parameters.curve {
                EllipticCurve::P256 => algorithm == Algorithm::ES256,
                EllipticCurve::P384 => algorithm == Algorithm::ES384,
                _ => false,
            },
            AlgorithmParameters::OctetKeyPair(parameters) => {
                parameters.curve == EllipticCurve::Ed25519 && algorithm == Algorithm::EdDSA
            }
            _ => false,
        };
        let own = self.jwk.common.key_algorithm;
        by_type && own.is_none_or(|own| own.to_string() == format!("{algorithm:?}"))
    }
}

/// Returns the number of bits of a modulus in base64url.
fn rsa_bits(modulus: &str) -> usize {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(modulus) else { return 0 };
    let significant = bytes.iter().skip_while(|byte| **byte == 0);
    let leading = significant.clone().next().map_or(8, |byte| byte.leading_zeros() as usize);
    (significant.count() * 8).saturating_sub(leading)
}

/// The source of one issuer's key set, which it refreshes. Cheap to clone.
#[derive(Clone)]
pub struct KeySource(Arc<Source>);

struct Source {
    fetch: Fetch,
    good: ArcSwapOption<Good>,
    /// The time of the last fetch for a token. The lock is held during a fetch, so that one fetch runs at a time.
    last_demand: Mutex<Option<Instant>>,
}

struct Good {
    keys: KeySet,
    since: Instant,
}

impl std::fmt::Debug for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeySource")
    }
}

impl KeySource {
    pub fn new(fetch: Fetch) -> Self {
        Self(Arc::new(Source {
            fetch,
            good: ArcSwapOption::empty(),
            last_demand: Mutex::new(None),
        }))
    }

    /// Returns the key that may verify a token with this header, or `None` if there is not exactly one.
    ///
    /// # Errors
    /// There is no key set, and none could be fetched.
    pub async fn find(
        &self,
        algorithm: Algorithm,
        kid: Option<&str>,
    ) -> Result<Option<Arc<DecodingKey>>, NoKeys> {
        let good = match self.good() {
            Some(good) => good,
            None => {
                self.refresh_on_demand().await;
                self.good().ok_or(NoKeys)?
            }
        };
        if kid.is_none_or(|kid| good.keys.knows(kid)) {
            return Ok(good.keys.find(algorithm, kid));
        }
        self.refresh_on_demand().await;
        Ok(self.good().and_then(|good| good.keys.find(algorithm, kid)))
    }

    /// Returns the last good key set, unless it is older than [`MAX_AGE`].
    fn good(&self) -> Option<Arc<Good>> {
        self.0.good.load_full().filter(|good| good.since.elapsed() < MAX_AGE)
    }

    /// Fetches the key set, or waits for a running fetch, unless a token caused a fetch within [`MIN_INTERVAL`]. The
    /// fetch runs in its own task, so that a client that disconnects does not end a fetch that others wait for.
    async fn refresh_on_demand(&self) {
        let source = Arc::clone(&self.0);
        let refresh = tokio::spawn(async move { source.refresh_on_demand().await });
        // After a timeout the fetch continues, and this caller goes on without it.
        let _ = tokio::time::timeout(FETCH_TIMEOUT, refresh).await;
    }

    /// Starts a task that fetches now and then repeatedly, until the last clone of the key source is dropped.
    pub fn refresh_in_background(&self) {
        let weak = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            let mut pause = Duration::from_secs(1);
            while let Some(source) = weak.upgrade() {
                source.refresh().await;
                // The pause grows while the provider fails, so that it is found soon after its start.
                pause = if source.is_fresh() { REFRESH } else { (pause * 2).min(MIN_INTERVAL) };
                drop(source);
                tokio::time::sleep(pause).await;
            }
        });
    }
}

impl Source {
    fn is_fresh(&self) -> bool {
        self.good.load().as_ref().is_some_and(|good| good.since.elapsed() < REFRESH)
    }

    /// Fetches the key set, after any running fetch.
    async fn refresh(&self) {
        let _one_at_a_time = self.last_demand.lock().await;
        self.fetch().await;
    }

    /// Fetches the key set for a token with an unknown key, at most once per [`MIN_INTERVAL`].
    async fn refresh_on_demand(&self) {
        let requested = Instant::now();
        let mut last_demand = self.last_demand.lock().await;
        let fetched_meanwhile =
            self.good.load().as_ref().is_some_and(|good| good.since >= requested);
        let too_soon = last_demand.is_some_and(|last| last.elapsed() < MIN_INTERVAL);
        if !fetched_meanwhile && !too_soon {
            *last_demand = Some(Instant::now());
            self.fetch().await;
        }
    }

    /// Fetches the key set, and stores it if it is valid. The caller holds the lock.
    async fn fetch(&self) {
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, (self.fetch)()).await;
        let keys = match fetched {
            Ok(text) => text.and_then(|text| KeySet::parse(&text)),
            Err(_) => Err(anyhow::anyhow!("no answer within {} s", FETCH_TIMEOUT.as_secs())),
        };
        match keys {
            Ok(keys) => {
                self.good.store(Some(Arc::new(Good { keys, since: Instant::now() })));
            }
            Err(error) => tracing::warn!(error = format!("{error:#}"), "cannot fetch the key set"),
        }
    }
}

/// Returns a function that fetches over HTTP from `jwks_uri`, or from the address in the issuer's discovery document
/// (OpenID Connect Discovery 1.0, section 4).
pub(crate) fn http_fetch(client: Client, issuer: &str, jwks_uri: Option<Url>) -> Fetch {
    let issuer = issuer.to_owned();
    Arc::new(move || {
        let (client, issuer, jwks_uri) = (client.clone(), issuer.clone(), jwks_uri.clone());
        Box::pin(async move {
            let uri = match jwks_uri {
                Some(uri) => uri,
                None => discover(&client, &issuer).await?,
            };
            client.get(uri, MAX_BYTES).await
        })
    })
}

async fn discover(client: &Client, issuer: &str) -> anyhow::Result<Url> {
    let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let text = client.get(address.parse()?, MAX_BYTES).await?;
    let document = json::parse(&text)?;
    let own = document.get("issuer").and_then(Json::as_str);
    anyhow::ensure!(own == Some(issuer), "the discovery document belongs to another issuer");
    let uri = document.get("jwks_uri").and_then(Json::as_str);
    Ok(uri.unwrap_or_default().parse()?)
}

#[cfg(test)]
mod tests;
