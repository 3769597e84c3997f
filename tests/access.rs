//! Plans of rows, permissions and matrices: who may do what, without a check for each.

mod commands;
mod directory;

use serde_json::{Value, json};

use crate::support::{Reply, Request, Tenant};

const PLAN: &str = "POST /api/v1/plan";
const PERMISSIONS: &str = "POST /api/v1/permissions";
const MATRIX: &str = "POST /api/v1/matrix";

fn key(tenant: &Tenant<'_>, permissions: &[&str]) -> String {
    let body = json!({"name": "lists", "permissions": permissions});
    tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key")
}

fn by_key(tenant: &Tenant<'_>, key: &str, route: &str, body: &Value) -> Reply {
    tenant.send(&Request::new(route).header("x-service-api-key", key).json(body))
}

fn by(tenant: &Tenant<'_>, subject: &str, roles: &[&str], route: &str, body: &Value) -> Reply {
    tenant.send(&Request::new(route).token(&tenant.token(subject, roles)).json(body))
}

fn owned() -> Value {
    let subject = json!({"attribute": "request.subject"});
    json!({"type": "CONDITION", "attribute": "resource.owner", "operator": "eq", "value": subject})
}

fn plan_of(tenant: &Tenant<'_>, more: &Value) -> Value {
    let mut body = json!({
        "subject": "dana", "resource": "doc:read", "action": "read", "domain": tenant.name,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

#[test]
fn a_plan_says_which_rows_are_allowed() {
    let tenant = Tenant::new();
    let plan = |more: Value| tenant.manage(PLAN, &plan_of(&tenant, &more)).is(200);
    let none = plan(json!({"dialect": "sqlite"})).json();
    assert_eq!((&none["kind"], &none["condition"]), (&json!("never"), &json!(null)));
    assert_eq!(none["sql"], json!({"text": "FALSE", "params": []}));
    let id = tenant.policy("own", "doc:read", "allow", 1, &owned());
    let columns = json!({"resource.owner": {"sql": "d.owner_id", "type": "text"}});
    let reply = plan(json!({"dialect": "postgres", "columns": columns}));
    let some = reply.json();
    assert_eq!(some["kind"], "conditional");
    assert_eq!(some["reads"], json!(["resource.owner"]));
    assert_eq!(some["revision"], json!(reply.revision()));
    let policy = &some["condition"]["policies"][0];
    assert_eq!((&policy["id"], &policy["name"]), (&json!(id), &json!("own")));
    assert_eq!(policy["condition"]["value"], "dana");
    assert_eq!(some["condition"]["text"], r#"resource.owner == "dana""#);
    let text = r#"(((CAST("d"."owner_id" AS text) COLLATE "C") = CAST($1 AS text)) IS TRUE)"#;
    assert_eq!(some["sql"], json!({"text": text, "params": ["dana"]}));
    // A given attribute is no column.
    let given = json!({"attributes": {"resource": {"owner": "dana"}}});
    assert_eq!(plan(given).json()["kind"], "always");
    tenant.decide("dana", "doc:read", "read").is("deny", "default-deny");
}

#[test]
fn a_plan_that_cannot_be_exact_is_refused_by_name() {
    let tenant = Tenant::new();
    let tree = json!({
        "type": "CONDITION", "attribute": "resource.name", "operator": "matches", "value": "a.*",
    });
    let id = tenant.policy("patterns", "doc:read", "allow", 1, &tree);
    let columns = json!({"resource.name": {"sql": "name", "type": "text"}});
    let wanted = json!({"dialect": "sqlite", "columns": columns});
    let refused = tenant.manage(PLAN, &plan_of(&tenant, &wanted)).refused(422, "NOT_EXACT");
    assert_eq!(refused.json()["details"]["policies"][0]["id"], json!(id));
    assert!(refused.message().contains("policy `patterns`"), "{}", refused.message());
    let mut wanted = wanted;
    wanted["residual"] = json!("check");
    let superset = tenant.manage(PLAN, &plan_of(&tenant, &wanted)).is(200).json();
    assert_eq!((&superset["exact"], &superset["sql"]["text"]), (&json!(false), &json!("TRUE")));
    assert_eq!(superset["check"][0]["name"], "patterns");
    // Identifiers are names, and values are parameters.
    for sql in ["name; DROP TABLE docs", "name\" OR 1=1 --", "(SELECT 1)", "a.b.c.d", ""] {
        let columns = json!({"resource.name": {"sql": sql, "type": "text"}});
        let wanted = json!({"dialect": "sqlite", "columns": columns});
        let refused = tenant.manage(PLAN, &plan_of(&tenant, &wanted));
        refused.refused(400, "VALIDATION_ERROR");
    }
}

#[test]
fn conditions_are_for_managers_and_keys_that_read_policies() {
    let tenant = Tenant::new();
    tenant.policy("own", "doc:read", "allow", 1, &owned());
    let matrix = json!({"roles": ["reader"], "resources": ["doc:read"], "domain": tenant.name});
    let searching = key(&tenant, &["access:search"]);
    let both = key(&tenant, &["access:search", "policies:read"]);
    let reading = key(&tenant, &["access:evaluate", "policies:read"]);
    for (route, body) in [(PLAN, plan_of(&tenant, &json!({}))), (MATRIX, matrix)] {
        by(&tenant, "dana", &["user"], route, &body).refused(403, "ACCESS_DENIED");
        by_key(&tenant, &searching, route, &body).refused(403, "ACCESS_DENIED");
        by_key(&tenant, &reading, route, &body).refused(403, "ACCESS_DENIED");
        by_key(&tenant, &both, route, &body).is(200);
    }
}

#[test]
fn permissions_say_what_a_decision_depends_on() {
    let tenant = Tenant::new();
    for name in ["doc:read", "doc:sign", "wiki:edit"] {
        tenant.manage("POST /api/v1/resources", &json!({"name": name})).is(201);
    }
    tenant.rule("editor", "wiki:edit", "edit", "allow");
    tenant.policy("own", "doc:read", "allow", 1, &owned());
    let own = |body: &Value| by(&tenant, "dana", &["editor"], PERMISSIONS, body);
    let listed = own(&json!({})).is(200);
    let expected = json!([
        {"resource": "doc:read", "action": "read", "decision": "depends", "depends_on": ["resource.owner"]},
        {"resource": "doc:sign", "action": "sign", "decision": "deny", "depends_on": []},
        {"resource": "wiki:edit", "action": "edit", "decision": "allow", "depends_on": []},
    ]);
    assert_eq!(listed.json(), expected);
    // Nobody else's roles and rights.
    own(&json!({"subject": "bob"})).refused(403, "ACCESS_DENIED");
    let searching = key(&tenant, &["access:search"]);
    let of_key = |body: Value| by_key(&tenant, &searching, PERMISSIONS, &body);
    of_key(json!({"domain": tenant.name})).refused(400, "VALIDATION_ERROR");
    let bob = json!({"subject": "bob", "domain": tenant.name});
    assert_eq!(of_key(bob).is(200).json()[2]["decision"], "deny");
    let request = Request::new("POST /api/v1/permissions?limit=2").json(&json!({}));
    let page = tenant.send(&request.token(&tenant.token("dana", &["editor"]))).is(200);
    assert_eq!(page.json().as_array().map(Vec::len), Some(2));
    assert!(page.header("link").is_some());
}

#[test]
fn the_tag_of_permissions_covers_what_they_depend_on() {
    let tenant = Tenant::new();
    tenant.manage("POST /api/v1/resources", &json!({"name": "doc:read"})).is(201);
    let list = |roles: &[&str], body: Value, known: &str| {
        let request = Request::new(PERMISSIONS).token(&tenant.token("dana", roles)).json(&body);
        tenant.send(&request.header("if-none-match", known))
    };
    let tag = |reply: &Reply| reply.header("etag").map(str::to_owned);
    let first = tag(&list(&["editor"], json!({}), "").is(200)).expect("a tag");
    let again = list(&["editor"], json!({}), &first).is(304);
    assert_eq!((tag(&again), again.text.as_str()), (Some(first.clone()), ""));
    tenant.rule("editor", "doc:read", "read", "allow");
    let changed = tag(&list(&["editor"], json!({}), &first).is(200)).expect("a tag");
    assert_ne!(changed, first);
    list(&["reader"], json!({}), &changed).is(200);
    // The present changes without a change of the rules.
    let tree = json!({"type": "CONDITION", "attribute": "request.time", "operator": "after",
        "value": "2020-01-01T00:00:00Z"});
    tenant.policy("recently", "doc:read", "allow", 1, &tree);
    let listed = list(&["reader"], json!({}), &changed).is(200);
    assert_eq!((tag(&listed), &listed.json()[0]["decision"]), (None, &json!("allow")));
}

#[test]
fn a_matrix_is_decided() {
    let tenant = Tenant::new();
    let rule = tenant.rule("reader", "doc:read", "read", "allow");
    tenant.policy("own", "doc:sign", "allow", 1, &owned());
    let body = json!({
        "roles": ["reader"], "subjects": [{"subject": "bob", "roles": ["guest"]}],
        "resources": ["doc:read", "doc:sign"],
    });
    let answer = tenant.manage(MATRIX, &body).is(200).json();
    let cells = answer["cells"].as_array().expect("cells").iter();
    let shown: Vec<_> = cells
        .map(|cell| {
            let who = if cell["role"].is_null() { &cell["subject"] } else { &cell["role"] };
            json!([who, cell["resource"], cell["decision"], cell["rule_id"], cell["condition"]])
        })
        .collect();
    let condition = "resource.owner == request.subject";
    assert_eq!(
        shown,
        [
            json!(["bob", "doc:read", "deny", "default-deny", null]),
            json!(["reader", "doc:read", "allow", rule, null]),
            json!(["bob", "doc:sign", "conditional", null, r#"resource.owner == request.subject"#]),
            json!(["reader", "doc:sign", "conditional", null, condition]),
        ]
    );
    tenant.manage(MATRIX, &json!({"resources": ["doc:read"]})).refused(400, "VALIDATION_ERROR");
    let roles: Vec<String> = (0..200).map(|number| format!("role{number}")).collect();
    let resources: Vec<String> = (0..200).map(|number| format!("doc{number}:read")).collect();
    let large = json!({"roles": roles, "resources": resources});
    tenant.manage(MATRIX, &large).refused(400, "VALIDATION_ERROR");
}
