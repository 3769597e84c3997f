//! Counts calls of attribute resolvers. No label is chosen by a tenant.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use portcullis_resolver_host::LoadError;

use crate::failure::is_transient;
use crate::measurements::outcomes;

/// Seconds, up to the longest call that a manifest may allow.
const CALL_BUCKETS: [f64; 12] =
    [25e-6, 1e-4, 25e-5, 1e-3, 25e-4, 1e-2, 25e-3, 0.1, 0.25, 1.0, 5.0, 30.0];

/// The name and the value of the only label of a series.
type Label = [(&'static str, &'static str); 1];

/// Every name that [`admission`] gives.
const ADMISSIONS: [&str; 5] = ["ok", "limit", "module", "queue", "host"];

/// Calls of attribute resolvers, of all tenants.
#[derive(Clone, Debug)]
pub struct ResolverMetrics {
    calls: Family<Label, Counter>,
    admissions: Family<Label, Counter>,
    pub latency: Histogram,
    /// Calls that a breaker did not let through.
    pub suspended: Counter,
    /// Attributes that were found in the cache, that were not, and that served beyond their time.
    pub hits: Counter,
    pub misses: Counter,
    pub stale: Counter,
    pub openings: Counter,
}

impl ResolverMetrics {
    /// Registers every series, so that each shows from the start.
    pub fn register(registry: &mut Registry) -> Self {
        let calls = Family::<Label, Counter>::default();
        for outcome in outcomes() {
            calls.get_or_create_owned(&[("outcome", outcome)]);
        }
        let admissions = Family::<Label, Counter>::default();
        for outcome in ADMISSIONS {
            admissions.get_or_create_owned(&[("outcome", outcome)]);
        }
        let lookups = Family::<Label, Counter>::default();
        let [hits, misses, stale] = ["hit", "miss", "stale"]
            .map(|result| lookups.get_or_create_owned(&[("result", result)]));
        let metrics = Self {
            calls: calls.clone(),
            admissions: admissions.clone(),
            latency: Histogram::new(CALL_BUCKETS),
            suspended: Counter::default(),
            hits,
            misses,
            stale,
            openings: Counter::default(),
        };
        registry.register("resolver_calls", "Calls of attribute resolvers", calls);
        let help = "Modules of resolvers that were loaded and compiled, or refused";
        registry.register("resolver_admissions", help, admissions);
        let help = "How long calls of attribute resolvers took, in seconds";
        registry.register("resolver_call_duration_seconds", help, metrics.latency.clone());
        let help = "Calls that were not made, since the resolver's circuit breaker is open";
        registry.register("resolver_calls_suspended", help, metrics.suspended.clone());
        let help = "Look-ups of attributes in the cache; a stale one is a miss whose call found the source \
                    unavailable";
        registry.register("resolver_cache_lookups", help, lookups);
        let help = "How often circuit breakers of resolvers opened";
        registry.register("resolver_breaker_openings", help, metrics.openings.clone());
        metrics
    }

    /// Takes note of a call.
    pub fn called(&self, outcome: &'static str, elapsed: Duration) {
        self.calls.get_or_create(&[("outcome", outcome)]).inc();
        self.latency.observe(elapsed.as_secs_f64());
    }

    /// Takes note of an admission.
    pub(crate) fn admitted<T>(&self, admitted: &Result<T, LoadError>) {
        let outcome = admission(admitted);
        self.admissions.get_or_create(&[("outcome", outcome)]).inc();
    }
}

/// Returns the result of an admission in one word. `limit` says that a module exceeds a limit of structure, memory or
/// time, as attacks do.
fn admission<T>(admitted: &Result<T, LoadError>) -> &'static str {
    let Err(error) = admitted else { return "ok" };
    match error {
        LoadError::TooLarge(_)
        | LoadError::Structure(_)
        | LoadError::Memory(_)
        | LoadError::ProcessorTime(_) => "limit",
        LoadError::Slow(_) | LoadError::Queue => "queue",
        error if is_transient(error) => "host",
        _ => "module",
    }
}
