//! `GET /metrics`.

use serde_json::json;

use crate::support::{Reply, Request, Tenant};

fn metrics(tenant: &Tenant<'_>) -> Reply {
    tenant.send(&Request::new("GET /metrics")).is(200)
}

/// The figure of `series`.
fn figure(reply: &Reply, series: &str) -> f64 {
    let text = &reply.text;
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().expect("a figure")
}

#[test]
fn decisions_are_counted_and_no_tenant_is_named() {
    let tenant = Tenant::new();
    tenant.rule("alice", "doc:read", "read", "allow");
    let before = metrics(&tenant);
    let token = tenant.token("alice", &["editor"]);
    for resource in ["doc:read", "doc:write"] {
        let check = json!({"subject": "alice", "resource": resource, "action": "read"});
        let combined = Request::new("POST /api/v1/check").token(&token).json(&check);
        tenant.send(&combined).is(200);
        let legacy = Request::new("POST /api/v1/resources/access/check").token(&token);
        tenant.send(&legacy.json(&json!({"resource": resource}))).is(200);
    }
    let after = metrics(&tenant);
    let kind = after.header("content-type").unwrap_or_default();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"), "{kind}");
    for kind in ["combined", "legacy"] {
        for (series, at_least) in [
            (format!("portcullis_checks_total{{kind=\"{kind}\",decision=\"allow\"}}"), 1.0),
            (format!("portcullis_checks_total{{kind=\"{kind}\",decision=\"deny\"}}"), 1.0),
            (format!("portcullis_check_duration_seconds_count{{kind=\"{kind}\"}}"), 2.0),
        ] {
            // Other tests use the same server.
            let more = figure(&after, &series) - figure(&before, &series);
            assert!(more >= at_least, "{series}: {more}");
        }
    }
    let loads = "portcullis_plan_cache_loads_total";
    assert!(figure(&after, loads) >= figure(&before, loads) + 2.0, "one of each resource");
    let text = &after.text;
    assert!(!text.contains(&tenant.name) && !text.contains("doc:"), "{text}");
}

#[test]
fn every_map_that_callers_can_fill_has_its_entries_counted() {
    let tenant = Tenant::new();
    tenant.decide("alice", "doc:read", "read");
    let reply = metrics(&tenant);
    for (map, at_least) in [
        ("plans", 1.0),
        ("plan_tenants", 1.0),
        ("plan_loads", 0.0),
        ("plan_load_tenants", 0.0),
        ("plan_warmings", 0.0),
        ("service_keys", 0.0),
        ("tokens", 1.0),
        ("providers", 0.0),
        ("key_sets", 0.0),
        ("demanded_revisions", 0.0),
        ("histories", 1.0),
        ("uploads", 0.0),
        ("write_turns", 0.0),
        ("denial_subscribers", 0.0),
        ("denials", 0.0),
        ("names", 0.0),
        ("slow_names", 0.0),
        ("resolvers", 0.0),
        ("resolver_answers", 0.0),
        ("resolver_modules", 0.0),
        ("resolver_shares", 0.0),
        ("resolver_loads", 0.0),
        ("resolver_admissions", 0.0),
        ("operator_resolver_tenants", 0.0),
    ] {
        let entries = figure(&reply, &format!("portcullis_map_entries{{map=\"{map}\"}}"));
        assert!(entries >= at_least, "{map}: {entries}");
    }
    assert!(figure(&reply, "portcullis_plan_cache_bytes") > 0.0);
    assert!(figure(&reply, "portcullis_entity_table_bytes") >= 0.0);
}
