//! Compares the smallest changes that would allow with all changes to a few values.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Counterfactuals, Effect, Format, Json, Plan, PlanChanges,
    Policy, ResourcePattern, json,
};
use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

/// The attributes that conditions test, each of another kind.
const ATTRIBUTES: [&str; 3] = ["user.a", "resource.b", "context.c"];
/// The values that conditions compare with, values between and beyond them, and none.
const VALUES: [&str; 12] =
    ["0", "1", "1.5", "2", "2.5", "3", "\"x\"", "\"y\"", "\"z\"", "true", "[\"x\"]", "null"];
const TESTS: [&str; 13] = [
    "== 1",
    "!= 2",
    ">= 2",
    "< 1",
    "== 'x'",
    "in ['x', 'y']",
    "contains 'x'",
    "== @",
    "exists",
    "< @",
    "any(#, item == 'x')",
    "all(#, item in ['x', @])",
    "length(#) >= 1",
];

/// A condition as an expression. `@` stands for another attribute.
fn condition() -> impl Strategy<Value = String> {
    let test = (0..3usize, select(&TESTS), 1..3usize).prop_map(|(own, test, other)| {
        let test = test.replace('@', ATTRIBUTES[(own + other) % 3]);
        match &*test {
            "exists" => format!("exists({})", ATTRIBUTES[own]),
            test if test.contains('#') => test.replace('#', ATTRIBUTES[own]),
            _ => format!("{} {test}", ATTRIBUTES[own]),
        }
    });
    test.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|all| format!("({})", all.join(" && "))),
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|all| format!("({})", all.join(" || "))),
            inner.prop_map(|one| format!("!({one})")),
        ]
    })
}

fn plan(policies: &[(String, bool, i32)]) -> Plan {
    let policies = (1..).zip(policies).map(|(id, (condition, allows, priority))| {
        let data = json_text(condition);
        Policy {
            id: Uuid::from_u128(id),
            name: condition.clone(),
            resource: ResourcePattern::Any,
            effect: if *allows { Effect::Allow } else { Effect::Deny },
            priority: *priority,
            condition: Policy::stored_condition(Format::Expression, &data),
        }
    });
    Plan::compile("doc:read", 1, &[], policies)
}

fn json_text(condition: &str) -> String {
    format!("{{\"expression\": {}}}", Json::String(condition.into()))
}

/// The body of a check with these values, in the order of [`ATTRIBUTES`].
fn body(values: [&str; 3]) -> String {
    let member = |(path, value): (&str, &str)| {
        let (kind, name) = path.split_once('.').expect("a path");
        match value {
            "null" => format!("\"{kind}\": {{}}"),
            _ => format!("\"{kind}\": {{\"{name}\": {value}}}"),
        }
    };
    let members: Vec<_> = ATTRIBUTES.into_iter().zip(values).map(member).collect();
    let attributes = members.join(", ");
    format!(
        r#"{{"subject": "s", "resource": "doc:read", "action": "read", "attributes": {{{attributes}}}}}"#
    )
}

fn with_check<T>(values: [&str; 3], use_it: impl FnOnce(&Check<'_>) -> T) -> T {
    with_check_at(DateTime::UNIX_EPOCH, values, use_it)
}

fn with_check_at<T>(
    now: DateTime<Utc>,
    values: [&str; 3],
    use_it: impl FnOnce(&Check<'_>) -> T,
) -> T {
    let text = body(values);
    let json = json::parse(text.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&json).expect("a check");
    use_it(&Check::new(body, "d", None, now))
}

fn allows(plan: &Plan, values: [&str; 3]) -> bool {
    with_check(values, |check| plan.evaluate(check).effect() == Effect::Allow)
}

/// Returns whether the plan allows a minute later.
fn still_allows(plan: &Plan, values: [&str; 3]) -> bool {
    let later = DateTime::UNIX_EPOCH + TimeDelta::minutes(1);
    with_check_at(later, values, |check| plan.evaluate(check).effect() == Effect::Allow)
}

fn found(plan: &Plan, values: [&str; 3]) -> Counterfactuals {
    with_check(values, |check| plan.would_allow(check, &AttributeAnswers::default()))
}

/// The sets of attributes that allow with some of [`VALUES`], without those that have more than another.
fn naive(plan: &Plan, sent: [&str; 3]) -> BTreeSet<Vec<&'static str>> {
    let mut sets = BTreeSet::new();
    for a in VALUES {
        for b in VALUES {
            for c in VALUES {
                let differs = ATTRIBUTES.into_iter().zip(sent.into_iter().zip([a, b, c]));
                let differs = differs.filter(|(_, (before, after))| before != after);
                let changed: Vec<_> = differs.map(|(path, _)| path).collect();
                if !sets.contains(&changed) && allows(plan, [a, b, c]) {
                    sets.insert(changed);
                }
            }
        }
    }
    let is_part = |small: &Vec<_>, large: &Vec<_>| small.iter().all(|one| large.contains(one));
    let all = sets.clone();
    sets.retain(|set| !all.iter().any(|other| other != set && is_part(other, set)));
    sets
}

proptest! {
    // Some searches are not complete: those with several tests of one list, too.
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_smallest_changes_are_found(
        policies in prop::collection::vec((condition(), any::<bool>(), 0..3i32), 1..5),
        sent in [select(&VALUES), select(&VALUES), select(&VALUES)],
    ) {
        let plan = plan(&policies);
        if allows(&plan, sent) {
            return Ok(());
        }
        let found = found(&plan, sent);
        let mut sets = BTreeSet::new();
        let mut least = 0;
        for set in &found.sets {
            prop_assert!(set.changes.len() >= least, "the smallest come first");
            least = set.changes.len();
            let mut texts = sent.map(str::to_owned);
            let mut changed = Vec::new();
            for (number, path) in ATTRIBUTES.into_iter().enumerate() {
                if let Some(change) = set.changes.iter().find(|change| change.attribute == path) {
                    let from = change.from.as_ref().map_or("null".to_owned(), Json::to_string);
                    prop_assert_eq!(from, sent[number].replace(' ', ""));
                    texts[number] =
                        change.to.as_ref().map_or("null".to_owned(), Json::to_string);
                    changed.push(path);
                }
            }
            prop_assert!(allows(&plan, texts.each_ref().map(String::as_str)), "{set:?}");
            sets.insert(changed);
        }
        prop_assume!(found.is_complete);
        // The search knows more values: it may find more sets, and none that has more than is needed.
        let is_part = |small: &Vec<_>, large: &Vec<_>| small.iter().all(|one| large.contains(one));
        for other in naive(&plan, sent) {
            prop_assert!(sets.iter().any(|set| is_part(set, &other)), "{other:?} of {found:?}");
            prop_assert!(!sets.iter().any(|set| *set != other && is_part(&other, set)), "{found:?}");
        }
    }
}

/// A list gets one item more, or loses those that fail; where that does not do, the search is not complete.
#[test]
fn a_list_gets_an_item_or_loses_some() {
    for (effect, condition, sent, expected, is_complete) in [
        (true, "any(user.a, item starts_with '/eng/')", "[\"/hr/\"]", "[\"/hr/\",\"/eng/\"]", true),
        (true, "any(user.a, item == resource.b)", "[\"x\"]", "[\"x\",\"b\"]", false),
        (true, "any(user.a, item >= 4)", "[1]", "[1,4]", true),
        (true, "all(user.a, item == 'sent')", "[\"sent\",\"new\"]", "[\"sent\"]", true),
        (true, "!any(user.a, item == 'x')", "[\"x\",\"y\"]", "[\"y\"]", true),
        (false, "any(user.a, item == 'x')", "[\"x\",\"y\"]", "[\"y\"]", true),
        (false, "any(user.a, item > 'm')", "[\"a\",5]", "[\"a\"]", true),
        (true, "length(user.a) >= 2", "[\"x\"]", "[\"x\",\"other\"]", true),
        (true, "length(user.a) == 0", "[7]", "[]", true),
        (true, "length(user.a) >= 3", "[\"x\"]", "", false),
        (true, "any(user.a, item == 'x') && any(user.a, item == 'y')", "[]", "", false),
    ] {
        let mut policies = vec![(condition.to_owned(), effect, 1)];
        if !effect {
            policies.push(("exists(request.subject)".to_owned(), true, 0));
        }
        let found = found(&plan(&policies), [sent, "\"b\"", "null"]);
        let own = found.sets.iter().filter(|set| set.changes[0].attribute == "user.a");
        let to: Vec<_> = own.filter_map(|set| set.changes[0].to.as_ref()).collect();
        let to = to.first().map_or(String::new(), |list| list.to_string());
        assert_eq!((&*to, found.is_complete), (expected, is_complete), "{condition}: {found:?}");
    }
}

/// Tests of attributes that the request has not, and several tests of one.
#[test]
fn changes_that_several_tests_want_together_are_found() {
    for condition in [
        "user.a before resource.b",
        "user.a after resource.b",
        "!(user.a before resource.b)",
        "!(user.a after resource.b)",
        "user.a before resource.b && resource.b before context.c",
        "user.a contains_any resource.b",
        "!(user.a contains_any resource.b)",
        "user.a contains_all resource.b",
        "!(user.a contains_all resource.b)",
        "!(request.roles contains_all resource.b)",
        "user.a contains 'x' && user.a contains 'y'",
        "user.a contains 'x' && user.a contains 'y' && !(user.a contains 'z')",
        "user.a contains_any ['x'] && user.a contains_all ['y', 'z']",
        "user.a starts_with 'x' && user.a contains 'y' && user.a ends_with 'z'",
        "user.a starts_with 'x' && user.a != 'x'",
        "user.a ends_with 'x' && user.a != 'x'",
        "user.a contains 'x' && user.a starts_with 'y'",
        "!(user.a ends_with 'r')",
    ] {
        let plan = plan(&[(condition.to_owned(), true, 0)]);
        for sent in ["null", "5", "[]"] {
            let found = found(&plan, [sent, "null", "null"]);
            assert!(!found.sets.is_empty(), "{condition} {sent}: {found:?}");
        }
    }
    for (condition, is_complete) in [
        ("user.a starts_with 'x' && user.a starts_with 'y'", true),
        ("user.a contains 'xy' && user.a starts_with 'yx' && user.a != 'yxy'", false),
        (
            "user.a contains 'a' && user.a contains 'b' && user.a contains_any ['c', 'd'] && user.a == 1",
            false,
        ),
    ] {
        let found = found(&plan(&[(condition.to_owned(), true, 0)]), ["null"; 3]);
        assert_eq!(found.is_complete, is_complete, "{condition}: {found:?}");
    }
}

/// The tests of a policy that is gone give no values, and make no search incomplete.
#[test]
fn a_policy_that_is_gone_changes_nothing() {
    let stays = || ("all(user.a, item == 'sent')".to_owned(), true, 1);
    let goes = ["all(user.a, item == 'new')", "length(user.a) > 7", "user.a == context.c"];
    let goes = goes.map(|condition| (condition.to_owned(), true, 0));
    let policies: Vec<_> = std::iter::once(stays()).chain(goes).collect();
    let changes = PlanChanges {
        policies: (2..=4).map(|id| (Uuid::from_u128(id), None)).collect(),
        ..PlanChanges::default()
    };
    let before = plan(&policies);
    let after = before.with_changes(2, changes, None, |_| None).expect("shares nothing");
    let sent = ["[\"sent\",\"new\"]", "null", "null"];
    let [after, fresh] = [after, plan(&[stays()])].map(|plan| found(&plan, sent));
    assert_eq!((after.sets, after.is_complete), (fresh.sets, fresh.is_complete));
}

#[test]
fn a_rule_that_denies_and_an_unknown_attribute_leave_nothing() {
    let of_resolver = plan(&[("geo.country == 'DE' && user.a == 1".to_owned(), true, 0)]);
    let found_sets = found(&of_resolver, ["0", "null", "null"]);
    assert!(found_sets.sets.is_empty(), "{found_sets:?}");
    let token = plan(&[("token.level == 1 && user.a == 1".to_owned(), true, 0)]);
    assert!(found(&token, ["0", "null", "null"]).sets.is_empty());
}

#[test]
fn a_search_without_end_says_that_it_is_not_complete() {
    let many = (0..400).map(|number| format!("user.a == {number}"));
    let many = many.collect::<Vec<_>>().join(" || ");
    let impossible = format!(
        "({many}) && ({}) && resource.b == context.c && user.a == token.x",
        many.replace("user.a", "resource.b")
    );
    let plan = plan(&[(impossible, true, 0), ("resource.b != 1".to_owned(), false, 9)]);
    assert!(!found(&plan, ["900", "null", "null"]).is_complete);
}

#[test]
fn an_instant_that_would_allow_stands_for_a_minute() {
    let of_hours = r#"during(user.a, "00:00-01:00 UTC")"#;
    for condition in [
        "user.a within 'PT2M'",
        "user.a within 'P30D'",
        "user.a within_next 'PT2M'",
        "!(user.a within 'P30D')",
        "user.a before request.time",
        "user.a after request.time",
        "user.a after request.time && user.a before '1970-01-01T00:01:30Z'",
        "user.a before '1970-01-01T00:00:00Z'",
        "user.a after '1970-01-01T00:00:00Z' && user.a within_next 'PT2M'",
        of_hours,
        &format!("{of_hours} && user.a after request.time"),
        "user.a == resource.b && user.a after request.time",
    ] {
        let plan = plan(&[(condition.to_owned(), true, 0)]);
        let found = found(&plan, ["null"; 3]);
        assert!(found.is_complete && !found.sets.is_empty(), "{condition}: {found:?}");
        for set in &found.sets {
            let to = ATTRIBUTES.map(|path| {
                let change = set.changes.iter().find(|change| change.attribute == path);
                change
                    .and_then(|change| change.to.as_ref())
                    .map_or("null".to_owned(), Json::to_string)
            });
            let to = to.each_ref().map(String::as_str);
            assert!(allows(&plan, to) && still_allows(&plan, to), "{condition}: {set:?}");
        }
    }
    // Nobody sends an instant within the last 30 seconds and is allowed in a minute.
    let short = plan(&[("user.a within 'PT30S'".to_owned(), true, 0)]);
    assert_eq!(found(&short, ["null"; 3]).sets.len(), 0);
}
