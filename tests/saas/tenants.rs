//! `/admin/tenants`: who may, and what a tenant is.

use serde_json::json;

use crate::support::{Operator, Request, Tenant, is_timestamp, is_uuid_v7, names};

#[test]
fn a_tenant_is_created_with_a_full_record() {
    let operator = Operator::shared();
    let reply = operator.create("full-record").is(201);
    let record = reply.json();
    assert_eq!(names(&record), ["bootstrapKey", "created_at", "id", "name", "slug"]);
    assert!(is_uuid_v7(&reply.id()) && is_timestamp(&reply.text_of("created_at")), "{record}");
    assert_eq!((&record["name"], &record["slug"]), (&json!("Somebody"), &json!("full-record")));
    let listed = operator.get("/admin/tenants").is(200).json();
    let listed = listed.as_array().unwrap().iter().find(|tenant| tenant["id"] == record["id"]);
    let listed = listed.expect("it is in the list");
    assert_eq!(names(listed), ["created_at", "id", "name", "slug"], "the key is shown once");
}

#[test]
fn a_slug_is_unique_and_has_a_form() {
    let operator = Operator::shared();
    operator.create("unique").is(201);
    operator.create("unique").refused(409, "CONFLICT");
    for slug in ["", "a", "A-b", "-ab", "ab-", "a--b", "a b", "\u{e4}b", &"a".repeat(64)] {
        let reply = operator.create(slug).invalid();
        assert_eq!(reply.details()["path"], "/slug", "{slug}");
    }
    let missing = operator.send("POST /admin/tenants", &json!({})).invalid().details();
    assert_eq!(missing["missing_fields"], json!(["name", "slug"]));
}

#[test]
fn one_of_simultaneous_creations_of_a_slug_succeeds() {
    let operator = Operator::shared();
    let mut statuses = std::thread::scope(|scope| {
        let create = || operator.create("simultaneous").status;
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(create)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409]);
}

#[test]
fn only_the_admin_key_opens_the_operators_routes() {
    let tenant = Tenant::new();
    let list = Request::new("GET /admin/tenants");
    tenant.send(&list).refused(401, "UNAUTHENTICATED");
    let key = crate::support::server::ADMIN_KEY;
    for wrong in ["", "x", &key[1..], &key.to_uppercase(), &format!("{key} x")] {
        let request = list.clone().header("x-admin-api-key", wrong);
        tenant.send(&request).refused(401, "UNAUTHENTICATED");
    }
    tenant.send(&tenant.managing("GET /admin/tenants")).refused(401, "UNAUTHENTICATED");
    tenant.send(&list.clone().header("x-admin-api-key", key)).is(200);
    tenant.send(&list.token(key)).is(200);
}

#[test]
fn the_admin_key_opens_nothing_else() {
    let tenant = Tenant::new();
    for route in crate::support::routes::protected() {
        let request = Operator::request(&route).json(&json!({}));
        tenant.send(&request).refused(401, "UNAUTHENTICATED");
    }
}
