//! Key sets (RFC 7517): the choice of the key that may verify a token, the fetch of a set, and its refresh.

mod set;
mod used_key;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;
use jsonwebtoken::Algorithm;
use portcullis_egress::Client;
use portcullis_engine::excerpt::{excerpt, quoted};
use portcullis_engine::json::{self, Json};
pub(crate) use set::KeySet;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;
use url::Url;
pub(crate) use used_key::UsedKey;

/// Largest key set and discovery document, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Longest fetch, including discovery. The first token of an issuer waits at most this long.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Age at which a key set is fetched again in the background.
const REFRESH: Duration = Duration::from_secs(300);
/// Shortest time between two fetches for an unknown `kid`, including failed ones. Everybody can invent a `kid`.
const MIN_INTERVAL: Duration = Duration::from_secs(30);
/// Age up to which the last good keys are used while the provider fails.
const MAX_AGE: Duration = Duration::from_secs(3_600);
/// Shortest time between two log lines about one provider. Who serves a faulty key set must not fill the log.
const WARNING_INTERVAL: Duration = Duration::from_secs(300);
/// Longest cause in the log, in bytes. It quotes the key set.
const MAX_CAUSE: usize = 2_048;

/// A function that fetches a key set. Its error names the URL, for the log.
pub(crate) type Fetch = Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<KeySet>> + Send + Sync>;

/// No key set of the issuer is available.
#[derive(Debug, thiserror::Error)]
#[error("no key set of the issuer could be fetched so far")]
pub(crate) struct NoKeys;

/// The source of one issuer's key set, which it refreshes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct KeySource(Arc<Source>);

struct Source {
    /// For the log.
    issuer: String,
    fetch: Fetch,
    good: ArcSwapOption<Good>,
    /// The lock is held during a fetch, so that one fetch runs at a time.
    fetches: Mutex<Fetches>,
}

/// The fetches so far.
#[derive(Default)]
struct Fetches {
    /// The time of the last fetch for a token.
    last_demand: Option<Instant>,
    last_warning: Option<Instant>,
}

impl Fetches {
    /// Returns whether the log may have a line about a failure now. The next one comes after [`WARNING_INTERVAL`].
    fn may_warn(&mut self) -> bool {
        let may = self.last_warning.is_none_or(|last| last.elapsed() >= WARNING_INTERVAL);
        if may {
            self.last_warning = Some(Instant::now());
        }
        may
    }
}

struct Good {
    keys: KeySet,
    since: Instant,
}

impl Good {
    /// Returns whether the keys may still be used.
    fn is_young(&self) -> bool {
        self.since.elapsed() < MAX_AGE
    }
}

impl std::fmt::Debug for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeySource")
    }
}

impl KeySource {
    /// Returns a source that has no keys yet. The log names it by `issuer`.
    pub(crate) fn new(issuer: &str, fetch: Fetch) -> Self {
        Self(Arc::new(Source {
            issuer: issuer.parse().map_or_else(|_| issuer.to_owned(), |url| shown(&url)),
            fetch,
            good: ArcSwapOption::empty(),
            fetches: Mutex::default(),
        }))
    }

    /// Returns the key that may verify a token with this header, or `None` if there is not exactly one.
    ///
    /// # Errors
    /// There is no key set, and none could be fetched.
    pub(crate) async fn find(
        &self,
        algorithm: Algorithm,
        kid: Option<String>,
    ) -> Result<Option<UsedKey>, NoKeys> {
        let mut good = match self.good() {
            Some(good) => good,
            None => {
                self.refresh_on_demand().await;
                self.good().ok_or(NoKeys)?
            }
        };
        if kid.as_deref().is_some_and(|kid| !good.keys.knows(kid)) {
            self.refresh_on_demand().await;
            let Some(fresh) = self.good() else { return Ok(None) };
            good = fresh;
        }
        let key = good.keys.find(algorithm, kid.as_deref()).map(Arc::clone);
        Ok(key.map(|key| UsedKey { algorithm, kid, key }))
    }

    /// Returns whether [`KeySource::find`] would return `used` again for the same token, without a fetch.
    pub(crate) fn has(&self, used: &UsedKey) -> bool {
        let good = self.0.good.load();
        let good = good.as_ref().filter(|good| good.is_young());
        let key = good.and_then(|good| good.keys.find(used.algorithm, used.kid.as_deref()));
        key.is_some_and(|key| Arc::ptr_eq(key, &used.key))
    }

    /// Returns the last good key set, unless it is older than [`MAX_AGE`].
    fn good(&self) -> Option<Arc<Good>> {
        self.0.good.load_full().filter(|good| good.is_young())
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
    pub(crate) fn refresh_in_background(&self) {
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
        self.fetch(self.fetches.lock().await).await;
    }

    /// Fetches the key set for a token with an unknown key, at most once per [`MIN_INTERVAL`].
    async fn refresh_on_demand(&self) {
        let requested = Instant::now();
        let mut fetches = self.fetches.lock().await;
        let fetched_meanwhile =
            self.good.load().as_ref().is_some_and(|good| good.since >= requested);
        let too_soon = fetches.last_demand.is_some_and(|last| last.elapsed() < MIN_INTERVAL);
        if !fetched_meanwhile && !too_soon {
            fetches.last_demand = Some(Instant::now());
            self.fetch(fetches).await;
        }
    }

    /// Fetches the key set, and stores it if it is valid.
    async fn fetch(&self, mut fetches: MutexGuard<'_, Fetches>) {
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, (self.fetch)()).await;
        let keys = match fetched {
            Ok(keys) => keys,
            Err(_) => Err(anyhow::anyhow!("no answer within {} s", FETCH_TIMEOUT.as_secs())),
        };
        match keys {
            Ok(mut keys) => {
                if let Some(before) = &*self.good.load() {
                    keys.keep_keys_of(&before.keys);
                }
                self.good.store(Some(Arc::new(Good { keys, since: Instant::now() })));
            }
            Err(error) if fetches.may_warn() => {
                let error = excerpt(format_args!("{error:#}"), MAX_CAUSE);
                tracing::warn!(issuer = self.issuer, error, "cannot fetch the key set");
            }
            Err(_) => {}
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
            fetch_key_set(&client, &uri).await.with_context(|| shown(&uri))
        })
    })
}

/// Fetches the key set at `uri`.
async fn fetch_key_set(client: &Client, uri: &Url) -> anyhow::Result<KeySet> {
    KeySet::parse(&client.get(uri.clone(), MAX_BYTES).await?)
}

/// Returns the URL of the key set, which the discovery document of `issuer` names.
async fn discover(client: &Client, issuer: &str) -> anyhow::Result<Url> {
    let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let address: Url = address.parse().context("the issuer is not a URL")?;
    let text = client.get(address.clone(), MAX_BYTES).await.with_context(|| shown(&address))?;
    jwks_uri(&text, issuer).with_context(|| shown(&address))
}

/// Reads the URL of the key set from the discovery document of `issuer`.
fn jwks_uri(document: &[u8], issuer: &str) -> anyhow::Result<Url> {
    let document = json::parse(document).context("expected a discovery document")?;
    let own = document.get("issuer").and_then(Json::as_str).unwrap_or_default();
    anyhow::ensure!(
        own == issuer,
        "expected the discovery document of the issuer {}, not of {}",
        quoted(issuer),
        quoted(own)
    );
    let uri = document.get("jwks_uri").and_then(Json::as_str);
    let uri = uri.context("the discovery document has no `jwks_uri`")?;
    uri.parse().with_context(|| format!("the `jwks_uri` {} is not a URL", quoted(uri)))
}

/// Returns a URL for the log, without the parts that can hold a password or a key.
fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // An error says that the URL has no host, and then it has no user either.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}

#[cfg(test)]
mod tests;
