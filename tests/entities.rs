//! `/api/v1/entities`: the entity directory (`docs/semantics.md`, section 12).

mod one;
mod supply;
mod unknown;

use serde_json::{Value, json};

use crate::support::{Reply, Tenant, is_timestamp, names};

fn put(tenant: &Tenant<'_>, entities: &Value) -> Reply {
    tenant.manage("PUT /api/v1/entities", &json!({"entities": entities}))
}

fn sync(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage("POST /api/v1/entities/sync", body)
}

fn user(id: &str) -> Value {
    json!({"type": "user", "id": id})
}

fn ids(tenant: &Tenant<'_>, query: &str) -> Vec<String> {
    let listed = tenant.get(&format!("/api/v1/entities{query}")).is(200).json();
    let ids = listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[test]
fn an_entity_is_written_shown_and_deleted() {
    let tenant = Tenant::new();
    let sent = json!({
        "type": "user", "id": "ann/é", "roles": ["doctor", "doctor"], "domain_roles": {"ws-1": ["owner"]},
        "properties": {"ward": "er", "level": 18446744073709551615_u64, "tags": ["a", 1.5], "on": true},
    });
    let body = json!({"entities": [sent, user("bob")], "source": "hr"});
    let written = tenant.manage("PUT /api/v1/entities", &body).is(200).json();
    let expected = json!({"written": 2, "unchanged": 0, "deleted": 0, "entities_revision": 1});
    assert_eq!(written, expected);
    let path = "/api/v1/entities/user/ann%2F%C3%A9";
    let shown = tenant.get(path).is(200);
    let record = shown.json();
    assert_eq!(
        names(&record),
        ["domain_roles", "id", "properties", "roles", "source", "type", "updated_at"]
    );
    assert_eq!(record["roles"], json!(["doctor"]));
    assert_eq!(record["properties"], sent["properties"]);
    assert!(is_timestamp(record["updated_at"].as_str().unwrap()));
    let again = tenant.manage("PUT /api/v1/entities", &body).is(200).json();
    assert_eq!(again["unchanged"], 2);
    assert_eq!(again["entities_revision"], 1);
    let tag = shown.header("etag").unwrap().to_owned();
    let delete = || tenant.managing(format!("DELETE {path}"));
    tenant.send(&delete().header("if-match", "\"other\"")).refused(412, "PRECONDITION_FAILED");
    tenant.send(&delete().header("if-match", &tag)).is(204);
    tenant.get(path).refused(404, "NOT_FOUND");
    tenant.delete(path).refused(404, "NOT_FOUND");
    assert_eq!(ids(&tenant, ""), ["bob"]);
}

#[test]
fn entities_are_listed_in_order_and_in_pages() {
    let tenant = Tenant::new();
    let chart = |id: &str| json!({"type": "chart", "id": id});
    put(&tenant, &json!([user("b"), user("a"), chart("z:y"), chart("x")])).is(200);
    assert_eq!(ids(&tenant, ""), ["x", "z:y", "a", "b"]);
    assert_eq!(ids(&tenant, "?type=user"), ["a", "b"]);
    assert_eq!(ids(&tenant, "?type=us"), [""; 0]);
    let page = tenant.get("/api/v1/entities?limit=2").is(200);
    let next = page.next_page().unwrap();
    let rest = tenant.get(next).is(200);
    assert_eq!(rest.json()[0]["id"], "a");
    assert_eq!(rest.header("link"), None);
    let of_users = next.replace("limit=2", "type=user");
    tenant.get(&of_users).refused(400, "BAD_REQUEST");
}

#[test]
fn wrong_entities_are_refused_with_their_place_and_nothing_is_written() {
    let tenant = Tenant::new();
    put(&tenant, &json!([{"type": "user", "id": "ann", "roles": ["doctor"]}])).is(200);
    for (entity, path) in [
        (json!({"type": "user", "id": "doctor"}), "/entities/1/id"),
        (json!({"type": "user", "id": "new", "roles": ["ann"]}), "/entities"),
        (json!({"type": "a:b", "id": "x"}), "/entities/1/type"),
        (json!({"type": "user", "id": ""}), "/entities/1/id"),
        (json!({"type": "user", "id": "x", "properties": {"a": {}}}), "/entities/1/properties/a"),
        (json!({"type": "user", "id": "x", "roles": [1]}), "/entities/1/roles/0"),
    ] {
        let refused = put(&tenant, &json!([user("bob"), entity])).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.details()["path"], path, "{entity}");
    }
    let many: Vec<Value> = (0..1_001).map(|number| user(&format!("u{number}"))).collect();
    put(&tenant, &json!(many)).refused(400, "VALIDATION_ERROR");
    assert_eq!(ids(&tenant, ""), ["ann"]);
}

#[test]
fn a_list_of_entities_takes_no_precondition() {
    let tenant = Tenant::new();
    let written = put(&tenant, &json!([user("ann")])).is(200).json();
    let list = tenant.managing("PUT /api/v1/entities").json(&json!({"entities": [user("ann")]}));
    for (header, condition) in
        [("if-match", "\"another\""), ("if-match", "*"), ("if-match", ""), ("if-none-match", "*")]
    {
        let refused = tenant.send(&list.clone().header(header, condition));
        let message = refused.refused(400, "BAD_REQUEST").message();
        assert!(message.contains("`source`"), "{message}");
    }
    assert_eq!(
        tenant.send(&list).is(200).json()["entities_revision"],
        written["entities_revision"]
    );
}

#[test]
fn a_body_of_entities_may_be_larger_than_others() {
    let tenant = Tenant::new();
    let note = "x".repeat(4_000);
    let entity = |number: u32| json!({"type": "chart", "id": number.to_string(), "properties": {"note": note}});
    let entities: Vec<Value> = (0..1_000).map(entity).collect();
    assert_eq!(put(&tenant, &json!(entities)).is(200).json()["written"], 1_000);
    let body = "x".repeat(8 * 1_024 * 1_024 + 1);
    let request = tenant.managing("PUT /api/v1/entities").body("application/json", body);
    tenant.send(&request).refused(413, "PAYLOAD_TOO_LARGE");
}

#[test]
fn the_end_of_a_full_sync_deletes_what_it_did_not_name() {
    let tenant = Tenant::new();
    put(&tenant, &json!([user("by-hand")])).is(200);
    let all = json!([user("a"), user("b"), user("c")]);
    let first = sync(&tenant, &json!({"source": "hr", "entities": all, "finish": true})).is(200);
    assert_eq!((&first.json()["written"], first.json().get("sync")), (&json!(3), None));
    let begun = sync(&tenant, &json!({"source": "hr", "entities": [user("a")]})).is(200).json();
    let id = &begun["sync"];
    assert_eq!(begun["unchanged"], 1);
    assert_eq!(ids(&tenant, ""), ["a", "b", "by-hand", "c"]);
    let next = json!({"source": "hr", "sync": id, "entities": [user("d")]});
    assert_eq!(sync(&tenant, &next).is(200).json()["sync"], *id);
    let other = json!({"source": "crm", "sync": id, "finish": true});
    sync(&tenant, &other).refused(409, "CONFLICT");
    let finish = json!({"source": "hr", "sync": id, "finish": true, "allow_deletes": true});
    let end = sync(&tenant, &finish).is(200).json();
    assert_eq!((&end["deleted"], end.get("sync")), (&json!(2), None));
    assert_eq!(ids(&tenant, ""), ["a", "by-hand", "d"]);
    sync(&tenant, &next).refused(409, "CONFLICT");
}

#[test]
fn a_sync_that_another_one_replaced_deletes_nothing() {
    let tenant = Tenant::new();
    let begin = json!({"source": "hr", "entities": [user("a"), user("b")]});
    let stopped = sync(&tenant, &begin).is(200).json()["sync"].clone();
    let second = sync(&tenant, &json!({"source": "hr", "entities": [user("b")]})).is(200).json();
    let end = json!({"source": "hr", "sync": stopped, "finish": true});
    sync(&tenant, &end).refused(409, "CONFLICT");
    assert_eq!(ids(&tenant, ""), ["a", "b"]);
    let end = json!({"source": "hr", "sync": second["sync"], "finish": true});
    assert_eq!(sync(&tenant, &end).is(200).json()["deleted"], 1);
    assert_eq!(ids(&tenant, ""), ["b"]);
}

#[test]
fn a_sync_that_would_delete_much_of_its_source_says_so_first() {
    let tenant = Tenant::new();
    let users = |ids: std::ops::Range<u32>| -> Vec<Value> {
        ids.map(|id| user(&format!("u{id:02}"))).collect()
    };
    let whole = |users: Vec<Value>| json!({"source": "hr", "entities": users, "finish": true});
    sync(&tenant, &whole(users(0..10))).is(200);
    // New entities do not hide what goes.
    let refused = sync(&tenant, &whole(users(3..40))).refused(422, "DELETE_LIMIT");
    assert_eq!(refused.details(), json!({"deletions": 3, "owned": 10, "limit": 2}));
    assert!(refused.message().contains("`allow_deletes`"), "{}", refused.text);
    assert_eq!(ids(&tenant, "").len(), 10, "nothing is written");
    assert_eq!(sync(&tenant, &whole(users(2..12))).is(200).json()["deleted"], 2);

    // In several calls the refused one may be sent again.
    let begun = sync(&tenant, &json!({"source": "hr", "entities": users(11..12)})).is(200).json();
    let mut finish = json!({"source": "hr", "sync": begun["sync"], "finish": true});
    sync(&tenant, &finish).refused(422, "DELETE_LIMIT");
    finish["allow_deletes"] = json!(true);
    assert_eq!(sync(&tenant, &finish).is(200).json()["deleted"], 9);
    // One deletion is always allowed, and the settings say how many else.
    assert_eq!(sync(&tenant, &whole(vec![])).is(200).json()["deleted"], 1);
    sync(&tenant, &whole(users(0..10))).is(200);
    let settings = json!({"owner": "test", "bundle": {"settings": {"max_deletes": 90}}});
    tenant.manage("POST /api/v1/apply", &settings).is(200);
    assert_eq!(sync(&tenant, &whole(users(0..1))).is(200).json()["deleted"], 9);
}
