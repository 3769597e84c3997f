//! Searches of AuthZEN: the fixture of the conformance suite, pages, and what a token belongs to.

use serde_json::{Value, json};

use super::{ARCHIVED, fixture, policy};
use crate::support::{Reply, Request, Tenant};

/// The requests of the fixture and their results.
const SEARCHES: &str = include_str!("search.json");

/// Returns a tenant with the policies and the entities of the fixture.
fn searchable() -> Tenant<'static> {
    let tenant = fixture(ARCHIVED);
    let user =
        |id: &str, properties: Value| json!({"type": "user", "id": id, "properties": properties});
    let record = |id: &str, status: &str| json!({"type": "record", "id": id, "properties": {"status": status}});
    let entities = json!({"entities": [
        user("alice", json!({})), user("bob", json!({"role": "admin"})), user("carol", json!({})),
        record("record-1", "active"), record("record-2", "archived"),
    ]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    tenant
}

fn send(tenant: &Tenant<'_>, searched: &str, body: &Value) -> Reply {
    tenant.manage(format!("POST /access/v1/search/{searched}"), body)
}

/// Returns the results of all pages of one entity.
fn in_pages(tenant: &Tenant<'_>, searched: &str, body: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let mut body = body.clone();
    body["page"] = json!({"limit": 1});
    for _ in 0..10 {
        let answer = send(tenant, searched, &body).is(200).json();
        all.extend(answer["results"].as_array().expect("results").iter().cloned());
        let token = answer["page"]["next_token"].as_str().expect("a token");
        if token.is_empty() {
            return all;
        }
        body["page"] = json!({"limit": 1, "token": token});
    }
    panic!("the pages do not end: {all:?}");
}

#[test]
fn the_searches_of_the_fixture_are_answered() {
    let tenant = searchable();
    let cases: Value = serde_json::from_str(SEARCHES).expect("JSON");
    let mut count = 0;
    for searched in ["subject", "resource", "action"] {
        for case in cases[searched].as_array().expect("cases") {
            let name = format!("{searched}: {}", case["name"]);
            let body = case["body"].as_str().expect("a body");
            let content_type = case["type"].as_str().unwrap_or("application/json");
            let request = tenant.managing(format!("POST /access/v1/search/{searched}"));
            let reply = tenant.send(&request.body(content_type, body));
            assert_eq!(json!(reply.status), case["status"], "{name}: {}", reply.text);
            count += 1;
            if let Some(results) = case.get("results") {
                let answer = reply.json();
                assert_eq!(answer["results"], *results, "{name}");
                assert_eq!(answer["page"]["next_token"], "", "{name}");
                let body: Value = serde_json::from_str(body).expect("JSON");
                assert_eq!(json!(in_pages(&tenant, searched, &body)), *results, "{name}");
            }
        }
    }
    assert_eq!(count, 25 + 20 + 22);
}

#[test]
fn an_answer_begins_with_its_page_and_each_result_with_its_type() {
    let tenant = searchable();
    let body = json!({"subject": {"type": "user"}, "action": {"name": "write"},
        "resource": {"type": "record", "id": "record-1"}});
    let text = send(&tenant, "subject", &body).is(200).text;
    let expected =
        r#"{"page":{"next_token":"","count":1},"results":[{"type":"user","id":"alice"}]}"#;
    assert_eq!(text, expected);
}

#[test]
fn a_token_belongs_to_its_request() {
    let tenant = searchable();
    let body = |action: &str, page: Value| {
        json!({"subject": {"type": "user"}, "action": {"name": action},
            "resource": {"type": "record", "id": "record-1"}, "page": page})
    };
    let first = send(&tenant, "subject", &body("read", json!({"limit": 1}))).is(200).json();
    let token = first["page"]["next_token"].as_str().expect("a token");
    let next = send(&tenant, "subject", &body("read", json!({"token": token}))).is(200).json();
    assert_eq!(next["results"], json!([{"type": "user", "id": "bob"}]));
    assert_eq!(next["page"]["next_token"], "");
    let other = body("write", json!({"token": token}));
    let refused = send(&tenant, "subject", &other).refused(400, "VALIDATION_ERROR").json();
    assert_eq!(refused["details"]["path"], "/page/token");
    send(&tenant, "resource", &body("read", json!({"token": token})))
        .refused(400, "VALIDATION_ERROR");
    // The order of members makes no other request, also inside.
    let turned = format!(
        r#"{{"resource": {{"id": "record-1", "type": "record"}}, "page": {{"token": "{token}"}},
            "action": {{"name": "read"}}, "subject": {{"type": "user"}}}}"#
    );
    let request = tenant.managing("POST /access/v1/search/subject");
    let turned = tenant.send(&request.body("application/json", turned)).is(200).json();
    assert_eq!(turned["results"], next["results"]);
    // Writes of entities do not matter to a token.
    let entities = json!({"entities": [{"type": "user", "id": "aaron"}]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    let again = send(&tenant, "subject", &body("read", json!({"token": token}))).is(200).json();
    assert_eq!(again["results"], next["results"]);
}

#[test]
fn a_page_of_none_is_empty_and_the_next_one_begins_there() {
    let tenant = searchable();
    for (searched, body) in [
        (
            "subject",
            json!({"subject": {"type": "user"}, "action": {"name": "read"}, "resource": {"type": "record", "id": "record-1"}}),
        ),
        (
            "resource",
            json!({"subject": {"type": "user", "id": "alice"}, "action": {"name": "read"}, "resource": {"type": "record"}}),
        ),
        (
            "action",
            json!({"subject": {"type": "user", "id": "alice"}, "resource": {"type": "record", "id": "record-1"}}),
        ),
    ] {
        let page = |page: Value| {
            let mut body = body.clone();
            body["page"] = page;
            send(&tenant, searched, &body).is(200).json()
        };
        let all = page(json!({}))["results"].clone();
        let first = page(json!({"limit": 1}));
        for before in [json!(""), first["page"]["next_token"].clone()] {
            let none = page(json!({"limit": 0, "token": before}));
            assert_eq!(
                (&none["results"], &none["page"]["count"]),
                (&json!([]), &json!(0)),
                "{searched}"
            );
            let token = &none["page"]["next_token"];
            assert_ne!(token, "", "{searched}");
            let rest = page(json!({"token": token}));
            let skipped = usize::from(before != "");
            assert_eq!(
                rest["results"].as_array().map(Vec::as_slice),
                all.as_array().map(|all| &all[skipped..])
            );
        }
        let mut negative = body.clone();
        negative["page"] = json!({"limit": -1});
        send(&tenant, searched, &negative).refused(400, "VALIDATION_ERROR");
    }
}

#[test]
fn the_id_of_the_searched_entity_is_ignored() {
    let tenant = searchable();
    for id in [json!("bob"), json!(7), json!(null), json!({"a": [1]}), json!("x".repeat(1_000))] {
        let body = json!({"subject": {"type": "user", "id": id}, "action": {"name": "write"},
            "resource": {"type": "record", "id": "record-1"}});
        let found = send(&tenant, "subject", &body).is(200).json();
        assert_eq!(found["results"], json!([{"type": "user", "id": "alice"}]), "{id}");
        let body = json!({"subject": {"type": "user", "id": "alice"}, "action": {"name": "delete", "properties": {"soft": true}},
            "resource": {"type": "record", "id": id}});
        let found = send(&tenant, "resource", &body).is(200).json();
        assert_eq!(found["results"].as_array().map(Vec::len), Some(2), "{id}");
    }
    // The id of what is not searched must be there.
    let body = json!({"subject": {"type": "user", "id": "alice"}, "action": {"name": "read"}, "resource": {"type": "record", "id": 7}});
    send(&tenant, "subject", &body).refused(400, "VALIDATION_ERROR");
}

/// `null` is an absent attribute: what is stored does not come back, as in an evaluation.
#[test]
fn null_in_the_searched_part_is_absent() {
    let tenant = searchable();
    let evaluate = |properties: &Value| {
        let body = json!({
            "subject": {"type": "user", "id": "bob"}, "action": {"name": "write"},
            "resource": {"type": "record", "id": "record-2", "properties": properties},
        });
        tenant.manage("POST /access/v1/evaluation", &body).is(200).json()["decision"] == true
    };
    let search = |properties: &Value| {
        let body = json!({
            "subject": {"type": "user", "id": "bob"}, "action": {"name": "write"},
            "resource": {"type": "record", "properties": properties},
        });
        let found = send(&tenant, "resource", &body).is(200).json();
        let results = found["results"].as_array().expect("results");
        results.contains(&json!({"type": "record", "id": "record-2"}))
    };
    let both = |properties: Value| [evaluate(&properties), search(&properties)];
    assert_eq!(both(json!({})), [true, true]);
    assert_eq!(both(json!({"status": "active"})), [false, false]);
    assert_eq!(both(json!({"status": null})), [false, false]);
}

/// A member's properties are not used, so that they forge nothing. The types are those of an evaluation.
#[test]
fn a_member_searches_by_the_types_of_its_evaluations() {
    let tenant = Tenant::new();
    let typed = r#"user.type == "user" && resource.type == "record""#;
    policy(&tenant, "record:read", "allow", 1, typed);
    policy(&tenant, "record:write", "allow", 1, r#"user.type == "admin" || user.rank == 1"#);
    let entities = json!({"entities": [{"type": "record", "id": "r1"}]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    let alice = tenant.token("alice", &["user"]);
    let ask = |route: &str, action: &str, properties: Value| {
        let body = json!({"subject": {"type": "user", "id": "alice", "properties": properties},
            "action": {"name": action}, "resource": {"type": "record", "id": "r1"}});
        let request = Request::new(format!("POST /access/v1/{route}")).token(&alice);
        tenant.send(&request.json(&body)).is(200).json()
    };
    let found = json!([{"type": "record", "id": "r1"}]);
    for properties in [json!({}), json!({"rank": 1})] {
        assert_eq!(ask("evaluation", "read", properties.clone())["decision"], true);
        assert_eq!(ask("search/resource", "read", properties)["results"], found);
    }
    for forged in [json!({"type": "admin"}), json!({"rank": 1})] {
        assert_eq!(ask("search/resource", "write", forged.clone())["results"], json!([]));
        assert_eq!(ask("search/resource", "read", forged)["results"], found);
    }
}

#[test]
fn a_search_that_decides_nothing_is_of_the_demanded_revision() {
    let tenant = searchable();
    let latest = tenant.decide("alice", "record:read", "read").revision;
    for (kind, page) in [("record", json!({"limit": 0})), ("nothing", json!({}))] {
        let body = json!({"subject": {"type": "user", "id": "alice"},
            "resource": {"type": kind, "id": "record-1"}, "page": page});
        let demand = |revision: u64| {
            let request = tenant.managing("POST /access/v1/search/action").json(&body);
            tenant.send(&request.header("x-min-policy-revision", &revision.to_string()))
        };
        assert_eq!(demand(latest).is(200).revision(), latest, "{kind}");
        demand(latest + 1).refused(503, "DEPENDENCY_UNAVAILABLE");
    }
}

#[test]
fn searches_need_their_own_right() {
    let tenant = searchable();
    let alice = tenant.token("alice", &["user"]);
    let ask = |searched: &str, subject: Value| {
        let body = json!({"subject": subject, "action": {"name": "read"},
            "resource": {"type": "record", "id": "record-1"}});
        let route = format!("POST /access/v1/search/{searched}");
        tenant.send(&Request::new(route).token(&alice).json(&body))
    };
    let user = |id: &str| json!({"type": "user", "id": id});
    ask("resource", user("alice")).is(200);
    ask("action", user("alice")).is(200);
    ask("resource", user("bob")).refused(403, "ACCESS_DENIED");
    ask("action", user("bob")).refused(403, "ACCESS_DENIED");
    ask("subject", user("alice")).refused(403, "ACCESS_DENIED");
}
