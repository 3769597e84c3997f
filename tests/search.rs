//! `/api/v1/search/…`: searches (`docs/semantics.md`, section 13).

pub(crate) mod pages;
mod parts;
mod related;

use serde_json::{Value, json};

use crate::support::{Reply, Request, Tenant};

/// Returns a tenant in which owners read their records, and editors of the owner's team write them.
fn owners() -> Tenant<'static> {
    let tenant = Tenant::new();
    for (verb, when) in [
        ("read", r#"resource.owner == request.subject"#),
        ("write", r#"resource.team == user.team && request.roles contains "editor""#),
    ] {
        let policy = json!({
            "name": verb, "resource": format!("record:{verb}"), "effect": "allow", "priority": 1,
            "format": "expression", "rule_data": {"expression": when},
        });
        tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    }
    tenant
}

fn search(tenant: &Tenant<'_>, what: &str, body: &Value) -> Reply {
    tenant.manage(format!("POST /api/v1/search/{what}"), body)
}

fn about(subject: &str, more: Value) -> Value {
    let mut body = json!({"subject": subject, "resource": "record:read", "action": "read"});
    let more = more.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(more);
    body
}

fn ids(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().expect("results").iter();
    results.map(|one| one["id"].as_str().expect("an id")).collect()
}

fn candidate(id: &str, owner: &str) -> Value {
    json!({"id": id, "properties": {"owner": owner}})
}

/// Puts records of ann and bob, and some people, into the directory.
fn directory(tenant: &Tenant<'_>) {
    let record = |id: &str, owner: &str| json!({"type": "record", "id": id, "properties": {"owner": owner, "team": "red"}});
    let user = |id: &str, role: &str, team: &str| json!({"type": "user", "id": id, "roles": [role], "properties": {"team": team}});
    let entities = json!({"entities": [
        record("r1", "ann"), record("r2", "bob"), record("r3", "ann"), record("r4", "ann"),
        user("ann", "editor", "red"), user("bob", "editor", "blue"), user("cay", "reader", "red"),
    ]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
}

#[test]
fn candidates_of_a_request_are_searched_in_pages() {
    let tenant = owners();
    let candidates: Value = ["r9", "r2", "r5", "r7"]
        .map(|id| candidate(id, if id == "r2" { "bob" } else { "ann" }))
        .into();
    let body = about("ann", json!({"candidates": candidates, "limit": 2}));
    let first = search(&tenant, "resources", &body).is(200);
    let revision: u64 =
        first.header("x-policy-revision").expect("a revision").parse().expect("a number");
    let page = first.json();
    assert_eq!(ids(&page), ["r9", "r5"]);
    assert_eq!(page["results"][0]["type"], "record");
    assert_eq!(page["results"][0]["decision"], "allow");
    assert_eq!((&page["complete"], &page["source"]), (&json!(false), &json!("request")));
    assert_eq!((&page["rules_changed"], &page["revision"]), (&json!(false), &json!(revision)));
    let mut next = body.clone();
    next["cursor"] = page["next"].clone();
    tenant.rule("nobody", "other:read", "read", "allow");
    let last = search(&tenant, "resources", &next).is(200).json();
    assert_eq!(ids(&last), ["r7"]);
    assert_eq!((&last["complete"], &last["rules_changed"]), (&json!(true), &json!(true)));
    assert!(last.get("next").is_none());
    next["subject"] = json!("bob");
    let refused = search(&tenant, "resources", &next).refused(400, "VALIDATION_ERROR").json();
    assert_eq!(refused["details"]["path"], "/cursor");
}

#[test]
fn entities_of_the_directory_are_searched() {
    let tenant = owners();
    let nothing = search(&tenant, "resources", &about("ann", json!({}))).is(200).json();
    assert_eq!((&nothing["complete"], &nothing["results"]), (&json!(true), &json!([])));
    directory(&tenant);
    let page = search(&tenant, "resources", &about("ann", json!({}))).is(200).json();
    assert_eq!(ids(&page), ["r1", "r3", "r4"]);
    assert_eq!((&page["complete"], &page["source"]), (&json!(true), &json!("entities")));
    // A cursor survives writes of entities.
    let first = search(&tenant, "resources", &about("ann", json!({"limit": 1}))).is(200).json();
    assert_eq!(ids(&first), ["r1"]);
    tenant.delete("/api/v1/entities/record/r3").is(204);
    let next = about("ann", json!({"limit": 1, "cursor": first["next"]}));
    assert_eq!(ids(&search(&tenant, "resources", &next).is(200).json()), ["r4"]);
    let writers = json!({"resource": "record:write", "action": "write",
        "attributes": {"resource": {"id": "r2"}}});
    assert_eq!(ids(&search(&tenant, "subjects", &writers).is(200).json()), ["ann"]);
    let actions =
        json!({"subject": "ann", "type": "record", "attributes": {"resource": {"id": "r1"}}});
    let found = search(&tenant, "actions", &actions).is(200).json();
    let names = ["read", "write"].map(|verb| (format!("record:{verb}"), verb.to_owned()));
    let results = found["results"].as_array().expect("results").iter();
    let found_names: Vec<_> = results
        .map(|one| {
            (
                one["resource"].as_str().unwrap().to_owned(),
                one["action"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(found_names, names);
}

#[test]
fn candidates_are_decided_as_checks_are() {
    let tenant = owners();
    directory(&tenant);
    // What a candidate brings goes before the directory, which supplies the rest.
    let candidates = json!([
        {"id": "r2", "properties": {"owner": "ann"}}, {"id": "r1"}, {"id": "r1", "properties": {"owner": "bob"}},
        {"id": "unknown"},
    ]);
    let body = about("ann", json!({"candidates": candidates}));
    assert_eq!(ids(&search(&tenant, "resources", &body).is(200).json()), ["r2", "r1"]);
    let subjects = json!({"resource": "record:write", "action": "write",
        "attributes": {"resource": {"id": "r1"}},
        "candidates": [{"id": "ann", "roles": []}, {"id": "bob", "properties": {"team": "red"}},
            {"id": "new", "roles": ["editor"], "properties": {"team": "red"}}]});
    assert_eq!(ids(&search(&tenant, "subjects", &subjects).is(200).json()), ["bob", "new"]);
}

#[test]
fn wrong_bodies_are_refused() {
    let tenant = owners();
    let too_many: Vec<Value> = (0..10_001).map(|_| json!({"id": "x"})).collect();
    for (what, body, path) in [
        ("resources", about("ann", json!({"limit": 0})), "/limit"),
        ("resources", about("ann", json!({"limit": 1001})), "/limit"),
        ("resources", about("ann", json!({"cursor": "x"})), "/cursor"),
        ("resources", about("ann", json!({"candidates": [{}]})), "/candidates/0"),
        ("resources", about("ann", json!({"candidates": too_many})), "/candidates"),
        (
            "resources",
            about("ann", json!({"candidates": [{"id": "x", "roles": []}]})),
            "/candidates/0",
        ),
        (
            "resources",
            json!({"subject": "ann", "resource": "record", "action": "read"}),
            "/resource",
        ),
        ("subjects", about("ann", json!({})), ""),
        ("actions", json!({"subject": "ann"}), ""),
    ] {
        let refused = search(&tenant, what, &body).refused(400, "VALIDATION_ERROR").json();
        assert_eq!(refused["details"]["path"], path, "{what} {refused}");
    }
}

#[test]
fn members_search_for_themselves_alone() {
    let tenant = owners();
    directory(&tenant);
    let ann = tenant.token("ann", &["user"]);
    let by_ann = |what: &str, body: Value| {
        tenant.send(&Request::new(format!("POST /api/v1/search/{what}")).token(&ann).json(&body))
    };
    assert_eq!(
        ids(&by_ann("resources", about("ann", json!({}))).is(200).json()),
        ["r1", "r3", "r4"]
    );
    by_ann("resources", about("bob", json!({}))).refused(403, "ACCESS_DENIED");
    by_ann("actions", json!({"subject": "ann", "type": "record"})).is(200);
    by_ann("actions", json!({"subject": "bob", "type": "record"})).refused(403, "ACCESS_DENIED");
    by_ann("subjects", json!({"resource": "record:read", "action": "read"}))
        .refused(403, "ACCESS_DENIED");
}

/// A claim of a clearance, or of a property of the entities, would list what the member may not see.
#[test]
fn members_claim_nothing_in_a_search_of_the_directory() {
    let tenant = Tenant::new();
    let cleared = json!({"type": "CONDITION", "attribute": "user.clearance", "operator": "gte",
        "value": {"attribute": "resource.level"}});
    tenant.policy("cleared", "record:read", "allow", 1, &cleared);
    let record =
        |id: &str, level: i64| json!({"type": "record", "id": id, "properties": {"level": level}});
    let entities = json!({"entities": [
        record("open", 1), record("secret", 9), {"type": "record", "id": "unknown"},
        {"type": "user", "id": "ann", "properties": {"clearance": 1}},
    ]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    let ann = tenant.token("ann", &["user"]);
    let by_ann = |route: &str, body: &Value| {
        tenant.send(&Request::new(format!("POST {route}")).token(&ann).json(body))
    };
    let native = "/api/v1/search/resources";
    let forged = |user: Value, resource: Value, more: Value| {
        let mut body = about("ann", more);
        body["attributes"] =
            json!({"user": user, "resource": resource, "context": {"from": "app"}});
        body
    };
    for (user, resource, path) in [
        (json!({"clearance": 9}), json!({}), "/attributes/user"),
        (json!({}), json!({"level": 0}), "/attributes/resource"),
        (json!({"clearance": 9}), json!({"level": 0}), "/attributes/user"),
    ] {
        let body = forged(user, resource, json!({}));
        let refused = by_ann(native, &body).refused(400, "VALIDATION_ERROR").json();
        assert_eq!(refused["details"]["path"], path, "{refused}");
    }
    let body = forged(json!({}), json!({}), json!({}));
    assert_eq!(ids(&by_ann(native, &body).is(200).json()), ["open"]);
    // Candidates of the request are checks of them. Managers vouch for what they send.
    let own = forged(json!({"clearance": 9}), json!({}), json!({"candidates": [{"id": "secret"}]}));
    assert_eq!(ids(&by_ann(native, &own).is(200).json()), ["secret"]);
    let all = forged(json!({"clearance": 9}), json!({"level": 0}), json!({}));
    assert_eq!(
        ids(&search(&tenant, "resources", &all).is(200).json()),
        ["open", "secret", "unknown"]
    );
    let standard = json!({
        "subject": {"type": "user", "id": "ann", "properties": {"clearance": 9}},
        "action": {"name": "read"}, "resource": {"type": "record", "properties": {"level": 0}},
    });
    let found = by_ann("/access/v1/search/resource", &standard).is(200).json();
    assert_eq!(ids(&found), ["open"]);
    let managed = tenant.manage("POST /access/v1/search/resource", &standard).is(200).json();
    assert_eq!(ids(&managed), ["open", "secret", "unknown"]);
}

/// Each verb of a type that has more than are read at once is decided, on one page or the next.
#[test]
fn actions_are_searched_to_the_last_verb() {
    let tenant = Tenant::new();
    tenant.rule("ann", "doc:*", "*", "allow");
    let names: Vec<String> = (0..1_500).map(|number| format!("v{number:04}")).collect();
    for part in names.chunks(1_000) {
        let part: Vec<Value> =
            part.iter().map(|verb| json!({"name": format!("doc:{verb}")})).collect();
        tenant.manage("POST /api/v1/resources/list", &json!(part)).is(200);
    }
    let mut body = json!({"subject": "ann", "type": "doc"});
    let mut found = Vec::new();
    loop {
        let page = search(&tenant, "actions", &body).is(200).json();
        let results = page["results"].as_array().expect("results").iter();
        found.extend(results.map(|one| one["action"].as_str().expect("an action").to_owned()));
        assert_eq!(page["complete"] == true, page.get("next").is_none());
        match page.get("next") {
            Some(next) => body["cursor"] = next.clone(),
            None => break,
        }
    }
    assert_eq!(found, names);
}

#[test]
fn a_search_for_subjects_says_what_everybody_else_may() {
    let tenant = Tenant::new();
    let page = json!({"relations": {"viewer": "[user, user:*]", "barred": "[user]", "sees": "viewer && !barred"}});
    tenant.manage("PUT /api/v1/types/page", &page).is(201);
    tenant.rule("sees@resource", "page:read", "read", "allow");
    tenant.rule("*", "page:list", "list", "allow");
    let tuple = |object: &str, relation: &str, subject: &str| json!({"object": object, "relation": relation, "subject": subject});
    let tuples = json!({"write": [
        tuple("page:open", "viewer", "user:*"), tuple("page:open", "barred", "user:jo"),
        tuple("page:shut", "viewer", "user:kim"),
    ]});
    tenant.manage("POST /api/v1/relations", &tuples).is(200);
    let ask = |verb: &str, id: &str| {
        let body = json!({
            "resource": format!("page:{verb}"), "action": verb, "attributes": {"resource": {"id": id}},
        });
        search(&tenant, "subjects", &body).is(200).json()
    };
    let (open, shut) = (ask("read", "open"), ask("read", "shut"));
    assert_eq!((ids(&open), &open["everybody"]), (vec!["kim"], &json!("allow")));
    assert_eq!((ids(&shut), &shut["everybody"]), (vec!["kim"], &json!("deny")));
    assert_eq!(ask("list", "shut")["everybody"], "allow");
    // It is about subjects whom the tenant does not know.
    let given = json!({"resource": "page:list", "action": "list", "candidates": [{"id": "ann"}]});
    assert_eq!(search(&tenant, "subjects", &given).is(200).json().get("everybody"), None);
}
