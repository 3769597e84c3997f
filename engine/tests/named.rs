//! Named conditions (`docs/semantics.md`, section 4.11): forms, faults, explanations and bounds. `properties.rs` compares
//! policies with names with the oracle.

use chrono::DateTime;
use portcullis_engine::condition::NamedConditions;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::{Property, PropertyType, Types};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Condition, Effect, Format, Namespaces, Plan, Policy,
    ResourcePattern, expression, json,
};
use serde_json::{Value, json};
use uuid::Uuid;

fn names<'n>(all: impl IntoIterator<Item = (&'n str, &'n str)>) -> NamedConditions {
    let read = |(name, text): (&str, &str)| (name.into(), expression::parse(text).expect(text));
    NamedConditions::new(all.into_iter().map(read))
}

fn resolved(names: &NamedConditions, text: &str) -> Result<Condition, String> {
    let written = expression::parse(text).expect(text);
    names.resolve(written).map_err(|fault| fault.to_string())
}

fn policy(id: u128, names: &NamedConditions, text: &str) -> Policy {
    Policy {
        id: Uuid::from_u128(id),
        name: format!("p{id}"),
        resource: ResourcePattern::Any,
        effect: Effect::Allow,
        priority: 0,
        condition: Ok(resolved(names, text).expect(text)),
    }
}

fn ask<T>(user: &Value, answer: impl FnOnce(&Check<'_>) -> T) -> T {
    let body = json!({"subject": "ann", "resource": "doc:read", "action": "read",
        "attributes": {"user": user}});
    let body = body.to_string();
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    answer(&Check::new(body, "acme", None, DateTime::UNIX_EPOCH))
}

#[test]
fn a_name_has_its_forms() {
    for (text, tree) in [
        ("condition.on_team", json!({"type": "NAMED", "name": "on_team"})),
        (
            "!condition.a && user.b == 1",
            json!({"type": "AND", "children": [
                {"type": "NOT", "child": {"type": "NAMED", "name": "a"}},
                {"type": "CONDITION", "attribute": "user.b", "operator": "eq", "value": 1}]}),
        ),
        (
            "any(user.x, item == 1 && condition.a)",
            json!({"type": "ANY", "attribute": "user.x", "child": {"type": "AND", "children": [
                {"type": "CONDITION", "attribute": "item", "operator": "eq", "value": 1},
                {"type": "NAMED", "name": "a"}]}}),
        ),
        // With an operator it is an attribute of a resolver.
        (
            "condition.a == true",
            json!({"type": "CONDITION", "attribute": "condition.a", "operator": "eq", "value": true}),
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
fn a_name_stands_alone() {
    for (text, expected) in [
        ("(condition.a) ?? true", "`??` after one test"),
        ("condition.a.b", "the name of a condition"),
        ("condition[\"two words\"]", "the name of a condition"),
    ] {
        let fault = expression::parse(text).expect_err(text).to_string();
        assert!(fault.contains(expected), "{text}: {fault}");
    }
    for (tree, place) in [
        (json!({"type": "NAMED"}), "`name`"),
        (json!({"type": "NAMED", "name": "a b"}), "`/name`"),
        (json!({"type": "NAMED", "name": "a", "child": {}}), "child"),
        (json!({"type": "NOT", "name": "a"}), "name"),
    ] {
        let text = tree.to_string();
        let read = json::parse(text.as_bytes()).expect("JSON");
        let fault = Condition::parse(&read).expect_err("refused").to_string();
        assert!(fault.contains(place), "{fault}");
    }
}

#[test]
fn a_fault_of_a_name_says_what_is_expected() {
    let names = names([
        ("on_team", "user.team == resource.team"),
        ("in_list", "any(user.x, item == 1)"),
        ("a", "condition.b || user.a == 1"),
        ("b", "user.b == 1 && !condition.c"),
        ("c", "condition.a"),
        ("behind", "condition.a"),
        ("lost", "condition.nowhere"),
    ]);
    for (text, expected) in [
        ("condition.on_tem", "did you mean `condition.on_team`?); there is no condition `on_tem`"),
        ("condition.a", "`a` uses `b`, and `b` uses `c`, and `c` uses `a`"),
        ("condition.behind", "`a` uses `b`"),
        ("condition.lost", "there is no condition `nowhere`, which `lost` uses"),
        ("any(user.y, item == 2 && condition.in_list)", "no condition on items within another one"),
    ] {
        let fault = resolved(&names, text).expect_err(text);
        assert!(fault.contains(expected), "{text}: {fault}");
    }
    for text in ["condition.on_team", "any(user.y, item == 2 && condition.on_team)"] {
        assert!(resolved(&names, text).is_ok(), "{text}");
    }
}

/// Each name is twice the one before: the last stands for 2⁴⁰ tests.
#[test]
fn names_that_double_forty_times_are_counted_before_they_are_expanded() {
    let doubled = |number: usize| format!("condition.c{} && condition.c{}", number - 1, number - 1);
    let texts: Vec<(String, String)> =
        (1..=40).map(|number| (format!("c{number}"), doubled(number))).collect();
    let texts = texts.iter().map(|(name, text)| (&**name, &**text));
    let names = names(texts.chain([("c0", "user.a == 1")]));
    assert!(resolved(&names, "condition.c8").is_ok());
    for name in ["c9", "c10", "c40"] {
        let fault = resolved(&names, &format!("condition.{name}")).expect_err(name);
        assert!(fault.contains("at most 1000 nodes"), "{fault}");
    }
    // Twice 511 nodes.
    assert!(resolved(&names, "condition.c8 || condition.c8").is_err());
    let deep: Vec<(String, String)> = (1..=40)
        .map(|number| (format!("d{number}"), format!("!condition.d{}", number - 1)))
        .collect();
    let deep = deep.iter().map(|(name, text)| (&**name, &**text));
    let names = self::names(deep.chain([("d0", "user.a == 1")]));
    assert!(resolved(&names, "condition.d31").is_ok());
    let fault = resolved(&names, "condition.d32").expect_err("too deep");
    assert!(fault.contains("at most 32 nodes deep"), "{fault}");
}

#[test]
fn many_policies_on_one_name_share_its_program() {
    let tests: Vec<String> = (0..900).map(|number| format!("user.a{number} == {number}")).collect();
    let names = names([("many", &*tests.join(" || "))]);
    let used = |id: u128| policy(id, &names, &format!("user.team == \"t{id}\" && condition.many"));
    let plan = |count: u128| Plan::compile("doc:read", 1, &[], (0..count).map(used));
    let few = plan(10).weight();
    let many = plan(2_000);
    // Each further policy has its own test and its place in the index.
    assert!(many.weight() - few < 2_000 * 1_000, "{} and {few}", many.weight());
    assert!(many.weight() < 8 << 20, "{}", many.weight());
    // A plan whose policies are compiled again has the same size.
    assert!(many.folded().weight() <= many.weight() + (64 << 10));
    let user = json!({"team": "t1999", "a899": 899});
    assert_eq!(ask(&user, |check| many.evaluate(check).effect()), Effect::Allow);
    let user = json!({"team": "t1999", "a899": 1});
    assert_eq!(ask(&user, |check| many.evaluate(check).effect()), Effect::Deny);
    let explained = ask(&user, |check| {
        let answers = AttributeAnswers::default();
        serde_json::to_string(&many.explain(check, &answers, None)).expect("JSON")
    });
    assert!(explained.len() < 4 << 20, "{}", explained.len());
}

#[test]
fn a_name_is_explained_with_its_condition_where_it_first_stands() {
    let names = names([("adult", "user.age >= 18"), ("member", "condition.adult && user.paid")]);
    let policies = [
        policy(1, &names, "condition.member || any(user.x, item == 1 && condition.adult)"),
        policy(2, &names, "!condition.member"),
    ];
    let plan = Plan::compile("doc:read", 1, &[], policies);
    let explained = ask(&json!({"age": 20, "paid": false, "x": [1]}), |check| {
        let answers = AttributeAnswers::default();
        serde_json::to_value(plan.explain(check, &answers, None)).expect("JSON")
    });
    let first = &explained["policies"][0]["condition"];
    assert_eq!(
        first["expression"],
        "condition.member || any(user.x, item == 1 && condition.adult)"
    );
    let member = &first["children"][0];
    assert_eq!(member["type"], "NAMED");
    assert_eq!(member["name"], "member");
    assert_eq!(member["outcome"], "false");
    assert_eq!(member["expression"], "condition.member");
    assert_eq!(member["child"]["expression"], "condition.adult && user.paid == true");
    let adult = &member["child"]["children"][0];
    assert_eq!((&adult["name"], &adult["outcome"]), (&json!("adult"), &json!("true")));
    assert_eq!(adult["child"]["actual"], 20);
    let of_item = &first["children"][1]["child"]["children"][1];
    assert_eq!(
        *of_item,
        json!({"type": "NAMED", "name": "adult", "outcome": "true", "expression": "condition.adult"})
    );
    let second = &explained["policies"][1]["condition"];
    assert_eq!(second["expression"], "!condition.member");
    let again = json!({"type": "NAMED", "name": "member", "outcome": "false", "expression": "condition.member"});
    assert_eq!(second["child"], again);
    let read = explained["attributes"].as_array().expect("a list");
    let read: Vec<_> = read.iter().map(|attribute| &attribute["attribute"]).collect();
    assert_eq!(read, ["user.age", "user.paid", "user.x"]);
}

#[test]
fn types_are_checked_where_a_name_is_used() {
    let names = names([("on_team", "user.level > 3 && resource.team == \"a\"")]);
    let number = Property { kind: PropertyType::Number, to: None, from: None };
    let types: Types = [("ticket".to_owned(), [("size".to_owned(), number)])].into_iter().collect();
    let namespaces = Namespaces::default().with_types(types).with_conditions(names);
    let fault = |resource: &str, text: &str, format: Format| {
        let condition = expression::parse(text).expect(text);
        let resource = ResourcePattern::parse(resource).expect(resource);
        let data = json!({"expression": text}).to_string();
        let mut problems = Problems::default();
        let readable = namespaces.readable_on(&resource);
        condition.check_rule_data(format, &data, readable, &Place::root(), &mut problems);
        problems.into_result().err().map(|fault| fault.to_string()).unwrap_or_default()
    };
    assert_eq!(fault("doc:read", "condition.on_team", Format::Expression), "");
    let text = "exists(user.a) && condition.on_team";
    let found = fault("ticket:read", text, Format::Expression);
    assert!(found.contains("for `resource.team` in `condition.on_team`"), "{found}");
    assert!(found.contains("at position 18"), "{found}");
    let found = fault("ticket:read", text, Format::Json);
    assert!(found.starts_with("at `/children/1/name`"), "{found}");
    let found = fault("doc:read", "condition.on_tem", Format::Expression);
    assert!(found.contains("did you mean `condition.on_team`?"), "{found}");
}

#[test]
fn a_name_without_a_condition_is_undetermined() {
    for text in ["condition.a", "any(user.x, item == 1 && condition.a)", "!condition.a"] {
        let condition = Ok(expression::parse(text).expect(text));
        let policy = Policy { condition, ..policy(1, &NamedConditions::default(), "user.a") };
        let plan = Plan::compile("doc:read", 1, &[], [policy.clone()]);
        let deny = Policy { effect: Effect::Deny, ..policy };
        // Without it no answer could allow, and the default decides.
        let allow = self::policy(2, &NamedConditions::default(), "exists(user.x)");
        let deny = Plan::compile("doc:read", 1, &[], [deny, allow]);
        let user = json!({"x": [1]});
        assert_eq!(
            ask(&user, |check| plan.evaluate_with(check, &AttributeAnswers::default()).effect()),
            Effect::Deny,
            "{text}"
        );
        let reason = ask(&user, |check| {
            deny.evaluate_with(check, &AttributeAnswers::default()).reason().to_string()
        });
        assert!(reason.contains("attribute `condition.a` is not known"), "{text}: {reason}");
    }
}
