//! Lookups of names: fair between tenants, and with a bound on the threads that slow name servers occupy.
//!
//! A lookup of the system occupies a thread until it ends, also if nobody waits for it any more. So a lookup has a place
//! from its begin to its very end. A tenant has a few places at a time and waits for its own first, so that its slow names
//! delay its own requests alone. A name that was slow is looked up in its own places for a while: it leaves the other
//! places to the names that answer.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_fairness::{KeyUse, PerKey, Turn, TurnLimits, TurnQueue};
use tokio::sync::{OnceCell, watch};
use tokio::time::{Instant, timeout};

/// Most lookups at a time, without lookups of slow names. Each occupies a thread, of which tokio has 512.
const MAX_LOOKUPS: usize = 48;
/// Most lookups of slow names at a time.
const MAX_SLOW_LOOKUPS: usize = 16;
/// Most lookups of one tenant at a time. One takes some milliseconds; twelve tenants with slow names take all places.
const MAX_OF_TENANT: usize = 4;
/// Most lookups of slow names of one tenant at a time.
const MAX_SLOW_OF_TENANT: usize = 1;
/// Most names of one tenant that wait or are looked up: more than a process has requests to webhooks at a time.
const MAX_NAMES_OF_TENANT: usize = 512;
/// A lookup that takes longer makes its name a slow one.
const SLOW: Duration = Duration::from_secs(1);
/// The time for which a name is a slow one. A place makes one name slow in a second at most, so that there are never more
/// than some 4,000.
const SLOW_FOR: Duration = Duration::from_secs(60);
/// The longest wait for a lookup and its place, if the deadline of the request is not earlier.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// A lookup of the addresses of a name, which runs.
pub type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// The addresses of a name, or the reason why there are none.
type Found = Result<Arc<[IpAddr]>, NameError>;

/// The reason why a name has no addresses.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NameError {
    #[error("the name of the host was not resolved within {} s", MAX_WAIT.as_secs())]
    Late,
    #[error("too many names of this tenant wait to be resolved")]
    Busy,
    #[error("{0}")]
    Failed(Arc<str>),
}

/// A service of names. All clones share their places.
#[derive(Clone)]
pub struct Names(Arc<NamesParts>);

struct NamesParts {
    lookup: Box<dyn Fn(String) -> Lookup + Send + Sync>,
    quick: TurnQueue,
    slow: TurnQueue,
    /// The lookups that wait for a place or run, by tenant and name.
    flights: PerKey<(Arc<str>, String), Flight>,
    slow_names: SlowNames,
    late: AtomicU64,
    refused: AtomicU64,
}

/// One lookup, for all who wait for the same name of a tenant. It has begun once there is a receiver.
type Flight = OnceCell<watch::Receiver<Option<Found>>>;

/// The places and the memory that names take now, and the numbers of requests that got no addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// The lookups that run.
    pub lookups: usize,
    /// The lookups of slow names that run.
    pub slow_lookups: usize,
    /// The names that wait or are looked up.
    pub names: usize,
    /// The names that are known to be slow.
    pub slow_names: usize,
    /// The requests whose name was not resolved in time, so far.
    pub late: u64,
    /// The requests that were refused because too many names of their tenant waited, so far.
    pub refused: u64,
}

impl Default for Names {
    /// Returns the names of the system.
    fn default() -> Self {
        Self::new(|name| {
            Box::pin(async move {
                let found = tokio::net::lookup_host((name, 0)).await?;
                Ok(found.map(|address| address.ip()).collect())
            })
        })
    }
}

impl Names {
    /// Returns names that `lookup` looks up.
    pub fn new(lookup: impl Fn(String) -> Lookup + Send + Sync + 'static) -> Self {
        Self(Arc::new(NamesParts {
            lookup: Box::new(lookup),
            quick: turns(MAX_LOOKUPS, MAX_OF_TENANT),
            slow: turns(MAX_SLOW_LOOKUPS, MAX_SLOW_OF_TENANT),
            flights: PerKey::default(),
            slow_names: SlowNames::default(),
            late: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }))
    }

    /// Returns the addresses of `name`, which a request of `tenant` needs.
    pub(crate) async fn resolve(&self, tenant: Arc<str>, name: String) -> Found {
        let Self(shared) = self;
        let found = timeout(MAX_WAIT, shared.resolve(tenant, name)).await;
        let found = found.unwrap_or(Err(NameError::Late));
        match &found {
            Err(NameError::Late) => shared.late.fetch_add(1, Ordering::Relaxed),
            Err(NameError::Busy) => shared.refused.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        found
    }

    /// Returns what the names take now.
    pub fn measure(&self) -> NameUse {
        let Self(shared) = self;
        NameUse {
            lookups: shared.quick.taken(),
            slow_lookups: shared.slow.taken(),
            names: shared.flights.len(),
            slow_names: shared.slow_names.len(),
            late: shared.late.load(Ordering::Relaxed),
            refused: shared.refused.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Names").field(&self.measure()).finish()
    }
}

impl NamesParts {
    async fn resolve(self: &Arc<Self>, tenant: Arc<str>, name: String) -> Found {
        let key = (Arc::clone(&tenant), name.clone());
        let flight = self.flights.enter(key.clone());
        // Whoever gives up before the lookup begins leaves the flight to the others.
        let lookup = flight.get_or_try_init(|| async {
            let is_slow = self.slow_names.contain(&name);
            let turns = if is_slow { &self.slow } else { &self.quick };
            let turn = turns.begin(&tenant).await.map_err(|_| NameError::Busy)?;
            Ok(self.begin(turn, self.flights.enter(key), name))
        });
        let mut lookup = lookup.await?.clone();
        let found = lookup.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        found.unwrap_or_else(|| Err(NameError::Failed("the lookup of the name broke off".into())))
    }

    /// Looks the name up in its own task, which keeps the turn until the lookup ends.
    fn begin(
        self: &Arc<Self>,
        turn: Turn,
        flight: KeyUse<(Arc<str>, String), Flight>,
        name: String,
    ) -> watch::Receiver<Option<Found>> {
        let (sender, receiver) = watch::channel(None);
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let mut lookup = (shared.lookup)(name.clone());
            let found = match timeout(SLOW, &mut lookup).await {
                Ok(found) => {
                    shared.slow_names.remove(&name);
                    found
                }
                Err(_) => {
                    shared.slow_names.add(name);
                    lookup.await
                }
            };
            drop(turn);
            // Whoever asks from now on gets its own answer.
            flight.retire();
            let found =
                found.map(Arc::from).map_err(|error| NameError::Failed(error.to_string().into()));
            sender.send_replace(Some(found));
        });
        receiver
    }
}

/// Returns the turns of one kind of lookups. Whoever waits gives up after [`MAX_WAIT`].
fn turns(at_once: usize, per_tenant: usize) -> TurnQueue {
    let pending_per_tenant = MAX_NAMES_OF_TENANT;
    TurnQueue::new(TurnLimits { at_once, per_tenant, pending_per_tenant, ..TurnLimits::NONE })
}

/// The names that were slow, and until when each counts as such.
#[derive(Default)]
struct SlowNames(Mutex<HashMap<String, Instant>>);

impl SlowNames {
    fn contain(&self, name: &str) -> bool {
        self.0.lock().get(name).is_some_and(|until| *until > Instant::now())
    }

    fn add(&self, name: String) {
        let now = Instant::now();
        let mut names = self.0.lock();
        names.retain(|_, until| *until > now);
        names.insert(name, now + SLOW_FOR);
    }

    fn remove(&self, name: &str) {
        self.0.lock().remove(name);
    }

    fn len(&self) -> usize {
        let now = Instant::now();
        self.0.lock().values().filter(|until| **until > now).count()
    }
}

#[cfg(test)]
mod tests;
