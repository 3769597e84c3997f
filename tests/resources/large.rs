//! The most rules that go with a resource (`docs/semantics.md`, section 3.10).

use serde_json::json;

use crate::support::Tenant;

const MAX_DELETED_RULES: usize = 10_000;

#[test]
fn a_resource_with_too_many_rules_stays() {
    let tenant = Tenant::new();
    let roles: Vec<String> = (0..MAX_DELETED_RULES).map(|n| format!("role-{n}")).collect();
    let body = json!({"name": "doc:read", "defaultRoles": roles});
    let path = format!("/api/v1/resources/{}", tenant.manage("POST /api/v1/resources", &body).id());
    tenant.rule("alice", "doc:read", "read", "allow");
    tenant.delete(&format!("{path}?rules=true")).refused(409, "CONFLICT");
    tenant.get(&path).is(200);
    // Without the explicit rule there are not too many.
    tenant.delete(&path).is(204);
    let left = tenant.get("/api/v1/resources/policies").is(200).json();
    assert_eq!(left.as_array().map(Vec::len), Some(1));
}
