//! The metrics of comparisons with drafts in shadow.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use strum::{IntoStaticStr, VariantArray};

use crate::label::Label;

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ShadowOutcome {
    /// Both decide alike.
    Same,
    AllowToDeny,
    DenyToAllow,
    /// Another rule or policy decides, with the same effect.
    RuleChanged,
    /// The plan of the draft is not in memory.
    NotReady,
    /// Not everything is known that the draft reads.
    NotComparable,
}

/// The metrics of comparisons.
#[derive(Clone, Debug)]
pub struct ShadowMetrics {
    /// One for each outcome, in the order of the variants.
    checks: Vec<Counter>,
    /// The bytes that the plans of drafts take.
    pub plan_bytes: Gauge,
}

impl ShadowMetrics {
    /// Registers every series, so that each shows from the start.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let family = Family::<Label, Counter>::default();
        let help = "Checks that were decided by a draft in shadow, too, by what came of it";
        registry.register("shadow_checks", help, family.clone());
        let checks = ShadowOutcome::VARIANTS
            .iter()
            .map(|outcome| family.get_or_create_owned(&[("outcome", outcome.into_str())]));
        let checks = checks.collect();
        let plan_bytes = Gauge::default();
        let help = "Bytes that the plans of drafts in shadow take";
        registry.register("shadow_plan_bytes", help, plan_bytes.clone());
        Self { checks, plan_bytes }
    }

    /// Counts a check.
    pub fn count(&self, outcome: ShadowOutcome) {
        // There is one for each.
        if let Some(counter) = self.checks.get(outcome as usize) {
            counter.inc();
        }
    }
}
