//! `DELETE /api/v1/resources/{id}`: the record, and the rules that go with it.

use serde_json::{Value, json};

use super::{list, register};
use crate::support::tenant::always;
use crate::support::{NO_ID, Reply, Request, Tenant};

const RULES: &str = "/api/v1/resources/policies";

/// A tenant with `doc:read`: its default role `reader`, and an explicit rule, pattern and policy that name it.
struct Seeded {
    tenant: Tenant<'static>,
    resource: String,
    explicit: String,
    pattern: String,
    policy: String,
}

impl Seeded {
    fn new() -> Self {
        let tenant = Tenant::new();
        let body = json!({"name": "doc:read", "defaultRoles": ["reader"]});
        let resource = register(&tenant, &body).is(201).id();
        tenant.resource("doc:write");
        let explicit = tenant.rule("alice", "doc:read", "read", "allow");
        let pattern = tenant.rule("alice", "doc:*", "list", "allow");
        let policy = tenant.policy("p", "doc:read", "deny", 1, &always());
        Self { tenant, resource, explicit, pattern, policy }
    }

    fn delete(&self, query: &str) -> Reply {
        self.tenant.delete(&format!("/api/v1/resources/{}{query}", self.resource))
    }

    /// The ids of all rules.
    fn rules(&self) -> Vec<String> {
        let rules = self.tenant.get(RULES).is(200).json();
        let ids = rules.as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap());
        ids.map(str::to_owned).collect()
    }
}

#[test]
fn a_resource_goes_with_the_rules_of_its_default_roles() {
    for (query, keeps_explicit) in [("", true), ("?rules=false", true), ("?rules=true", false)] {
        let seeded = Seeded::new();
        let reply = seeded.delete(query).is(204);
        assert_eq!((reply.revision(), &*reply.text), (6, ""));
        let mut left = vec![seeded.explicit.clone(), seeded.pattern.clone()];
        left.retain(|id| keeps_explicit || *id != seeded.explicit);
        assert_eq!(seeded.rules(), left, "{query}");
        let names: Vec<Value> =
            list(&seeded.tenant).iter().map(|resource| resource["name"].clone()).collect();
        assert_eq!(names, ["doc:write"]);
        // Policies stay, whatever they name.
        seeded.tenant.get(&format!("/api/v1/abac/policies/{}", seeded.policy)).is(200);
        seeded.delete(query).refused(404, "NOT_FOUND");
        seeded.tenant.get(&format!("/api/v1/resources/{}", seeded.resource)).is(404);
    }
}

#[test]
fn decisions_follow_a_deletion() {
    let seeded = Seeded::new();
    let tenant = &seeded.tenant;
    tenant.delete(&format!("/api/v1/abac/policies/{}", seeded.policy)).is(204);
    let by_role = json!({
        "subject": "bob", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"roles": ["reader"]}},
    });
    assert_eq!(tenant.check(&by_role).is(200).text_of("decision"), "allow");
    seeded.delete("").is(204);
    assert_eq!(tenant.check(&by_role).is(200).text_of("decision"), "deny");
    tenant.decide("alice", "doc:read", "read").is("allow", &seeded.explicit);
}

#[test]
fn an_explicit_rule_stays_even_if_a_default_role_made_it() {
    let seeded = Seeded::new();
    let rule = json!({"sub": "reader", "obj": "doc:read", "act": "read", "effect": "deny"});
    let changed = seeded.tenant.manage(format!("PUT {RULES}"), &rule).is(200).id();
    seeded.delete("").is(204);
    assert!(seeded.rules().contains(&changed));
}

#[test]
fn a_key_needs_the_right_to_write_policies_if_a_rule_goes() {
    let seeded = Seeded::new();
    let tenant = &seeded.tenant;
    let body = json!({"name": "k", "permissions": ["resources:write"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let delete = |id: &str, query: &str| {
        let route = format!("DELETE /api/v1/resources/{id}{query}");
        tenant.send(&Request::new(route).header("x-service-api-key", &key))
    };
    let refused = delete(&seeded.resource, "").refused(403, "ACCESS_DENIED");
    assert!(refused.message().contains("`policies:write`"), "{}", refused.message());
    assert_eq!((seeded.rules().len(), list(tenant).len()), (3, 2), "nothing went");
    let other = tenant.resource("note:read");
    let rule = tenant.rule("alice", "note:read", "read", "allow");
    delete(&other, "?rules=true").refused(403, "ACCESS_DENIED");
    // No rule goes without `rules=true`.
    delete(&other, "").is(204);
    tenant.get(&format!("{RULES}?id={rule}")).is(200);
    delete(NO_ID, "").refused(404, "NOT_FOUND");
}

#[test]
fn a_deletion_is_audited_with_its_rules() {
    let seeded = Seeded::new();
    seeded.delete("?rules=true").is(204);
    let records = seeded.tenant.get("/api/v1/audit?limit=2").is(200).json();
    let records: Vec<_> = records.as_array().unwrap().iter().collect();
    let of = |action: &str| {
        let found = records.iter().find(|record| record["action"] == action);
        found.unwrap_or_else(|| panic!("{action}: {records:?}"))["records"].clone()
    };
    assert_eq!(of("resource.deleted"), json!([seeded.resource]));
    assert_eq!(of("rule.deleted").as_array().unwrap().len(), 2);
}

#[test]
fn a_deletion_is_well_formed() {
    let seeded = Seeded::new();
    for query in ["?rules=yes", "?rules=", "?rules=true&rules=true", "?rule=true"] {
        seeded.delete(query).refused(400, "BAD_REQUEST");
    }
    assert_eq!(seeded.rules().len(), 3);
}
