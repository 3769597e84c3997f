//! Policies whose `format` is `expression` (`docs/semantics.md`, section 4.9).

use serde_json::{Value, json};

use crate::everywhere::policies::{create, policy, show, update};
use crate::support::Tenant;
use crate::support::tenant::{Decision, always, condition};

fn with_text(text: &str) -> Value {
    let mut policy = policy();
    policy["format"] = json!("expression");
    policy["rule_data"] = json!({"expression": text});
    policy
}

fn decide(tenant: &Tenant<'_>, user: Value) -> Decision {
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read",
        "attributes": {"user": user, "resource": {"owner": "alice", "first name": "x", "tags": ["x"]}},
    });
    Decision::new(&tenant.check(&body))
}

#[test]
fn an_expression_is_saved_as_it_was_sent_and_decides() {
    let tenant = Tenant::new();
    for (text, denies) in [
        (" request.subject==resource.owner ", true),
        ("request.subject == \"bob\" || request.resource != 'doc:read'", false),
        ("user.age >= 18 && !(resource.tags contains \"y\")", true),
        ("resource[\"first name\"] in ['x']", true),
        ("ip_in(user.ip, '10.0.0.0/8') && during(request.time, 'UTC')", true),
        ("resource.tags contains_any ['x', 'y'] && !(resource.tags contains_all ['x', 'y'])", true),
        ("request.time within 'PT1S' && request.time within_next 'PT1S'", true),
        ("exists(user.absent)", false),
        ("(user.absent == 1) ?? false", false),
        // Undetermined: a deny denies.
        ("user.absent == 1", true),
    ] {
        let reply = create(&tenant, &with_text(text)).is(201);
        let record = reply.json();
        let sent = (&json!("expression"), &json!({"expression": text}));
        assert_eq!((&record["format"], &record["rule_data"]), sent);
        assert_eq!(show(&tenant, &reply.id()).json(), record);
        let decision = decide(&tenant, json!({"age": 18, "ip": "10.1.2.3"}));
        if denies {
            decision.is("deny", &reply.id());
        } else {
            decision.is_default();
        }
        tenant.delete(&format!("/api/v1/abac/policies/{}", reply.id())).is(204);
    }
}

#[test]
fn an_expression_that_cannot_work_names_token_and_position() {
    let tenant = Tenant::new();
    let id = create(&tenant, &with_text("exists(user.a)")).is(201).id();
    for (text, position, token) in [
        ("", 0, ""),
        ("user.vip ==", 11, ""),
        ("user.vip == true && g(user.a)", 20, "g"),
        ("!user.vip == true", 10, "=="),
        ("user.a == 1 ?? true", 12, "??"),
        ("user.ä == '😀' && (", 18, ""),
        ("user.a matches '['", 15, "'['"),
        ("during(request.time, 'mon Europe/Berln')", 21, "'mon Europe/Berln'"),
    ] {
        for reply in [
            create(&tenant, &with_text(text)),
            update(&tenant, &id, &json!({"rule_data": {"expression": text}})),
        ] {
            let details = reply.invalid().details();
            let place = (&details["path"], &details["position"], &details["token"]);
            let expected = (&json!("/rule_data/expression"), &json!(position), &json!(token));
            assert_eq!(place, expected, "{text}");
        }
    }
    // An attribute of no resolver is named with its position.
    let details =
        create(&tenant, &with_text("exists(user.a) && geo.country == 'DE'")).invalid().details();
    assert_eq!(details["path"], "/rule_data/expression");
    assert_eq!((&details["token"], &details["position"]), (&json!("geo.country"), &json!(18)));
    let message = details["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("there is no resolver `geo`"), "{message}");
}

#[test]
fn an_update_keeps_format_and_rule_data_together() {
    let tenant = Tenant::new();
    let id = create(&tenant, &with_text("(user.vip == true) ?? true")).is(201).id();
    let put = |body: Value| update(&tenant, &id, &body);
    decide(&tenant, json!({"vip": false})).is_default();
    put(json!({"rule_data": {"expression": "user.vip == false"}})).is(200);
    decide(&tenant, json!({"vip": false})).is("deny", &id);
    for (body, path) in [
        (json!({"format": "json"}), "/format"),
        (json!({"rule_data": always()}), "/rule_data"),
        (json!({"rule_data": {"matcher": "r.sub.vip"}}), "/rule_data"),
        (json!({"format": "json", "rule_data": {"expression": "exists(user.a)"}}), "/rule_data"),
        (json!({"format": "expression", "rule_data": {"matcher": "true"}}), "/rule_data"),
        (json!({"format": "expression", "rule_data": {"expression": 1}}), "/rule_data/expression"),
    ] {
        assert_eq!(put(body.clone()).invalid().details()["path"], path, "{body}");
    }
    put(json!({"format": "json", "rule_data": always()})).is(200);
    decide(&tenant, json!({})).is("deny", &id);
    put(json!({"format": "expression", "rule_data": {"expression": "exists(user.vip)"}})).is(200);
    decide(&tenant, json!({})).is_default();
}

#[test]
fn a_test_that_takes_the_roles_for_one_value_is_refused() {
    let tenant = Tenant::new();
    let id = create(&tenant, &with_text("request.roles contains 'a'")).is(201).id();
    let text = "exists(user.a) && request.roles in ['a']";
    for reply in [
        create(&tenant, &with_text(text)),
        update(&tenant, &id, &json!({"rule_data": {"expression": text}})),
    ] {
        let details = reply.invalid().details();
        assert_eq!(details["path"], "/rule_data/expression");
        let message = details["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains("or `contains_all`: `request.roles` is a list"), "{message}");
    }
    let tree = condition("request.roles", "eq", "a");
    let update = update(&tenant, &id, &json!({"format": "json", "rule_data": tree}));
    assert_eq!(update.invalid().details()["path"], "/rule_data/operator");
}
