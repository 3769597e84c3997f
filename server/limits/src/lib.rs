//! Limits that keep one caller from hurting others (`docs/semantics.md`, section 8.12): rates of tenants, credentials and
//! addresses, failed authentications of addresses, places for the requests of each class, and memory.
//!
//! The crate reads no clock and knows no HTTP server. Each call takes the present as a [`Moment`].

mod address;
mod bounded;
mod classes;
mod failures;
mod memory;
mod metrics;
mod places;
mod rate;
mod rates;

use ipnet::IpNet;
use portcullis_fairness::Throttle;

pub use address::TrustedProxies;
pub use classes::Class;
pub use failures::{FailedAuthentications, KeyLookup};
pub use memory::{MemoryAccount, MemoryBudget, MemoryCharge, MemoryMetrics, Spent};
pub use metrics::{LimitMetrics, RefusalReason, RefusedCredential};
pub use places::{Admission, ClassCapacities, Places, RequestPlace, WaitingRequest};
pub use rate::{Bucket, BucketLevel, Moment, Rate};
pub use rates::{
    RateLevel, RateLevels, RateLimits, RateRefusal, RateSettings, RequestKind, ScopeRates,
};

/// The settings of all limits.
#[derive(Clone, Debug)]
pub struct LimitConfig {
    /// The rates of authenticated requests.
    pub rates: RateSettings,
    /// The rate of failed authentications of one address; `None` when it is off.
    pub failures: Option<Rate>,
    /// The networks of the proxies whose word about a client's address counts.
    pub trusted_proxies: Vec<IpNet>,
    /// The number of requests of each class that run at a time.
    pub capacities: ClassCapacities,
    /// Most bytes of answers that are not sent yet.
    pub answer_memory: u64,
}

impl Default for LimitConfig {
    fn default() -> Self {
        Self {
            rates: RateSettings::default(),
            failures: Some(failures::DEFAULT_RATE),
            trusted_proxies: Vec::new(),
            capacities: ClassCapacities::default(),
            answer_memory: 128 << 20,
        }
    }
}

/// All limits of one process.
#[derive(Debug)]
pub struct CallerLimits {
    pub rates: RateLimits,
    pub failures: FailedAuthentications,
    pub proxies: TrustedProxies,
    pub places: Places,
    /// The memory of answers that are not sent yet.
    pub answers: MemoryBudget,
    pub metrics: LimitMetrics,
    /// Throttles the log line about failed authentications.
    pub failure_log: Throttle,
}

impl CallerLimits {
    /// Returns the limits of `config`, whose counts `metrics` shows.
    pub fn new(config: LimitConfig, metrics: LimitMetrics) -> Self {
        Self {
            rates: RateLimits::new(config.rates),
            failures: FailedAuthentications::new(config.failures),
            proxies: TrustedProxies::new(config.trusted_proxies),
            places: Places::new(&config.capacities, &metrics),
            answers: MemoryBudget::new(config.answer_memory, 0, metrics.answers.clone()),
            metrics,
            failure_log: Throttle::default(),
        }
    }

    /// Returns the names of the maps in memory, and the number of entries of each.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.rates.entries().into_iter().chain(self.failures.entries())
    }
}
