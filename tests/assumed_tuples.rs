//! Tuples that a request assumes (`docs/semantics.md`, section 12.12).

use serde_json::{Value, json};

use crate::everywhere::decisions::{id_of, listed, tenant_of};
use crate::everywhere::relation_checks::{as_drive, body, change, drive, tuple};
use crate::support::{MANAGER, Provider, Reply, Request, Settings, Tenant};

const CHECK: &str = "POST /api/v1/check";
const BATCH: &str = "POST /api/v1/checks";
const EVALUATION: &str = "POST /access/v1/evaluation";
const EVALUATIONS: &str = "POST /access/v1/evaluations";

/// The tuples of a request, each as [`tuple`] reads it.
fn tuples(texts: &[&str]) -> Value {
    texts.iter().map(|text| tuple(text)).collect()
}

/// A check whether `subject` may edit `d1`, with tuples.
fn edit(subject: &str, texts: &[&str]) -> Value {
    let mut check = body(subject, "edit", json!({"id": "d1"}));
    check["relations"] = tuples(texts);
    check
}

fn as_manager(tenant: &Tenant<'_>, route: &str, body: &Value) -> Reply {
    tenant.send(&Request::new(route).token(&tenant.token("boss", &[MANAGER])).json(body))
}

fn key(tenant: &Tenant<'_>, permissions: &[&str]) -> String {
    let key = json!({"name": "gateway", "permissions": permissions, "domain": tenant.name});
    tenant.manage("POST /api/v1/service-api-keys", &key).is(201).text_of("key")
}

fn by_key(tenant: &Tenant<'_>, key: &str, route: &str, body: &Value) -> Reply {
    tenant.send(&Request::new(route).header("x-service-api-key", key).json(body))
}

/// An evaluation whether `subject` may edit `d1`, whose context has `relations`.
fn evaluation(subject: &str, relations: &Value) -> Value {
    json!({
        "subject": {"type": "user", "id": subject}, "action": {"name": "edit"},
        "resource": {"type": "document", "id": "d1"}, "context": {"relations": relations},
    })
}

fn decisions(reply: &Reply, list: &str) -> Vec<Value> {
    let json = reply.clone().is(200).json();
    let all = json[list].as_array().unwrap_or_else(|| panic!("{json}"));
    all.iter().map(|one| one["decision"].clone()).collect()
}

#[test]
fn tuples_count_in_their_decision_alone() {
    let tenant = drive();
    change(&tenant, &["group:eng member user:ann"], &[]);
    let ask = |texts: &[&str]| {
        let reply = as_manager(&tenant, CHECK, &edit("ann", texts)).is(200);
        assert!(reply.header("x-entities-revision").is_some() || texts.is_empty());
        reply.text_of("decision")
    };
    assert_eq!(ask(&["document:d1 editor user:ann"]), "allow");
    // It joins what is stored, and is gone with the decision.
    assert_eq!(ask(&["document:d1 editor group:eng#member"]), "allow");
    assert_eq!(ask(&["document:d2 editor user:ann"]), "deny");
    assert_eq!(ask(&[]), "deny");
    let stored = tenant.get("/api/v1/relations").is(200).json();
    assert_eq!(stored.as_array().map(Vec::len), Some(1), "{stored}");
}

#[test]
fn an_item_of_a_batch_has_its_own_tuples_or_those_of_the_body() {
    let tenant = drive();
    let item = |subject: &str| json!({"subject": subject});
    let own =
        |subject: &str, texts: &[&str]| json!({"subject": subject, "relations": tuples(texts)});
    let mut batch = body("", "edit", json!({"id": "d1"}));
    batch.as_object_mut().expect("an object").remove("subject");
    batch["relations"] = tuples(&["document:d1 editor user:ann", "document:d1 editor user:bob"]);
    batch["checks"] = json!([
        item("ann"),
        item("carl"),
        own("carl", &["document:d1 editor user:carl"]),
        own("ann", &["document:d1 editor user:carl"]),
        own("ann", &[]),
        {"subject": "bob", "relations": null},
    ]);
    let reply = as_manager(&tenant, BATCH, &batch);
    let expected = ["allow", "deny", "allow", "deny", "deny", "allow"];
    assert_eq!(decisions(&reply, "results"), expected, "{}", reply.text);
    let many = vec![tuple("document:d1 editor user:ann"); 100];
    let items = |count: usize| vec![json!({"subject": "ann", "relations": many}); count];
    batch["relations"] = json!(null);
    batch["checks"] = json!(items(100));
    as_manager(&tenant, BATCH, &batch).is(200);
    batch["checks"] = json!(items(101));
    let refused = as_manager(&tenant, BATCH, &batch).is(400).text;
    assert!(refused.contains("/checks/100/relations"), "{refused}");
    // A default counts once.
    batch["relations"] = json!(many);
    batch["checks"] = json!(vec![item("ann"); 200]);
    as_manager(&tenant, BATCH, &batch).is(200);
}

#[test]
fn a_list_with_objects_in_the_context_is_tuples() {
    let tenant = drive();
    let ask = |relations: &Value| {
        let reply = as_manager(&tenant, EVALUATION, &evaluation("ann", relations)).is(200);
        reply.json()["decision"].clone()
    };
    let shared = tuples(&["document:d1 editor user:ann"]);
    assert_eq!(ask(&shared), true);
    assert_eq!(ask(&json!([])), false);
    let refused = as_manager(&tenant, EVALUATION, &evaluation("ann", &json!(["x", {}]))).is(400);
    assert!(refused.text.contains("/context/relations/0"), "{}", refused.text);
    // Without an object it is an attribute, as before.
    let named = json!({"type": "CONDITION", "attribute": "context.relations", "operator": "contains",
        "value": "family"});
    tenant.policy("family", "document:edit", "allow", 1, &named);
    assert_eq!(ask(&json!(["family"])), true);
    assert_eq!(
        ask(&json!([{"object": "document:d2", "relation": "editor", "subject": "user:ann"}])),
        false
    );
    let mut many = evaluation("ann", &shared);
    many["evaluations"] = json!([{}, {"context": {"relations": []}}, {"context": {}},
        {"subject": {"type": "user", "id": "bob"}}, {"context": {"relations": [{"object": "x"}]}}]);
    let reply = as_manager(&tenant, EVALUATIONS, &many);
    assert_eq!(decisions(&reply, "evaluations"), [true, false, false, false, false]);
    let faulty = &reply.json()["evaluations"][4]["context"]["error"];
    assert_eq!(faulty["status"], 400, "{faulty}");
    // A search takes it for an attribute.
    let search = json!({"subject": {"type": "user", "id": "ann"}, "action": {"name": "edit"},
        "resource": {"type": "document"}, "context": {"relations": shared}});
    let found = as_manager(&tenant, "POST /access/v1/search/resource", &search).is(200).json();
    assert_eq!(found["results"], json!([]), "{found}");
}

#[test]
fn only_managers_and_keys_with_the_right_assume_tuples() {
    let tenant = drive();
    let check = edit("ann", &["document:d1 editor user:ann"]);
    let batch = json!({"checks": [check]});
    let evaluation = evaluation("ann", &check["relations"]);
    let evaluations = json!({"evaluations": [evaluation]});
    let all = [(CHECK, &check), (BATCH, &batch), (EVALUATION, &evaluation)];
    let [evaluate, assume] = ["access:evaluate", "relations:assume"];
    for (permissions, status) in [
        (&[evaluate, "policies:read", "relations:write"][..], 403),
        (&[evaluate, assume], 200),
        (&[assume], 403),
    ] {
        let key = key(&tenant, permissions);
        let mut of_key = check.clone();
        of_key["domain"] = json!(tenant.name);
        let reply = by_key(&tenant, &key, CHECK, &of_key);
        assert_eq!(reply.status, status, "{permissions:?}: {}", reply.text);
        if status == 200 {
            assert_eq!(reply.text_of("decision"), "allow");
        }
    }
    let member = tenant.token("ann", &["editor"]);
    for (route, body) in all {
        let refused = tenant.send(&Request::new(route).token(&member).json(body)).is(403);
        assert!(refused.text.contains("relations:assume"), "{}", refused.text);
        as_manager(&tenant, route, body).is(200);
    }
    let refused = tenant.send(&Request::new(EVALUATIONS).token(&member).json(&evaluations));
    let error = refused.is(200).json()["evaluations"][0]["context"]["error"].clone();
    assert_eq!(error["status"], 403, "{error}");
    // Nobody learns of the types what it may not assume.
    let unknown = json!({"evaluations": [evaluation_of_type("ghost", &evaluation)]});
    let refused = tenant.send(&Request::new(EVALUATIONS).token(&member).json(&unknown)).is(200);
    assert_eq!(refused.json()["evaluations"][0]["context"]["error"]["status"], 403);
}

/// Returns an evaluation that assumes a tuple of an object of this type.
fn evaluation_of_type(name: &str, evaluation: &Value) -> Value {
    let mut changed = evaluation.clone();
    changed["context"]["relations"] = tuples(&[&format!("{name}:x editor user:ann")]);
    changed
}

#[test]
fn the_types_must_allow_each_tuple_and_there_are_at_most_a_hundred() {
    let tenant = drive();
    let refused = |route: &str, body: &Value| as_manager(&tenant, route, body).is(400).text;
    let owner = edit("ann", &["document:d1 editor user:ann", "document:d1 owner user:ann"]);
    let text = refused(CHECK, &owner);
    assert!(text.contains("/relations/1/relation"), "{text}");
    let text = refused(BATCH, &json!({"checks": [body("ann", "edit", json!({})), owner]}));
    assert!(text.contains("/checks/1/relations/1/relation"), "{text}");
    let text = refused(EVALUATION, &evaluation("ann", &owner["relations"]));
    assert!(text.contains("/context/relations/1/relation"), "{text}");
    let many = |count: usize| edit("ann", &vec!["document:d1 editor user:ann"; count]);
    as_manager(&tenant, CHECK, &many(100)).is(200);
    let text = refused(CHECK, &many(101));
    assert!(text.contains("/relations") && text.contains("at most 100 tuples"), "{text}");
    // Explained checks keep their own bound.
    as_manager(&tenant, "POST /api/v1/check?explain=true", &many(1_000)).is(200);
    for (route, body) in [
        (
            "POST /api/v1/resources/access/check",
            json!({"subject": "ann", "resource": "document:edit"}),
        ),
        (
            "POST /api/v1/plan",
            json!({"subject": "ann", "resource": "document:edit", "action": "edit"}),
        ),
    ] {
        let mut body = body;
        body["relations"] = owner["relations"].clone();
        let text = refused(route, &body);
        assert!(text.contains("`relations` is unknown"), "{route}: {text}");
    }
    let none = Tenant::new();
    let text = as_manager(&none, CHECK, &owner).is(400).text;
    assert!(text.contains("no type has relations"), "{text}");
}

#[test]
fn a_record_has_the_tuples_and_a_member_does_not_see_them() {
    let server = Settings::new(Provider::shared()).recording().start();
    let tenant = tenant_of(&server);
    as_drive(&tenant);
    let texts = ["document:d1 editor user:ann"];
    let decided = as_manager(&tenant, CHECK, &edit("ann", &texts)).is(200);
    assert_eq!(decided.text_of("decision"), "allow");
    let batch = json!({"checks": [edit("ann", &texts), body("ann", "edit", json!({"id": "d1"}))]});
    as_manager(&tenant, BATCH, &batch).is(200);
    let records = listed(&tenant, "?subject=ann", 3);
    let assumed: Vec<_> = records.iter().filter(|one| !one["assumed"].is_null()).collect();
    assert_eq!(assumed.len(), 2, "{records:?}");
    for record in assumed {
        assert_eq!((&record["assumed"], &record["decision"]), (&tuples(&texts), &json!("allow")));
    }
    let id = id_of(&decided).expect("recorded");
    let path = format!("/api/v1/decisions/{id}");
    let again = tenant.get(&format!("{path}?explain=true")).is(200).json();
    assert_eq!(again["reproduced"], true, "{again}");
    let member = tenant.token("ann", &["editor"]);
    let seen = tenant.send(&Request::new(format!("GET {path}")).token(&member)).is(200).json();
    assert!(seen["assumed"].is_null() && seen["decision"] == "allow", "{seen}");
}
