//! The budgets of patterns in plans, each also switched off.

use chrono::DateTime;
use portcullis_workloads::measure::allocations;
use serde_json::{Value, json};

use super::index::{Rank, Search};
use super::program::Run;
use super::slots::{SlotValue, Symbol};
use super::*;
use crate::json::{self, Json};
use crate::policy::Format;
use crate::rbac::Effect;
use crate::request::CheckBody;
use crate::resource::ResourcePattern;
use crate::value::{AttributeValue, List};

/// An automaton of more than 2,000 states, of which a text of the same letters keeps half active.
const SLOW: &str = "[ab]*a[ab]{2000}";

/// Makes a policy whose condition is that `user.<attribute>` matches `pattern`. A larger number decides later.
fn policy(number: u128, effect: Effect, attribute: &str, pattern: &str) -> Policy {
    let tree = json!({
        "type": "CONDITION", "attribute": format!("user.{attribute}"), "operator": "matches", "value": pattern,
    });
    from_tree(number, effect, &tree)
}

fn from_tree(number: u128, effect: Effect, tree: &Value) -> Policy {
    Policy {
        id: Uuid::from_u128(number),
        name: format!("p{number}"),
        resource: ResourcePattern::Any,
        effect,
        priority: 0,
        condition: Policy::stored_condition(Format::Json, &tree.to_string()),
    }
}

fn plan(policies: impl IntoIterator<Item = Policy>) -> Plan {
    Plan::compile("doc:read", 1, &[], policies)
}

/// Asks `ask` about a check with these attributes of the user.
fn asked<T>(user: &Value, ask: impl FnOnce(&Check<'_>) -> T) -> T {
    let body = json!({
        "subject": "ann", "resource": "doc:read", "action": "read", "attributes": {"user": user},
    });
    let body = body.to_string();
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    ask(&Check::new(body, "acme", None, DateTime::UNIX_EPOCH))
}

fn over_budget(plan: &Plan) -> Vec<Uuid> {
    plan.policies_over_budget().collect()
}

fn reason(plan: &Plan, user: &Value) -> String {
    asked(user, |check| plan.evaluate(check).reason())
}

fn outcomes(plan: &Plan, user: &Value) -> Vec<TruthValue> {
    asked(user, |check| {
        let answers = AttributeAnswers::default();
        let explanation = plan.explain(check, &answers, None);
        explanation.policies.iter().map(|policy| policy.outcome).collect()
    })
}

const NOTHING: &str = "no RBAC rule and no ABAC policy allows it";
const TOO_LONG: &str = "ABAC policy `p1` denies: its condition is undetermined, because attribute `user.a` is too long to be compared";

#[test]
fn a_text_that_is_too_long_for_a_pattern_denies_and_does_not_allow() {
    let short = json!({"a": "a".repeat(2_001)});
    let long = json!({"a": "a".repeat(20_000)});
    let denies = || plan([policy(1, Effect::Deny, "a", SLOW)]);
    let allows = || plan([policy(1, Effect::Allow, "a", SLOW)]);
    assert_eq!(reason(&denies(), &short), "ABAC policy `p1` denies: its condition is true");
    assert_eq!(reason(&allows(), &short), "ABAC policy `p1` allows: its condition is true");
    assert_eq!(reason(&denies(), &long), TOO_LONG);
    assert_eq!(reason(&allows(), &long), NOTHING);
    assert_eq!(outcomes(&allows(), &long), [TruthValue::Undetermined]);
    // Control: without the budget the text is matched, however long it takes.
    let mut unlimited = allows();
    let abac = std::sync::Arc::get_mut(&mut unlimited.layers[0].abac);
    abac.expect("unshared").program.without_match_budget();
    assert_eq!(reason(&unlimited, &long), "ABAC policy `p1` allows: its condition is true");
}

#[test]
fn the_budget_is_that_of_all_patterns_of_a_decision_in_deciding_order() {
    // Each of these costs a third of the budget, and matches nothing.
    let patterns = (1..=5).map(|number| format!("[ab]*a[ab]{{{}}}c", 1_990 + number));
    let patterns: Vec<String> = patterns.collect();
    let user = json!({"a": "a".repeat(1_300), "b": "a"});
    let plan_of = |numbers: &[u128]| {
        let slow = numbers
            .iter()
            .map(|number| policy(*number, Effect::Deny, "a", &patterns[*number as usize - 1]));
        plan(slow.chain([policy(9, Effect::Deny, "b", "b")]))
    };
    use TruthValue::{False, Undetermined};
    let expected = [False, False, False, Undetermined, Undetermined, Undetermined];
    assert_eq!(outcomes(&plan_of(&[1, 2, 3, 4, 5]), &user), expected);
    // The order in which policies are loaded does not matter.
    assert_eq!(outcomes(&plan_of(&[5, 3, 1, 2, 4]), &user), expected);
    let within = json!({"a": "a".repeat(700), "b": "a"});
    assert_eq!(outcomes(&plan_of(&[1, 2, 3, 4, 5]), &within), [False; 6]);
    // Control.
    let mut unlimited = plan_of(&[1, 2, 3, 4, 5]);
    let abac = std::sync::Arc::get_mut(&mut unlimited.layers[0].abac);
    abac.expect("unshared").program.without_match_budget();
    assert_eq!(outcomes(&unlimited, &user), [False; 6]);
}

#[test]
fn a_text_that_one_pattern_cannot_match_leaves_the_others_alone() {
    let plan = plan([
        policy(1, Effect::Allow, "a", SLOW),
        policy(2, Effect::Allow, "a", "a+"),
        policy(3, Effect::Allow, "a", "b+"),
    ]);
    let user = json!({"a": "a".repeat(100_000)});
    use TruthValue::{False, True, Undetermined};
    assert_eq!(outcomes(&plan, &user), [Undetermined, True, False]);
}

/// A condition of `count` distinct patterns, all of them expensive to compile.
fn expensive(prefix: &str, count: usize) -> Value {
    let pattern = |number| {
        let pattern = format!("\\pL{{12}}{prefix}{number}");
        json!({"type": "CONDITION", "attribute": "user.a", "operator": "matches", "value": pattern})
    };
    json!({"type": "OR", "children": (0..count).map(pattern).collect::<Vec<_>>()})
}

#[test]
fn a_stored_policy_over_the_budget_loads_and_never_allows() {
    let user = json!({"a": "x"});
    let plan_of = |effect| plan([from_tree(1, effect, &expensive("a", 998))]);
    let denies = plan_of(Effect::Deny);
    assert_eq!(over_budget(&denies), [Uuid::from_u128(1)]);
    assert!(
        reason(&denies, &user).contains("because the pattern for attribute `user.a` is too large")
    );
    assert_eq!(reason(&plan_of(Effect::Allow), &user), NOTHING);
}

#[test]
fn a_plan_has_a_bound_whatever_the_policies_are() {
    let policies = |count: u128| {
        (1..=count)
            .map(|number| from_tree(number, Effect::Deny, &expensive(&format!("{number}x"), 16)))
    };
    assert!(over_budget(&plan(policies(2))).is_empty());
    let plan = plan(policies(40));
    // The first policies in deciding order are within the budget.
    let over = over_budget(&plan);
    assert!(!over.is_empty() && over.len() < 40 && !over.contains(&Uuid::from_u128(1)), "{over:?}");
    assert!(plan.weight() < 32 << 20, "{}", plan.weight());
}

#[test]
fn equal_patterns_are_compiled_once() {
    let policies = |count: u128| {
        (1..=count).map(|number| {
            let tree = json!({"type": "AND", "children": [expensive("same", 16), {
                "type": "CONDITION", "attribute": "user.n", "operator": "eq", "value": number as u64,
            }]});
            from_tree(number, Effect::Deny, &tree)
        })
    };
    let (few, many) = (plan(policies(2)), plan(policies(40)));
    assert!(over_budget(&many).is_empty());
    assert!(many.weight() < few.weight() + (64 << 10));
}

#[test]
fn a_stored_pattern_that_is_none_any_more_makes_its_policy_undetermined() {
    let plan = plan([policy(1, Effect::Deny, "a", "(")]);
    let expected = "ABAC policy `p1` denies: its condition is undetermined, because the stored condition cannot be read";
    assert_eq!(reason(&plan, &json!({})), expected);
    assert!(over_budget(&plan).is_empty());
}

#[test]
fn a_decision_by_patterns_allocates_nothing() {
    let patterns = ["[a-z]+@example\\.com", "\\w+", "(?i)ann|bob", ".*x.*"];
    let policies =
        (1..).zip(patterns).map(|(number, pattern)| policy(number, Effect::Allow, "a", pattern));
    let plan = plan(policies);
    for text in ["ann@example.com", "?", &"?x".repeat(1_000)] {
        asked(&json!({"a": text}), |check| {
            let allows = || plan.evaluate(check).effect() == Effect::Allow;
            // The first decision of a thread makes room for the search.
            let expected = allows();
            assert_eq!(allocations(|| assert_eq!(allows(), expected)), 0, "{text}");
        });
    }
}

#[test]
fn a_decision_by_lists_and_periods_allocates_nothing() {
    let tests = [
        json!({"attribute": "user.a", "operator": "contains_any", "value": ["x", "y", 3]}),
        json!({"attribute": "user.a", "operator": "contains_all", "value": {"attribute": "user.b"}}),
        json!({"attribute": "user.a", "operator": "contains_all", "value": (0..256).collect::<Vec<_>>()}),
        json!({"attribute": "user.t", "operator": "within", "value": "P1D"}),
        json!({"attribute": "user.t", "operator": "within_next", "value": "P1D"}),
    ];
    // Enough policies that they have an index.
    let policies = (1..).zip(tests.iter().cycle().take(20)).map(|(number, test)| {
        let mut test = test.clone();
        test["type"] = "CONDITION".into();
        from_tree(number, Effect::Allow, &test)
    });
    let plan = plan(policies);
    let numbers: Vec<usize> = (0..256).collect();
    for (user, expected) in [
        (json!({"a": ["y", "x"], "b": ["z"], "t": "2001-01-01T00:00:00Z"}), Effect::Allow),
        (json!({"a": ["z", "w"], "b": ["v"], "t": "2001-01-01T00:00:00Z"}), Effect::Deny),
        (json!({"a": numbers, "b": ["v"], "t": "2001-01-01T00:00:00Z"}), Effect::Allow),
        (json!({"a": [], "b": ["v"], "t": "1969-12-31T12:00:00Z"}), Effect::Allow),
        (json!({"a": [], "b": ["v"], "t": "1970-01-01T12:00:00Z"}), Effect::Allow),
    ] {
        asked(&user, |check| {
            let decided = || assert_eq!(plan.evaluate(check).effect(), expected, "{user}");
            assert_eq!(allocations(decided), 0, "{user}");
        });
    }
}

const ZONES: [&str; 15] = [
    "UTC",
    "Europe/Berlin",
    "Europe/Paris",
    "Europe/Rome",
    "Europe/Madrid",
    "Europe/Vienna",
    "Asia/Tokyo",
    "Asia/Seoul",
    "Asia/Dubai",
    "Asia/Kolkata",
    "America/Lima",
    "America/Bogota",
    "America/Denver",
    "Africa/Cairo",
    "Africa/Lagos",
];

/// A check whose lists are long takes bounded work, however many tests look at them.
#[test]
fn long_lists_are_scanned_within_a_budget() {
    let tests = |operator: &'static str, item: fn(usize) -> Value| -> Value {
        let test = |number| json!({"type": "CONDITION", "attribute": "user.a", "operator": operator, "value": item(number)});
        json!({"type": "OR", "children": (0..900).map(test).collect::<Vec<_>>()})
    };
    let numbers: Vec<usize> = (0..30_000).map(|_| 7).collect();
    let text = "x".repeat(500_000);
    for (operator, item, user) in [
        ("contains", (|number| json!(number + 10)) as fn(usize) -> Value, json!({"a": numbers})),
        ("contains", |number| json!(format!("y{number}")), json!({"a": text})),
        (
            "contains_any",
            |_| json!({"attribute": "user.b"}),
            json!({"a": vec![7; 5_000], "b": vec![8; 5_000]}),
        ),
        ("contains_all", |number| json!([number + 10, 7]), json!({"a": numbers})),
        ("within", |number| json!(format!("P{}D", number + 1)), json!({"a": text})),
        (
            "before",
            |number| json!(format!("{}-01-01T00:00:00Z", 2_000 + number)),
            json!({"a": text}),
        ),
        (
            "during",
            |number| json!({"from": "08:00", "to": format!("09:{:02}", number % 60), "zone": ZONES[number / 60]}),
            json!({"a": text}),
        ),
    ] {
        let plan = plan([from_tree(1, Effect::Deny, &tests(operator, item))]);
        let reason = reason(&plan, &user);
        assert!(
            reason.contains("attribute `user.a` is too long to be compared"),
            "{operator}: {reason}"
        );
        // Control: half of a long list is compared.
        let short = json!({"a": (0..1_000).collect::<Vec<_>>()});
        assert!(!self::reason(&plan, &short).contains("too long"), "{operator}");
    }
}

/// Counts the policies that the index passes on.
struct Counted<'v> {
    run: Run<'v>,
    evaluated: usize,
}

impl Counted<'_> {
    /// Returns how many policies of a plan the index passes on for these values of its slots.
    fn count(plan: &Plan, values: &[AttributeValue<'_>]) -> usize {
        let value = |value: &_| SlotValue { value: Some(*value), symbol: Symbol::NO_TEXT };
        let values: Vec<SlotValue<'_>> = values.iter().map(value).collect();
        let abac = &plan.layers[0].abac;
        let mut counted = Counted { run: Run::new(&abac.program, &values), evaluated: 0 };
        abac.index.visit(&mut counted);
        counted.evaluated
    }
}

impl<'v> Search<'v> for Counted<'v> {
    fn run(&self) -> &Run<'v> {
        &self.run
    }

    fn evaluate(&mut self, ranks: &[Rank]) {
        self.evaluated += ranks.len();
    }
}

#[test]
fn an_item_that_comes_again_finds_no_policy_again() {
    let policies = (1..=200u128).map(|number| {
        let item = format!("role-{}", number % 100);
        let tree = json!({"type": "CONDITION", "attribute": "user.a", "operator": "contains", "value": item});
        from_tree(number, Effect::Allow, &tree)
    });
    let plan = plan(policies);
    for (roles, expected) in [(1, 2), (10, 20), (100, 200)] {
        let items =
            (0..10_000).map(|number| Json::String(format!("role-{}", number % roles).into()));
        let items: Vec<Json<'_>> = items.collect();
        let list = AttributeValue::List(List::Json(&items));
        assert_eq!(Counted::count(&plan, &[list]), expected, "{roles} roles");
    }
}

fn items(numbers: std::ops::Range<usize>) -> Vec<Json<'static>> {
    numbers.map(|number| Json::String(format!("team-{number}").into())).collect()
}

#[test]
fn lists_find_the_policies_that_compare_their_items_once() {
    // Policy n compares with the items from n to n + 29.
    let policies = |operator: &'static str| {
        (1..=200usize).map(move |number| {
            let items: Vec<_> = (number..number + 30).map(|item| format!("team-{item}")).collect();
            let tree = json!({"type": "CONDITION", "attribute": "user.a", "operator": operator, "value": items});
            from_tree(number as u128, Effect::Allow, &tree)
        })
    };
    let any = plan(policies("contains_any"));
    let all = plan(policies("contains_all"));
    for (range, by_any) in [(0..1, 0), (500..600, 0), (1..2, 1), (100..101, 30), (100..200, 129)] {
        let items = items(range.clone());
        let list = [AttributeValue::List(List::Json(&items))];
        assert_eq!(Counted::count(&any, &list), by_any, "any of {range:?}");
        let by_all = Counted::count(&all, &list);
        assert!(by_all <= by_any, "all of {range:?}: {by_all}");
    }
    for other in [AttributeValue::Text("team-1"), AttributeValue::Bool(true)] {
        assert_eq!(Counted::count(&any, &[other]) + Counted::count(&all, &[other]), 0);
    }
}

#[test]
fn instants_find_the_policies_that_reach_them() {
    let policies = |effect: Effect| {
        let periods = ["within", "within_next"]
            .into_iter()
            .flat_map(|operator| (1..=100).map(move |days| (operator, days)));
        (1..).zip(periods).map(move |(number, (operator, days))| {
            let tree = json!({"type": "CONDITION", "attribute": "user.a", "operator": operator, "value": format!("P{days}D")});
            from_tree(number, effect, &tree)
        })
    };
    let (allows, denies) = (plan(policies(Effect::Allow)), plan(policies(Effect::Deny)));
    let far = format!("2026-06-01T00:00:00.{}Z", "0".repeat(100));
    for (text, allowing, denying) in [
        ("2026-06-01T00:00:00Z", 200, 200),
        ("2026-05-12T00:00:00Z", 81, 81),
        ("2026-05-11T23:59:59.999Z", 80, 80),
        ("2026-06-21T00:00:00Z", 81, 81),
        ("2026-06-21T00:00:00.001Z", 80, 80),
        ("2025-01-01T00:00:00Z", 0, 0),
        ("soon", 0, 200),
        // The steps of a run bound the work on a text of any length.
        (&far, 200, 200),
    ] {
        let values = [text, "2026-06-01T00:00:00.000Z"].map(AttributeValue::Text);
        assert_eq!(Counted::count(&allows, &values), allowing, "{text}");
        assert_eq!(Counted::count(&denies, &values), denying, "{text}");
    }
}

/// Returns the length of the expression of the whole condition of each explained policy.
fn expressions(plan: &Plan) -> Vec<Option<usize>> {
    asked(&json!({}), |check| {
        let answers = AttributeAnswers::default();
        let explanation = plan.explain(check, &answers, None);
        let root =
            |policy: &ExplainedPolicy<'_>| policy.condition.as_ref()?.expression().map(str::len);
        explanation.policies.iter().map(root).collect()
    })
}

#[test]
fn an_explanation_shows_no_long_expression_and_not_too_many() {
    let equals = |length: usize| json!({"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": "b".repeat(length)});
    // 12 bytes are `user.a == ""`.
    let sizes = [4_096 - 12, 4_096 - 11];
    let policies = (1..).zip(sizes).map(|(id, size)| from_tree(id, Effect::Deny, &equals(size)));
    assert_eq!(expressions(&plan(policies)), [Some(4_096), None]);
    // The first 256 take 1 MiB together.
    let policies = (1..=300).map(|id| from_tree(id, Effect::Deny, &equals(4_096 - 12)));
    let shown = expressions(&plan(policies));
    assert_eq!(shown.iter().flatten().count(), 256);
    assert!(shown.iter().take(256).all(Option::is_some));
}
