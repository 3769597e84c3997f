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

/// Columns are compared with the declared properties of their rows.
#[test]
fn a_column_fits_its_declared_property() {
    let tenant = Tenant::new();
    let kinds = [
        ("owner", "text"),
        ("folder", "ref<user>"),
        ("level", "number"),
        ("open", "boolean"),
        ("until", "datetime"),
        ("ip", "ip"),
        ("tags", "list<text>"),
    ];
    let properties = kinds.map(|(name, kind)| (name.to_owned(), json!({"type": kind})));
    let properties = json!({"properties": Value::Object(properties.into_iter().collect())});
    tenant.manage("PUT /api/v1/types/doc", &properties).is(201);
    tenant.policy("own", "doc:read", "allow", 1, &owned());
    let plan = |name: &str, column: &Value| {
        let columns = json!({name: column, "resource.owner": {"sql": "d.owner", "type": "text"}});
        tenant.manage(PLAN, &plan_of(&tenant, &json!({"dialect": "postgres", "columns": columns})))
    };
    let column = |kind: &str| json!({"sql": "d.x", "type": kind});
    let all = [
        "text",
        "integer",
        "number",
        "boolean",
        "timestamptz",
        "uuid",
        "date",
        "text[]",
        "integer[]",
    ];
    for (name, fitting) in [
        ("resource.folder", &["text", "uuid", "date"][..]),
        ("resource.level", &["integer", "number"]),
        ("resource.open", &["boolean"]),
        ("resource.until", &["timestamptz", "text"]),
        ("resource.ip", &["text"]),
        ("resource.tags", &["text[]", "integer[]"]),
        ("resource.id", &["text", "uuid", "date"]),
        // Nothing is declared for users.
        ("user.any", &all),
    ] {
        for kind in all {
            let reply = plan(name, &column(kind));
            if fitting.contains(&kind) {
                reply.is(200);
                continue;
            }
            let fault = reply.invalid();
            let at = format!("`/columns/{name}/type`");
            assert!(fault.text_of("message").contains(&at), "{name} {kind}: {}", fault.text);
        }
    }
    let pairs =
        json!({"pairs": {"table": "t", "row": "r", "value": "v"}, "key": "d.id", "type": "text"});
    let of = json!({"sql": "d.x", "type": "integer", "of": "user"});
    for (name, column, expected) in [
        ("resource.tags", &pairs, ""),
        ("resource.folder", &of, ""),
        ("resource.open", &json!({"present": "d.x"}), ""),
        (
            "resource.level",
            &of,
            "`/columns/resource.level/type`: expected `integer` or `number`, because `resource.level` is declared as number",
        ),
        ("resource.folder", &pairs, "is declared as ref<user>"),
        (
            "resource.until",
            &json!({"absent": "d.x"}),
            "`/columns/resource.until/absent`: expected `timestamptz` or `text`",
        ),
        (
            "resource.levle",
            &column("number"),
            "`/columns/resource.levle`: expected a declared property of `doc` (did you mean `resource.level`?)",
        ),
    ] {
        let reply = plan(name, column);
        if expected.is_empty() {
            reply.is(200);
        } else {
            let fault = reply.invalid();
            assert!(fault.text_of("message").contains(expected), "{name}: {}", fault.text);
        }
    }
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
    let text = concat!(
        r#"((CAST("d"."owner_id" AS text) = CAST($1 AS text) AND "#,
        r#"(CAST("d"."owner_id" AS text) COLLATE "C") = CAST($1 AS text)) AND "d"."owner_id" IS NOT NULL)"#,
    );
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
    for name in [
        "name; DROP TABLE docs",
        "name\" OR 1=1 --",
        "name` OR 1=1 --",
        "(SELECT 1)",
        "a.b.c.d",
        "",
    ] {
        let pairs = json!({"pairs": {"table": "t", "row": "r", "value": "v"}, "key": "d.id", "type": "text"});
        let mut columns = vec![json!({"sql": name, "type": "text"})];
        for place in ["/pairs/table", "/pairs/row", "/pairs/value", "/key"] {
            let mut column = pairs.clone();
            *column.pointer_mut(place).unwrap() = json!(name);
            columns.push(column);
        }
        for column in columns {
            let wanted = json!({"dialect": "sqlite", "columns": {"resource.name": column}});
            let refused = tenant.manage(PLAN, &plan_of(&tenant, &wanted));
            refused.refused(400, "VALIDATION_ERROR");
        }
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
    let sql = json!({"dialect": "sqlite"});
    by(&tenant, "dana", &["user"], PLAN, &plan_of(&tenant, &sql)).refused(403, "ACCESS_DENIED");
    by_key(&tenant, &reading, PLAN, &plan_of(&tenant, &sql)).refused(403, "ACCESS_DENIED");
    for (route, body) in [(PLAN, plan_of(&tenant, &json!({}))), (MATRIX, matrix)] {
        by(&tenant, "dana", &["user"], route, &body).refused(403, "ACCESS_DENIED");
        by_key(&tenant, &searching, route, &body).refused(403, "ACCESS_DENIED");
        by_key(&tenant, &reading, route, &body).refused(403, "ACCESS_DENIED");
        by_key(&tenant, &both, route, &body).is(200);
    }
}

/// A key that searches gets the SQL of a plan, and nothing that names policies or shows their conditions.
#[test]
fn a_key_that_searches_gets_sql_without_conditions() {
    let tenant = Tenant::new();
    tenant.policy("secret name", "doc:read", "allow", 1, &owned());
    let searching = key(&tenant, &["access:search"]);
    let columns = json!({
        "resource.owner": {"sql": "d.owner_id", "type": "text", "nullable": false, "collation": "binary"},
        "resource.archived": {"present": "d.archived_at"},
    });
    let wanted = plan_of(&tenant, &json!({"dialect": "sqlite", "columns": columns}));
    let whole = tenant.manage(PLAN, &wanted).is(200).json();
    let shown = by_key(&tenant, &searching, PLAN, &wanted).is(200).json();
    for member in ["kind", "sql", "exact", "reads", "revision"] {
        assert_eq!(shown[member], whole[member], "{member}");
    }
    assert_eq!(shown["sql"]["params"], json!(["dana"]));
    assert!(whole["condition"].is_object());
    assert_eq!(shown["condition"], json!(null));
    assert_eq!((&shown["known"], &shown["check"]), (&json!({}), &json!([])));
    let pattern = json!({
        "type": "CONDITION", "attribute": "resource.owner", "operator": "matches", "value": "d.*",
    });
    let unless = json!({"type": "NOT", "child": pattern});
    tenant.policy("another secret", "doc:read", "deny", 2, &unless);
    let refused = by_key(&tenant, &searching, PLAN, &wanted).refused(422, "NOT_EXACT");
    assert_eq!(
        refused.json()["details"],
        json!({"reasons": ["`matches` of `resource.owner` has no exact form in SQL"]})
    );
    assert!(!refused.message().contains("secret"), "{}", refused.message());
    let mut superset = wanted;
    superset["residual"] = json!("check");
    let shown = by_key(&tenant, &searching, PLAN, &superset).is(200).json();
    assert_eq!((&shown["exact"], &shown["check"]), (&json!(false), &json!([])));
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
    let answer = json!({"results": expected, "complete": true, "revision": listed.revision()});
    assert_eq!(listed.json(), answer);
    // Nobody else's roles and rights.
    own(&json!({"subject": "bob"})).refused(403, "ACCESS_DENIED");
    let searching = key(&tenant, &["access:search"]);
    let of_key = |body: Value| by_key(&tenant, &searching, PERMISSIONS, &body);
    of_key(json!({"domain": tenant.name})).refused(400, "VALIDATION_ERROR");
    let bob = json!({"subject": "bob", "domain": tenant.name});
    assert_eq!(of_key(bob).is(200).json()["results"][2]["decision"], "deny");
    let page = |query: String| {
        let request = Request::new(format!("POST /api/v1/permissions?limit=2{query}"));
        tenant.send(&request.json(&json!({})).token(&tenant.token("dana", &["editor"]))).is(200)
    };
    let first = page(String::new());
    assert_eq!(first.json()["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(first.json()["complete"], false);
    let next = first.text_of("next");
    assert!(first.header("link").is_some_and(|link| link.contains(&format!("cursor={next}"))));
    let last = page(format!("&cursor={next}"));
    let expected = json!({"results": [expected[2]], "complete": true, "revision": last.revision()});
    assert_eq!((last.json(), last.header("link")), (expected, None));
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
    assert_eq!((tag(&listed), &listed.json()["results"][0]["decision"]), (None, &json!("allow")));
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
    assert_eq!((&answer["complete"], answer.get("next")), (&json!(true), None));
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
}

/// A body of 267 KB names 200,000,000 cells. They are counted before anything is made of them.
#[test]
fn a_matrix_with_too_many_cells_is_refused_by_its_counts() {
    let tenant = Tenant::new();
    let names = |count: usize, name: &str| -> Vec<String> {
        (0..count).map(|number| format!("{name}{number}")).collect()
    };
    let resources = |count: usize| -> Vec<String> {
        (0..count).map(|number| format!("doc{number}:{}", "r".repeat(240))).collect()
    };
    for (roles, resources, actions) in
        [(200, resources(1_000), 1_000), (200, resources(126), 1), (1, resources(26), 1_000)]
    {
        let body = json!({
            "roles": names(roles, "role"), "resources": resources, "actions": names(actions, "act"),
        });
        let refused = tenant.manage(MATRIX, &body).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.json()["details"]["path"], "/resources");
        assert!(refused.message().contains("at most 25000 cells"), "{}", refused.message());
    }
    let all = json!({"roles": names(200, "role"), "actions": names(126, "act")});
    tenant.manage(MATRIX, &all).refused(400, "VALIDATION_ERROR");
}

/// Without resources a matrix has all that are registered, in pages.
#[test]
fn a_matrix_of_registered_resources_has_all_of_them() {
    let tenant = Tenant::new();
    tenant.rule("reader", "doc:*", "read", "allow");
    let names: Vec<String> = (0..2_100).map(|number| format!("doc:r{number:04}")).collect();
    for part in names.chunks(1_000) {
        let part: Vec<Value> = part.iter().map(|name| json!({"name": name})).collect();
        tenant.manage("POST /api/v1/resources/list", &json!(part)).is(200);
    }
    let mut body = json!({"roles": ["reader"], "actions": ["read"]});
    let (mut found, mut pages) = (Vec::new(), 0);
    loop {
        let page = tenant.manage(MATRIX, &body).is(200).json();
        let cells = page["cells"].as_array().expect("cells").iter();
        found.extend(cells.map(|cell| cell["resource"].as_str().expect("a name").to_owned()));
        pages += 1;
        assert_eq!(page["complete"] == true, page.get("next").is_none(), "{pages}");
        assert_eq!(page["rules_changed"], false);
        match page.get("next") {
            Some(next) => body["cursor"] = next.clone(),
            None => break,
        }
    }
    assert!(found == names && pages > 1, "{} of {pages} pages", found.len());
    body["roles"] = json!(["other"]);
    let refused = tenant.manage(MATRIX, &body).refused(400, "VALIDATION_ERROR").json();
    assert_eq!(refused["details"]["path"], "/cursor");
}
