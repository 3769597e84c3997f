//! The metrics of name lookups. No label names a tenant or a host.

use std::sync::atomic::Ordering;

use portcullis_egress::NameUse;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::label::Label;

/// Shows the lookups that run, and counts the requests without an answer.
#[derive(Debug)]
pub struct NameMetrics {
    quick: Gauge,
    slow: Gauge,
    late: Counter,
    refused: Counter,
}

impl NameMetrics {
    /// Registers every series, so that each shows from the start.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let lookups = Family::<Label, Gauge>::default();
        let help = "Lookups of names that run; each occupies a thread";
        registry.register("name_lookups", help, lookups.clone());
        let failures = Family::<Label, Counter>::default();
        let help = "Requests whose name was not resolved, because that took too long or too many names of the tenant waited";
        registry.register("name_lookups_refused", help, failures.clone());
        Self {
            quick: lookups.get_or_create_owned(&[("names", "quick")]),
            slow: lookups.get_or_create_owned(&[("names", "slow")]),
            late: failures.get_or_create_owned(&[("reason", "late")]),
            refused: failures.get_or_create_owned(&[("reason", "queue_full")]),
        }
    }

    /// Shows what names take now.
    pub(crate) fn show(&self, now: &NameUse) {
        self.quick.set(i64::try_from(now.lookups).unwrap_or(i64::MAX));
        self.slow.set(i64::try_from(now.slow_lookups).unwrap_or(i64::MAX));
        self.late.inner().store(now.late, Ordering::Relaxed);
        self.refused.inner().store(now.refused, Ordering::Relaxed);
    }
}
