//! `/api/v1/revisions`: the history of a tenant (`docs/semantics.md`, section 16).

use serde_json::{Value, json};

use crate::support::tenant::always;
use crate::support::{NO_ID, Reply, Tenant};

fn of(reply: &Value, member: &str) -> Vec<Value> {
    reply.as_array().expect("a list").iter().map(|one| one[member].clone()).collect()
}

fn include(tenant: &Tenant<'_>, name: &str, includes: &[&str]) -> Reply {
    tenant.manage(format!("PUT /api/v1/roles/{name}"), &json!({"includes": includes}))
}

#[test]
fn each_acknowledged_write_is_a_revision_with_its_changes() {
    let tenant = Tenant::new();
    let policy = tenant.policy("p", "doc:read", "deny", 1, &always());
    let path = format!("PUT /api/v1/abac/policies/{policy}");
    tenant.manage(&path, &json!({"priority": "high"})).refused(400, "VALIDATION_ERROR");
    let update = tenant.managing(&path).json(&json!({"priority": 2}));
    tenant.send(&update.header("x-request-id", "update-1")).is(200);
    let bundle = json!({
        "owner": "git:a", "message": "two rules", "source": {"commit": "3f2c"},
        "bundle": {"rules": [
            {"sub": "ann", "obj": "doc:read", "act": "read", "effect": "allow"},
            {"sub": "bob", "obj": "doc:read", "act": "read", "effect": "allow"},
        ]},
    });
    tenant.manage("POST /api/v1/apply", &bundle).is(200);
    tenant.delete(&format!("/api/v1/abac/policies/{policy}")).is(204);

    let list = tenant.get("/api/v1/revisions").is(200).json();
    assert_eq!(of(&list, "revision"), [4, 3, 2, 1]);
    assert_eq!(of(&list, "via"), ["api", "apply", "api", "api"]);
    assert_eq!(of(&list, "count"), [1, 2, 1, 1]);
    assert_eq!(of(&list, "actor"), ["boss", "boss", "boss", "boss"]);
    assert_eq!(list[2]["request_id"], "update-1");
    assert_eq!(
        (&list[1]["message"], &list[1]["source"]["commit"]),
        (&json!("two rules"), &json!("3f2c"))
    );

    let update = tenant.get("/api/v1/revisions/2").is(200).json();
    let change = json!({
        "record": policy, "kind": "policy", "name": "p", "action": "update",
        "fields": [{"path": "/priority", "before": 1, "after": 2}],
        "words": "policy `p`: `priority` from 1 to 2",
    });
    assert_eq!((&update["changes"], &update["complete"]), (&json!([change]), &json!(true)));
    let history = tenant.get(&format!("/api/v1/abac/policies/{policy}/history")).is(200).json();
    assert_eq!(of(&history, "revision"), [4, 2, 1]);
    assert_eq!(history[1]["change"], change);
    tenant.get(&format!("/api/v1/abac/policies/{NO_ID}/history")).refused(404, "NOT_FOUND");
}

#[test]
fn a_diff_has_what_differs_in_its_direction() {
    let tenant = Tenant::new();
    for (name, includes) in
        [("a", &["x"][..]), ("b", &["x"]), ("a", &["y"]), ("b", &["y"]), ("b", &["x"])]
    {
        include(&tenant, name, includes);
    }
    let words = |path: &str| {
        let diff = tenant.get(&format!("/api/v1/revisions/{path}")).is(200).json();
        of(&diff["changes"], "words")
    };
    let [there, back] = ["[\"x\"] to [\"y\"]", "[\"y\"] to [\"x\"]"];
    assert_eq!(words("2/diff/5"), [format!("role `a`: `includes` from {there}")]);
    assert_eq!(words("5/diff/2"), [format!("role `a`: `includes` from {back}")]);
    assert_eq!(words("1/diff/2"), ["role `b` created"]);
    assert_eq!(words("2/diff/1"), ["role `b` deleted"]);
    assert_eq!(words("2/diff/2"), Vec::<Value>::new());
    for path in ["0/diff/1", "1/diff/6", "6", "x", "1/diff/-1", "18446744073709551616"] {
        tenant.get(&format!("/api/v1/revisions/{path}")).refused(404, "NOT_FOUND");
    }
}

#[test]
fn lists_and_changes_come_in_pages() {
    let tenant = Tenant::new();
    let rule = |n: u32| json!({"sub": format!("s{n}"), "obj": "doc:read", "act": "read", "effect": "allow"});
    let rules: Vec<Value> = (0..5).map(rule).collect();
    tenant.manage("POST /api/v1/apply", &json!({"owner": "o", "bundle": {"rules": rules}})).is(200);
    let (mut path, mut found) = ("/api/v1/revisions/1?limit=2".to_owned(), Vec::new());
    loop {
        let page = tenant.get(&path).is(200).json();
        found.extend(of(&page["changes"], "name"));
        assert_eq!(page["complete"], page["next"].is_null());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/v1/revisions/1?limit=2&cursor={next}");
    }
    found.sort_by_key(Value::to_string);
    let expected: Vec<Value> =
        (0..5).map(|n| json!(format!("s{n}, {}, doc:read, read", tenant.name))).collect();
    assert_eq!(found, expected);
    include(&tenant, "a", &["b"]);
    let page = tenant.get("/api/v1/revisions?limit=1").is(200);
    assert_eq!(of(&page.json(), "revision"), [2]);
    let next = page.next_page().expect("there is more");
    assert_eq!(of(&tenant.get(next).is(200).json(), "revision"), [1]);
    tenant.get("/api/v1/revisions?cursor=x").refused(400, "BAD_REQUEST");
}

#[test]
fn settings_and_cases_are_in_the_history() {
    let tenant = Tenant::new();
    let check = json!({"subject": "ann", "resource": "doc:read", "action": "read"});
    let case = |name: &str| {
        let expect = json!({"decision": "deny", "rule": "default-deny"});
        json!({"name": name, "check": check, "expect": expect})
    };
    for (deletes, name) in [(30, "a"), (40, "b")] {
        let bundle = json!({"settings": {"max_deletes": deletes}, "cases": [case(name)]});
        tenant.manage("POST /api/v1/apply", &json!({"owner": "o", "bundle": bundle})).is(200);
    }
    let second = tenant.get("/api/v1/revisions/2").is(200).json();
    let paths = |kind: &str| {
        let changes = second["changes"].as_array().expect("a list").iter();
        let fields =
            changes.filter(|one| one["kind"] == kind).map(|one| of(&one["fields"], "path"));
        fields.flatten().collect::<Vec<_>>()
    };
    assert_eq!(paths("settings"), ["/max_deletes"]);
    assert_eq!(paths("case"), ["/cases/a", "/cases/b"]);
}

#[test]
fn a_restored_revision_has_its_records_with_their_ids() {
    let tenant = Tenant::new();
    let policy = tenant.policy("p", "doc:read", "deny", 1, &always());
    let kept = tenant.get(&format!("/api/v1/abac/policies/{policy}")).is(200).json();
    include(&tenant, "head", &["nurse"]);
    tenant.delete(&format!("/api/v1/abac/policies/{policy}")).is(204);
    include(&tenant, "head", &["other"]);
    tenant.rule("ann", "doc:read", "read", "allow");
    let restore = "POST /api/v1/revisions/2/restore";

    let plan = tenant.manage(format!("{restore}?dry_run=true"), &json!({})).is(200).json();
    assert_eq!((&plan["applied"], &plan["revision"]), (&json!(false), &json!(5)));
    let counts = json!({"create": 1, "update": 1, "delete": 1, "adopt": 0, "unchanged": 0});
    assert_eq!(plan["counts"], counts);
    tenant.get(&format!("/api/v1/abac/policies/{policy}")).refused(404, "NOT_FOUND");

    let stale = tenant.managing(restore).json(&json!({})).header("if-match", "\"4\"");
    tenant.send(&stale).refused(412, "PRECONDITION_FAILED");
    let fresh = tenant.managing(restore).json(&json!({"message": "back"}));
    let done = tenant.send(&fresh.header("if-match", "\"5\"")).is(200).json();
    assert_eq!((&done["applied"], &done["revision"]), (&json!(true), &json!(6)));
    assert_eq!(done["counts"], counts);
    let back = tenant.get(&format!("/api/v1/abac/policies/{policy}")).is(200).json();
    assert_eq!(back, kept);
    let head = tenant.get("/api/v1/roles/head").is(200).json();
    assert_eq!(head["includes"], json!(["nurse"]));
    let rules = tenant.get("/api/v1/resources/policies").is(200).json();
    assert_eq!(rules, json!([]));
    let diff = tenant.get("/api/v1/revisions/2/diff/6").is(200).json();
    assert_eq!(diff["changes"], json!([]));
    let made = tenant.get("/api/v1/revisions/6").is(200).json();
    assert_eq!((&made["via"], &made["message"]), (&json!("restore"), &json!("back")));

    let again = tenant.manage(restore, &json!({})).is(200).json();
    assert_eq!((&again["changes"], &again["revision"]), (&json!([]), &json!(6)));
    for revision in ["0", "7", "x"] {
        let path = format!("POST /api/v1/revisions/{revision}/restore");
        tenant.manage(path, &json!({})).refused(404, "NOT_FOUND");
    }
}

#[test]
fn gates_judge_a_restoration() {
    let tenant = Tenant::new();
    let rule = tenant.rule("ann", "doc:read", "read", "allow");
    let apply = |bundle: Value| {
        let body = json!({"owner": "git:a", "bundle": bundle});
        tenant.manage("POST /api/v1/apply", &body).is(200);
    };
    let check = json!({"subject": "ann", "resource": "doc:read", "action": "read"});
    apply(
        json!({"cases": [{"name": "ann is out", "check": check, "expect": {"decision": "deny", "rule": "default-deny"}}]}),
    );
    tenant.manage("DELETE /api/v1/resources/policies", &json!({"id": rule})).is(204);
    apply(json!({"settings": {"gates": {"cases": true}}}));
    // Revision 2 has no gate; those of the present hold.
    let restored = tenant.manage("POST /api/v1/revisions/2/restore", &json!({}));
    assert!(restored.refused(422, "CASES_FAILED").text.contains("ann is out"));
    assert_eq!(tenant.get("/api/v1/resources/policies").is(200).json(), json!([]));
}

#[test]
fn an_explained_check_asks_an_earlier_revision() {
    let tenant = Tenant::new();
    let rule = tenant.rule("ann", "doc:read", "read", "allow");
    tenant.policy("p", "doc:read", "deny", 1, &always());
    tenant.manage("DELETE /api/v1/resources/policies", &json!({"id": rule})).is(204);
    let body = |at: &Value| json!({"subject": "ann", "resource": "doc:read", "action": "read", "at_revision": at});
    let check = "POST /api/v1/check?explain=true";
    for (at, decision) in [(1, "allow"), (2, "deny"), (3, "deny")] {
        let answer = tenant.manage(check, &body(&json!(at))).is(200);
        assert_eq!(answer.header("x-policy-revision"), Some(&*at.to_string()));
        let answer = answer.json();
        assert_eq!(answer["decision"], decision, "{at}: {answer}");
        assert_eq!(answer["explanation"]["revision"], at);
        assert_eq!(answer.get("directory"), None);
    }
    for at in [0, 4] {
        tenant.manage(check, &body(&json!(at))).refused(404, "NOT_FOUND");
    }
    tenant.manage(check, &body(&json!("1"))).refused(400, "VALIDATION_ERROR");
    tenant.manage("POST /api/v1/check", &body(&json!(1))).refused(400, "VALIDATION_ERROR");
    let member = tenant.token("ann", &[]);
    let request = crate::support::Request::new(check).token(&member).json(&body(&json!(1)));
    tenant.send(&request).refused(403, "ACCESS_DENIED");

    tenant.manage("PUT /api/v1/entities/user/ann", &json!({"roles": ["nurse"]})).is(201);
    tenant.rule("nurse", "doc:write", "write", "allow");
    // The rules of then read the roles of now.
    let answer = tenant.manage(check, &body(&json!(1))).is(200).json();
    assert_eq!((&answer["decision"], &answer["directory"]), (&json!("allow"), &json!("present")));
}

#[test]
fn a_search_and_a_matrix_ask_an_earlier_revision() {
    let tenant = Tenant::new();
    let rule = tenant.rule("ann", "doc:read", "read", "allow");
    tenant.manage("POST /api/v1/resources", &json!({"name": "doc:sign"})).is(201);
    tenant.manage("DELETE /api/v1/resources/policies", &json!({"id": rule})).is(204);
    tenant.rule("ann", "doc:write", "write", "allow");
    let resources = json!({"subject": "ann", "resource": "doc:read", "action": "read", "candidates": [{"id": "d1"}]});
    let subjects = json!({"resource": "doc:read", "action": "read", "candidates": [{"id": "ann"}, {"id": "bob"}]});
    let actions = json!({"subject": "ann", "type": "doc"});
    let matrix = json!({"subjects": [{"subject": "ann", "roles": []}], "resources": ["doc:read", "doc:write"]});
    let registered = json!({"subjects": [{"subject": "ann", "roles": []}]});
    let pick = |list: &Value, member: &str| -> Vec<String> {
        let list = list.as_array().expect("a list").iter();
        list.map(|one| one[member].as_str().expect("a text").to_owned()).collect()
    };
    for (route, body, list, member, expected) in [
        ("search/resources", &resources, "results", "id", [&["d1"][..], &["d1"], &[], &[]]),
        ("search/subjects", &subjects, "results", "id", [&["ann"], &["ann"], &[], &[]]),
        ("search/actions", &actions, "results", "action", [&["read"], &["read"], &[], &["write"]]),
        (
            "matrix",
            &matrix,
            "cells",
            "decision",
            [&["allow", "deny"], &["allow", "deny"], &["deny", "deny"], &["deny", "allow"]],
        ),
        (
            "matrix",
            &registered,
            "cells",
            "resource",
            [&[], &["doc:sign"], &["doc:sign"], &["doc:sign"]],
        ),
    ] {
        let route = format!("POST /api/v1/{route}");
        let asked = |at: &Value| {
            let mut body = body.clone();
            body["at_revision"] = at.clone();
            body
        };
        for (revision, expected) in (1..).zip(expected) {
            let answer = tenant.manage(&route, &asked(&json!(revision))).is(200);
            assert_eq!(answer.header("x-policy-revision"), Some(&*revision.to_string()));
            let answer = answer.json();
            let context = format!("{route} at {revision}: {answer}");
            assert_eq!(pick(&answer[list], member), expected, "{context}");
            assert_eq!(answer["revision"], revision, "{context}");
            assert_eq!(answer["complete"], true, "{context}");
            assert_eq!(answer.get("directory"), None, "{context}");
        }
        tenant.manage(&route, &asked(&json!(5))).refused(404, "NOT_FOUND");
        tenant.manage(&route, &asked(&json!("1"))).refused(400, "VALIDATION_ERROR");
        let member = tenant.token("ann", &[]);
        let request = crate::support::Request::new(&route).token(&member).json(&asked(&json!(1)));
        tenant.send(&request).refused(403, "ACCESS_DENIED");
    }

    // The rules of then read the roles of now.
    tenant.rule("nurse", "doc:read", "read", "allow");
    tenant.manage("PUT /api/v1/entities/user/bob", &json!({"roles": ["nurse"]})).is(201);
    let of_directory = json!({"resource": "doc:read", "action": "read", "at_revision": 5});
    let answer = tenant.manage("POST /api/v1/search/subjects", &of_directory).is(200).json();
    assert_eq!(pick(&answer["results"], "id"), ["bob"], "{answer}");
    assert_eq!(answer["directory"], "present");
    let row =
        json!({"subjects": [{"subject": "bob"}], "resources": ["doc:read"], "at_revision": 5});
    let answer = tenant.manage("POST /api/v1/matrix", &row).is(200).json();
    assert_eq!(
        (&answer["cells"][0]["decision"], &answer["directory"]),
        (&json!("allow"), &json!("present"))
    );
}

#[test]
fn pages_of_the_past_have_everything_once() {
    let tenant = Tenant::new();
    for verb in ["a", "b", "c", "d", "e"] {
        tenant.manage("POST /api/v1/resources", &json!({"name": format!("doc:{verb}")})).is(201);
    }
    tenant.rule("ann", "doc:*", "*", "allow");
    tenant.rule("ann", "doc:f", "f", "allow");
    let (mut found, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut body = json!({"subject": "ann", "type": "doc", "limit": 2, "at_revision": 6});
        if !cursor.is_null() {
            body["cursor"] = cursor;
        }
        let answer = tenant.manage("POST /api/v1/search/actions", &body).is(200).json();
        let results = answer["results"].as_array().expect("a list").clone();
        found.extend(results.iter().map(|one| one["action"].as_str().expect("a verb").to_owned()));
        cursor = answer["next"].clone();
        if answer["complete"] == true {
            break;
        }
    }
    assert_eq!(found, ["a", "b", "c", "d", "e"]);
}
