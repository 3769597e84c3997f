//! The plans of a service that just started, and its checks.

use std::time::{Duration, Instant};

use portcullis_engine::{Check, CheckBody, Effect, Plan, json};
use portcullis_model::clock::Clock;
use portcullis_runtime::metrics::PlanMetrics;
use portcullis_runtime::plans::Plans;
use portcullis_storage::Store;

/// Longer than the measurement.
const MAX_STALENESS: Duration = Duration::from_secs(3_600);

pub(crate) fn start(store: &Store, max_bytes: u64) -> Plans {
    let clock = Clock::system();
    Plans::new(store.clone(), max_bytes, MAX_STALENESS, clock, PlanMetrics::default())
}

/// Decides by a plan whether somebody of a department may read.
pub(crate) fn decides(plan: &Plan, resource: &str, role: usize, clearance: usize) -> Effect {
    let body = format!(
        r#"{{"subject": "ann", "resource": "{resource}", "action": "read", "attributes": {{
            "user": {{"roles": ["role-{role}"], "department": "department-{}",
                "clearance": {clearance}}},
            "resource": {{"region": "region-{}"}}}}}}"#,
        clearance % 100,
        clearance % 10,
    );
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    plan.evaluate(&Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH)).effect()
}

/// Finds the plan of a resource, and returns the time with it.
pub(crate) async fn find(plans: &Plans, tenant: &str, resource: &str) -> Duration {
    let began = Instant::now();
    let cached = plans.find(tenant, resource, 0).await.expect("a plan");
    std::hint::black_box(&cached);
    began.elapsed()
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
