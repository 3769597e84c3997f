//! Reasons of AuthZEN decisions.

use serde_json::{Value, json};

use super::{ARCHIVED, EVALUATION, EVALUATIONS, fixture, record};
use crate::support::{MANAGER, Request, Tenant};

fn ask(tenant: &Tenant<'_>, token: &str, route: &str, action: &str, reasons: bool) -> Value {
    let body = json!({
        "subject": {"type": "user", "id": "bob"}, "action": {"name": action}, "resource": record("record-1"),
        "evaluations": [{}], "options": {"reasons": reasons},
    });
    let answer = tenant.send(&Request::new(route).token(token).json(&body)).is(200).json();
    if route == EVALUATIONS { answer["evaluations"][0].clone() } else { answer }
}

#[test]
fn reasons_are_for_those_who_ask_and_may_see_them() {
    let tenant = fixture(ARCHIVED);
    let [user, manager] = [&[][..], &[MANAGER][..]].map(|roles| tenant.token("gateway", roles));
    for route in [EVALUATION, EVALUATIONS] {
        for token in [&user, &manager] {
            assert_eq!(ask(&tenant, token, route, "write", false), json!({"decision": false}));
            let allowed = ask(&tenant, token, route, "read", true);
            assert_eq!(allowed["decision"], true);
            assert_eq!(allowed["context"], json!({"policy_revision": 5}));
        }
        let for_user = "the policies do not allow `write` on this `record`";
        let denied = ask(&tenant, &user, route, "write", true);
        assert_eq!(
            denied["context"],
            json!({"reason_user": {"403": for_user}, "policy_revision": 5})
        );
        let denied = ask(&tenant, &manager, route, "write", true);
        assert_eq!(denied["context"]["reason_user"], json!({"403": for_user}));
        let for_admin = denied["context"]["reason_admin"]["403"].as_str().expect("a reason");
        assert!(for_admin.starts_with("no RBAC rule and no ABAC policy allows it"), "{for_admin}");
    }
}
