//! Policies whose `format` is `casbin` (`docs/semantics.md`, section 4.7).

use serde_json::{Value, json};

use crate::everywhere::policies::{create, policy, show, update};
use crate::support::Tenant;
use crate::support::tenant::{Decision, always};

fn matcher(text: &str) -> Value {
    let mut policy = policy();
    policy["format"] = json!("casbin");
    policy["rule_data"] = json!({"matcher": text});
    policy
}

/// The answer to a check with these attributes of the user.
fn decide(tenant: &Tenant<'_>, user: Value) -> Decision {
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read",
        "attributes": {"user": user, "resource": {"owner": "alice", "path": "/a/1", "tags": ["x"]}},
    });
    Decision::new(&tenant.check(&body))
}

#[test]
fn a_matcher_is_saved_as_it_was_sent_and_decides() {
    let tenant = Tenant::new();
    for (text, denies) in [
        ("r.sub == r.obj.owner && r.act == 'read'", true),
        ("r.sub == \"bob\" || r.obj != \"doc:read\"", false),
        ("18 <= r.sub.age", true),
        ("r.sub.age in (1, 2)", false),
        ("!(\"y\" in r.obj.tags) && r.sub.vip", true),
        ("keyMatch2(r.obj.path, '/a/:id') && regexMatch(r.act, 'ea')", true),
        ("ipMatch(r.sub.ip, '10.0.0.0/8')", true),
        ("during(r.time, 'mon-sun 00:00-00:00 Europe/Berlin')", true),
        ("true", true),
        ("false", false),
        // Undetermined: a deny denies.
        ("r.sub.absent == 1", true),
    ] {
        let reply = create(&tenant, &matcher(text)).is(201);
        let record = reply.json();
        assert_eq!(
            (&record["format"], &record["rule_data"]),
            (&json!("casbin"), &json!({"matcher": text}))
        );
        assert_eq!(show(&tenant, &reply.id()).json(), record);
        let decision = decide(&tenant, json!({"age": 18, "vip": true, "ip": "10.1.2.3"}));
        if denies {
            decision.is("deny", &reply.id());
        } else {
            decision.is_default();
        }
        tenant.delete(&format!("/api/v1/abac/policies/{}", reply.id())).is(204);
    }
}

#[test]
fn a_matcher_that_cannot_work_names_token_and_position() {
    let tenant = Tenant::new();
    let id = create(&tenant, &matcher("r.sub.vip")).is(201).id();
    for (text, position, token) in [
        ("", 0, ""),
        ("p.sub == r.sub", 0, "p.sub"),
        ("g(r.sub, 'admin')", 0, "g"),
        ("r.sub.vip && eval(p.rule)", 13, "eval"),
        ("r.sub.age + 1 > 3", 10, "+"),
        ("r.sub.ä == '😀' && (", 19, ""),
        ("r.sub.age == 'x", 13, "'x"),
        ("regexMatch(r.obj, '[')", 18, "'['"),
        ("ipMatch(r.sub.ip, '10.0.0.1/8')", 18, "'10.0.0.1/8'"),
        ("during(r.time, 'mon 08:00 UTC')", 15, "'mon 08:00 UTC'"),
    ] {
        for reply in [
            create(&tenant, &matcher(text)),
            update(&tenant, &id, &json!({"rule_data": {"matcher": text}})),
            update(&tenant, &id, &json!({"format": "casbin", "rule_data": {"matcher": text}})),
        ] {
            let details = reply.invalid().details();
            assert_eq!(details["path"], "/rule_data/matcher", "{text}");
            assert_eq!(
                (&details["position"], &details["token"]),
                (&json!(position), &json!(token))
            );
            assert_eq!(details["errors"].as_array().map(Vec::len), Some(1), "{text}: {details}");
        }
    }
}

#[test]
fn rule_data_must_fit_the_format() {
    let tenant = Tenant::new();
    let with = |format: &str, rule_data: Value| {
        let mut policy = policy();
        policy["format"] = json!(format);
        policy["rule_data"] = rule_data;
        create(&tenant, &policy).invalid().details()
    };
    for (format, rule_data, path) in [
        ("casbin", json!({}), "/rule_data"),
        ("casbin", json!("r.sub.vip"), "/rule_data"),
        ("casbin", json!({"matcher": 1}), "/rule_data/matcher"),
        ("casbin", json!({"matcher": "true", "type": "AND"}), "/rule_data"),
        ("casbin", always(), "/rule_data"),
        ("json", json!({"matcher": "true"}), "/rule_data"),
    ] {
        assert_eq!(with(format, rule_data.clone())["path"], path, "{format} {rule_data}");
    }
    assert_eq!(with("casbin", json!({}))["missing_fields"], json!(["matcher"]));
    let twice = json!({"matcher": "true", "matchers": []});
    assert_eq!(with("casbin", twice)["unknown_fields"], json!(["matchers"]));
    // Of a bad format, and of nothing else, is spoken.
    let details = with("Casbin", json!({"matcher": "p.sub"}));
    assert_eq!(
        (&details["path"], details["errors"].as_array().map(Vec::len)),
        (&json!("/format"), Some(1))
    );
}

#[test]
fn an_update_keeps_format_and_rule_data_together() {
    let tenant = Tenant::new();
    let id = create(&tenant, &matcher("r.sub.vip")).is(201).id();
    let tree = always();
    let put = |body: Value| update(&tenant, &id, &body);
    let refused = |body: Value, path: &str| assert_eq!(put(body).invalid().details()["path"], path);
    decide(&tenant, json!({"vip": false})).is_default();

    put(json!({"rule_data": {"matcher": "!r.sub.vip"}})).is(200);
    decide(&tenant, json!({"vip": false})).is("deny", &id);
    put(json!({"format": "casbin"})).is(200);
    refused(json!({"format": "json"}), "/format");
    refused(json!({"rule_data": tree}), "/rule_data");
    refused(json!({"format": "casbin", "rule_data": tree}), "/rule_data");
    refused(json!({"format": "json", "rule_data": {"matcher": "true"}}), "/rule_data");

    let before = show(&tenant, &id).json();
    assert_eq!(before["rule_data"], json!({"matcher": "!r.sub.vip"}));
    let record = put(json!({"format": "json", "rule_data": tree})).is(200).json();
    assert_eq!((&record["format"], &record["rule_data"]), (&json!("json"), &tree));
    decide(&tenant, json!({"vip": true})).is("deny", &id);
    refused(json!({"format": "casbin"}), "/format");
    refused(json!({"rule_data": {"matcher": "true"}}), "/rule_data");
    let rule_data = json!({"matcher": "false"});
    let record = put(json!({"format": "casbin", "rule_data": rule_data})).is(200).json();
    assert_eq!((&record["format"], &record["rule_data"]), (&json!("casbin"), &rule_data));
    decide(&tenant, json!({"vip": true})).is_default();
}

#[test]
fn a_matcher_has_the_limits_of_a_tree() {
    let tenant = Tenant::new();
    let all = |tests: usize| vec!["r.sub.a"; tests].join("&&");
    let list = |length: usize| format!("r.sub.a in ({})", vec!["1"; length].join(","));
    let long = |bytes: usize| {
        let rest = json!({"matcher": "r.sub.a==''"}).to_string().len();
        format!("r.sub.a=='{}'", "x".repeat(bytes - rest))
    };
    for (fits, too_much, path) in [
        ("!".repeat(31) + "r.sub.a", "!".repeat(32) + "r.sub.a", "/rule_data/matcher"),
        (all(999), all(1_000), "/rule_data/matcher"),
        (list(10_000), list(10_001), "/rule_data/matcher"),
        (all(2), "(".repeat(200_000), "/rule_data/matcher"),
        (all(2), "!".repeat(200_000), "/rule_data/matcher"),
        (long(256 * 1024), long(256 * 1024 + 1), "/rule_data"),
    ] {
        create(&tenant, &matcher(&fits)).is(201);
        let details = create(&tenant, &matcher(&too_much)).invalid().details();
        assert_eq!(details["path"], path, "{details}");
        assert_eq!(details["position"].is_u64(), path.ends_with("matcher"), "{details}");
    }
}
