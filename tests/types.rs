//! `/api/v1/types`: what a tenant declares (`docs/semantics.md`, section 12.9).

use serde_json::{Value, json};

use crate::support::tenant::{Decision, always, condition};
use crate::support::{Reply, Request, Tenant};

fn declare(tenant: &Tenant<'_>, name: &str, properties: &Value) -> Reply {
    tenant.manage(format!("PUT /api/v1/types/{name}"), &json!({"properties": properties}))
}

fn write(tenant: &Tenant<'_>, kind: &str, id: &str, properties: &Value) -> Reply {
    let entity = json!({"type": kind, "id": id, "properties": properties});
    tenant.manage("PUT /api/v1/entities", &json!({"entities": [entity]}))
}

#[test]
fn a_type_is_declared_shown_and_taken_back() {
    let tenant = Tenant::new();
    tenant.get("/api/v1/types/user").refused(404, "NOT_FOUND");
    let owner = json!({"owner": {"type": "text", "from": "directory"}});
    let created = declare(&tenant, "document", &owner).is(201);
    assert_eq!(created.revision(), 1);
    assert_eq!(created.json()["properties"], owner);
    assert_eq!(declare(&tenant, "document", &owner).is(200).revision(), 1);
    assert_eq!(declare(&tenant, "user", &json!({"team": {"type": "text"}})).is(201).revision(), 2);
    let listed = tenant.get("/api/v1/types").is(200).json();
    let listed: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["type"]).collect();
    assert_eq!(listed, ["document", "user"]);
    let path = "/api/v1/types/document";
    let tag = tenant.get(path).is(200).header("etag").unwrap().to_owned();
    let change = || tenant.managing(format!("PUT {path}")).json(&json!({"about": "A file"}));
    tenant.send(&change().header("if-match", "\"other\"")).refused(412, "PRECONDITION_FAILED");
    tenant.send(&change().header("if-match", &tag)).is(200);
    assert_eq!(tenant.delete(path).is(204).revision(), 4);
    tenant.get(path).refused(404, "NOT_FOUND");
    tenant.delete(path).refused(404, "NOT_FOUND");
    let named = json!({"type": "chart", "properties": {}});
    let refused = tenant.manage(format!("PUT {path}"), &named).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.details()["path"], "/type");
    declare(&tenant, "a:b", &json!({})).refused(404, "NOT_FOUND");
}

#[test]
fn an_undeclared_name_is_a_fault_in_policies_and_entities() {
    let tenant = Tenant::new();
    let properties = json!({"confidential": {"type": "boolean"}, "level": {"type": "number"}});
    declare(&tenant, "document", &properties).is(201);
    let policy = |when: &str| {
        let body = json!({
            "name": "p", "resource": "document:read", "effect": "deny", "priority": 1,
            "format": "expression", "rule_data": {"expression": when},
        });
        tenant.manage("POST /api/v1/abac/policies", &body)
    };
    let refused =
        policy("(resource.confidental == true) ?? false").refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/rule_data/expression"]);
    assert!(
        refused.message().contains("did you mean `resource.confidential`?"),
        "{}",
        refused.text
    );
    policy("resource.level == \"high\"").refused(400, "VALIDATION_ERROR");
    policy("(resource.confidential == true) ?? false").is(201);

    let refused = write(&tenant, "document", "d", &json!({"confidental": true}));
    let refused = refused.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/entities/0/properties/confidental"]);
    assert!(refused.message().contains("did you mean `confidential`?"), "{}", refused.text);
    let refused = write(&tenant, "document", "d", &json!({"level": "high"}));
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/entities/0/properties/level"]);
    write(&tenant, "document", "d", &json!({"level": 3})).is(200);
    write(&tenant, "chart", "d", &json!({"level": "high"})).is(200);
}

#[test]
fn one_type_too_many_is_refused_as_such() {
    let tenant = Tenant::new();
    let types = |names: std::ops::Range<u32>| {
        let types: Vec<Value> = names.map(|n| json!({"type": format!("t{n}")})).collect();
        json!({"owner": format!("git:{}", types.len()), "bundle": {"types": types}})
    };
    tenant.manage("POST /api/v1/apply", &types(0..100)).is(200);
    for refused in [
        declare(&tenant, "one-more", &json!({})),
        tenant.manage("POST /api/v1/apply", &types(100..101)),
    ] {
        let message = refused.refused(409, "CONFLICT").message().to_owned();
        assert_eq!(message, "the tenant may have at most 100 types; delete some first");
    }
}

#[test]
fn rules_and_policies_name_relations_of_the_types_of_their_resources() {
    let tenant = Tenant::new();
    let rule =
        |sub: &str, obj: &str| json!({"sub": sub, "obj": obj, "act": "read", "effect": "allow"});
    let declared = json!({"relations": {"viewer": "[user]"}});
    tenant.manage("PUT /api/v1/types/document", &declared).is(201);
    for (sub, obj, hint) in [
        ("viewr@resource", "document:*", "did you mean `viewer@resource`?"),
        ("document:d1#viewr", "*", "did you mean `document:d1#viewer`?"),
        ("ann@example.com", "*", "`<relation>@resource`"),
    ] {
        let sent = rule(sub, obj);
        let refused = tenant.manage("POST /api/v1/resources/policies", &sent);
        let refused = refused.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/sub"]);
        assert!(refused.message().contains(hint), "{}", refused.text);
        let bundle = json!({"owner": "git:a", "bundle": {"rules": [sent]}});
        let refused = tenant.manage("POST /api/v1/apply", &bundle).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/bundle/rules/0/sub"]);
    }
    let sent = rule("viewer@resource", "document:*");
    let id = tenant.manage("POST /api/v1/resources/policies", &sent).is(201).id();
    let changed = json!({"id": id, "sub": "owner@resource"});
    let refused = tenant.manage("PUT /api/v1/resources/policies", &changed);
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/sub"]);
    let policy = |resource: &str| {
        let body = json!({
            "name": "p", "resource": resource, "effect": "allow", "priority": 1,
            "format": "expression", "rule_data": {"expression": "relation.viewer == true"},
        });
        tenant.manage("POST /api/v1/abac/policies", &body)
    };
    policy("document:read").is(201);
    // A type that is not declared may have any relation: the request may name another type.
    policy("page:*").is(201);
    tenant.manage("PUT /api/v1/types/page", &json!({})).refused(409, "CONFLICT");
}

#[test]
fn rules_on_relations_decide_checks_and_searches() {
    let tenant = Tenant::new();
    let claim = json!({"name": "groups", "absent": "nobody"});
    let group = json!({"relations": {"member": {"from": "[user]", "claim": claim}}});
    tenant.manage("PUT /api/v1/types/group", &group).is(201);
    let parent = json!({"from": "[group]", "request": "parent"});
    let document = json!({"relations": {"parent": parent, "viewer": "parent.member"}});
    tenant.manage("PUT /api/v1/types/document", &document).is(201);
    let allow = tenant.rule("viewer@resource", "document:read", "read", "allow");
    let deny = tenant.rule("group:out#member", "document:*", "*", "deny");
    // A role that is spelled as a relation is a text.
    let token = |groups: &[&str]| {
        tenant.token_with("ann", &["viewer@resource"], &json!({"groups": groups}))
    };
    let about = |attributes: Value| {
        let mut body = json!({"subject": "ann", "resource": "document:read", "action": "read"});
        body["attributes"] = attributes;
        body
    };
    let of = |parent: &str| about(json!({"resource": {"id": "d1", "parent": parent}}));
    let decide =
        |groups: &[&str], body: &Value| Decision::new(&tenant.check_by(&token(groups), body));
    decide(&["eng"], &of("group:eng")).is("allow", &allow);
    decide(&["eng"], &of("group:hr")).is_default();
    decide(&["eng"], &about(json!({}))).is_default();
    decide(&["eng", "out"], &of("group:eng")).is("deny", &deny);
    // What cannot be told denies, and says so.
    let broken = decide(&["eng"], &of("eng"));
    broken.is_default();
    assert!(
        broken.reason.contains("the subject of RBAC rule `viewer@resource,"),
        "{}",
        broken.reason
    );

    let candidate = |id: &str, group: &str| json!({"id": id, "properties": {"parent": format!("group:{group}")}});
    let mut body = about(json!({}));
    body["candidates"] = json!([candidate("d1", "eng"), candidate("d2", "hr")]);
    let search = |groups: &[&str]| {
        let request = Request::new("POST /api/v1/search/resources").token(&token(groups));
        let found = tenant.send(&request.json(&body)).is(200).json();
        assert_eq!(found["conditional"], json!([]), "{found}");
        found["results"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect()
    };
    let found: Vec<Value> = search(&["eng"]);
    assert_eq!(found, ["d1"]);
    let found: Vec<Value> = search(&["eng", "out"]);
    assert!(found.is_empty());

    // The relation to each row stays open. The one to a fixed object is looked up.
    tenant.rule("group:eng#member", "note:read", "read", "allow");
    let plan = |resource: &str| {
        let body = json!({
            "subject": "ann", "resource": resource, "action": "read", "residual": "check",
        });
        tenant.manage("POST /api/v1/plan", &body).is(200).json()
    };
    let open = plan("document:read");
    assert_eq!((&open["kind"], &open["exact"]), (&json!("conditional"), &json!(false)), "{open}");
    assert_eq!(open["reads"], json!(["relation.viewer"]));
    assert_eq!(plan("note:read")["kind"], "never");
}

#[test]
fn types_that_stored_objects_would_break_are_refused_and_list_them() {
    let tenant = Tenant::new();
    tenant.policy(
        "reads-owner",
        "document:read",
        "allow",
        1,
        &condition("resource.owner", "eq", "ann"),
    );
    tenant.policy("reads-nothing", "document:read", "deny", 1, &always());
    for id in 0..25 {
        write(&tenant, "document", &format!("d{id}"), &json!({"team": "red"})).is(200);
    }
    write(&tenant, "chart", "c", &json!({"owner": 1})).is(200);
    let refused = declare(&tenant, "document", &json!({"level": {"type": "number"}}));
    let details = refused.refused(409, "CONFLICT").details();
    assert_eq!(details["count"], 26);
    let broken = details["broken"].as_array().unwrap().clone();
    assert_eq!(broken.len(), 20);
    assert_eq!((&broken[0]["kind"], &broken[0]["name"]), (&json!("policy"), &json!("reads-owner")));
    assert_eq!((&broken[1]["kind"], &broken[1]["name"]), (&json!("entity"), &json!("document:d0")));
    // A wrong type of a value counts, too; and the declaration that fits is taken.
    let wrong = json!({"owner": {"type": "text"}, "team": {"type": "number"}});
    assert_eq!(
        declare(&tenant, "document", &wrong).refused(409, "CONFLICT").details()["count"],
        25
    );
    let fitting = json!({"owner": {"type": "text"}, "team": {"type": "text"}});
    declare(&tenant, "document", &fitting).is(201);
    declare(&tenant, "document", &json!({"owner": {"type": "text"}})).refused(409, "CONFLICT");
}

#[test]
fn a_property_of_the_directory_is_taken_from_nowhere_else() {
    let tenant = Tenant::new();
    tenant.policy("cleared", "document:read", "allow", 1, &condition("user.cleared", "eq", true));
    let check = |subject: &str| {
        let attributes = json!({"user": {"roles": [], "cleared": true}});
        let body = json!({
            "subject": subject, "resource": "document:read", "action": "read", "attributes": attributes,
        });
        tenant.check(&body).is(200).text_of("decision")
    };
    assert_eq!((check("ann"), check("bob")), ("allow".to_owned(), "allow".to_owned()));
    declare(&tenant, "user", &json!({"cleared": {"type": "boolean", "from": "directory"}})).is(201);
    assert_eq!((check("ann"), check("bob")), ("deny".to_owned(), "deny".to_owned()));
    write(&tenant, "user", "ann", &json!({"cleared": true})).is(200);
    write(&tenant, "user", "bob", &json!({"cleared": false})).is(200);
    assert_eq!((check("ann"), check("bob")), ("allow".to_owned(), "deny".to_owned()));
    let explained = tenant.manage(
        "POST /api/v1/check?explain=true",
        &json!({
            "subject": "bob", "resource": "document:read", "action": "read",
            "attributes": {"user": {"roles": [], "cleared": true}},
        }),
    );
    let attribute = explained.is(200).json()["explanation"]["attributes"][0].clone();
    assert_eq!(
        (&attribute["source"], &attribute["overridden"]),
        (&json!("directory"), &json!(true))
    );
}

#[test]
fn the_declarations_of_a_tenant_are_bounded_together() {
    let tenant = Tenant::new();
    let about = "x".repeat(500);
    let property = |n: usize| (format!("p{n}"), json!({"type": "text", "about": about}));
    let properties: serde_json::Map<_, _> = (0..200).map(property).collect();
    let declare = |n: usize| declare(&tenant, &format!("t{n}"), &json!(properties));
    for n in 0..4 {
        declare(n).is(201);
    }
    let refused = declare(4).refused(409, "CONFLICT");
    assert!(refused.message().contains("512 KiB"), "{}", refused.text);
    declare(3).is(200);
}
