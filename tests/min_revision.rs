//! `X-Policy-Revision` and `X-Min-Policy-Revision`: a check is never answered from rules that are older
//! than those its caller knows.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::routes::CHECKS;
use crate::support::tenant::always;
use crate::support::{MANAGER, Provider, Reply, Request, Settings, Tenant};

/// The server waits at most two seconds for a revision; whatever the machine is busy with comes on top.
const WAIT: Duration = Duration::from_secs(2);

/// A check that demands a revision.
fn demand(tenant: &Tenant<'_>, route: &str, revision: &str) -> Reply {
    demand_all(tenant, route, &[revision])
}

/// A check that demands each of these revisions.
fn demand_all(tenant: &Tenant<'_>, route: &str, revisions: &[&str]) -> Reply {
    let body = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let mut request = Request::new(route).token(&tenant.token("gateway", &["service"])).json(&body);
    for revision in revisions {
        request = request.header("x-min-policy-revision", revision);
    }
    tenant.send(&request)
}

#[test]
fn every_write_of_rules_raises_the_revision_by_one() {
    let tenant = Tenant::new();
    assert_eq!(tenant.decide("alice", "doc:read", "read").revision, 0);
    let policy = json!({
        "name": "p", "resource": "doc:read", "effect": "deny", "priority": 1, "rule_data": always(),
    });
    let rule = json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"});
    let mut changed = rule.clone();
    changed["effect"] = json!("deny");
    let created = tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    assert_eq!(created.revision(), 1);
    let path = format!("/api/v1/abac/policies/{}", created.id());
    let writes = [
        ("POST /api/v1/resources/policies".to_owned(), Some(rule.clone())),
        ("PUT /api/v1/resources/policies".to_owned(), Some(changed)),
        (format!("PUT {path}"), Some(json!({"enabled": false}))),
        ("POST /api/v1/resources".to_owned(), Some(json!({"name": "a:b", "defaultRoles": ["r"]}))),
        ("POST /api/v1/resources/list".to_owned(), Some(json!([{"name": "a:c"}, {"name": "a:d"}]))),
        (
            "DELETE /api/v1/resources/policies".to_owned(),
            Some(json!({"sub": "alice", "obj": "doc:read", "act": "read"})),
        ),
        (format!("DELETE {path}"), None),
    ];
    for (expected, (route, body)) in (2..).zip(&writes) {
        let request = tenant.managing(&**route);
        let reply = tenant.send(&body.as_ref().map_or(request.clone(), |body| request.json(body)));
        assert_eq!(reply.revision(), expected, "{route}: {}", reply.text);
        assert_eq!(tenant.decide("alice", "doc:read", "read").revision, expected, "{route}");
    }
}

#[test]
fn a_write_without_a_change_keeps_the_revision() {
    let tenant = Tenant::new();
    let id = tenant.policy("p", "doc:read", "deny", 1, &always());
    let put = |body: &Value| tenant.manage(format!("PUT /api/v1/abac/policies/{id}"), body);
    assert_eq!(put(&json!({})).is(200).revision(), 1);
    put(&json!({"priority": "x"})).invalid();
    tenant.manage("POST /api/v1/service-api-keys", &json!({"name": "k"})).is(201);
    let webhook = json!({
        "url": "https://hook.example/", "events": ["access.denied"], "secret": "0123456789abcdef",
    });
    tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    assert_eq!(tenant.decide("alice", "doc:read", "read").revision, 1);
}

#[test]
fn a_revision_that_is_there_is_served() {
    let tenant = Tenant::new();
    for route in CHECKS {
        assert_eq!(demand(&tenant, route, "0").is(200).revision(), 0, "{route}");
    }
    for revision in 1..4 {
        tenant.rule(&format!("user-{revision}"), "doc:read", "read", "allow");
        for route in CHECKS {
            for demanded in 0..=revision {
                let reply = demand(&tenant, route, &demanded.to_string()).is(200);
                assert_eq!(reply.revision(), revision, "{route}");
            }
        }
    }
}

#[test]
fn a_revision_that_never_comes_is_a_503() {
    let tenant = Tenant::new();
    tenant.rule("alice", "doc:read", "read", "allow");
    for (route, demanded) in CHECKS.into_iter().zip(["2", "9223372036854775807"]) {
        let began = std::time::Instant::now();
        let reply = demand(&tenant, route, demanded).refused(503, "DEPENDENCY_UNAVAILABLE");
        assert!(reply.header("retry-after").is_some(), "{route}");
        assert!(began.elapsed() >= WAIT, "{route}: it did not wait: {:?}", began.elapsed());
    }
    // It harms nobody else.
    assert!(tenant.decide("alice", "doc:read", "read").allowed());
}

#[test]
fn of_several_demands_the_latest_counts() {
    let tenant = Tenant::new();
    tenant.rule("alice", "doc:read", "read", "allow");
    assert_eq!(demand_all(&tenant, CHECKS[0], &["1", "0"]).is(200).revision(), 1);
    demand_all(&tenant, CHECKS[0], &["0", "2"]).refused(503, "DEPENDENCY_UNAVAILABLE");
    demand_all(&tenant, CHECKS[0], &["0", "x"]).refused(400, "BAD_REQUEST");
}

#[test]
fn a_revision_that_never_comes_loads_no_plan_and_is_no_error_in_the_log() {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    tenant.rule("alice", "doc:read", "read", "allow");
    tenant.decide("alice", "doc:read", "read");
    let loads = || {
        let metrics = tenant.send(&Request::new("GET /metrics")).is(200).text;
        let series = "portcullis_plan_cache_loads_total ";
        metrics.lines().find_map(|line| line.strip_prefix(series)).map(str::to_owned)
    };
    let before = loads();
    for route in CHECKS {
        demand(&tenant, route, "999999999").refused(503, "DEPENDENCY_UNAVAILABLE");
    }
    assert_eq!(loads(), before);
    assert!(before.is_some());
    let log = server.process.err.text();
    assert!(!log.contains("ERROR") && !log.contains("999999999"), "{log}");
}

#[test]
fn a_revision_that_comes_in_time_is_served() {
    let tenant = Tenant::new();
    tenant.rule("bob", "doc:read", "read", "allow");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| demand(&tenant, CHECKS[0], "2"));
        let id = tenant.rule("alice", "doc:read", "read", "allow");
        let reply = waiting.join().expect("it ends").is(200);
        assert_eq!((reply.revision(), reply.text_of("matched_rule_id")), (2, id));
    });
}

#[test]
fn an_invalid_revision_is_a_400() {
    let tenant = Tenant::new();
    for route in CHECKS {
        for bad in ["x", "", "-1", "1.0", "0x1", "1 2", "1,2", "99999999999999999999999", "\"1\""] {
            let reply = demand(&tenant, route, bad).refused(400, "BAD_REQUEST");
            assert!(reply.message().to_lowercase().contains("revision"), "{bad}: {}", reply.text);
        }
    }
}

#[test]
fn a_revision_is_a_tenants_own() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    for n in 0..3 {
        other.rule(&format!("user-{n}"), "doc:read", "read", "allow");
    }
    assert_eq!(demand(&other, CHECKS[0], "3").is(200).revision(), 3);
    demand(&tenant, CHECKS[0], "1").refused(503, "DEPENDENCY_UNAVAILABLE");
    let list = Request::new("GET /api/v1/resources").token(&tenant.token("boss", &[MANAGER]));
    assert_eq!(tenant.send(&list).is(200).header("x-policy-revision"), None, "a read of records");
}
