//! A write that was answered is part of every check after it, however warm the plan is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::tenant::{always, condition};
use crate::support::{Reply, Request, Tenant};

const RULES: &str = "/api/v1/resources/policies";
const POLICIES: &str = "/api/v1/abac/policies";
const ROUNDS: usize = 25;

#[test]
fn every_change_of_a_rule_is_seen_by_the_next_check() {
    let tenant = Tenant::new();
    let decide = || tenant.decide("alice", "doc:read", "read");
    for obj in ["doc:read", "doc:*", "*"].into_iter().cycle().take(ROUNDS) {
        decide().is_default();
        let id = tenant.rule("alice", obj, "read", "allow");
        decide().is("allow", &id);
        let update = |change| tenant.manage(format!("PUT {RULES}"), &change).is(200);
        update(json!({"id": id, "effect": "deny"}));
        decide().is("deny", &id);
        update(json!({"sub": "alice", "obj": obj, "act": "read", "effect": "allow"}));
        decide().is("allow", &id);
        update(json!({"id": id, "obj": "other:read"}));
        decide().is_default();
        update(json!({"id": id, "obj": obj}));
        decide().is("allow", &id);
        tenant.delete(&format!("{RULES}?id={id}")).is(204);
    }
    decide().is_default();
}

#[test]
fn every_change_of_a_policy_is_seen_by_the_next_check() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let decide = || tenant.decide("alice", "doc:read", "read");
    for resource in ["doc:read", "doc:*", "*"].into_iter().cycle().take(ROUNDS) {
        decide().is("allow", &rule);
        let id = tenant.policy("p", resource, "deny", 1, &always());
        decide().is("deny", &id);
        let update = |change| tenant.manage(format!("PUT {POLICIES}/{id}"), &change).is(200);
        update(json!({"enabled": false}));
        decide().is("allow", &rule);
        update(json!({"enabled": true, "effect": "allow"}));
        decide().is("allow", &id);
        update(json!({"rule_data": condition("request.subject", "eq", "bob")}));
        decide().is("allow", &rule);
        update(json!({"rule_data": condition("request.subject", "eq", "alice")}));
        decide().is("allow", &id);
        let other = tenant.policy("other", resource, "deny", 1, &always());
        decide().is("deny", &other);
        update(json!({"priority": 2}));
        decide().is("allow", &id);
        tenant.delete(&format!("{POLICIES}/{id}")).is(204);
        decide().is("deny", &other);
        tenant.delete(&format!("{POLICIES}/{other}")).is(204);
    }
}

#[test]
fn every_registration_is_seen_by_the_next_check() {
    let tenant = Tenant::new();
    let ask = || {
        let body = json!({
            "subject": "bob", "resource": "doc:read", "action": "read",
            "attributes": {"user": {"roles": ["reader"]}},
        });
        crate::support::tenant::Decision::new(&tenant.check(&body))
    };
    for round in 0..ROUNDS {
        ask().is_default();
        let with = json!({"name": "doc:read", "defaultRoles": ["reader"]});
        let written = tenant.manage("POST /api/v1/resources", &with);
        assert_eq!(written.status, if round == 0 { 201 } else { 200 });
        let decision = ask();
        assert!(decision.allowed());
        assert_eq!(decision.revision, written.revision());
        let without = json!([{"name": "doc:read"}, {"name": "doc:write"}]);
        tenant.manage("POST /api/v1/resources/list", &without).is(200);
    }
}

/// Ends the readers when the writer is done, also when it panics.
struct StopReaders<'d>(&'d AtomicBool);

impl Drop for StopReaders<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_change_is_seen_while_others_keep_the_plan_busy() {
    let tenant = Tenant::new();
    let id = tenant.rule("alice", "doc:read", "read", "allow");
    let (done, checks) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let decision = tenant.decide("alice", "doc:read", "read");
                    assert_eq!(decision.rule, id, "the rule is never gone");
                    checks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let _stop = StopReaders(&done);
        for effect in ["deny", "allow"].into_iter().cycle().take(4 * ROUNDS) {
            let change = json!({"id": id, "effect": effect});
            let written = tenant.manage(format!("PUT {RULES}"), &change);
            let decision = tenant.decide("alice", "doc:read", "read");
            assert_eq!(decision.decision, effect);
            assert_eq!(decision.revision, written.is(200).revision());
        }
    });
    assert!(checks.into_inner() > 0);
}

/// A check that demands a revision.
fn check_since(tenant: &Tenant<'_>, revision: &str) -> Reply {
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let request = Request::new("POST /api/v1/check").token(&tenant.token("gateway", &["service"]));
    tenant.send(&request.header("x-min-policy-revision", revision).json(&check))
}

#[test]
fn a_revision_that_is_there_is_answered_at_once() {
    let tenant = Tenant::new();
    tenant.rule("alice", "doc:read", "read", "allow");
    for revision in ["0", "1"] {
        assert_eq!(check_since(&tenant, revision).is(200).revision(), 1);
    }
}

#[test]
fn a_revision_of_the_future_is_waited_for_and_then_a_503() {
    let tenant = Tenant::new();
    let asked = Instant::now();
    check_since(&tenant, "1").refused(503, "DEPENDENCY_UNAVAILABLE");
    let waited = asked.elapsed();
    assert!(waited >= Duration::from_secs(2) && waited < Duration::from_secs(10), "{waited:?}");
}

#[test]
fn a_revision_that_is_written_meanwhile_is_answered() {
    let tenant = Tenant::new();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| check_since(&tenant, "1"));
        let rule = tenant.rule("alice", "doc:read", "read", "allow");
        assert_eq!(waiting.join().unwrap().is(200).text_of("matched_rule_id"), rule);
    });
}

#[test]
fn a_revision_that_is_no_number_is_a_bad_request() {
    let tenant = Tenant::new();
    for revision in ["", "x", "-1", "1.5", "0x1", "1,2", "18446744073709551616"] {
        let reply = check_since(&tenant, revision).is(400);
        assert_eq!(reply.json()["error"], "BAD_REQUEST", "{revision}");
    }
}
