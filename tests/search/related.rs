//! Searches where relations decide: candidates that only tuples know, and tuples that expire.

use serde_json::{Value, json};

use super::{ids, search};
use crate::everywhere::relation_checks::{body, change, drive, tuple};
use crate::support::{Request, Tenant};

/// Returns the ids of documents that a subject may read.
fn read_by(tenant: &Tenant<'_>, subject: &str, more: &[(&str, Value)]) -> Vec<Value> {
    let mut body = body(subject, "read", json!({}));
    for (name, value) in more {
        body[*name] = value.clone();
    }
    found(&search(tenant, "resources", &body).is(200).json())
}

/// Returns the ids of users who may read a document.
fn readers_of(tenant: &Tenant<'_>, id: &str) -> Vec<Value> {
    let mut body = body("", "read", json!({"id": id}));
    body.as_object_mut().expect("an object").remove("subject");
    found(&search(tenant, "subjects", &body).is(200).json())
}

fn found(page: &Value) -> Vec<Value> {
    assert_eq!((&page["complete"], &page["conditional"]), (&json!(true), &json!([])), "{page}");
    ids(page).into_iter().map(Value::from).collect()
}

#[test]
fn what_only_tuples_know_is_a_candidate_on_both_sides() {
    let tenant = drive();
    assert!(read_by(&tenant, "ann", &[]).is_empty());
    let tuples = [
        "document:d1 editor user:ann",
        "document:d3 parent folder:f1",
        "document:d4 parent folder:f2",
        "folder:f1 viewer group:eng#member",
        "group:eng member user:ann",
        "group:eng member user:bob",
        "group:hr member user:cay",
    ];
    change(&tenant, &tuples, &[]);
    let entities = json!({"entities": [
        {"type": "document", "id": "d2"}, {"type": "document", "id": "d3"}, {"type": "user", "id": "bob"},
        {"type": "user", "id": "dan"},
    ]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    assert_eq!(read_by(&tenant, "ann", &[]), ["d1", "d3"]);
    assert_eq!(read_by(&tenant, "bob", &[]), ["d3"]);
    assert_eq!(readers_of(&tenant, "d3"), ["ann", "bob"]);
    // What the request says of a document replaces its tuples, for each candidate that has nothing itself.
    let moved = |parent: &str| json!({"resource": {"parent": parent}});
    assert_eq!(
        read_by(&tenant, "bob", &[("attributes", moved("folder:f1"))]),
        ["d1", "d2", "d3", "d4"]
    );
    let candidates = json!([
        {"id": "new"}, {"id": "d3", "properties": {"parent": "folder:f2"}}, {"id": "d4"},
    ]);
    let given = [("attributes", moved("folder:f1")), ("candidates", candidates)];
    assert_eq!(read_by(&tenant, "bob", &given), ["new", "d4"]);
    // Everybody, also those that nobody knows.
    change(&tenant, &["folder:f2 viewer user:*"], &[]);
    assert_eq!(readers_of(&tenant, "d4"), ["ann", "bob", "cay", "dan"]);
    assert_eq!(read_by(&tenant, "eve", &[]), ["d4"]);
    // A ban takes them away again.
    change(&tenant, &["folder:f2 banned user:bob"], &[]);
    assert_eq!(readers_of(&tenant, "d4"), ["ann", "cay", "dan"]);
}

#[test]
fn pages_go_on_after_the_last_candidate_whoever_knows_it() {
    let tenant = drive();
    let tuples: Vec<String> =
        (0..9).map(|number| format!("document:d{number} editor user:ann")).collect();
    change(&tenant, &tuples.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let entities =
        json!({"entities": [{"type": "document", "id": "d1"}, {"type": "document", "id": "d4"}]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    let mut body = body("ann", "read", json!({}));
    body["limit"] = json!(2);
    let mut all = Vec::new();
    loop {
        let page = search(&tenant, "resources", &body).is(200).json();
        all.extend(ids(&page).into_iter().map(str::to_owned));
        if page["complete"] == true {
            break;
        }
        // What is written behind the cursor is not listed, and what is deleted before it neither.
        if all.len() == 4 {
            change(&tenant, &["document:c9 editor user:ann"], &["document:d7 editor user:ann"]);
        }
        body["cursor"] = page["next"].clone();
    }
    assert_eq!(all, ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d8"]);
}

#[test]
fn a_tuple_that_expired_gives_nothing_and_names_nobody() {
    let tenant = drive();
    let until = |text: &str, instant: &str| {
        let mut tuple = tuple(text);
        tuple["expires_at"] = json!(instant);
        tuple
    };
    let write = json!({"write": [
        until("document:d1 editor user:ann", "2100-01-01T00:00:00Z"),
        until("document:d2 editor user:ann", "2020-01-01T00:00:00Z"),
        until("document:d2 editor user:bob", "2020-01-01T00:00:00Z"),
        tuple("document:d3 parent folder:f1"),
        until("folder:f1 viewer user:ann", "2020-01-01T00:00:00Z"),
    ]});
    tenant.manage("POST /api/v1/relations", &write).is(200);
    assert_eq!(read_by(&tenant, "ann", &[]), ["d1"]);
    tenant.rule("*", "document:list", "list", "allow");
    let all = search(&tenant, "resources", &body("ann", "list", json!({}))).is(200).json();
    assert_eq!(found(&all), ["d1", "d3"]);
    let who = json!({"resource": "document:list", "action": "list"});
    assert_eq!(found(&search(&tenant, "subjects", &who).is(200).json()), ["ann"]);
}

#[test]
fn a_member_sees_in_a_search_what_its_token_claims() {
    let tenant = drive();
    change(&tenant, &["document:d1 editor group:eng#member", "document:d2 editor user:ann"], &[]);
    let by = |groups: &[&str]| {
        let token = tenant.token_with("ann", &[], &json!({"groups": groups}));
        let body = json!({"subject": "ann", "resource": "document:read", "action": "read"});
        let request = Request::new("POST /api/v1/search/resources").token(&token).json(&body);
        found(&tenant.send(&request).is(200).json())
    };
    assert_eq!(by(&[]), ["d2"]);
    assert_eq!(by(&["eng", "hr"]), ["d1", "d2"]);
    // A group that nobody knows is not a candidate because a token names it.
    tenant.rule("member@resource", "group:see", "see", "allow");
    let token = tenant.token_with("ann", &[], &json!({"groups": ["eng", "ghosts"]}));
    let groups = json!({"subject": "ann", "resource": "group:see", "action": "see"});
    let request = Request::new("POST /api/v1/search/resources").token(&token).json(&groups);
    assert_eq!(found(&tenant.send(&request).is(200).json()), ["eng"]);
}

#[test]
fn actions_and_the_standard_read_relations_too() {
    let tenant = drive();
    let tuples = [
        "document:d1 editor user:ann",
        "document:d2 editor user:robot:r1",
        "document:d3 editor group:eng#member",
    ];
    change(&tenant, &tuples, &[]);
    let asked =
        json!({"subject": "ann", "type": "document", "attributes": {"resource": {"id": "d1"}}});
    let actions = search(&tenant, "actions", &asked).is(200).json();
    let verbs = actions["results"].as_array().expect("results").iter();
    assert_eq!(verbs.map(|one| &one["action"]).collect::<Vec<_>>(), ["edit", "read"]);
    let ask = |what: &str, subject: Value, resource: Value| {
        let body = json!({"subject": subject, "resource": resource, "action": {"name": "edit"}});
        let page = tenant.manage(format!("POST /access/v1/search/{what}"), &body).is(200).json();
        let results = page["results"].as_array().expect("results").clone();
        let name = if what == "action" { "name" } else { "id" };
        results.into_iter().map(|mut one| one[name].take()).collect::<Vec<_>>()
    };
    let user = |id: &str| json!({"type": "user", "id": id});
    let document = json!({"type": "document"});
    assert_eq!(ask("resource", user("ann"), document.clone()), ["d1"]);
    let d1 = json!({"type": "document", "id": "d1"});
    assert_eq!(ask("subject", json!({"type": "user"}), d1), ["ann"]);
    // The type of the standard decides, whatever the id looks like.
    tenant.manage("PUT /api/v1/types/robot", &json!({})).is(201);
    assert_eq!(ask("resource", user("robot:r1"), document.clone()), ["d2"]);
    let robot = json!({"type": "robot", "id": "r1"});
    assert!(ask("resource", robot.clone(), document).is_empty());
    let d2 = json!({"type": "document", "id": "d2"});
    assert_eq!(ask("subject", json!({"type": "user"}), d2.clone()), ["robot:r1"]);
    assert_eq!(ask("action", user("robot:r1"), d2.clone()), ["edit", "read"]);
    assert!(ask("action", robot.clone(), d2.clone()).is_empty());
    let batch = json!({
        "resource": d2, "action": {"name": "edit"},
        "evaluations": [{"subject": user("robot:r1")}, {"subject": robot}],
    });
    let batch = tenant.manage("POST /access/v1/evaluations", &batch).is(200).json();
    let decisions = batch["evaluations"].as_array().expect("evaluations").iter();
    assert_eq!(decisions.map(|one| &one["decision"]).collect::<Vec<_>>(), [true, false]);
    // A native search of users reads the name as a check does: as the robot, which no tuple names.
    let native = json!({"resource": "document:edit", "action": "edit", "attributes": {"resource": {"id": "d2"}}});
    assert!(found(&search(&tenant, "subjects", &native).is(200).json()).is_empty());
}
