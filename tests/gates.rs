//! Gates: each way around one is refused, and works when the gate is off (`docs/semantics.md`, section 10.9).

use serde_json::{Value, json};

use crate::support::tenant::{always, condition};
use crate::support::{MANAGER, Reply, Request, Tenant};

mod proposals;

/// The owner of what the tests apply.
const OWNER: &str = "git:acme";

/// Applies `bundle` as the manager `who`.
fn apply(tenant: &Tenant<'_>, who: &str, bundle: &Value) -> Reply {
    let body = json!({"owner": OWNER, "prune": false, "bundle": bundle});
    let token = tenant.token(who, &[MANAGER]);
    tenant.send(&Request::new("POST /api/v1/apply").token(&token).json(&body))
}

fn case(name: &str, subject: &str, decision: &str, rule: &str) -> Value {
    json!({
        "name": name, "check": {"subject": subject, "resource": "doc:read", "action": "read"},
        "expect": {"decision": decision, "rule": rule},
    })
}

/// The records of a tenant that the ways around a gate name.
struct Guarded {
    tenant: Tenant<'static>,
    /// The rule by which `ann` reads.
    rule: String,
    /// The resource `doc:read`.
    resource: String,
    /// The policy by which `mallory` does not read.
    guard: String,
    /// A policy that allows everything, and is disabled.
    sleeping: String,
}

impl Guarded {
    /// Makes a tenant with three cases, and with these gates.
    fn new(gates: &Value) -> Self {
        let tenant = Tenant::new();
        let resource = tenant.resource("doc:read");
        let rule = tenant.rule("ann", "doc:read", "read", "allow");
        let mallory = condition("request.subject", "eq", "mallory");
        let guard = tenant.policy("guard", "doc:*", "deny", 9, &mallory);
        let sleeping = tenant.policy("sleeping", "doc:*", "allow", 5, &always());
        let path = format!("PUT /api/v1/abac/policies/{sleeping}");
        tenant.manage(path, &json!({"enabled": false})).is(200);
        let cases = [
            case("eve does not read", "eve", "deny", "default-deny"),
            case("mallory does not read", "mallory", "deny", "guard"),
            case("ann reads", "ann", "allow", &format!("ann, {}, doc:read, read", tenant.name)),
        ];
        apply(&tenant, "boss", &json!({"cases": cases, "settings": {"gates": gates}})).is(200);
        Self { tenant, rule, resource, guard, sleeping }
    }

    /// Each way to let somebody in or to shut somebody out: a name, the route, the body, and the status without a gate.
    fn ways(&self) -> Vec<(&'static str, String, Value, u16)> {
        let rule = |sub: &str| json!({"sub": sub, "obj": "doc:read", "act": "read"});
        let open = json!({
            "name": "open", "resource": "doc:*", "effect": "allow", "priority": 1, "rule_data": always(),
        });
        let registration = json!({"name": "doc:read", "defaultRoles": ["eve"]});
        let rules = "/api/v1/resources/policies";
        let policies = "/api/v1/abac/policies";
        let Self { resource, guard, sleeping, .. } = self;
        let mut allow = rule("eve");
        allow["effect"] = json!("allow");
        let confirmed = json!({"id": self.rule, "effect": "deny"});
        let apply = "POST /api/v1/apply".to_owned();
        let applied = |bundle: &Value| json!({"owner": OWNER, "prune": false, "bundle": bundle});
        let looser = json!({"rules": [allow], "settings": {"gates": {}}});
        let without = json!({"rules": [allow], "cases": []});
        vec![
            ("a new rule", format!("POST {rules}"), allow.clone(), 201),
            ("a changed rule", format!("PUT {rules}"), confirmed, 200),
            ("a rule that goes", format!("DELETE {rules}"), json!({"id": self.rule}), 204),
            ("a registration", "POST /api/v1/resources".to_owned(), registration.clone(), 200),
            (
                "many registrations",
                "POST /api/v1/resources/list".to_owned(),
                json!([registration]),
                200,
            ),
            (
                "a resource that goes with its rules",
                format!("DELETE /api/v1/resources/{resource}?rules=true"),
                Value::Null,
                204,
            ),
            ("a new policy", format!("POST {policies}"), open, 201),
            (
                "a policy that is enabled",
                format!("PUT {policies}/{sleeping}"),
                json!({"enabled": true}),
                200,
            ),
            ("a policy that goes", format!("DELETE {policies}/{guard}"), Value::Null, 204),
            ("an apply", apply.clone(), applied(&json!({"rules": [allow]})), 200),
            ("an apply that opens the gate", apply.clone(), applied(&looser), 200),
            ("an apply that removes the case", apply, applied(&without), 200),
        ]
    }

    fn send(&self, route: &str, body: &Value) -> Reply {
        let request = self.tenant.managing(route);
        self.tenant.send(&if body.is_null() { request } else { request.json(body) })
    }
}

/// The number of ways of [`Guarded::ways`].
const WAYS: usize = 12;

#[test]
fn every_write_is_judged_by_the_cases() {
    for way in 0..WAYS {
        let guarded = Guarded::new(&json!({"cases": true}));
        let (name, route, body, _) = guarded.ways().swap_remove(way);
        let before = guarded.tenant.decide("bob", "doc:read", "read").revision;
        let refused = guarded.send(&route, &body).refused(422, "CASES_FAILED");
        let failed = refused.details()["failed"].clone();
        assert!(failed.as_array().is_some_and(|cases| !cases.is_empty()), "{name}: {failed}");
        guarded.tenant.decide("eve", "doc:read", "read").is_default();
        guarded.tenant.decide("ann", "doc:read", "read").is("allow", &guarded.rule);
        let after = guarded.tenant.decide("mallory", "doc:read", "read");
        after.is("deny", &guarded.guard);
        assert_eq!(after.revision, before, "{name}");
    }
}

#[test]
fn every_write_needs_the_approval() {
    for way in 0..WAYS {
        let guarded = Guarded::new(&json!({"approval": true}));
        let (name, route, body, _) = guarded.ways().swap_remove(way);
        let reply = guarded.send(&route, &body);
        if route.ends_with("/apply") {
            assert_eq!(reply.status, 202, "{name}: {}", reply.text);
        } else {
            reply.refused(409, "APPROVAL_REQUIRED");
        }
        guarded.tenant.decide("eve", "doc:read", "read").is_default();
        guarded.tenant.decide("ann", "doc:read", "read").is("allow", &guarded.rule);
    }
}

#[test]
fn every_way_is_open_without_a_gate() {
    for way in 0..WAYS {
        let guarded = Guarded::new(&json!({}));
        let (name, route, body, status) = guarded.ways().swap_remove(way);
        let reply = guarded.send(&route, &body);
        assert_eq!(reply.status, status, "{name}: {}", reply.text);
        let eve = guarded.tenant.decide("eve", "doc:read", "read").allowed();
        let ann = guarded.tenant.decide("ann", "doc:read", "read").allowed();
        let mallory = guarded.tenant.decide("mallory", "doc:read", "read").rule == guarded.guard;
        assert!(eve || !ann || !mallory, "{name} changes no decision, so it proves nothing");
    }
}

#[test]
fn a_resolver_changes_with_approval_alone() {
    let guarded = Guarded::new(&json!({}));
    let tenant = &guarded.tenant;
    let resolver = format!("/api/v1/resolvers/{}", tenant.directory("hr"));
    let change = |text: &str| json!({"description": text});
    tenant.manage(format!("PUT {resolver}"), &change("a")).is(200);
    apply(tenant, "boss", &json!({"settings": {"gates": {"approval": true}}})).is(200);
    tenant.manage(format!("PUT {resolver}"), &change("b")).refused(409, "APPROVAL_REQUIRED");
    tenant.delete(&resolver).refused(409, "APPROVAL_REQUIRED");
}

#[test]
fn a_write_that_changes_no_decision_passes_the_gates() {
    let guarded = Guarded::new(&json!({"cases": true, "approval": true}));
    let tenant = &guarded.tenant;
    tenant.resource("other:read");
    let webhook = json!({
        "url": "https://hook.example/", "events": ["access.denied"], "secret": "0123456789abcdef",
    });
    tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    // The cases pass after it.
    let guarded = Guarded::new(&json!({"cases": true}));
    guarded.tenant.rule("bob", "doc:read", "read", "allow");
}

#[test]
fn a_policy_that_reads_a_resolver_takes_no_case_out_of_the_gate() {
    for is_gated in [true, false] {
        let guarded = Guarded::new(&json!({"cases": is_gated}));
        let tenant = &guarded.tenant;
        tenant.directory("hr");
        let policy = json!({
            "name": "veil", "resource": "doc:*", "effect": "deny", "priority": 10,
            "rule_data": condition("hr.department", "eq", "sales"),
        });
        let reply = tenant.manage("POST /api/v1/abac/policies", &policy);
        if is_gated {
            let failed = reply.refused(422, "CASES_FAILED").details()["failed"].clone();
            assert_eq!(failed[0]["actual"], Value::Null, "{failed}");
        } else {
            reply.is(201);
        }
    }
}
