//! The time from a revocation on one replica to its effect on another one.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{KEYS, RULES, tenant_at, two_replicas};
use crate::setup;
use crate::support::{Operator, Request, Tenant};

/// The changes of each kind, together 1,000.
const RULE_CHANGES: usize = 400;
const KEY_CHANGES: usize = 400;
const PROVIDER_CHANGES: usize = 200;

/// Waits until `is_so`, and returns how long that took.
fn time_until(is_so: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "it is never heard");
    }
    began.elapsed()
}

fn report(kind: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    let (median, p99) = (at(50), at(99));
    let met = if median <= Duration::from_millis(100) { "met" } else { "missed" };
    println!(
        "| {kind} | {} | {:.1} ms | {:.1} ms | ≤ 100 ms | {met} |",
        times.len(),
        median.as_secs_f64() * 1e3,
        p99.as_secs_f64() * 1e3,
    );
}

fn rule(here: &Tenant<'_>, there: &Tenant<'_>, id: &str, effect: &str) -> Duration {
    here.manage(format!("PUT {RULES}"), &json!({"id": id, "effect": effect})).is(200);
    time_until(|| there.decide("alice", "doc:read", "read").decision == effect)
}

fn key(here: &Tenant<'_>, there: &Tenant<'_>) -> Duration {
    let issued = here.manage(format!("POST {KEYS}"), &json!({"name": "k"})).is(201);
    let (id, key) = (issued.id(), issued.text_of("key"));
    let list = Request::new("GET /api/v1/resources").header("x-service-api-key", &key);
    there.send(&list).is(200);
    here.delete(&format!("{KEYS}/{id}")).is(204);
    time_until(|| there.send(&list).status == 401)
}

fn provider(here: &Tenant<'_>, there: &Tenant<'_>, operator: &Operator) -> Duration {
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let list = format!("/admin/tenants/{}/identity-providers", here.id);
    let known = operator.get(&list).is(200).json();
    operator.remove(&here.id, known[0]["id"].as_str().unwrap_or_default()).is(204);
    let heard = time_until(|| there.check(&check).status == 401);
    operator.know(&here.id, &Operator::provider(&here.issuer));
    time_until(|| there.check(&check).status == 200);
    heard
}

#[test]
#[ignore = "takes minutes; prints the figures of docs/performance.md"]
fn a_thousand_revocations() {
    let replicas = two_replicas();
    let [here, there] = tenant_at(&replicas);
    let id = here.rule("alice", "doc:read", "read", "allow");
    println!("| Revocation | Changes | Median | p99 | Bar | |\n|---|---:|---:|---:|---:|---|");
    let effects = ["deny", "allow"].into_iter().cycle().take(RULE_CHANGES);
    report("rule", effects.map(|effect| rule(&here, &there, &id, effect)).collect());
    report("service key", (0..KEY_CHANGES).map(|_| key(&here, &there)).collect());
    if setup::is_saas() {
        let operator = Operator::new(&replicas[0]);
        let times = (0..PROVIDER_CHANGES).map(|_| provider(&here, &there, &operator)).collect();
        report("identity provider", times);
    }
}
