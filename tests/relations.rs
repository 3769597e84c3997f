//! `/api/v1/relations`: the tuples of the directory (`docs/semantics.md`, sections 12.10 and 12.11).

mod definitions;

use serde_json::{Value, json};

use crate::support::{Reply, Tenant};

/// Declares groups with members and documents with viewers.
fn declare(tenant: &Tenant<'_>) {
    for (name, relations) in [
        ("group", json!({"member": "[user, group#member]"})),
        ("document", json!({"owner": "[user]", "viewer": "[user, group#member, user:*] || owner"})),
    ] {
        let path = format!("PUT /api/v1/types/{name}");
        tenant.manage(path, &json!({"relations": relations})).is(201);
    }
}

fn tuple(object: &str, relation: &str, subject: &str) -> Value {
    let (subject, related) = subject.split_once('#').map_or((subject, None), |(a, b)| (a, Some(b)));
    json!({"object": object, "relation": relation, "subject": subject, "subject_relation": related})
}

fn write(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage("POST /api/v1/relations", body)
}

fn sync(tenant: &Tenant<'_>, query: &str, body: &Value) -> Reply {
    tenant.manage(format!("POST /api/v1/relations/sync{query}"), body)
}

fn listed(tenant: &Tenant<'_>, query: &str) -> Vec<String> {
    let list = tenant.get(&format!("/api/v1/relations{query}")).is(200).json();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or("-").to_owned();
    let shown = |one: &Value| {
        let [object, relation, subject, related] =
            ["object", "relation", "subject", "subject_relation"].map(|name| text(one, name));
        format!("{object} {relation} {subject} {related}")
    };
    list.as_array().unwrap().iter().map(shown).collect()
}

#[test]
fn tuples_are_written_listed_and_deleted() {
    let tenant = Tenant::new();
    declare(&tenant);
    let mut expiring = tuple("document:d1", "viewer", "user:bob");
    expiring["expires_at"] = json!("2030-01-01T00:00:00Z");
    let shared = tuple("document:d1", "viewer", "group:eng#member");
    let ann = tuple("group:eng", "member", "user:ann");
    let body = json!({"write": [expiring, shared, ann, ann], "source": "app"});
    let reply = write(&tenant, &body).is(200);
    assert_eq!(reply.header("x-entities-revision"), Some("1"));
    let answer =
        json!({"written": 3, "unchanged": 0, "deleted": 0, "absent": 0, "entities_revision": 1});
    assert_eq!(reply.json(), answer);
    assert_eq!(write(&tenant, &body).is(200).json()["unchanged"], 3);
    let record = tenant.get("/api/v1/relations?subject=user:bob").is(200).json()[0].clone();
    assert_eq!(record["expires_at"], "2030-01-01T00:00:00.000Z");
    assert_eq!((&record["source"], &record["subject_relation"]), (&json!("app"), &Value::Null));
    let by_group = ["document:d1 viewer group:eng member"];
    assert_eq!(listed(&tenant, "?subject=group:eng"), by_group);
    assert_eq!(listed(&tenant, "?object=document:d1&relation=viewer").len(), 2);
    assert_eq!(listed(&tenant, "?object_type=group"), ["group:eng member user:ann -"]);
    assert_eq!(listed(&tenant, "?source=other"), [""; 0]);
    let first = tenant.get("/api/v1/relations?limit=2").is(200);
    let next = first.header("link").unwrap().split(['<', '>']).nth(1).unwrap().to_owned();
    assert_eq!(tenant.get(&next).is(200).json().as_array().unwrap().len(), 1);
    let change = json!({"write": [tuple("document:d1", "owner", "user:ann")], "delete": [shared, tuple("document:d9", "viewer", "user:bob")]});
    let results = tenant.manage("POST /api/v1/relations?details=true", &change).is(200).json();
    let done: Vec<&Value> =
        results["results"].as_array().unwrap().iter().map(|one| &one["result"]).collect();
    assert_eq!(done, ["written", "deleted", "absent"]);
    assert_eq!(
        (&results["written"], &results["deleted"], &results["absent"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let audit = tenant.get("/api/v1/audit?action=relations.written").is(200).json();
    assert_eq!(audit[1]["count"], 3);
    assert_eq!(audit[1]["records"][1], "document:d1#viewer@group:eng#member");
    tenant.delete("/api/v1/relations").refused(400, "BAD_REQUEST");
    let deleted = tenant.delete("/api/v1/relations?object_type=document").is(200).json();
    assert_eq!(deleted, json!({"deleted": 2, "more": false, "entities_revision": 3}));
    assert_eq!(listed(&tenant, ""), ["group:eng member user:ann -"]);
}

#[test]
fn a_tuple_must_fit_the_relations_of_the_types() {
    let tenant = Tenant::new();
    let refused = |sent: &Value, path: &str, said: &str| {
        let reply = write(&tenant, &json!({"write": [sent]})).refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.paths(), [path]);
        assert!(reply.message().contains(said), "{}", reply.text);
    };
    let sound = tuple("document:d1", "viewer", "user:ann");
    refused(&sound, "/write/0/object", "a type with relations");
    declare(&tenant);
    let everybody = tuple("document:d1", "viewer", "user:*");
    write(&tenant, &json!({"write": [sound, everybody]})).is(200);
    refused(
        &tuple("documents:d1", "viewer", "user:ann"),
        "/write/0/object",
        "did you mean `document`?",
    );
    refused(
        &tuple("document:d1", "viewr", "user:ann"),
        "/write/0/relation",
        "did you mean `viewer`?",
    );
    refused(
        &tuple("document:d1", "viewer", "team:a"),
        "/write/0/subject",
        "`user`, `group#member` or `user:*`",
    );
    refused(
        &tuple("document:d1", "owner", "user:*"),
        "/write/0/subject",
        "`owner` of `document` stores: `user`",
    );
    refused(
        &tuple("document:d1", "viewer", "group:a#members"),
        "/write/0/subject_relation",
        "did you mean `member`?",
    );
    refused(&tuple("document:*", "viewer", "user:ann"), "/write/0/object", "one object");
    let both = json!({"write": [sound], "delete": [sound]});
    let reply = write(&tenant, &both).refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.paths(), ["/delete/0"]);
    tenant.get("/api/v1/relations?object=document").refused(400, "BAD_REQUEST");
}

#[test]
fn a_deleted_entity_takes_its_tuples_along() {
    let tenant = Tenant::new();
    declare(&tenant);
    let tuples = [
        tuple("document:d1", "viewer", "group:eng#member"),
        tuple("group:eng", "member", "user:ann"),
        tuple("document:d1", "viewer", "user:ann"),
    ];
    write(&tenant, &json!({"write": tuples})).is(200);
    let entity = json!({"entities": [{"type": "group", "id": "eng"}]});
    tenant.manage("PUT /api/v1/entities", &entity).is(200);
    tenant.delete("/api/v1/entities/group/eng").is(204);
    assert_eq!(listed(&tenant, ""), ["document:d1 viewer user:ann -"]);
    // Tuples need no record of their entities.
    let path = "/api/v1/entities/user/ann";
    let conditional = tenant.managing(format!("DELETE {path}")).header("if-match", "*");
    tenant.send(&conditional).refused(404, "NOT_FOUND");
    tenant.delete(path).is(204);
    assert_eq!(listed(&tenant, ""), [""; 0]);
    tenant.delete(path).refused(404, "NOT_FOUND");
}

#[test]
fn those_who_have_a_relation_are_not_silently_an_id() {
    let tenant = Tenant::new();
    declare(&tenant);
    let mut sent = tuple("document:d1", "viewer", "user:ann");
    sent["subject"] = json!("user:ann#member");
    let reply = write(&tenant, &json!({"write": [sent]})).refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.paths(), ["/write/0/subject"]);
    sent["subject"] = json!("user:https://id.example/#1");
    write(&tenant, &json!({"write": [sent]})).is(200);
}

#[test]
fn a_sync_replaces_the_tuples_of_its_source() {
    let tenant = Tenant::new();
    declare(&tenant);
    let member = |id: usize| tuple("group:eng", "member", &format!("user:u{id}"));
    let own: Vec<Value> = (0..4).map(member).collect();
    write(&tenant, &json!({"write": [tuple("group:ops", "member", "user:u0")]})).is(200);
    let whole = |tuples: &[Value]| json!({"source": "hr", "relations": tuples, "finish": true});
    let first = sync(&tenant, "", &whole(&own)).is(200).json();
    assert_eq!(first, json!({"written": 4, "unchanged": 0, "deleted": 0, "entities_revision": 2}));
    let drift = whole(&[own[0].clone(), member(7)]);
    let counted = sync(&tenant, "?dry_run=true", &drift).is(200).json();
    assert_eq!(
        counted,
        json!({"written": 1, "unchanged": 1, "deleted": 3, "entities_revision": 2})
    );
    assert_eq!(listed(&tenant, "?source=hr").len(), 4, "a dry run writes nothing");
    let part = json!({"source": "hr", "relations": []});
    sync(&tenant, "?dry_run=true", &part).refused(400, "VALIDATION_ERROR");
    let refused = sync(&tenant, "", &drift).refused(422, "DELETE_LIMIT");
    assert_eq!(refused.details(), json!({"deletions": 3, "owned": 4, "limit": 1}));
    let sync_id = sync(&tenant, "", &part).is(200).json()["sync"].clone();
    let last = json!({"source": "hr", "sync": sync_id, "relations": own[1..], "finish": true});
    assert_eq!(sync(&tenant, "", &last).is(200).json()["deleted"], 1);
    sync(&tenant, "", &last).refused(409, "CONFLICT");
    let mut all = drift;
    all["allow_deletes"] = json!(true);
    assert_eq!(sync(&tenant, "", &all).is(200).json()["deleted"], 3);
    assert_eq!(listed(&tenant, "").len(), 3, "those of others stay");
}
