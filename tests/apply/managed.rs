//! Managed records on the routes of single records.

use serde_json::{Value, json};

use super::{APPLY, OWNER, apply, body, bundle, changes};
use crate::support::{Request, Tenant};

/// Returns the address of the only record of a list.
fn only(tenant: &Tenant<'_>, list: &str) -> String {
    let records = tenant.get(list).is(200).json();
    let managed = records.as_array().into_iter().flatten();
    let managed = managed.filter(|record| record["managed_by"] == OWNER).collect::<Vec<_>>();
    assert_eq!(managed.len(), 1, "{list}: {records}");
    managed[0]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn changes_of_managed_records_are_refused_unless_they_are_forced() {
    let tenant = Tenant::new();
    let mut all = bundle();
    all["roles"] = json!([{"name": "head", "includes": ["nurse"]}]);
    apply(&tenant, &all);
    let role = "/api/v1/roles/head";
    let policy = format!("/api/v1/abac/policies/{}", only(&tenant, "/api/v1/abac/policies"));
    let webhook = format!("/api/v1/webhooks/{}", only(&tenant, "/api/v1/webhooks"));
    let resource = format!("/api/v1/resources/{}", only(&tenant, "/api/v1/resources"));
    let rules = "/api/v1/resources/policies";
    let rule = json!({"id": only(&tenant, rules)});
    let effect = json!({"id": rule["id"], "effect": "deny"});
    // Without a domain, a key means another one in `saas` mode.
    let dom = &tenant.name;
    let of_role = json!({"sub": "reader", "dom": dom, "obj": "wiki:read", "act": "read"});
    let rows: [(String, Value, u16); 10] = [
        (format!("PUT {policy}"), json!({"priority": 11}), 200),
        (format!("PUT {webhook}"), json!({"events": ["policy.rbac.changed"]}), 200),
        (format!("PUT {rules}"), effect, 200),
        (format!("PUT {role}"), json!({"includes": ["doctor"]}), 200),
        (format!("DELETE {role}"), Value::Null, 204),
        (format!("DELETE {rules}"), of_role, 204),
        (format!("DELETE {rules}"), rule, 204),
        (format!("DELETE {policy}"), Value::Null, 204),
        (format!("DELETE {webhook}"), Value::Null, 204),
        (format!("DELETE {resource}"), Value::Null, 204),
    ];
    let body = json!({"name": "k", "permissions": ["policies:write", "webhooks:write", "resources:write"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    for (route, body, served) in rows {
        let with_body =
            |request: Request| if body.is_null() { request } else { request.json(&body) };
        let refused = tenant.send(&with_body(tenant.managing(&*route)));
        let refused = refused.refused(409, "MANAGED");
        assert_eq!(refused.details(), json!({"managed_by": OWNER}), "{route}");
        let forced = format!("{route}?force=true");
        let by_key = with_body(Request::new(&*forced)).header("x-service-api-key", &key);
        by_key.send(tenant.address).refused(403, "ACCESS_DENIED");
        let reply = tenant.send(&with_body(tenant.managing(forced)));
        assert_eq!(reply.status, served, "{route}: {}", reply.text);
    }
    // The next plan shows what is missing.
    let planned = tenant.manage(super::PLAN, &super::body(&all)).is(200).json();
    assert_eq!(planned["counts"]["create"], 5);
}

#[test]
fn a_forced_change_keeps_the_owner_and_shows_as_difference() {
    let tenant = Tenant::new();
    apply(&tenant, &bundle());
    let id = only(&tenant, "/api/v1/abac/policies");
    let route = format!("PUT /api/v1/abac/policies/{id}?force=true");
    let changed = tenant.manage(route, &json!({"priority": 11})).is(200).json();
    assert_eq!(changed["managed_by"], OWNER);
    let planned = tenant.manage(super::PLAN, &body(&bundle())).is(200).json();
    assert_eq!(changes(&planned), ["update policy blocked"]);
    let field = json!([{"path": "/priority", "before": 11, "after": 10}]);
    assert_eq!(planned["changes"][0]["fields"], field);
}

#[test]
fn a_registration_that_meets_a_managed_resource_changes_nothing_and_says_so() {
    let tenant = Tenant::new();
    apply(&tenant, &bundle());
    let before = tenant.get("/api/v1/resources").is(200).json();
    let registration = json!({"name": "wiki:read", "displayName": "other"});
    let reply = tenant.manage("POST /api/v1/resources", &registration).is(200).json();
    assert_eq!(reply["warnings"][0]["code"], "MANAGED");
    assert_eq!(reply["displayName"], Value::Null);
    let bulk = json!([registration, {"name": "doc:read"}]);
    let reply = tenant.manage("POST /api/v1/resources/list", &bulk).is(200).json();
    assert_eq!(reply[0]["warnings"][0]["code"], "MANAGED");
    assert_eq!(reply[1].get("warnings"), None);
    assert_eq!(tenant.get("/api/v1/resources").is(200).json()[0], before[0]);
    let forced = tenant.manage("POST /api/v1/resources?force=true", &registration).is(200).json();
    assert_eq!((&forced["displayName"], &forced["managed_by"]), (&json!("other"), &json!(OWNER)));
    assert_eq!(forced.get("warnings"), None);
    tenant.manage(APPLY, &body(&bundle())).is(200);
}
