//! Quotas of a tenant (`docs/semantics.md`, section 9.9).

use serde_json::{Value, json};

use crate::setup;
use crate::support::tenant::always;
use crate::support::{Provider, Reply, Request, Server, Settings, Tenant};

/// Returns the keys that a tenant has from the start.
fn bootstrap_keys() -> u64 {
    u64::from(setup::is_saas())
}

fn settings() -> Settings {
    Settings::new(Provider::shared())
}

fn tenant(server: &Server, name: &str) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), name)
}

/// Asserts that a quota refused the write.
#[track_caller]
fn exceeds(reply: Reply, quota: &str, limit: u64, used: u64) {
    let reply = reply.refused(422, "QUOTA_EXCEEDED");
    assert_eq!(reply.details(), json!({"quota": quota, "limit": limit, "used": used}));
}

fn webhook() -> Value {
    let secret = "a-secret-between-two-friends";
    json!({"url": "https://hooks.example/", "events": ["access.denied"], "secret": secret})
}

fn policy(name: &str) -> Value {
    json!({"name": name, "resource": "doc:read", "effect": "deny", "priority": 1, "rule_data": always()})
}

fn rule(sub: &str) -> Value {
    json!({"sub": sub, "obj": "doc:write", "act": "write", "effect": "allow"})
}

/// A route that creates a record, its quota, and a body for each number.
type Kind = (&'static str, &'static str, fn(u32) -> Value);

fn entity(number: u32) -> Value {
    json!({"entities": [{"type": "user", "id": format!("u{number}")}]})
}

#[test]
fn entities_have_a_quota() {
    let server = settings().set("QUOTA_ENTITIES", "2").start();
    let tenant = tenant(&server, "crowd");
    let put = |number: u32| tenant.manage("PUT /api/v1/entities", &entity(number));
    put(1).is(200);
    put(2).is(200);
    exceeds(put(3), "entities", 2, 2);
    put(2).is(200);
    tenant.delete("/api/v1/entities/user/u1").is(204);
    put(3).is(200);
}

const KINDS: [Kind; 5] = [
    ("POST /api/v1/webhooks", "webhooks", |_| webhook()),
    ("POST /api/v1/abac/policies", "policies", |number| policy(&format!("p{number}"))),
    ("POST /api/v1/resources/policies", "rules", |number| rule(&format!("role-{number}"))),
    ("POST /api/v1/resources", "resources", |number| json!({"name": format!("x{number}:read")})),
    (
        "POST /api/v1/service-api-keys",
        "service_keys",
        |number| json!({"name": format!("k{number}")}),
    ),
];

#[test]
fn each_quota_refuses_what_exceeds_it_and_frees_what_is_deleted() {
    let server = settings()
        .set("QUOTA_WEBHOOKS", "2")
        .set("QUOTA_POLICIES", "2")
        .set("QUOTA_RULES", "2")
        .set("QUOTA_RESOURCES", "2")
        .set("QUOTA_SERVICE_KEYS", (2 + bootstrap_keys()).to_string())
        .start();
    let (full, other) = (tenant(&server, "crowded"), tenant(&server, "other"));
    for (route, quota, body) in KINDS {
        let most = if quota == "service_keys" { 2 + bootstrap_keys() } else { 2 };
        let created = full.manage(route, &body(1)).is(201);
        full.manage(route, &body(2)).is(201);
        exceeds(full.manage(route, &body(3)), quota, most, most);
        other.manage(route, &body(1)).is(201);
        full.delete(created.header("location").expect("a location")).is(204);
        full.manage(route, &body(4)).is(201);
        exceeds(full.manage(route, &body(5)), quota, most, most);
    }
    // A registration of a known name adds nothing.
    full.manage("POST /api/v1/resources", &json!({"name": "x2:read"})).is(200);
    let metrics = full.send(&Request::new("GET /metrics")).is(200).text;
    for line in [
        r#"portcullis_quota_limit{quota="webhooks"} 2"#,
        r#"portcullis_quota_refusals_total{quota="webhooks"} 2"#,
        r#"portcullis_quota_refusals_total{quota="resources"} 2"#,
    ] {
        assert!(metrics.lines().any(|one| one == line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains(&full.name), "no tenant is named");
}

#[test]
fn a_bulk_registration_is_refused_as_a_whole_and_no_decision_changes() {
    let server = settings().set("QUOTA_RULES", "3").set("QUOTA_RESOURCES", "5").start();
    let tenant = tenant(&server, "bulk");
    tenant.rule("reader", "doc:read", "read", "allow");
    let bulk = |count: u32, roles: &[&str]| {
        let registrations: Vec<Value> = (0..count)
            .map(|number| json!({"name": format!("x{number}:read"), "defaultRoles": roles}))
            .collect();
        tenant.manage("POST /api/v1/resources/list", &json!(registrations))
    };
    exceeds(bulk(6, &[]), "resources", 5, 0);
    exceeds(bulk(3, &["staff"]), "rules", 3, 1);
    let listed = tenant.get("/api/v1/resources").is(200).json();
    assert_eq!(listed, json!([]), "nothing was written");
    assert!(tenant.decide("reader", "doc:read", "read").allowed());
    assert!(!tenant.decide("staff", "x1:read", "read").allowed());
    bulk(2, &["staff"]).is(200);
    exceeds(tenant.manage("POST /api/v1/resources/policies", &rule("late")), "rules", 3, 3);
    assert!(tenant.decide("staff", "x1:read", "read").allowed());
    // The roles that leave make room for those that come.
    bulk(2, &["clerk"]).is(200);
    assert!(tenant.decide("clerk", "x1:read", "read").allowed());
}

#[test]
fn stored_bytes_have_a_quota() {
    let server = settings().set("QUOTA_STORED_BYTES", "1KiB").start();
    let tenant = tenant(&server, "bytes");
    let created = tenant.manage("POST /api/v1/abac/policies", &policy("small")).is(201);
    let path = format!("/api/v1/abac/policies/{}", created.id());
    let longer = json!({"description": "x".repeat(1_000)});
    let refused = tenant.manage(format!("PUT {path}"), &longer).refused(422, "QUOTA_EXCEEDED");
    let details = refused.details();
    assert_eq!((&details["quota"], &details["limit"]), (&json!("stored_bytes"), &json!(1_024)));
    tenant.manage(format!("PUT {path}"), &json!({"name": "tiny"})).is(200);
    tenant.delete(&path).is(204);
}

#[test]
fn rules_and_policies_of_one_pattern_have_a_quota() {
    let server = settings().set("QUOTA_PLAN_BYTES", "1KiB").start();
    let tenant = tenant(&server, "plans");
    let sized = |name: &str, resource: &str, bytes: usize| {
        let mut body = policy(name);
        (body["resource"], body["description"]) = (json!(resource), json!("x".repeat(bytes)));
        body
    };
    let create = |body: &Value| tenant.manage("POST /api/v1/abac/policies", body);
    let path = format!("/api/v1/abac/policies/{}", create(&sized("a", "*", 700)).is(201).id());
    let refused = create(&sized("b", "*", 700)).refused(422, "QUOTA_EXCEEDED");
    let details = refused.details();
    assert_eq!((&details["quota"], &details["limit"]), (&json!("plan_bytes"), &json!(1_024)));
    assert!(refused.text.contains("the quota `plan_bytes` of `*` is 1024"), "{}", refused.text);
    let used = details["used"].as_u64().expect("a number");
    // Each resource and pattern has its own number; rules and those of default roles count as policies do.
    create(&sized("c", "doc:*", 700)).is(201);
    let many: Vec<String> = (0..40).map(|number| format!("role-{number}-of-the-house")).collect();
    let registration = json!([{"name": "file:read", "defaultRoles": many}]);
    let registered = tenant.manage("POST /api/v1/resources/list", &registration);
    exceeds(registered, "plan_bytes", 1_024, 0);
    let moving =
        json!({"sub": "s".repeat(250), "obj": "file:read", "act": "read", "effect": "allow"});
    let id = tenant.manage("POST /api/v1/resources/policies", &moving).is(201).id();
    let to_any = json!({"id": id, "obj": "*"});
    let moved = tenant.manage("PUT /api/v1/resources/policies", &to_any);
    exceeds(moved, "plan_bytes", 1_024, used);
    let bundle = json!({"policies": [sized("d", "*", 700)]});
    let apply = json!({"owner": "git:x", "prune": false, "bundle": bundle});
    exceeds(tenant.manage("POST /api/v1/apply", &apply), "plan_bytes", 1_024, used);
    // What does not grow passes, and what leaves makes room.
    tenant.manage(format!("PUT {path}"), &json!({"description": "short"})).is(200);
    create(&sized("b", "*", 700)).is(201);
    tenant.delete(&path).is(204);
    let metrics = tenant.send(&Request::new("GET /metrics")).is(200).text;
    for line in [
        r#"portcullis_quota_limit{quota="plan_bytes"} 1024"#,
        r#"portcullis_quota_refusals_total{quota="plan_bytes"} 4"#,
    ] {
        assert!(metrics.lines().any(|one| one == line), "{line}\n{metrics}");
    }
}

#[test]
fn a_plan_beyond_its_quota_goes_on_deciding() {
    let before = settings().set("QUOTA_PLAN_BYTES", "none");
    let server = before.start();
    {
        let tenant = tenant(&server, "old");
        let mut large = policy("deny");
        large["description"] = json!("x".repeat(2_000));
        tenant.manage("POST /api/v1/abac/policies", &large).is(201);
        tenant.rule("reader", "doc:read", "read", "allow");
        tenant.rule("writer", "doc:write", "write", "allow");
    }
    assert!(server.stop().success());
    let server = before.set("QUOTA_PLAN_BYTES", "1KiB").start();
    let tenant = tenant(&server, "old");
    assert!(tenant.decide("writer", "doc:write", "write").allowed());
    assert!(!tenant.decide("reader", "doc:read", "read").allowed());
}

#[test]
fn a_tenant_above_a_quota_keeps_and_deletes_records() {
    let before = settings().set("QUOTA_WEBHOOKS", "none");
    let server = before.start();
    let webhooks = {
        let tenant = tenant(&server, "old");
        [(); 3].map(|()| tenant.manage("POST /api/v1/webhooks", &webhook()).is(201).id())
    };
    assert!(server.stop().success());
    let server = before.set("QUOTA_WEBHOOKS", "1").start();
    let tenant = tenant(&server, "old");
    exceeds(tenant.manage("POST /api/v1/webhooks", &webhook()), "webhooks", 1, 3);
    let [first, second, third] = webhooks.map(|id| format!("/api/v1/webhooks/{id}"));
    let events = json!({"events": ["policy.abac.created"]});
    tenant.manage(format!("PUT {first}"), &events).is(200);
    tenant.delete(&second).is(204);
    exceeds(tenant.manage("POST /api/v1/webhooks", &webhook()), "webhooks", 1, 2);
    tenant.delete(&third).is(204);
    tenant.delete(&first).is(204);
    tenant.manage("POST /api/v1/webhooks", &webhook()).is(201);
}
