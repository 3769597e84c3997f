//! `null`: an absent attribute, which the directory does not supply (`docs/semantics.md`, sections 2.1 and 12.5).

use serde_json::{Value, json};

use crate::support::{Request, Tenant};

/// A tenant whose directory has Bob's level and the state of `r1`, with a policy about both.
fn archive() -> Tenant<'static> {
    let tenant = Tenant::new();
    tenant.resource("record:read");
    let policy = json!({"name": "open", "resource": "record:read", "effect": "allow", "priority": 1,
        "format": "expression", "rule_data": {"expression": r#"user.level >= 3 && resource.state == "open""#}});
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    let entities = json!({"entities": [
        {"type": "user", "id": "bob", "properties": {"level": 5}},
        {"type": "record", "id": "r1", "properties": {"state": "open"}},
    ]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    tenant
}

fn asked(attributes: &Value) -> Value {
    json!({"subject": "bob", "resource": "record:read", "action": "read", "attributes": attributes})
}

fn decided(tenant: &Tenant<'_>, attributes: &Value) -> String {
    tenant.check(&asked(attributes)).is(200).text_of("decision").to_owned()
}

#[test]
fn no_property_replaces_null_on_any_route() {
    let tenant = archive();
    let [whole, no_level, no_state] = [
        json!({"resource": {"id": "r1"}}),
        json!({"user": {"level": null}, "resource": {"id": "r1"}}),
        json!({"resource": {"id": "r1", "state": null}}),
    ];
    for (attributes, expected) in [(&whole, "allow"), (&no_level, "deny"), (&no_state, "deny")] {
        assert_eq!(decided(&tenant, attributes), expected, "{attributes}");
        let batch = json!({"checks": [asked(attributes)]});
        let batch = tenant.manage("POST /api/v1/checks", &batch).is(200).json();
        assert_eq!(batch["results"][0]["decision"], expected, "{attributes}");
        let default = json!({"checks": [{}, {"attributes": null}], "subject": "bob",
            "resource": "record:read", "action": "read", "attributes": attributes});
        let default = tenant.manage("POST /api/v1/checks", &default).is(200).json();
        for item in 0..2 {
            assert_eq!(default["results"][item]["decision"], expected, "{attributes}");
        }
        let properties = |kind: &str| attributes[kind].as_object().cloned().unwrap_or_default();
        let body = json!({
            "subject": {"type": "user", "id": "bob", "properties": properties("user")},
            "resource": {"type": "record", "id": "r1", "properties": properties("resource")},
            "action": {"name": "read"},
        });
        let evaluated = tenant.manage("POST /access/v1/evaluation", &body).is(200).json();
        assert_eq!(evaluated["decision"], expected == "allow", "{attributes}");
        let permissions = json!({"subject": "bob", "attributes": attributes});
        let permissions = tenant.manage("POST /api/v1/permissions", &permissions).is(200).json();
        assert_eq!(permissions["results"][0]["decision"], expected, "{attributes}");
        // The candidates of a request, those of the directory, and the same `null` for all of them.
        let mut shared = asked(&no_id(attributes));
        let candidate = json!({"id": "r1", "properties": no_id(attributes)["resource"]});
        for candidates in [json!([{"id": "r1"}]), json!([candidate]), Value::Null] {
            shared["candidates"] = candidates;
            let found = tenant.manage("POST /api/v1/search/resources", &shared).is(200).json();
            let is_found = found["results"] != json!([]);
            assert_eq!(is_found, expected == "allow", "{shared}");
        }
    }
}

/// Returns the attributes without the id of the resource.
fn no_id(attributes: &Value) -> Value {
    let mut attributes = attributes.clone();
    attributes["resource"].as_object_mut().expect("an object").remove("id");
    attributes
}

#[test]
fn a_candidate_goes_before_what_all_share() {
    let tenant = archive();
    let search = |shared: Value, own: Value| {
        let mut body = asked(&json!({"resource": {"state": shared}}));
        body["candidates"] = json!([{"id": "r1", "properties": {"state": own}}]);
        let found = tenant.manage("POST /api/v1/search/resources", &body).is(200).json();
        found["results"] != json!([])
    };
    assert!(search(json!("closed"), json!("open")));
    assert!(search(Value::Null, json!("open")));
    assert!(!search(json!("open"), Value::Null));
    assert!(!search(Value::Null, Value::Null));
    let subjects = |level: Value| {
        let mut body = asked(&json!({"resource": {"id": "r1"}}));
        body.as_object_mut().expect("an object").remove("subject");
        body["candidates"] = json!([{"id": "bob", "properties": {"level": level}}]);
        let found = tenant.manage("POST /api/v1/search/subjects", &body).is(200).json();
        found["results"] != json!([])
    };
    assert!(subjects(json!(3)));
    assert!(!subjects(Value::Null));
}

#[test]
fn an_explanation_shows_it_as_absent_and_what_would_allow_counts_it() {
    let tenant = archive();
    let body = asked(&json!({"user": {"level": null}, "resource": {"id": "r1", "state": "shut"}}));
    let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
    let attributes = explained["explanation"]["attributes"].clone();
    assert_eq!(attributes[0], json!({"attribute": "user.level", "source": "request"}));
    // Both must change: the directory does not bring the level back.
    let sets = explained["explanation"]["would_allow"].clone();
    assert_eq!(
        sets,
        json!([{"changes": [
            {"attribute": "user.level", "from": null, "to": 3},
            {"attribute": "resource.state", "from": "shut", "to": "open"},
        ]}])
    );
}

#[test]
fn a_plan_and_permissions_know_that_it_is_absent() {
    let tenant = archive();
    let plan = |attributes: Value| {
        tenant.manage("POST /api/v1/plan", &asked(&attributes)).is(200).text_of("kind").to_owned()
    };
    assert_eq!(plan(json!({})), "conditional");
    assert_eq!(plan(json!({"resource": {"state": null}})), "never");
    assert_eq!(plan(json!({"user": {"level": null}})), "never");
    let permission = |subject: &str, attributes: Value| {
        let body = json!({"subject": subject, "attributes": attributes});
        let listed = tenant.manage("POST /api/v1/permissions", &body).is(200).json();
        listed["results"][0]["decision"].clone()
    };
    assert_eq!(permission("eve", json!({"resource": {"state": "open"}})), "depends");
    let absent = json!({"user": {"level": null}, "resource": {"state": "open"}});
    assert_eq!(permission("eve", absent), "deny");
}

#[test]
fn a_declared_source_and_the_precedence_of_the_directory_hold() {
    let tenant = archive();
    let null = json!({"user": {"level": null}, "resource": {"id": "r1"}});
    assert_eq!(decided(&tenant, &null), "deny");
    let apply = |bundle: Value| {
        let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
        tenant.manage("POST /api/v1/apply", &body).is(200);
    };
    apply(json!({"settings": {"directory_wins": true}}));
    assert_eq!(decided(&tenant, &null), "allow");
    apply(json!({"settings": {"directory_wins": false}}));
    assert_eq!(decided(&tenant, &null), "deny");
    let declare = |from: &str| {
        let level = json!({"properties": {"level": {"type": "number", "from": from}}});
        let written = tenant.manage("PUT /api/v1/types/user", &level);
        assert!([200, 201].contains(&written.status), "{}", written.text);
    };
    declare("directory");
    assert_eq!(decided(&tenant, &null), "allow");
    let explained = tenant.manage("POST /api/v1/check?explain=true", &asked(&null)).is(200).json();
    assert_eq!(explained["explanation"]["attributes"][0]["overridden"], true);
    declare("request");
    assert_eq!(decided(&tenant, &null), "deny");
    declare("token");
    let own = tenant.token_with("bob", &["user"], &json!({"level": 4}));
    let body = asked(&null);
    assert_eq!(tenant.check_by(&own, &body).is(200).text_of("decision"), "allow");
}

/// Else a member would hide what denies it.
#[test]
fn a_member_claims_no_absence_in_a_search_of_the_directory() {
    let tenant = archive();
    let bob = tenant.token("bob", &["user"]);
    let search = |attributes: Value| {
        let request = Request::new("POST /api/v1/search/resources").token(&bob);
        tenant.send(&request.json(&asked(&attributes)))
    };
    search(json!({})).is(200);
    for kind in ["user", "resource"] {
        let refused = search(json!({kind: {"level": null}})).invalid();
        assert_eq!(refused.details()["path"], format!("/attributes/{kind}"));
    }
}

#[test]
fn roles_that_are_null_are_none() {
    let tenant = archive();
    tenant.rule("doctor", "chart:read", "read", "allow");
    let ann = json!({"entities": [{"type": "user", "id": "ann", "roles": ["doctor"]}]});
    tenant.manage("PUT /api/v1/entities", &ann).is(200);
    for (attributes, expected) in [
        (json!({}), "allow"),
        (json!({"user": {"roles": null}}), "deny"),
        (json!({"user": null}), "allow"),
        (Value::Null, "allow"),
    ] {
        let body = json!({"subject": "ann", "resource": "chart:read", "action": "read",
            "domain": null, "attributes": attributes});
        assert_eq!(tenant.check(&body).is(200).text_of("decision"), expected, "{body}");
    }
}
