//! Key sets (RFC 7517): the choice of the key that may verify a token, the fetch of a set, and its refresh.

mod fetch;
mod public_key;
mod refreshes;
mod set;
mod used_key;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use jsonwebtoken::Algorithm;
use portcullis_engine::excerpt::excerpt;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::error::AuthError;
pub use fetch::fetch_keys;
use fetch::shown;
pub(crate) use fetch::{Fetch, address_in, fetch_document, http_fetch};
pub(crate) use refreshes::Refreshes;
pub(crate) use set::{KeySet, algorithm_named};
pub(crate) use used_key::UsedKey;

/// Longest fetch, including discovery. The first token of an issuer waits at most this long.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Age at which a key set is fetched again. One that is in use is fetched in the background before that.
const REFRESH: Duration = Duration::from_secs(300);
/// The pause before the first repetition of a fetch that failed. It doubles up to [`MIN_INTERVAL`], so that a provider is
/// found soon after its start.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Shortest time between two fetches for an unknown `kid`, including failed ones. Everybody can invent a `kid`.
const MIN_INTERVAL: Duration = Duration::from_secs(30);
/// Age up to which the last good keys are used while the provider fails.
const MAX_AGE: Duration = Duration::from_secs(3_600);
/// Shortest time between two log lines about one provider. Who serves a faulty key set must not fill the log.
const WARNING_INTERVAL: Duration = Duration::from_secs(300);
/// Longest cause in the log, in bytes. It quotes the key set.
const MAX_CAUSE: usize = 2_048;

/// The source of a key set, which it refreshes while it is in use. Cheap to clone.
#[derive(Clone)]
pub(crate) struct KeySource(Arc<Source>);

struct Source {
    /// For the log, and for the turns of fetches.
    issuer: String,
    fetch: Fetch,
    refreshes: Arc<Refreshes>,
    good: ArcSwapOption<Good>,
    /// The lock is held during a fetch, so that one fetch runs at a time.
    fetches: Mutex<Fetches>,
    start: Instant,
    /// Milliseconds from `start` to the begin of the last fetch; 0 if there was none.
    last_fetch: AtomicU64,
    /// Whether a token needed the keys since the task in the background looked.
    is_used: AtomicBool,
    /// Whether a task in the background fetches again and again.
    is_refreshed: AtomicBool,
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

/// The number of sets that were fetched in this process.
static FETCHED_SETS: AtomicU64 = AtomicU64::new(0);

struct Good {
    keys: KeySet,
    since: Instant,
    /// No other set of this process has this number.
    number: u64,
}

impl Good {
    /// Returns a set that was fetched now.
    fn new(keys: KeySet) -> Self {
        let number = FETCHED_SETS.fetch_add(1, Ordering::Relaxed);
        Self { keys, since: Instant::now(), number }
    }

    /// Returns whether the header of a token that `used` verified still chooses that key. A set that was asked before
    /// gives the same answer, without a look at its keys.
    fn chooses(&self, used: &UsedKey) -> bool {
        if used.set.load(Ordering::Relaxed) == self.number {
            return true;
        }
        let key = self.keys.find(used.algorithm, used.kid.as_deref());
        let chosen = key.is_some_and(|key| Arc::ptr_eq(key, &used.key));
        if chosen {
            used.set.store(self.number, Ordering::Relaxed);
        }
        chosen
    }

    /// Returns whether the keys may still be used at `now`.
    fn is_young(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < MAX_AGE
    }
}

impl std::fmt::Debug for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeySource")
    }
}

impl KeySource {
    /// Returns a source that has no keys yet. The log names it by `issuer`.
    pub(crate) fn new(issuer: &str, fetch: Fetch, refreshes: &Arc<Refreshes>) -> Self {
        Self(Arc::new(Source {
            issuer: issuer.parse().map_or_else(|_| issuer.to_owned(), |url| shown(&url)),
            fetch,
            refreshes: Arc::clone(refreshes),
            good: ArcSwapOption::empty(),
            fetches: Mutex::default(),
            start: Instant::now(),
            last_fetch: AtomicU64::new(0),
            is_used: AtomicBool::new(false),
            is_refreshed: AtomicBool::new(false),
        }))
    }

    /// Returns the key that may verify a token with this header, or `None` if there is not exactly one. Keys that nobody
    /// needed for a while are fetched first.
    ///
    /// # Errors
    /// There is no key set, and none could be fetched.
    pub(crate) async fn find(
        &self,
        algorithm: Algorithm,
        kid: Option<String>,
    ) -> Result<Option<UsedKey>, AuthError> {
        self.0.note_use();
        let present = self.0.present();
        if present.is_none() {
            self.refresh_on_demand().await;
        }
        self.refresh_while_used();
        // While fetches fail, keys serve beyond their refresh, up to `MAX_AGE`.
        let good = present.or_else(|| self.good());
        let mut good = good.ok_or_else(|| {
            AuthError::NoKeys("no key set of the issuer could be fetched so far".to_owned())
        })?;
        // The issuer may have a new key since the last fetch.
        if kid.as_deref().is_some_and(|kid| !good.keys.knows(kid)) {
            self.refresh_on_demand().await;
            let Some(fresh) = self.good() else { return Ok(None) };
            good = fresh;
        }
        let key = good.keys.find(algorithm, kid.as_deref()).map(Arc::clone);
        Ok(key.map(|key| UsedKey { algorithm, kid, key, set: AtomicU64::new(good.number) }))
    }

    /// Returns whether [`KeySource::find`] would return `used` again for the same token, without a fetch.
    pub(crate) fn has(&self, used: &UsedKey) -> bool {
        self.0.note_use();
        let now = Instant::now();
        let good = self.0.good.load();
        // Keys that are due for a fetch vouch for nothing here: the token goes through `find`, which fetches.
        good.as_ref()
            .is_some_and(|good| good.is_young(now) && !self.0.is_due(now) && good.chooses(used))
    }

    /// Returns the last good key set, unless it is older than [`MAX_AGE`].
    fn good(&self) -> Option<Arc<Good>> {
        let now = Instant::now();
        self.0.good.load_full().filter(|good| good.is_young(now))
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
    pub(crate) fn refresh_for_ever(&self) {
        self.0.is_refreshed.store(true, Ordering::Relaxed);
        tokio::spawn(refresh_again_and_again(Arc::downgrade(&self.0), None, Duration::ZERO));
    }

    /// Starts a task that fetches repeatedly, until nobody needed the keys for [`REFRESH`], unless one runs.
    fn refresh_while_used(&self) {
        if !self.0.is_refreshed.load(Ordering::Relaxed)
            // Of many tokens at once, only one starts the task. Most find it running, and write nothing.
            && !self.0.is_refreshed.swap(true, Ordering::Relaxed)
        {
            let first = match self.0.present() {
                Some(_) => self.0.refreshes.pause(REFRESH),
                None => FIRST_PAUSE,
            };
            let weak = Arc::downgrade(&self.0);
            tokio::spawn(refresh_again_and_again(weak, Some(REFRESH), first));
        }
    }

    /// Returns whether nobody else has a clone of the source.
    pub(crate) fn is_unshared(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Fetches the key set now, as for a token.
    pub(crate) async fn warm_up(&self) {
        if self.0.present().is_none() {
            self.refresh_on_demand().await;
        }
    }
}

/// Fetches the key set of `source` after the pause `first`, and then again and again, until it is dropped or nobody needed
/// its keys for `patience`.
async fn refresh_again_and_again(
    source: Weak<Source>,
    patience: Option<Duration>,
    first: Duration,
) {
    let (mut pause, mut last_use) = (first, Instant::now());
    let mut pause_after_failure = FIRST_PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        // Only now: a task that sleeps keeps no source alive.
        let Some(source) = source.upgrade() else { return };
        if source.is_used.swap(false, Ordering::Relaxed) {
            last_use = Instant::now();
        }
        if patience.is_some_and(|patience| last_use.elapsed() > patience) {
            // A token that finds the task still marked as running starts none. The next one does.
            source.is_refreshed.store(false, Ordering::Relaxed);
            return;
        }
        (pause, pause_after_failure) = match source.refresh().await {
            true => (source.refreshes.pause(REFRESH), FIRST_PAUSE),
            false => (pause_after_failure, (pause_after_failure * 2).min(MIN_INTERVAL)),
        };
    }
}

impl Source {
    /// Notes that a token needs the keys. Threads share no write while the keys are in use.
    fn note_use(&self) {
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the last fetch, good or not, is so long ago that the keys must be fetched before they are used.
    fn is_due(&self, now: Instant) -> bool {
        let last = self.last_fetch.load(Ordering::Relaxed);
        let age = now.saturating_duration_since(self.start + Duration::from_millis(last));
        last == 0 || age > REFRESH
    }

    /// Returns the keys that may be used without a fetch.
    fn present(&self) -> Option<Arc<Good>> {
        let now = Instant::now();
        self.good.load_full().filter(|good| good.is_young(now) && !self.is_due(now))
    }

    /// Fetches the key set, after any running fetch. Returns whether that worked.
    async fn refresh(&self) -> bool {
        // The turn first: while this waits for one, a token can have the lock.
        let _turn = self.refreshes.turn(&self.issuer).await;
        self.fetch(self.fetches.lock().await).await
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
            let _turn = self.refreshes.turn_on_demand(&self.issuer).await;
            self.fetch(fetches).await;
        }
    }

    /// Fetches the key set, and stores it if it is valid. Returns whether it is.
    async fn fetch(&self, mut fetches: MutexGuard<'_, Fetches>) -> bool {
        let begun = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        // 0 stands for no fetch.
        self.last_fetch.store(begun.max(1), Ordering::Relaxed);
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, (self.fetch)()).await;
        let keys = match fetched {
            Ok(keys) => keys,
            Err(_) => Err(anyhow::anyhow!("no answer within {} s", FETCH_TIMEOUT.as_secs())),
        };
        match keys {
            Ok(mut keys) => {
                // A key that did not change stays the same object, by which remembered tokens know it.
                if let Some(before) = &*self.good.load() {
                    keys.keep_keys_of(&before.keys);
                }
                self.good.store(Some(Arc::new(Good::new(keys))));
                return true;
            }
            Err(error) if fetches.may_warn() => {
                let error = excerpt(format_args!("{error:#}"), MAX_CAUSE);
                tracing::warn!(issuer = self.issuer, error, "cannot fetch the key set");
            }
            Err(_) => {}
        }
        false
    }
}

#[cfg(test)]
mod tests;
