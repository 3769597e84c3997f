//! Counts refused and waiting requests. No label is chosen by a caller.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use strum::{IntoStaticStr, VariantArray};

use crate::classes::Class;
use crate::memory::MemoryMetrics;

/// Seconds, up to the longest wait for a place.
const WAIT_BUCKETS: [f64; 10] = [1e-3, 5e-3, 25e-3, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 20.0];

/// The reason why a limit refused a request, named as the label in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum RefusalReason {
    /// The rate of the tenant.
    TenantRate,
    /// The rate of the credential.
    CredentialRate,
    /// The rate of the address.
    AddressRate,
    /// The failed authentications of the address.
    Failures,
    /// The oldest waiting request of the tenant waited too long, or the request itself did.
    QueueTime,
    /// Too many requests wait.
    QueueFull,
}

/// The kind of a refused credential, named as the label in metrics and log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum RefusedCredential {
    Token,
    ServiceKey,
    AdminKey,
    Session,
}

/// The name and the value of the only label of a series.
type Label = [(&'static str, &'static str); 1];

type Waits = Family<Label, Histogram, fn() -> Histogram>;

/// The metrics of limits, of all tenants.
#[derive(Clone, Debug)]
pub struct LimitMetrics {
    refusals: Family<[(&'static str, &'static str); 2], Counter>,
    failures: Family<Label, Counter>,
    running: Family<Label, Gauge>,
    waiting: Family<Label, Gauge>,
    waits: Waits,
    pub(crate) answers: MemoryMetrics,
}

impl LimitMetrics {
    /// Registers every series, so that each shows from the start.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            refusals: Family::default(),
            failures: Family::default(),
            running: Family::default(),
            waiting: Family::default(),
            waits: Waits::new_with_constructor(|| Histogram::new(WAIT_BUCKETS)),
            answers: MemoryMetrics::default(),
        };
        for &class in Class::VARIANTS {
            for &reason in RefusalReason::VARIANTS {
                metrics.refusals.get_or_create_owned(&refusal(reason, class));
            }
            metrics.running(class);
            metrics.waiting(class);
            metrics.waits.get_or_create_owned(&class_label(class));
        }
        for kind in RefusedCredential::VARIANTS {
            metrics.failures.get_or_create_owned(&[("credential", kind.into())]);
        }
        let help = "Requests that a limit refused";
        registry.register("requests_refused", help, metrics.refusals.clone());
        let help = "Credentials that proved no caller";
        registry.register("authentication_failures", help, metrics.failures.clone());
        let help = "Requests that have a place now";
        registry.register("requests_running", help, metrics.running.clone());
        let help = "Requests that wait for a place now";
        registry.register("requests_waiting", help, metrics.waiting.clone());
        let help = "Time that requests waited for a place, in seconds, if they waited";
        registry.register("request_wait_seconds", help, metrics.waits.clone());
        let help = "Memory of answers that are not sent yet";
        registry.register("answer_bytes", help, metrics.answers.bytes.clone());
        let help = "Answers that were refused because answers took too much memory";
        registry.register("answers_refused", help, metrics.answers.refused.clone());
        metrics
    }

    /// Counts a request of `class` that was refused.
    pub fn refused(&self, reason: RefusalReason, class: Class) {
        self.refusals.get_or_create(&refusal(reason, class)).inc();
    }

    /// Counts a credential that proved no caller.
    pub fn failed(&self, kind: RefusedCredential) {
        self.failures.get_or_create(&[("credential", kind.into())]).inc();
    }

    /// Takes note of the time that a request of `class` waited for its place.
    pub fn waited(&self, class: Class, time: Duration) {
        self.waits.get_or_create(&class_label(class)).observe(time.as_secs_f64());
    }

    pub(crate) fn running(&self, class: Class) -> Gauge {
        self.running.get_or_create_owned(&class_label(class))
    }

    pub(crate) fn waiting(&self, class: Class) -> Gauge {
        self.waiting.get_or_create_owned(&class_label(class))
    }
}

fn refusal(reason: RefusalReason, class: Class) -> [(&'static str, &'static str); 2] {
    [("reason", reason.into()), ("class", class.into())]
}

fn class_label(class: Class) -> Label {
    [("class", class.into())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_counted_by_reason_and_class() {
        let mut registry = Registry::default();
        let metrics = LimitMetrics::register(&mut registry);
        metrics.refused(RefusalReason::QueueTime, Class::Uploads);
        metrics.failed(RefusedCredential::AdminKey);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        for line in [
            r#"requests_refused_total{reason="queue_time",class="uploads"} 1"#,
            r#"requests_refused_total{reason="tenant_rate",class="checks"} 0"#,
            r#"authentication_failures_total{credential="admin_key"} 1"#,
            r#"requests_running{class="management"} 0"#,
            r#"request_wait_seconds_count{class="checks"} 0"#,
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
