//! The hints of explained checks (`docs/semantics.md`, section 2.15).

use serde_json::{Value, json};

use crate::support::Tenant;

/// A tenant with a directory, a type and a policy.
fn helpdesk() -> Tenant<'static> {
    let tenant = Tenant::new();
    let properties = json!({"team": {"type": "text"}, "level": {"type": "number"}});
    tenant.manage("PUT /api/v1/types/user", &json!({"properties": properties})).is(201);
    let policy = json!({
        "name": "own team", "resource": "ticket:read", "effect": "allow", "priority": 1,
        "format": "expression",
        "rule_data": {"expression": "user.team == resource.team && user.level >= 2"},
    });
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    tenant.resource("ticket:read");
    let entities =
        json!({"entities": [{"type": "user", "id": "ann"}, {"type": "ticket", "id": "t1"}]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    tenant
}

/// Returns the code and the place of each hint.
fn hints(tenant: &Tenant<'_>, body: &Value) -> Vec<(String, String)> {
    let answer = tenant.manage("POST /api/v1/check?explain=true", body).is(200).json();
    let hints = answer["explanation"]["hints"].as_array().expect("hints").iter();
    let text = |hint: &Value, name: &str| hint[name].as_str().expect("a text").to_owned();
    hints.map(|hint| (text(hint, "code"), text(hint, "path"))).collect()
}

#[test]
fn each_hint_has_its_place_and_goes_when_the_check_is_mended() {
    let tenant = helpdesk();
    let sound = json!({
        "subject": "ann", "resource": "ticket:read",
        "attributes": {
            "user": {"team": "blue", "level": 3, "roles": ["agent"]},
            "resource": {"id": "t1", "type": "ticket", "team": "blue"},
        },
    });
    assert_eq!(hints(&tenant, &sound), []);
    for (place, value, expected) in [
        ("/subject", json!("anne"), ("UNKNOWN_SUBJECT", "/subject")),
        ("/resource", json!("tikcet:read"), ("UNNAMED_RESOURCE", "/resource")),
        ("/action", json!("raed"), ("ACTION_NOT_VERB", "/action")),
        ("/attributes/user/level", json!("3"), ("OTHER_TYPE", "/attributes/user/level")),
        ("/attributes/resource/id", json!("t2"), ("UNKNOWN_OBJECT", "/attributes/resource/id")),
        (
            "/attributes/context",
            json!({"a/b": 1}),
            ("UNREAD_ATTRIBUTE", "/attributes/context/a~1b"),
        ),
    ] {
        let mut body = sound.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[name] = value;
        let found = hints(&tenant, &body);
        let expected = (expected.0.to_owned(), expected.1.to_owned());
        assert!(found.contains(&expected), "{place}: {found:?}");
        if place != "/resource" {
            assert_eq!(found.len(), 1, "{place}: {found:?}");
        }
        // No other answer has hints.
        assert_eq!(tenant.check(&body).is(200).json().get("explanation"), None);
    }
}

#[test]
fn hints_name_what_may_be_meant_and_come_in_the_order_of_the_body() {
    let tenant = helpdesk();
    let body = json!({
        "subject": "anne", "resource": "ticket:raed", "action": "read",
        "attributes": {"user": {"taem": "blue"}},
    });
    let answer = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
    let messages: Vec<&str> = answer["explanation"]["hints"]
        .as_array()
        .expect("hints")
        .iter()
        .map(|hint| hint["message"].as_str().expect("a text"))
        .collect();
    assert_eq!(
        messages,
        [
            "the directory does not know the subject `anne`",
            "no rule and no policy names `ticket:raed`; did you mean `ticket:read`?",
            "the action is `read`, and the verb of `ticket:raed` is `raed`",
            "no policy, relation or resolver reads `user.taem`",
        ]
    );
    let many: serde_json::Map<String, Value> =
        (0..50).map(|number| (format!("a{number}"), json!(1))).collect();
    let body =
        json!({"subject": "ann", "resource": "ticket:read", "attributes": {"context": many}});
    assert_eq!(hints(&tenant, &body).len(), 20);
}

#[test]
fn a_reference_is_read_where_a_policy_reads_what_is_behind_it() {
    let tenant = helpdesk();
    let text = json!({"type": "text"});
    for (of, properties) in [
        ("ticket", json!({"owner": {"type": "ref<user>"}, "team": text})),
        ("comment", json!({"ticket": {"type": "ref<ticket>"}, "place": text, "place.floor": text})),
    ] {
        let body = json!({"properties": properties});
        tenant.manage(format!("PUT /api/v1/types/{of}"), &body).is(201);
    }
    let policy = json!({
        "name": "of the ticket", "resource": "comment:read", "effect": "allow", "priority": 1,
        "format": "expression",
        "rule_data": {"expression": "resource.ticket.owner.team == 'blue' || resource.place.floor == '3'"},
    });
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    let asked = |resource: Value| {
        let attributes = json!({"resource": resource});
        hints(
            &tenant,
            &json!({"subject": "ann", "resource": "comment:read", "attributes": attributes}),
        )
    };
    assert_eq!(asked(json!({"ticket": "t1", "ticket.owner": "bob"})), []);
    // The references of the checked resource are followed whatever type the request names.
    assert_eq!(asked(json!({"type": "note", "ticket": "t1", "ticket.owner": "bob"})), []);
    let unread = |path: &str| [("UNREAD_ATTRIBUTE".to_owned(), path.to_owned())];
    assert_eq!(asked(json!({"ticket.team": "blue"})), unread("/attributes/resource/ticket.team"));
    // A name that begins another one is not a reference.
    assert_eq!(asked(json!({"place": "hall"})), unread("/attributes/resource/place"));
}
