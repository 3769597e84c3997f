//! Names alone, and all pages of a search as lines.

use serde_json::{Value, json};

use super::{about, directory, owners, search};
use crate::support::Tenant;

/// Returns the lines of the answer to a search for resources, and its type.
fn lines(tenant: &Tenant<'_>, body: &Value) -> (Vec<Value>, String) {
    let route = "POST /api/v1/search/resources";
    let accept = "application/json;q=0.5, Application/X-NDJSON";
    let reply = tenant.send(&tenant.managing(route).header("accept", accept).json(body)).is(200);
    let line = |line: &str| serde_json::from_str(line).expect("JSON");
    let content_type = reply.header("content-type").expect("a type").to_owned();
    (reply.text.lines().map(line).collect(), content_type)
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
    let action = |verb: &str| json!({"resource": format!("record:{verb}"), "action": verb});
    assert_eq!(found["results"], json!([action("read"), action("write")]));
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
    let (lines, content_type) =
        lines(&tenant, &about("ann", json!({"fields": ["id"], "limit": 2})));
    assert_eq!(content_type, "application/x-ndjson");
    let name = |id: &str| json!({"type": "record", "id": id});
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!([&lines[0], &lines[1], &lines[3]], [&name("r1"), &name("r3"), &name("r4")]);
    let (between, end) = (&lines[2], &lines[4]);
    assert_eq!((&between["complete"], &end["complete"]), (&json!(false), &json!(true)));
    assert_eq!((&between["revision"], end.get("next")), (&end["revision"], None));
    // Whoever is cut off goes on at the last page whose end it saw.
    let next = json!({"fields": ["id"], "cursor": between["next"]});
    let rest = search(&tenant, "resources", &about("ann", next)).is(200).json();
    assert_eq!(rest["results"], json!([name("r4")]));
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
