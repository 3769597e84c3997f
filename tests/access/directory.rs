//! Plans, permissions and matrices of subjects whom the directory knows (`docs/semantics.md`, section 12.5).

use serde_json::{Value, json};

use super::{MATRIX, PERMISSIONS, PLAN};
use crate::support::Tenant;

/// The registered resources, and for each subject the decisions on them: `?` depends on the request.
const VERBS: [&str; 4] = ["read", "write", "sign", "lead"];
const EXPECTED: [(&str, [&str; 4]); 7] = [
    ("ann", ["allow", "allow", "allow", "deny"]),
    // A role in this domain, and one in another.
    ("ben", ["allow", "?", "allow", "deny"]),
    ("cay", ["deny", "deny", "deny", "deny"]),
    // Roles that others include, directly and by others.
    ("dan", ["allow", "?", "allow", "allow"]),
    ("eli", ["allow", "allow", "allow", "allow"]),
    ("svc:ci", ["allow", "?", "deny", "deny"]),
    ("nobody", ["deny", "?", "deny", "deny"]),
];

pub(super) fn hospital() -> Tenant<'static> {
    let tenant = Tenant::new();
    for verb in VERBS {
        let resource = json!({"name": format!("chart:{verb}")});
        tenant.manage("POST /api/v1/resources", &resource).is(201);
    }
    tenant.rule("doctor", "chart:read", "read", "allow");
    tenant.rule("svc:ci", "chart:read", "read", "allow");
    tenant.rule("head", "chart:lead", "lead", "allow");
    let roles = json!({"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": "doctor"});
    tenant.policy("doctors", "chart:sign", "allow", 1, &roles);
    let ward =
        json!({"type": "CONDITION", "attribute": "user.ward", "operator": "eq", "value": "er"});
    tenant.policy("er", "chart:write", "allow", 1, &ward);
    for (role, included) in [("head", "doctor"), ("chief", "head")] {
        let includes = json!({"includes": [included]});
        tenant.manage(format!("PUT /api/v1/roles/{role}"), &includes).is(201);
    }
    let user = |id: &str, more: Value| {
        let mut user = json!({"type": "user", "id": id});
        user.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        user
    };
    let entities = json!([
        user("ann", json!({"roles": ["doctor"], "properties": {"ward": "er"}})),
        user("ben", json!({"domain_roles": {&tenant.name: ["doctor"], "else": ["head"]}})),
        user("cay", json!({"domain_roles": {"else": ["doctor"]}, "properties": {"ward": "icu"}})),
        user("dan", json!({"roles": ["head"]})),
        user("eli", json!({"domain_roles": {&tenant.name: ["chief"]}, "properties": {"ward": "er"}})),
        {"type": "svc", "id": "ci"},
        {"type": "chart", "id": "c1", "properties": {"ward": "er"}},
    ]);
    tenant.manage("PUT /api/v1/entities", &json!({"entities": entities})).is(200);
    tenant
}

fn check(tenant: &Tenant<'_>, subject: &str, verb: &str, attributes: &Value) -> String {
    let body = json!({
        "subject": subject, "resource": format!("chart:{verb}"), "action": verb, "attributes": attributes,
    });
    tenant.check(&body).is(200).text_of("decision")
}

fn permissions(tenant: &Tenant<'_>, subject: &str, attributes: &Value) -> Vec<String> {
    let body = json!({"subject": subject, "attributes": attributes});
    let listed = tenant.manage(PERMISSIONS, &body).is(200).json();
    assert_eq!((&listed["complete"], listed.get("next")), (&json!(true), None));
    decisions(&listed["results"], "depends")
}

fn decisions(cells: &Value, open: &str) -> Vec<String> {
    let cells = cells.as_array().expect("cells").iter();
    let decision = |cell: &Value| cell["decision"].as_str().unwrap().replace(open, "?");
    cells.map(decision).collect()
}

fn directory_wins(tenant: &Tenant<'_>) {
    let bundle = json!({"settings": {"directory_wins": true}});
    let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
    tenant.manage("POST /api/v1/apply", &body).is(200);
}

#[test]
fn permissions_and_matrices_are_the_decisions_of_checks() {
    let tenant = hospital();
    for (subject, expected) in EXPECTED {
        assert_eq!(permissions(&tenant, subject, &json!({})), expected, "{subject}");
        let matrix = json!({"subjects": [{"subject": subject}]});
        let answer = tenant.manage(MATRIX, &matrix).is(200).json();
        assert_eq!(decisions(&answer["cells"], "conditional"), expected, "{subject}");
        for (verb, expected) in VERBS.iter().zip(expected).filter(|(_, one)| *one != "?") {
            assert_eq!(check(&tenant, subject, verb, &json!({})), expected, "{subject} {verb}");
        }
    }
    let roles = json!({"roles": ["chief", "nurse"], "resources": ["chart:sign", "chart:lead"]});
    let answer = tenant.manage(MATRIX, &roles).is(200).json();
    assert_eq!(decisions(&answer["cells"], "conditional"), ["allow", "deny", "allow", "deny"]);
    // Roles of the request stand in place of those of the directory, an empty list included.
    let sent = json!({"subjects": [{"subject": "ann", "roles": []}], "resources": ["chart:read", "chart:write"]});
    let answer = tenant.manage(MATRIX, &sent).is(200).json();
    assert_eq!(decisions(&answer["cells"], "conditional"), ["deny", "allow"]);
}

#[test]
fn the_source_that_goes_first_is_that_of_checks() {
    let tenant = hospital();
    let sent = json!({"user": {"roles": ["chief"], "ward": "icu"}});
    let agree = |expected: [&str; 4]| {
        assert_eq!(permissions(&tenant, "ann", &sent), expected);
        assert_eq!(VERBS.map(|verb| check(&tenant, "ann", verb, &sent)), expected);
    };
    agree(["allow", "deny", "allow", "allow"]);
    directory_wins(&tenant);
    agree(["allow", "allow", "allow", "deny"]);
}

#[test]
fn the_tag_of_permissions_covers_entities_and_included_roles() {
    let tenant = hospital();
    let tag = || {
        let reply = tenant.manage(PERMISSIONS, &json!({"subject": "ann"})).is(200);
        reply.header("etag").expect("a tag").to_owned()
    };
    let first = tag();
    assert_eq!(tag(), first);
    let ward = |ward: &str| json!({"type": "user", "id": "ann", "roles": ["doctor"], "properties": {"ward": ward}});
    tenant.manage("PUT /api/v1/entities", &json!({"entities": [ward("icu")]})).is(200);
    let moved = tag();
    assert_ne!(moved, first);
    tenant.manage("PUT /api/v1/roles/doctor", &json!({"includes": ["nurse"]})).is(201);
    assert_ne!(tag(), moved);
}

#[test]
fn a_plan_knows_the_subject_and_leaves_rows_to_the_database() {
    let tenant = hospital();
    let ward = json!({"type": "CONDITION", "attribute": "resource.ward", "operator": "eq",
        "value": {"attribute": "user.ward"}});
    tenant.policy("own ward", "chart:list", "allow", 1, &ward);
    let plan = |resource: Value| {
        let body = json!({
            "subject": "ann", "resource": "chart:list", "action": "list", "attributes": {"resource": resource},
        });
        let plan = tenant.manage(PLAN, &body).is(200).json();
        (plan["kind"].clone(), plan["condition"]["text"].clone())
    };
    let of_rows = (json!("conditional"), json!(r#"resource.ward == "er""#));
    assert_eq!(plan(json!({})), of_rows);
    for (ward, expected) in [("er", "allow"), ("icu", "deny")] {
        let row = json!({"resource": {"ward": ward}});
        assert_eq!(check(&tenant, "ann", "list", &row), expected);
    }
    // A row goes before the directory, unless the tenant wants it the other way around.
    assert_eq!(plan(json!({"id": "c1"})), of_rows);
    directory_wins(&tenant);
    assert_eq!(plan(json!({"id": "c1"})), (json!("always"), json!(null)));
    assert_eq!(
        check(&tenant, "ann", "list", &json!({"resource": {"id": "c1", "ward": "icu"}})),
        "allow"
    );
    // Included roles decide a plan as they decide a check.
    let body = json!({"subject": "dan", "resource": "chart:read", "action": "read"});
    assert_eq!(tenant.manage(PLAN, &body).is(200).json()["kind"], "always");
}
