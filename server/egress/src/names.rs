//! Lookups of names: fair between tenants, and with a bound on the threads that slow name servers occupy.
//!
//! A lookup of the system occupies a thread until it ends, also if nobody waits for it any more. So a lookup has a place
//! from its begin to its very end. A tenant has a few places at a time and waits for its own first, so that its slow names
//! delay its own requests alone. A name that was slow is looked up in places of its own for a while: it leaves the other
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
use portcullis_plan_cache::{KeyUse, PerKey};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, timeout};

/// Most lookups at a time, without those of slow names. Each occupies a thread, of which tokio has 512.
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
pub struct Names(Arc<Shared>);

struct Shared {
    lookup: Box<dyn Fn(String) -> Lookup + Send + Sync>,
    quick: Places,
    slow: Places,
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
        Self::with_share(MAX_OF_TENANT, lookup)
    }

    /// Returns names of which a tenant has so many lookups at a time.
    fn with_share(
        of_tenant: usize,
        lookup: impl Fn(String) -> Lookup + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            lookup: Box::new(lookup),
            quick: Places::new(MAX_LOOKUPS, of_tenant),
            slow: Places::new(MAX_SLOW_LOOKUPS, MAX_SLOW_OF_TENANT),
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

impl Shared {
    async fn resolve(self: &Arc<Self>, tenant: Arc<str>, name: String) -> Found {
        let key = (Arc::clone(&tenant), name.clone());
        let flight = self.flights.enter(key.clone());
        // Whoever gives up before the lookup begins leaves the flight to the others.
        let lookup = flight.get_or_try_init(|| async {
            let is_slow = self.slow_names.contain(&name);
            let places = if is_slow { &self.slow } else { &self.quick };
            let place = places.take(tenant).await.ok_or(NameError::Busy)?;
            Ok(self.begin(place, self.flights.enter(key), name))
        });
        let mut lookup = lookup.await?.clone();
        let found = lookup.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        found.unwrap_or_else(|| Err(NameError::Failed("the lookup of the name broke off".into())))
    }

    /// Looks the name up in a task of its own, which keeps the place until the lookup ends.
    fn begin(
        self: &Arc<Self>,
        place: Place,
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
            drop(place);
            // Whoever asks from now on gets an answer of its own.
            flight.retire();
            let failed = |error: io::Error| NameError::Failed(error.to_string().into());
            sender.send_replace(Some(found.map(Arc::from).map_err(failed)));
        });
        receiver
    }
}

/// The places of one kind of lookups. A lookup takes one of its tenant first and then one of all: so a few lookups of each
/// tenant at most stand in the queue of all, which serves them in order.
struct Places {
    most: usize,
    of_tenant: usize,
    all: Arc<Semaphore>,
    tenants: PerKey<Arc<str>, Semaphore>,
}

/// A place, until it is dropped.
struct Place {
    _of_all: OwnedSemaphorePermit,
    _of_tenant: OwnedSemaphorePermit,
    _tenant: KeyUse<Arc<str>, Semaphore>,
}

impl Places {
    fn new(most: usize, of_tenant: usize) -> Self {
        let all = Arc::new(Semaphore::new(most));
        Self { most, of_tenant, all, tenants: PerKey::default() }
    }

    /// Waits for a place of `tenant`. Returns `None` if too many names of the tenant wait.
    async fn take(&self, tenant: Arc<str>) -> Option<Place> {
        let own = || Semaphore::new(self.of_tenant);
        let tenant = self.tenants.enter_within(tenant, MAX_NAMES_OF_TENANT, own)?;
        // Nobody closes the semaphores.
        let of_tenant = tenant.value().acquire_owned().await.ok()?;
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Place { _of_all: of_all, _of_tenant: of_tenant, _tenant: tenant })
    }

    fn taken(&self) -> usize {
        self.most - self.all.available_permits()
    }
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
