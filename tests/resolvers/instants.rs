//! `now` of an explained check: it reaches conditions and resolvers, and leaves caches and breakers alone.

use serde_json::{Value, json};

use super::checks::only_obstetrics;
use super::full;
use crate::support::process::repository;
use crate::support::resolver::{Form, RESOLVERS, guest};
use crate::support::tenant::condition;
use crate::support::{Request, Tenant};

const EXPLAIN: &str = "POST /api/v1/check?explain=true";

fn check(subject: &str, now: Option<&str>) -> Value {
    let mut body = json!({"subject": subject, "resource": "chart:read", "action": "read"});
    if let Some(now) = now {
        body["now"] = now.into();
    }
    body
}

/// The source of the only attribute of the only resolver that was asked.
fn source(tenant: &Tenant<'_>, body: &Value) -> Value {
    let answer = tenant.manage(EXPLAIN, body).is(200).json();
    answer["explanation"]["resolvers"][0]["attributes"][0]["source"].clone()
}

fn activity(tenant: &Tenant<'_>, id: &str) -> Value {
    tenant.get(&format!("{RESOLVERS}/{id}")).is(200).json()["activity"].clone()
}

#[test]
fn an_instant_stands_for_the_present_in_conditions() {
    let tenant = Tenant::new();
    let late = condition("request.time", "after", "2030-01-01T00:00:00Z");
    let policy = tenant.policy("later", "chart:read", "allow", 1, &late);
    for (now, decider) in [
        (None, "default-deny"),
        (Some("2030-01-01T00:00:00Z"), "default-deny"),
        (Some("2030-01-01T00:00:01Z"), &*policy),
        (Some("2031-01-01T01:00:00+01:00"), &*policy),
    ] {
        let answer = tenant.manage(EXPLAIN, &check("ann", now)).is(200);
        assert_eq!(answer.text_of("matched_rule_id"), decider, "{now:?}");
    }
}

#[test]
fn an_instant_needs_an_explanation_and_a_manager() {
    let tenant = Tenant::new();
    let body = check("ann", Some("2030-01-01T00:00:00Z"));
    let details = tenant.check(&body).invalid().details();
    assert_eq!(details["unknown_fields"], json!(["now"]));
    let member = Request::new(EXPLAIN).token(&tenant.token("ann", &["clerk"])).json(&body);
    tenant.send(&member).refused(403, "ACCESS_DENIED");
    tenant.manage(EXPLAIN, &body).is(200);
    let details = tenant.manage(EXPLAIN, &check("ann", Some("noon"))).invalid().details();
    assert_eq!(details["path"], "/now");
    // The token is judged by the present: it is not valid at that instant.
    let expired = tenant.token_with("boss", &["admin"], &json!({"exp": 1_000_000_000}));
    let past = check("ann", Some("2001-01-01T00:00:00Z"));
    assert_eq!(tenant.send(&Request::new(EXPLAIN).token(&expired).json(&past)).status, 401);
}

#[test]
fn an_instant_reaches_resolvers() {
    let tenant = Tenant::new();
    let folder = repository().join("policies/resolvers/business-hours");
    let module = std::fs::read(folder.join("business-hours.wasm")).expect("a component");
    let manifest = std::fs::read(folder.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    tenant.upload(format!("POST {RESOLVERS}"), &Form::new(&manifest, &module)).is(201);
    let policy =
        tenant.policy("open", "chart:read", "allow", 1, &condition("hours.open", "eq", true));
    for (now, decider) in [
        ("2026-01-15T10:00:00Z", &*policy),
        ("2026-01-17T10:00:00Z", "default-deny"),
        ("2026-01-15T17:00:00Z", "default-deny"),
    ] {
        let answer = tenant.manage(EXPLAIN, &check("ann", Some(now))).is(200);
        assert_eq!(answer.text_of("matched_rule_id"), decider, "{now}");
    }
}

#[test]
fn a_check_at_an_instant_neither_reads_nor_fills_a_cache() {
    let tenant = Tenant::new();
    let id = tenant.directory("hr");
    only_obstetrics(&tenant);
    let then = check("ann", Some("2026-01-15T10:00:00Z"));
    for _ in 0..2 {
        assert_eq!(source(&tenant, &then), "call");
    }
    assert_eq!(activity(&tenant, &id)["calls"], 0, "no call of the service");
    assert_eq!(source(&tenant, &check("ann", None)), "call", "nothing was kept");
    assert_eq!(source(&tenant, &check("ann", None)), "cache", "the control");
    assert_eq!(source(&tenant, &then), "call", "nothing is read");
}

#[test]
fn a_check_at_an_instant_moves_no_breaker() {
    let tenant = Tenant::new();
    let mut manifest = full();
    manifest["namespace"] = json!("evil");
    let form = Form::new(&manifest, &guest("behaviours"));
    let id = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201).id();
    tenant.policy("evil", "chart:read", "allow", 1, &condition("evil.text", "eq", "hello"));
    let breaker = || activity(&tenant, &id)["breaker"].clone();
    for _ in 0..10 {
        let then = check("panic", Some("2026-01-15T10:00:00Z"));
        tenant.manage(EXPLAIN, &then).is(200);
    }
    assert_eq!(breaker(), "closed");
    for _ in 0..5 {
        tenant.manage(EXPLAIN, &check("panic", None)).is(200);
    }
    assert_eq!(breaker(), "open", "the control");
    let then = check("ann", Some("2026-01-15T10:00:00Z"));
    assert_eq!(source(&tenant, &then), "nowhere", "a manager cannot hammer a source that is down");
    assert_eq!(breaker(), "open");
}
