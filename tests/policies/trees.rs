//! Which condition trees are saved, and what a refused one is told (`docs/semantics.md`, section 4.6).

use serde_json::{Value, json};

use crate::everywhere::policies::{create, policy_with, update};
use crate::support::Tenant;
use crate::support::tenant::{always, condition};

fn and(children: Value) -> Value {
    json!({"type": "AND", "children": children})
}

fn with(mut tree: Value, name: &str, value: Value) -> Value {
    tree[name] = value;
    tree
}

fn without(mut tree: Value, name: &str) -> Value {
    tree.as_object_mut().unwrap().remove(name);
    tree
}

#[test]
fn a_tree_that_can_work_is_saved_as_it_was_sent() {
    let tenant = Tenant::new();
    let attribute = json!({"attribute": "resource.y"});
    let eq = condition("user.x", "eq", "a");
    for tree in [
        always(),
        with(always(), "attribute", json!("token.a.b.c")),
        with(eq.clone(), "if_missing", json!(true)),
        with(eq.clone(), "value", json!(1.50)),
        with(eq.clone(), "value", json!(18_446_744_073_709_551_615_u64)),
        with(eq.clone(), "value", json!(false)),
        with(eq.clone(), "value", attribute.clone()),
        and(json!([eq, {"type": "NOT", "child": {"type": "OR", "children": [always()]}}])),
        condition("user.x", "in", json!(["a", 1, -2.5])),
        condition("user.x", "not_in", json!([])),
        condition("user.x", "in", attribute.clone()),
        condition("user.x", "contains", attribute.clone()),
        condition("user.x", "contains_any", json!(["a", 1])),
        condition("request.roles", "contains_all", attribute.clone()),
        condition("user.x", "within", "P30D"),
        condition("user.x", "within_next", "PT36H"),
        condition("user.x", "starts_with", attribute.clone()),
        condition("user.x", "lt", attribute.clone()),
        condition("user.x", "before", attribute),
        condition("request.time", "after", "2026-01-01T00:00:00+05:30"),
        condition("user.x", "matches", "(?i)[a-z]+(\\.[a-z]+)*"),
        condition("user.ip", "ip_in", "10.0.0.0/8"),
        condition("user.ip", "ip_in", json!(["10.1.2.3", "2001:db8::/32", "::/0"])),
        condition("request.time", "during", json!({"zone": "UTC"})),
        condition(
            "user.x",
            "during",
            json!({"days": ["sun", "mon"], "from": "22:00", "to": "06:00", "zone": "Asia/Kolkata"}),
        ),
    ] {
        let reply = create(&tenant, &policy_with("rule_data", tree.clone())).is(201);
        assert_eq!(reply.json()["rule_data"], tree);
    }
}

/// A tree that is refused, and where in it the fault is.
fn refused() -> Vec<(Value, &'static str)> {
    let eq = condition("user.x", "eq", "a");
    let on = |attribute: &str| condition(attribute, "eq", "a");
    let attribute = json!({"attribute": "resource.y"});
    vec![
        (json!({}), ""),
        (without(eq.clone(), "type"), ""),
        (without(eq.clone(), "attribute"), ""),
        (without(eq.clone(), "operator"), ""),
        (without(eq.clone(), "value"), ""),
        (json!({"type": "AND"}), ""),
        (json!({"type": "NOT"}), ""),
        (with(eq.clone(), "type", json!("condition")), "/type"),
        (with(eq.clone(), "type", json!("XOR")), "/type"),
        (with(eq.clone(), "type", json!(1)), "/type"),
        (with(eq.clone(), "operator", json!("EQ")), "/operator"),
        (with(eq.clone(), "operator", json!("like")), "/operator"),
        (with(eq.clone(), "operator", json!(1)), "/operator"),
        (with(eq.clone(), "if_missing", json!("true")), "/if_missing"),
        (with(always(), "if_missing", json!(true)), "/if_missing"),
        (with(always(), "value", json!(1)), "/value"),
        // Attributes.
        (on("x"), "/attribute"),
        (on(""), "/attribute"),
        (on("user"), "/attribute"),
        (on("user."), "/attribute"),
        (on(".x"), "/attribute"),
        (on("User.x"), "/attribute"),
        (on("env.x"), "/attribute"),
        (on("geo.country"), "/attribute"),
        (on("request.x"), "/attribute"),
        (on("request.time.x"), "/attribute"),
        (with(eq.clone(), "attribute", json!(1)), "/attribute"),
        // Values.
        (with(eq.clone(), "value", json!(["a"])), "/value"),
        (with(eq.clone(), "value", json!({})), "/value"),
        (with(eq.clone(), "value", json!({"attribute": "nonsense"})), "/value/attribute"),
        (with(eq.clone(), "value", json!({"attribute": "env.x"})), "/value/attribute"),
        (condition("user.x", "ne", json!([1])), "/value"),
        (condition("user.x", "lt", true), "/value"),
        (condition("user.x", "gte", json!([1])), "/value"),
        (condition("user.x", "in", "a"), "/value"),
        (condition("user.x", "in", json!([true])), "/value/0"),
        (condition("user.x", "not_in", json!(["a", null])), "/value/1"),
        (condition("user.x", "in", json!([["a"]])), "/value/0"),
        (condition("user.x", "contains", json!(["a"])), "/value"),
        (condition("user.x", "contains_any", 1), "/value"),
        (condition("user.x", "contains_all", json!(["a", true])), "/value/1"),
        (condition("user.x", "within", "P1W"), "/value"),
        (condition("user.x", "within", "P1M"), "/value"),
        (condition("user.x", "within_next", "P1Y"), "/value"),
        (condition("user.x", "within_next", "PT0S"), "/value"),
        (condition("user.x", "within", attribute.clone()), "/value"),
        (condition("user.x", "starts_with", 1), "/value"),
        (condition("user.x", "ends_with", json!(["a"])), "/value"),
        (condition("user.x", "before", 1_700_000_000), "/value"),
        (condition("user.x", "before", "2026-01-01"), "/value"),
        (condition("user.x", "after", "2026-02-30T00:00:00Z"), "/value"),
        (condition("user.x", "matches", "("), "/value"),
        (condition("user.x", "matches", "(a)\\1"), "/value"),
        (condition("user.x", "matches", "(?=a)"), "/value"),
        (condition("user.x", "matches", "(\\pL{1000}){1000}"), "/value"),
        (condition("user.x", "matches", attribute.clone()), "/value"),
        (condition("user.x", "matches", 1), "/value"),
        (condition("user.x", "ip_in", "10.0.0.0/33"), "/value"),
        (condition("user.x", "ip_in", "10.0.0.1/8"), "/value"),
        (condition("user.x", "ip_in", "10.0.0"), "/value"),
        (condition("user.x", "ip_in", "10.0.0.0/8 "), "/value"),
        (condition("user.x", "ip_in", json!(["::1", "localhost"])), "/value/1"),
        (condition("user.x", "ip_in", attribute.clone()), "/value"),
        (condition("user.x", "during", attribute), "/value"),
        (condition("user.x", "during", "08:00-18:00 UTC"), "/value"),
        (condition("user.x", "during", json!({"zone": "Europe/Berln"})), "/value/zone"),
        (
            condition("user.x", "during", json!({"days": ["monday"], "zone": "UTC"})),
            "/value/days/0",
        ),
        (
            condition("user.x", "during", json!({"from": "8:00", "to": "18:00", "zone": "UTC"})),
            "/value/from",
        ),
        (condition("user.x", "during", json!({"to": "18:00", "zone": "UTC"})), "/value"),
        // Inner nodes.
        (and(json!([])), "/children"),
        (and(json!({})), "/children"),
        (json!({"type": "OR", "children": []}), "/children"),
        (and(json!([always(), 1])), "/children/1"),
        (and(json!([always(), {"type": "NOT", "child": []}])), "/children/1/child"),
        (and(json!([always(), and(json!([on("x")]))])), "/children/1/children/0/attribute"),
    ]
}

#[test]
fn a_tree_that_cannot_work_is_refused_and_the_place_is_named() {
    let tenant = Tenant::new();
    let id = create(&tenant, &policy_with("name", json!("good"))).is(201).id();
    for (tree, path) in refused() {
        let place = format!("/rule_data{path}");
        let reply = create(&tenant, &policy_with("rule_data", tree.clone())).invalid();
        assert_eq!(reply.details()["path"], place, "{tree}: {}", reply.text);
        assert!(reply.message().len() > 20, "says what is expected: {}", reply.message());
        let reply = update(&tenant, &id, &json!({"rule_data": tree})).invalid();
        assert_eq!(reply.details()["path"], place, "{tree}: {}", reply.text);
    }
    let decision = tenant.decide("alice", "doc:read", "read");
    decision.is("deny", &id);
    assert_eq!(decision.revision, 1);
}

#[test]
fn every_missing_and_unknown_member_of_a_node_is_named() {
    let tenant = Tenant::new();
    let eq = condition("user.x", "eq", "a");
    let unknown = [
        with(eq.clone(), "valeu", json!(1)),
        with(eq.clone(), "child", always()),
        with(and(json!([eq])), "value", json!(1)),
        with(json!({"type": "NOT", "child": always()}), "children", json!([])),
        with(condition("user.x", "eq", json!({"attribute": "user.y"})), "name", json!("x")),
    ];
    let names = ["valeu", "child", "value", "children", "name"];
    for (tree, name) in unknown.into_iter().zip(names) {
        let details = create(&tenant, &policy_with("rule_data", tree)).invalid().details();
        assert_eq!(details["unknown_fields"], json!([name]));
    }
    let tree = json!({"type": "CONDITION", "operator": "eq"});
    let details = create(&tenant, &policy_with("rule_data", tree)).invalid().details();
    assert_eq!(details["missing_fields"], json!(["attribute", "value"]));
}

#[test]
fn a_tree_has_limits() {
    let tenant = Tenant::new();
    let deep =
        |depth: usize| (1..depth).fold(always(), |tree, _| json!({"type": "NOT", "child": tree}));
    let wide = |nodes: usize| and(Value::Array(vec![always(); nodes - 1]));
    let list = |length: usize| {
        let values: Value = (0..length).collect();
        condition("user.x", "in", values)
    };
    let networks = |length: usize| {
        let address = |n: usize| json!(format!("10.0.{}.{}", n / 256, n % 256));
        condition("user.x", "ip_in", (0..length).map(address).collect::<Value>())
    };
    for (fits, too_much) in [
        (deep(32), deep(33)),
        (wide(1_000), wide(1_001)),
        (list(10_000), list(10_001)),
        (networks(10_000), networks(10_001)),
    ] {
        create(&tenant, &policy_with("rule_data", fits)).is(201);
        let reply = create(&tenant, &policy_with("rule_data", too_much)).invalid();
        let path = reply.text_of_details("path");
        assert!(path.starts_with("/rule_data"), "{path}");
    }
}

#[test]
fn rule_data_is_measured_as_compact_json() {
    let tenant = Tenant::new();
    let limit = 256 * 1024;
    let sized = |bytes: usize| {
        let empty = condition("user.x", "eq", "").to_string().len();
        condition("user.x", "eq", "x".repeat(bytes - empty))
    };
    create(&tenant, &policy_with("rule_data", sized(limit))).is(201);
    let reply = create(&tenant, &policy_with("rule_data", sized(limit + 1))).invalid();
    assert_eq!(reply.details()["path"], "/rule_data");
    // White space between the tokens does not count.
    let body = policy_with("rule_data", sized(limit)).to_string();
    let spaced = body.replacen("\":", &format!("\":{}", " ".repeat(4_096)), 4);
    let request = tenant.managing("POST /api/v1/abac/policies").body("application/json", spaced);
    tenant.send(&request).is(201);
}

#[test]
fn patterns_have_a_budget() {
    let tenant = Tenant::new();
    let patterns = |count: usize, pattern: &str| {
        let pattern = |number: usize| condition("user.x", "matches", format!("{pattern}{number}"));
        json!({"type": "OR", "children": (0..count).map(pattern).collect::<Vec<_>>()})
    };
    create(&tenant, &policy_with("rule_data", patterns(998, "[a-z]+@team"))).is(201);
    create(&tenant, &policy_with("rule_data", patterns(10, "\\pL{12}"))).is(201);
    let reply = create(&tenant, &policy_with("rule_data", patterns(998, "\\pL{12}"))).invalid();
    let details = reply.details();
    // One fault: that of the first pattern over the budget.
    assert_eq!(details["errors"].as_array().map(Vec::len), Some(1));
    let path = reply.text_of_details("path");
    assert!(path.starts_with("/rule_data/children/") && path.ends_with("/value"), "{path}");
    let large = policy_with("rule_data", condition("user.x", "matches", "(\\pL{100}){100}"));
    let reply = create(&tenant, &large).invalid();
    assert_eq!(reply.text_of_details("path"), "/rule_data/value");
    // The same for a matcher, by token and position.
    let calls: Vec<_> =
        (0..500).map(|n| format!("regexMatch(r.sub.x, '\\\\pL{{12}}{n}')")).collect();
    let mut matcher = policy_with("rule_data", json!({"matcher": calls.join(" || ")}));
    matcher["format"] = json!("casbin");
    assert!(create(&tenant, &matcher).invalid().details()["position"].is_u64());
}
