//! Names alone, and all pages of a search as lines.

use serde_json::{Value, json};

use super::{about, directory, owners, search};
use crate::support::Tenant;

/// Returns the lines of the answer to a search, of which there is one for each result and a last one, and the headers with the
/// revisions of its first page.
fn lines(tenant: &Tenant<'_>, kind: &str, body: &Value) -> (Vec<Value>, [Option<u64>; 2]) {
    let route = format!("POST /api/v1/search/{kind}");
    let accept = "application/json;q=0.5, Application/X-NDJSON";
    let reply = tenant.send(&tenant.managing(&route).header("accept", accept).json(body)).is(200);
    assert_eq!(reply.header("content-type"), Some("application/x-ndjson"));
    let line = |line: &str| serde_json::from_str(line).expect("JSON");
    let revisions = ["x-policy-revision", "x-entities-revision"]
        .map(|name| reply.header(name).map(|revision| revision.parse().expect("a number")));
    (reply.text.lines().map(line).collect(), revisions)
}

#[test]
fn results_can_be_names_alone() {
    let tenant = owners();
    directory(&tenant);
    let names = json!({"fields": ["id"]});
    let found = search(&tenant, "resources", &about("ann", names.clone())).is(200).json();
    let name = |id: &str| json!({"type": "record", "id": id});
    assert_eq!(found["results"], json!([name("r1"), name("r3"), name("r4")]));
    assert_eq!((&found["complete"], &found["source"]), (&json!(true), &json!("entities")));
    // A cursor serves the same body.
    let page = json!({"fields": ["id"], "limit": 1});
    let first = search(&tenant, "resources", &about("ann", page)).is(200).json();
    assert_eq!(first["results"], json!([name("r1")]));
    let next = json!({"fields": ["id"], "limit": 5, "cursor": first["next"]});
    let rest = search(&tenant, "resources", &about("ann", next)).is(200).json();
    assert_eq!(rest["results"], json!([name("r3"), name("r4")]));
    let writers = json!({"resource": "record:write", "action": "write", "fields": ["id"],
        "attributes": {"resource": {"id": "r2"}}});
    let found = search(&tenant, "subjects", &writers).is(200).json();
    assert_eq!(found["results"], json!([{"type": "user", "id": "ann"}]));
    let actions = json!({"subject": "ann", "type": "record", "fields": ["id"],
        "attributes": {"resource": {"id": "r1"}}});
    let found = search(&tenant, "actions", &actions).is(200).json();
    assert_eq!(found["results"], json!([{"name": "read"}, {"name": "write"}]));
    for wrong in [json!([]), json!(["rule"]), json!("id")] {
        let body = about("ann", json!({"fields": wrong}));
        let refused = search(&tenant, "resources", &body).refused(400, "VALIDATION_ERROR").json();
        let path = refused["details"]["path"].as_str().expect("a path");
        assert!(path.starts_with("/fields"), "{path}");
    }
}

#[test]
fn all_pages_come_as_lines() {
    let tenant = owners();
    directory(&tenant);
    let names = json!({"fields": ["id"], "limit": 2});
    let (found, revisions) = lines(&tenant, "resources", &about("ann", names));
    let name = |id: &str| json!({"type": "record", "id": id});
    let last = json!({
        "complete": true, "policy_revision": revisions[0].expect("a revision"),
        "entities_revision": revisions[1].expect("a revision"),
    });
    assert_eq!(found, [name("r1"), name("r3"), name("r4"), last]);
    let (found, [revision, entities]) =
        lines(&tenant, "actions", &json!({"subject": "ann", "type": "letter", "fields": ["id"]}));
    let last = json!({
        "complete": true, "policy_revision": revision.expect("a revision"), "entities_revision": entities,
    });
    assert_eq!(found, [last]);
}

#[test]
fn a_line_of_a_result_has_what_a_page_has() {
    let tenant = owners();
    directory(&tenant);
    let writers = json!({"resource": "record:write", "action": "write",
        "attributes": {"resource": {"id": "r2"}}});
    let actions =
        json!({"subject": "ann", "type": "record", "attributes": {"resource": {"id": "r1"}}});
    for (kind, body) in [
        ("resources", about("ann", json!({"limit": 1_000}))),
        ("subjects", writers),
        ("actions", actions),
    ] {
        let page = search(&tenant, kind, &body).is(200).json();
        let (mut found, _) = lines(&tenant, kind, &body);
        let last = found.pop().expect("a last line");
        assert_eq!(Value::from(found), page["results"], "{kind}");
        assert_eq!(
            (&last["complete"], last.get("everybody")),
            (&json!(true), page.get("everybody"))
        );
    }
}

#[test]
fn a_first_page_that_fails_is_refused_as_an_answer_is() {
    let tenant = owners();
    let route = "POST /api/v1/search/resources";
    for (body, status, code) in [
        (about("ann", json!({"limit": 0})), 400, "VALIDATION_ERROR"),
        (about("ann", json!({"cursor": "x"})), 400, "VALIDATION_ERROR"),
    ] {
        let asked = tenant.managing(route).header("accept", "application/x-ndjson").json(&body);
        tenant.send(&asked).refused(status, code);
    }
}
