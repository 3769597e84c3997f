//! Each event, and its `data`.

use serde_json::{Value, json};

use super::{register, settings, tenant};
use crate::support::tenant::always;
use crate::support::{Delivery, EVENTS, MANAGER, Receiver, Request, Tenant};

const RULES: &str = "/api/v1/resources/policies";
const POLICIES: &str = "/api/v1/abac/policies";
const KEYS: &str = "/api/v1/service-api-keys";

/// Collects what a tenant's changes should cause, in order.
struct Story<'t> {
    tenant: &'t Tenant<'t>,
    expected: Vec<(&'static str, Value)>,
}

impl Story<'_> {
    fn expect(&mut self, kind: &'static str, data: Value) {
        self.expected.push((kind, data));
    }

    fn rule(&mut self, change: &str, id: &Value, sub: &str, obj: &str, effect: &str) {
        let data = json!({
            "change": change, "rule_id": id, "sub": sub, "dom": self.tenant.name, "obj": obj,
            "act": "read", "effect": effect, "actor": "boss",
        });
        self.expect("policy.rbac.changed", data);
    }

    fn resource(&mut self, id: &str, name: &str, roles: &Value, created: bool) {
        let data = json!({
            "resource_id": id, "name": name, "service_name": null, "default_roles": roles,
            "created": created, "actor": "boss",
        });
        self.expect("resource.registered", data);
    }

    fn resources(&mut self) {
        let body = json!({"name": "doc:read", "defaultRoles": ["reader"]});
        let id = self.tenant.manage("POST /api/v1/resources", &body).is(201).id();
        self.resource(&id, "doc:read", &json!(["reader"]), true);
        let rules = self.tenant.get(&format!("/api/v1/resources/{id}/policies")).json();
        self.rule("created", &rules[0]["id"], "reader", "doc:read", "allow");
        self.tenant.manage("POST /api/v1/resources", &json!({"name": "doc:read"})).is(200);
        self.resource(&id, "doc:read", &json!([]), false);
        self.rule("deleted", &rules[0]["id"], "reader", "doc:read", "allow");
        let bulk = json!([{"name": "a:b"}, {"name": "doc:read"}]);
        let records = self.tenant.manage("POST /api/v1/resources/list", &bulk).is(200).json();
        let id_of = |index: usize| records[index]["id"].as_str().expect("an id");
        self.resource(id_of(0), "a:b", &json!([]), true);
        self.resource(id_of(1), "doc:read", &json!([]), false);
    }

    fn rules(&mut self) {
        let id = json!(self.tenant.rule("alice", "doc:*", "read", "allow"));
        self.rule("created", &id, "alice", "doc:*", "allow");
        let change = |body: Value| self.tenant.manage(format!("PUT {RULES}"), &body).is(200);
        change(json!({"id": id, "effect": "deny"}));
        change(json!({"id": id, "effect": "deny"}));
        self.rule("updated", &id, "alice", "doc:*", "deny");
        self.tenant.manage(format!("DELETE {RULES}"), &json!({"id": id})).is(204);
        self.rule("deleted", &id, "alice", "doc:*", "deny");
    }

    fn policies(&mut self) {
        let id = self.tenant.policy("p", "doc:write", "allow", 1, &always());
        let (policy, resource) = (json!(id), "doc:write");
        self.expect(
            "policy.abac.created",
            json!({"policy_id": policy, "resource": resource, "effect": "allow", "created_by": "boss"}),
        );
        let path = format!("{POLICIES}/{id}");
        let change = json!({"enabled": false, "priority": 7, "name": "p"});
        self.tenant.manage(format!("PUT {path}"), &change).is(200);
        self.tenant.manage(format!("PUT {path}"), &change).is(200);
        self.expect(
            "policy.abac.updated",
            json!({
                "policy_id": policy, "resource": resource, "effect": "allow", "enabled": false,
                "priority": 7, "changed": ["priority", "enabled"], "updated_by": "boss",
            }),
        );
        self.tenant.delete(&path).is(204);
        self.expect(
            "policy.abac.deleted",
            json!({"policy_id": policy, "resource": resource, "deleted_by": "boss"}),
        );
    }

    fn checks(&mut self) {
        let check = json!({
            "subject": "mallory", "resource": "doc:read", "action": "read",
            "attributes": {"user": {"password": "never-told"}},
        });
        let denied = self.tenant.check(&check).is(200);
        let data = |subject: &str, reason: &str| {
            json!({
                "subject": subject, "resource": "doc:read", "action": "read",
                "domain": self.tenant.name, "matched_rule_id": "default-deny", "reason": reason,
            })
        };
        let first = data("mallory", &denied.text_of("reason"));
        let legacy = Request::new("POST /api/v1/resources/access/check")
            .token(&self.tenant.token("eve", &["user"]))
            .json(&json!({"resource": "doc:read"}));
        let denied = self.tenant.send(&legacy).is(200);
        let second = data("eve", &denied.text_of("reason"));
        let explained = self.tenant.manage("POST /api/v1/check?explain=true", &check).is(200);
        assert_eq!(explained.text_of("reason"), denied.text_of("reason"));
        self.expect("access.denied", first);
        // An explanation refuses nobody anything.
        self.expect("access.denied", second);
    }

    fn keys(&mut self) {
        let issued = self.tenant.manage(format!("POST {KEYS}"), &json!({"name": "k"})).is(201).id();
        let data = json!({"key_id": issued, "name": "k", "actor": "boss"});
        self.expect("service_api_key.created", data.clone());
        self.tenant.delete(&format!("{KEYS}/{issued}")).is(204);
        self.expect("service_api_key.revoked", data);
    }
}

#[test]
fn each_change_tells_what_it_is_in_order_of_commit() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    register(&tenant, &receiver.url("/"), &EVENTS);
    let mut story = Story { tenant: &tenant, expected: Vec::new() };
    story.resources();
    story.rules();
    story.policies();
    story.checks();
    story.keys();
    // What is allowed, refused or changes nothing tells nothing.
    let token = tenant.token("alice", &[MANAGER]);
    tenant.rule("alice", "x:y", "z", "allow");
    let check = json!({"subject": "alice", "resource": "x:y", "action": "z"});
    tenant.check_by(&token, &check).is(200);
    tenant.manage(format!("POST {KEYS}"), &json!({"name": ""})).invalid();
    tenant.manage(format!("POST {KEYS}"), &json!({"name": "last"})).is(201);
    let expected = story.expected;
    let mut deliveries = receiver.wait_for(expected.len() + 2);
    let is_denial = |delivery: &&Delivery| delivery.kind() == "access.denied";
    let arrival = |delivery: &Delivery| (delivery.json()["timestamp"].to_string(), delivery.id());
    let order: Vec<_> = deliveries.iter().filter(|one| !is_denial(one)).map(arrival).collect();
    assert!(order.is_sorted(), "times and ids restore the order: {order:?}");
    // Denied checks have a queue of their own, and no order with the others.
    deliveries.sort_by_key(arrival);
    for (delivery, (kind, data)) in deliveries.iter().zip(&expected) {
        let event = delivery.json();
        assert_eq!((event["type"].as_str(), &event["data"]), (Some(*kind), data));
        assert_eq!(event["tenant_id"], tenant.id);
    }
    let last = deliveries.last().map(|delivery| delivery.json()["data"]["name"].clone());
    assert_eq!(last, Some(json!("last")));
}

#[test]
fn a_webhook_is_told_what_it_asked_for_and_nothing_of_other_tenants() {
    let server = settings().start();
    let (mine, receiver) = (tenant(&server), Receiver::start());
    let other = Tenant::with_provider(&server, crate::support::Provider::shared(), "other");
    register(&mine, &receiver.url("/rules"), &["policy.rbac.changed", "webhook.test"]);
    let policies = register(&mine, &receiver.url("/policies"), &["policy.abac.created"]);
    for tenant in [&other, &mine] {
        tenant.rule("alice", "doc:read", "read", "allow");
        tenant.policy("p", "doc:read", "allow", 1, &always());
    }
    // What a webhook asks for from now on.
    let events = json!({"events": ["policy.rbac.changed"]});
    mine.manage(format!("PUT {policies}"), &events).is(200);
    mine.policy("q", "doc:read", "allow", 1, &always());
    mine.rule("bob", "doc:read", "read", "allow");
    super::test(&mine, &policies);
    let deliveries = receiver.wait_for(5);
    let mut seen: Vec<_> = deliveries
        .iter()
        .map(|one| (one.path.clone(), one.kind(), one.json()["tenant_id"] == mine.id))
        .collect();
    seen.sort();
    let expected = [
        ("/policies", "policy.abac.created"),
        ("/policies", "policy.rbac.changed"),
        ("/policies", "webhook.test"),
        ("/rules", "policy.rbac.changed"),
        ("/rules", "policy.rbac.changed"),
    ];
    let expected = expected.map(|(path, kind)| (path.to_owned(), kind.to_owned(), true));
    assert_eq!(seen, expected);
}

#[test]
fn a_key_that_is_made_on_the_command_line_is_told_too() {
    let settings = settings();
    let server = settings.start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    register(&tenant, &receiver.url("/"), &["service_api_key.created"]);
    let made = settings.run(&["keys", "create", "--tenant", &tenant.id, "--name", "by hand"]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let data = receiver.wait_for(1)[0].json()["data"].clone();
    assert_eq!((&data["name"], &data["actor"]), (&json!("by hand"), &json!("admin")));
}
