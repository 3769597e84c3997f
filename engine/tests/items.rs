//! Conditions on the items of a list, and the length of a list (`docs/semantics.md`, section 4.10): faults, explanations and
//! budgets. The oracle of `properties.rs` has the truths.

use chrono::DateTime;
use portcullis_engine::{
    AttributeAnswer, AttributeAnswers, Check, CheckBody, Condition, Effect, Format, Plan, Policy,
    ResourcePattern, expression, json,
};
use serde_json::{Value, json};
use uuid::Uuid;

fn policy(id: u128, condition: &str) -> Policy {
    let stored = json!({ "expression": condition }).to_string();
    Policy {
        id: Uuid::from_u128(id),
        name: condition.to_owned(),
        resource: ResourcePattern::Any,
        effect: Effect::Allow,
        priority: 0,
        condition: Policy::stored_condition(Format::Expression, &stored),
    }
}

fn plan(effect: Effect, condition: &str) -> Plan {
    Plan::compile("doc:read", 1, &[], [Policy { effect, ..policy(0, condition) }])
}

/// Asks with a check whose user has these attributes.
fn ask<T>(user: &Value, answer: impl FnOnce(&Check<'_>) -> T) -> T {
    let body = json!({"subject": "ann", "resource": "doc:read", "action": "read",
        "attributes": {"user": user}});
    let body = body.to_string();
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    answer(&Check::new(body, "acme", None, DateTime::UNIX_EPOCH))
}

/// Returns the reason of the decision of one policy.
fn reason(effect: Effect, condition: &str, user: &Value) -> String {
    let plan = plan(effect, condition);
    ask(user, |check| plan.evaluate(check).reason().to_string())
}

/// Explains the condition of an allow.
fn explained(condition: &str, user: &Value) -> Value {
    let plan = plan(Effect::Allow, condition);
    ask(user, |check| {
        let answers = AttributeAnswers::default();
        let explanation = plan.explain(check, &answers, None);
        serde_json::to_value(&explanation.policies[0].condition).expect("JSON")
    })
}

#[test]
fn a_list_and_its_items_have_their_forms() {
    for (text, tree) in [
        (
            r#"any(user.groups, item starts_with "/eng/")"#,
            json!({"type": "ANY", "attribute": "user.groups", "child": {"type": "CONDITION",
                "attribute": "item", "operator": "starts_with", "value": "/eng/"}}),
        ),
        (
            r#"(all(request.roles, item == user.role || user.vip == true)) ?? false"#,
            json!({"type": "ALL", "attribute": "request.roles", "if_missing": false, "child":
            {"type": "OR", "children": [
                {"type": "CONDITION", "attribute": "item", "operator": "eq",
                    "value": {"attribute": "user.role"}},
                {"type": "CONDITION", "attribute": "user.vip", "operator": "eq", "value": true},
            ]}}),
        ),
        (
            "!(length(user.approvers) >= 2)",
            json!({"type": "NOT", "child": {"type": "LENGTH", "attribute": "user.approvers",
                "operator": "gte", "value": 2}}),
        ),
        // The comma decides: without one it is a node of one child.
        (
            "any(user.a == 1)",
            json!({"type": "OR", "children": [{"type": "CONDITION", "attribute": "user.a",
                "operator": "eq", "value": 1}]}),
        ),
    ] {
        let condition = expression::parse(text).expect(text);
        let written = condition.to_json().expect("a tree").to_string();
        assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), tree, "{text}");
        assert_eq!(expression::print(&condition), text);
        let tree = json::parse(written.as_bytes()).expect("JSON");
        assert_eq!(Condition::parse(&tree).expect("a tree"), condition, "{text}");
    }
}

#[test]
fn a_condition_on_items_is_laid_out_over_lines() {
    let text = r#"any(user.groups, item starts_with "/eng/" && item != user.own_group)"#;
    let condition = expression::parse(text).expect("an expression");
    let lines = expression::layout(&condition, 40);
    let expected = "any(user.groups,\n  item starts_with \"/eng/\"\n  && item != user.own_group\n)";
    assert_eq!(lines, expected);
    assert_eq!(expression::parse(&lines).expect("the same"), condition);
}

#[test]
fn a_fault_of_an_expression_says_what_is_expected() {
    for (text, expected) in [
        ("item == 1", "`item` stands only in the condition of `ANY` and `ALL`"),
        ("user.a == item", "`item` stands only in the condition"),
        ("any(item, item == 1)", "`item` stands only in the condition"),
        ("any(user.a, user.b == 1)", "a condition that tests `item`"),
        ("any(user.a, all(user.b, item == 1))", "no condition on items within another one"),
        ("any(user.a, exists(item))", "an item always exists"),
        ("any(user.a, item == null)", "an item always exists"),
        ("all(user.a, !(item != null) || item == 1)", "an item always exists"),
        ("any(user.a, (item == 1) ?? true)", "no default for a test of `item`"),
        ("length(user.a) in [1]", "`==`, `!=`, `<`, `<=`, `>` or `>=`"),
        ("length(user.a) == \"2\"", "a number or an attribute"),
        ("length(user.a)", "`==`, `!=`"),
        ("count(user.a) == 1", "`length`"),
    ] {
        let fault = expression::parse(text).expect_err(text).to_string();
        assert!(fault.contains(expected), "{text}: {fault}");
    }
}

#[test]
fn a_fault_of_a_tree_has_its_place() {
    let of_item = json!({"type": "CONDITION", "attribute": "item", "operator": "eq", "value": 1});
    let of_user = json!({"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": 1});
    let any = |child: &Value| json!({"type": "ANY", "attribute": "user.x", "child": child});
    for (tree, place) in [
        (of_item.clone(), "/attribute"),
        (json!({"type": "AND", "children": [of_item]}), "/children/0/attribute"),
        (any(&of_user), "/child"),
        (any(&any(&of_item)), "/child/type"),
        (
            any(&json!({"type": "CONDITION", "attribute": "item", "operator": "exists"})),
            "/child/operator",
        ),
        (
            any(&json!({"type": "CONDITION", "attribute": "item", "operator": "eq", "value": 1,
                "if_missing": true})),
            "/child/if_missing",
        ),
        (
            json!({"type": "LENGTH", "attribute": "user.x", "operator": "in", "value": [1]}),
            "/operator",
        ),
        (
            json!({"type": "LENGTH", "attribute": "user.x", "operator": "eq", "value": "1"}),
            "/value",
        ),
        (json!({"type": "ANY", "attribute": "user.x", "children": [of_item]}), ""),
    ] {
        let text = tree.to_string();
        let tree = json::parse(text.as_bytes()).expect("JSON");
        let invalid = Condition::parse(&tree).expect_err(&text);
        assert_eq!(invalid.problems()[0].path, place, "{text}: {invalid}");
        // A stored tree with a fault does not load.
        assert!(Policy::stored_condition(Format::Json, &text).is_err(), "{text}");
    }
}

#[test]
fn an_explanation_names_the_item_that_decides() {
    let groups = json!({"groups": ["/hr/a", "/eng/b", "/eng/c"]});
    let any = r#"any(user.groups, item starts_with "/eng/")"#;
    let node = explained(any, &groups);
    assert_eq!(node["type"], "ANY");
    assert_eq!(node["outcome"], "true");
    assert_eq!(node["expression"], any);
    assert_eq!(node["attribute"], "user.groups");
    assert_eq!(node["item"], "/eng/b");
    assert_eq!(node["child"]["outcome"], "true");
    assert_eq!(node["child"]["actual"], "/eng/b");
    let node = explained(r#"all(user.groups, item starts_with "/eng/")"#, &groups);
    assert_eq!((&node["outcome"], &node["item"]), (&json!("false"), &json!("/hr/a")));
    // No item decides: the condition has no outcomes.
    let node = explained(r#"any(user.groups, item == "x")"#, &groups);
    assert_eq!(node["outcome"], "false");
    assert!(node.get("item").is_none() && node["child"].get("outcome").is_none(), "{node}");
    assert_eq!(node["child"]["expression"], r#"item == "x""#);
    let node = explained("length(user.groups) > 5", &groups);
    assert_eq!((&node["type"], &node["operator"]), (&json!("LENGTH"), &json!("gt")));
    assert_eq!((&node["outcome"], &node["value"]), (&json!("false"), &json!(5)));
}

#[test]
fn an_undetermined_item_says_why() {
    let node = explained("any(user.groups, item > 5)", &json!({"groups": [1, "a"]}));
    assert_eq!((&node["outcome"], &node["item"]), (&json!("undetermined"), &json!("a")));
    let because = "an item of attribute `user.groups` is not of a type that `gt` compares here";
    assert_eq!(node["because"], because);
    for (condition, user, cause) in [
        ("any(user.groups, item > 5)", json!({"groups": ["a"]}), because),
        (
            "any(user.groups, item == user.own)",
            json!({"groups": ["a"]}),
            "attribute `user.own` is missing",
        ),
        ("any(user.groups, item == 1)", json!({}), "attribute `user.groups` is missing"),
        (
            "all(user.groups, item == 1)",
            json!({"groups": "a"}),
            "attribute `user.groups` is not of a type that `all` compares here",
        ),
        (
            "length(user.groups) == 1",
            json!({"groups": "a"}),
            "attribute `user.groups` is not of a type that `length` compares here",
        ),
    ] {
        let reason = reason(Effect::Deny, condition, &user);
        assert!(reason.contains(cause), "{condition}: {reason}");
    }
}

/// Equal parts of a program stand once with one truth: two lists must not share the truth of their items.
#[test]
fn equal_tests_of_two_lists_have_their_own_items() {
    let plan = plan(
        Effect::Allow,
        r#"any(user.a, item == "x" && user.n > 1) && !any(user.b, item == "x" && user.n > 1)"#,
    );
    for (a, b, allowed) in
        [("x", "y", true), ("x", "x", false), ("y", "y", false), ("y", "x", false)]
    {
        let user = json!({"a": [a], "b": [b], "n": 2});
        let is_allowed = ask(&user, |check| plan.evaluate(check).effect() == Effect::Allow);
        assert_eq!(is_allowed, allowed, "{user}");
    }
}

/// A list of a resolver is asked as one of the request is; without an answer the condition is undetermined.
#[test]
fn a_resolver_answers_a_list() {
    let list = json::parse(br#"["a", "b"]"#).expect("JSON");
    let failed = AttributeAnswer::Failed("it did not answer".into());
    for (answer, condition, effects) in [
        (AttributeAnswer::Value(list.clone()), r#"any(geo.tags, item == "b")"#, [true, false]),
        (AttributeAnswer::Value(list.clone()), r#"all(geo.tags, item == "b")"#, [false, true]),
        (AttributeAnswer::Value(list), "length(geo.tags) == 2", [true, false]),
        (AttributeAnswer::Absent, r#"(any(geo.tags, item == "b")) ?? true"#, [true, false]),
        (failed, r#"any(geo.tags, item == "b")"#, [false, false]),
    ] {
        let mut answers = AttributeAnswers::default();
        answers.insert("geo", "tags", answer);
        let allows = |effect: Effect| {
            let own = Policy { effect, ..policy(0, condition) };
            let others = Policy { priority: -1, ..policy(1, "true") };
            let all = if effect == Effect::Deny { vec![own, others] } else { vec![own] };
            let plan = Plan::compile("doc:read", 1, &[], all);
            ask(&json!({}), |check| plan.evaluate_with(check, &answers).effect() == Effect::Allow)
        };
        assert_eq!([allows(Effect::Allow), allows(Effect::Deny)], effects, "{condition}");
    }
}

/// Fifty thousand items with a thousand tests and patterns are too long, and a deny applies.
#[test]
fn many_items_with_many_tests_are_too_long() {
    let items: Vec<String> = (0..50_000).map(|item| format!("group-{item}")).collect();
    let user = json!({"groups": items});
    let tests: Vec<String> = (0..900).map(|n| format!("item == \"no-{n}\"")).collect();
    let many = format!("any(user.groups, {})", tests.join(" || "));
    let reason_of = |condition: &str| reason(Effect::Deny, condition, &user);
    assert!(reason_of(&many).contains("attribute `user.groups` is too long to be compared"));
    let patterns: Vec<String> =
        (0..100).map(|n| format!("item matches \"(a|b)*[a-z]{{1,40}}{n}\"")).collect();
    let patterns = format!("any(user.groups, {})", patterns.join(" || "));
    assert!(reason_of(&patterns).contains("attribute `user.groups` is too long to be compared"));
    // An explanation evaluates such tests again. What does not decide does not apply there, either.
    let half: Vec<String> = (0..200).map(|n| format!("item == \"no-{n}\"")).collect();
    let half = format!("any(user.groups, {})", half.join(" || "));
    assert!(!reason_of(&half).contains("too long"), "{}", reason_of(&half));
    let applies = ask(&user, |check| {
        let answers = AttributeAnswers::default();
        plan(Effect::Deny, &half).explain(check, &answers, None).policies[0].applies
    });
    assert!(!applies);
    // A few tests of as many items are not.
    let few = "any(user.groups, item == \"group-49999\" || item matches \"group-5000[0-9]\")";
    assert!(!reason_of(few).contains("too long"), "{}", reason_of(few));
}

/// The index finds the policies whose item a list has, and those that it cannot know: all that a scan would find.
#[test]
fn an_index_finds_policies_by_an_item() {
    let conditions = (0..400).map(|number| match number % 4 {
        0 => format!("any(user.groups, item == \"g{number}\")"),
        1 => format!("any(user.groups, item in [\"g{number}\", {number}] && item != user.not)"),
        2 => format!("(any(user.groups, item == {number} || item == \"x{number}\")) ?? true"),
        _ => format!("any(user.groups, item starts_with \"p{number}\")"),
    });
    let conditions: Vec<String> = conditions.collect();
    for effect in [Effect::Allow, Effect::Deny] {
        let all = (0..).zip(&conditions);
        let policies: Vec<Policy> =
            all.map(|(id, text)| Policy { effect, ..policy(id, text) }).collect();
        let plan = Plan::compile("doc:read", 1, &[], policies.iter().cloned());
        for user in [
            json!({"groups": ["g8"]}),
            json!({"groups": ["g8", "g9", 10, "p11/x"], "not": "g8"}),
            json!({"groups": ["p7", "p11/x"], "not": "g8"}),
            // What is not compared leaves a deny undetermined.
            json!({"groups": ["zzz", 7], "not": "g8"}),
            json!({"groups": ["zzz"], "not": "g8"}),
            json!({"groups": []}),
            json!({"groups": "g8"}),
            json!({}),
        ] {
            let alone = |policy: &&Policy| {
                let alone = Plan::compile("doc:read", 1, &[], [(*policy).clone()]);
                ask(&user, |check| alone.evaluate(check).rule_id()) == Some(policy.id)
            };
            let expected = policies.iter().find(alone).map(|policy| policy.id);
            let found = ask(&user, |check| plan.evaluate(check).rule_id());
            assert_eq!(found, expected, "{effect:?} {user}");
        }
    }
}
