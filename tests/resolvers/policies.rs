//! Policies that read what resolvers answer: saved only if there is such an attribute, and that stays so.

use serde_json::{Value, json};

use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::{Reply, Tenant};

const POLICIES: &str = "/api/v1/abac/policies";

fn test(attribute: &str, operator: &str, value: &Value) -> Value {
    json!({"type": "CONDITION", "attribute": attribute, "operator": operator, "value": value})
}

fn department() -> Value {
    test("hr.department", "eq", &json!("obstetrics"))
}

fn create(tenant: &Tenant<'_>, tree: &Value, enabled: bool) -> Reply {
    let policy = json!({
        "name": "p", "resource": "doc:read", "effect": "allow", "priority": 1, "rule_data": tree,
        "enabled": enabled,
    });
    tenant.manage(format!("POST {POLICIES}"), &policy)
}

#[test]
fn a_policy_reads_what_a_resolver_answers() {
    let tenant = Tenant::new();
    let unknown = create(&tenant, &department(), true).invalid();
    assert_eq!(unknown.text_of_details("path"), "/rule_data/attribute");
    assert!(unknown.message().contains("no resolver `hr`"), "{}", unknown.text);
    // Another tenant's resolver is none.
    Tenant::new().directory("hr");
    create(&tenant, &department(), false).invalid();
    tenant.directory("hr");
    create(&tenant, &department(), true).is(201);
    for (tree, path) in [
        (test("hr.color", "eq", &json!("red")), "/rule_data/attribute"),
        (test("hr.department", "lt", &json!(3)), "/rule_data/attribute"),
        (test("user.a", "eq", &json!({"attribute": "hr.color"})), "/rule_data/value/attribute"),
        (
            json!({"type": "AND", "children": [department(), test("hr.manager", "eq", &json!("yes"))]}),
            "/rule_data/children/1/attribute",
        ),
    ] {
        let reply = create(&tenant, &tree, true).invalid();
        assert_eq!(reply.text_of_details("path"), path, "{}", reply.text);
    }
}

#[test]
fn an_update_of_a_policy_is_held_against_what_there_is_now() {
    let tenant = Tenant::new();
    let resolver = format!("{RESOLVERS}/{}", tenant.directory("hr"));
    let policy = format!("{POLICIES}/{}", create(&tenant, &department(), false).is(201).id());
    let update = |body: &Value| tenant.manage(format!("PUT {policy}"), body);
    update(&json!({"rule_data": test("hr.color", "eq", &json!("red"))})).invalid();
    tenant.delete(&resolver).is(204);
    // What is switched off may be kept as it is.
    update(&json!({"name": "q"})).is(200);
    let enabled = update(&json!({"enabled": true})).invalid();
    assert_eq!(enabled.text_of_details("path"), "/rule_data/attribute");
    tenant.directory("hr");
    update(&json!({"enabled": true})).is(200);
}

#[test]
fn a_resolver_that_an_enabled_policy_reads_is_neither_deleted_nor_renamed() {
    let tenant = Tenant::new();
    let resolver = format!("{RESOLVERS}/{}", tenant.directory("hr"));
    let reader = create(&tenant, &department(), true).is(201).id();
    create(&tenant, &test("hr.manager", "eq", &json!(true)), false).is(201);
    create(&tenant, &test("user.department", "eq", &json!("x")), true).is(201);
    let before = tenant.get(&resolver).json();
    let refused = |reply: Reply| {
        let reply = reply.refused(409, "CONFLICT");
        assert_eq!(reply.details(), json!({"policy_ids": [reader]}), "{}", reply.text);
    };
    refused(tenant.delete(&resolver));
    refused(tenant.manage(format!("PUT {resolver}"), &json!({"namespace": "staff"})));
    let manifest = json!({"config": {}, "endpoints": {"source": {"url": "https://hr.example/"}}});
    let other = Form::new(&manifest, &guest("behaviours"));
    refused(tenant.upload(format!("PUT {resolver}"), &other));
    assert_eq!(tenant.get(&resolver).json(), before);
    // It may be switched off, and everything else of it may change.
    tenant.manage(format!("PUT {resolver}"), &json!({"enabled": false})).is(200);
    tenant.manage(format!("PUT {resolver}"), &json!({"enabled": true, "cache_ttl_ms": 0})).is(200);
    let same = Form::new(&directory("hr"), &guest("directory"));
    tenant.upload(format!("PUT {resolver}"), &same).is(200);
    tenant.manage(format!("PUT {POLICIES}/{reader}"), &json!({"enabled": false})).is(200);
    tenant.upload(format!("PUT {resolver}"), &other).is(200);
    tenant.delete(&resolver).is(204);
}

#[test]
fn a_resolver_and_its_first_reader_do_not_miss_each_other() {
    let tenant = Tenant::new();
    for _ in 0..10 {
        let resolver = format!("{RESOLVERS}/{}", tenant.directory("hr"));
        let (deleted, created) = std::thread::scope(|scope| {
            let deleting = scope.spawn(|| tenant.delete(&resolver));
            let creating = scope.spawn(|| create(&tenant, &department(), true));
            (deleting.join().unwrap(), creating.join().unwrap())
        });
        match (deleted.status, created.status) {
            (204, 400) => {}
            (409, 201) => {
                tenant.delete(&format!("{POLICIES}/{}", created.id())).is(204);
                tenant.delete(&resolver).is(204);
            }
            both => panic!("{both:?}: {} {}", deleted.text, created.text),
        }
    }
}
