//! The metrics of quotas: their limits, and the writes that they refused. No label names a tenant.

use portcullis_model::quota::{Quota, Quotas};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use strum::VariantArray;

use crate::label::Label;

/// Counts refused writes, and shows the limits.
#[derive(Debug)]
pub struct QuotaMetrics {
    refusals: Family<Label, Counter>,
    limits: Family<Label, Gauge>,
}

impl QuotaMetrics {
    /// Registers the series of every quota.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let refusals = Family::<Label, Counter>::default();
        let limits = Family::<Label, Gauge>::default();
        for quota in Quota::VARIANTS {
            // What it returns is a lock, which must not be held at the next call.
            drop(refusals.get_or_create(&[("quota", quota.into_str())]));
        }
        let help = "Writes that were refused because a tenant has as much as a quota allows";
        registry.register("quota_refusals", help, refusals.clone());
        let help = "The most that a tenant may have; a quota without a limit has no series";
        registry.register("quota_limit", help, limits.clone());
        Self { refusals, limits }
    }

    /// Shows the limits of `quotas`.
    pub fn show(&self, quotas: &Quotas) {
        for quota in Quota::VARIANTS {
            let Some(limit) = quotas.get(*quota) else { continue };
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            self.limits.get_or_create(&[("quota", quota.into_str())]).set(limit);
        }
    }

    /// Counts a write that `quota` refused.
    pub(crate) fn refused(&self, quota: Quota) {
        self.refusals.get_or_create(&[("quota", quota.into_str())]).inc();
    }
}
