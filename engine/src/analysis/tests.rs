use super::*;
use crate::expression;

fn condition(text: &str) -> Condition {
    expression::parse(text).expect(text)
}

fn never(effect: Effect, resource: &str, text: &str) -> bool {
    let resource = ResourcePattern::parse(resource).expect(resource);
    let condition = condition(text);
    let policy = AnalyzedPolicy { resource: &resource, effect, condition: &condition };
    Analysis::new(usize::MAX).never_applies(policy).expect("few steps")
}

#[test]
fn allows_that_no_check_reaches() {
    for (text, expected) in [
        (r#"user.a == "x" && user.a == "y""#, true),
        (r#"user.a == "x" && user.a != "x""#, true),
        (r#"user.a == "x" && user.a == 1"#, true),
        (r#"user.a in ["x", "y"] && user.a in ["y", "z"]"#, false),
        (r#"user.a in ["x", "y"] && !(user.a in ["x", "y", "z"])"#, true),
        (r#"user.a in []"#, true),
        (r#"user.a > 3 && user.a < 3"#, true),
        (r#"user.a >= 3 && user.a <= 3"#, false),
        (r#"user.a >= 3 && user.a <= 3 && user.a != 3"#, true),
        (r#"user.a > 3 && user.a < 4"#, false),
        (r#"user.a > 5 && user.a in [1, 2, "x"]"#, true),
        (r#"user.a > "b" && user.a < "a""#, true),
        (r#"user.a starts_with "ab" && user.a starts_with "b""#, true),
        (r#"user.a starts_with "ab" && user.a starts_with "abc""#, false),
        (r#"user.a starts_with "abc" && !(user.a starts_with "ab")"#, true),
        (r#"user.a starts_with "ab" && !(user.a starts_with "abc")"#, false),
        (r#"user.a starts_with "ab" && user.a < "a""#, true),
        (r#"user.a starts_with "ab" && user.a > "ab" && user.a < "abc""#, false),
        (r#"user.a starts_with "b" && user.a in ["ab", "ac"]"#, true),
        (r#"user.a ends_with ".org" && user.a ends_with ".com""#, true),
        (r#"user.a ends_with ".org" && !(user.a contains "org")"#, true),
        (r#"user.a contains "org" && !(user.a ends_with ".org")"#, false),
        (r#"exists(user.a) && !exists(user.a)"#, true),
        (r#"!exists(user.a) && user.a == 1"#, true),
        (r#"!exists(user.a) && ((user.a == 1) ?? true)"#, false),
        (r#"ip_in(user.a, "10.0.0.0/8") && ip_in(user.a, "192.168.0.0/16")"#, true),
        (r#"ip_in(user.a, "10.1.0.0/16") && !ip_in(user.a, "10.0.0.0/8")"#, true),
        (r#"ip_in(user.a, "10.0.0.0/8") && !ip_in(user.a, "10.1.0.0/16")"#, false),
        (r#"ip_in(user.a, "10.0.0.0/8") && user.a == "192.168.0.1""#, true),
        (r#"user.a before "2026-01-01T00:00:00Z" && user.a after "2026-01-01T00:00:00Z""#, true),
        (r#"user.a before "2026-01-02T00:00:00Z" && user.a after "2026-01-01T00:00:00Z""#, false),
        (r#"user.a before "2026-01-02T00:00:00Z" && ip_in(user.a, "10.0.0.0/8")"#, true),
        (r#"user.a == resource.b && user.a != resource.b"#, true),
        (r#"user.a < resource.b && user.a >= resource.b"#, true),
        (r#"user.a == resource.b && user.a == resource.c"#, false),
        (r#"user.a matches "x+" && !(user.a matches "x+")"#, true),
        (r#"request.roles contains "a" && request.roles contains "b""#, false),
        (r#"request.roles contains "a" && !(request.roles contains "a")"#, true),
        (r#"request.roles contains 5"#, true),
        (r#"request.roles == "a""#, true),
        (r#"request.subject in request.resource"#, true),
        (r#"request.resource == "chart:write""#, true),
        (r#"request.resource == "chart:read""#, false),
        (r#"request.object == "chart""#, false),
        (r#"request.object == "roster""#, true),
        (r#"!exists(request.subject)"#, true),
        (r#"(user.a == 1 || user.a == 2) && (user.a == 3 || user.a == 4)"#, true),
        (r#"(user.a == 1 || user.a == 2) && (user.a == 3 || user.a == 2)"#, false),
        (r#"geo.a == 1 && geo.a == 2"#, true),
        (r#"!(user.a == 1 || user.b == 1) && user.a == 1"#, true),
    ] {
        assert_eq!(never(Effect::Allow, "chart:read", text), expected, "{text}");
    }
}

/// A deny applies if its condition is undetermined: an absent attribute must be excluded too.
#[test]
fn denies_that_no_check_reaches() {
    for (text, expected) in [
        (r#"user.a == "x" && user.a == "y""#, false),
        (r#"((user.a == "x") ?? false) && ((user.a == "y") ?? false)"#, false),
        (r#"exists(user.a) && !exists(user.a)"#, true),
        (r#"request.subject == "x" && request.subject == "y""#, true),
        (r#"request.action == "read" && !(request.action in ["read", "write"])"#, true),
        (r#"exists(geo.a) && !exists(geo.a)"#, false),
        (r#"request.time == 5"#, false),
        (r#"request.subject == user.a && request.subject != user.a"#, false),
    ] {
        assert_eq!(never(Effect::Deny, "*", text), expected, "{text}");
    }
}

#[test]
fn a_name_pattern_fixes_the_object_only() {
    assert!(never(Effect::Allow, "chart:*", r#"request.resource == "roster:read""#));
    assert!(!never(Effect::Allow, "chart:*", r#"request.resource == "chart:read""#));
    assert!(never(Effect::Allow, "*", r#"request.resource == "chart""#));
}

fn implies(from: (Effect, &str, &str), to: (Effect, &str, &str)) -> bool {
    let resources = [from.1, to.1].map(|text| ResourcePattern::parse(text).expect(text));
    let conditions = [from.2, to.2].map(condition);
    let [from, to] = [(from.0, 0), (to.0, 1)].map(|(effect, at)| AnalyzedPolicy {
        resource: &resources[at],
        effect,
        condition: &conditions[at],
    });
    Analysis::new(usize::MAX).implies(from, to).expect("few steps")
}

#[test]
fn policies_that_imply_others() {
    use Effect::{Allow, Deny};
    for (from, to, expected) in [
        ((Allow, "user.a == 1 && user.b == 2"), (Allow, "user.a == 1"), true),
        ((Allow, "user.a == 1"), (Allow, "user.a == 1 && user.b == 2"), false),
        ((Allow, "user.a == 1"), (Allow, "user.a in [1, 2]"), true),
        ((Allow, "user.a in [1, 3]"), (Allow, "user.a in [1, 2]"), false),
        ((Allow, "user.a > 5"), (Allow, "user.a >= 5"), true),
        ((Allow, "user.a >= 5"), (Allow, "user.a > 5"), false),
        ((Allow, r#"user.a starts_with "abc""#), (Allow, r#"user.a starts_with "ab""#), true),
        ((Allow, r#"user.a == "abc""#), (Allow, r#"user.a starts_with "ab""#), true),
        ((Allow, "user.a == 1"), (Allow, "exists(user.a)"), true),
        // An undetermined deny applies, where the allow does not.
        ((Deny, "user.a == 1"), (Allow, "user.a == 1"), false),
        ((Allow, "user.a == 1"), (Deny, "user.a == 1"), true),
        ((Deny, "user.a in [1]"), (Deny, "user.a in [1, 2]"), true),
        ((Deny, "user.a in [1]"), (Deny, "(user.a in [1, 2]) ?? false"), false),
        ((Deny, "(user.a in [1]) ?? false"), (Deny, "user.a in [1, 2]"), true),
        // A text is in no list of numbers, and `==` does not compare it with a number.
        ((Deny, "user.a == 1"), (Deny, "user.a in [1, 2]"), false),
        ((Deny, "user.a == 1 && user.b == 1"), (Deny, "user.a == 1"), true),
        ((Deny, "user.a == 1 && user.b == 1"), (Deny, "user.b == 1"), true),
        ((Allow, "user.a == resource.b && user.c == 1"), (Allow, "user.a == resource.b"), true),
        ((Allow, "user.a == resource.b"), (Allow, "exists(user.a)"), true),
        ((Allow, "geo.a == 1 && user.b == 1"), (Allow, "user.b == 1"), true),
        // A resolver that `to` needs may not be asked.
        ((Allow, "geo.a == 1 && user.b == 1"), (Allow, "geo.a == 1"), false),
        ((Allow, "geo.a == 1"), (Allow, "geo.a == 1"), true),
        ((Deny, "geo.a == 1"), (Allow, "geo.a == 1"), false),
    ] {
        let holds = implies((from.0, "a:b", from.1), (to.0, "a:*", to.1));
        assert_eq!(holds, expected, "{from:?} implies {to:?}");
    }
    assert!(!implies((Allow, "a:*", "user.a == 1"), (Allow, "a:b", "user.a == 1")));
}

#[test]
fn rules_are_conditions() {
    let tuple = |sub: &str, dom: &str, act: &str| RuleTuple {
        sub: sub.to_owned(),
        dom: dom.to_owned(),
        obj: ResourcePattern::Any,
        act: act.to_owned(),
    };
    let from = condition(r#"request.roles contains "agency" && request.action == "read""#);
    let any = &ResourcePattern::Any;
    for (rule, expected) in [
        (tuple("*", "*", "*"), true),
        (tuple("agency", "*", "*"), true),
        (tuple("agency", "*", "read"), true),
        (tuple("agency", "*", "write"), false),
        (tuple("agency", "clinic", "*"), false),
        (tuple("nurse", "*", "*"), false),
    ] {
        let condition = rule_condition(&rule);
        let [from, to] = [(&from, Effect::Allow), (&condition, Effect::Deny)]
            .map(|(condition, effect)| AnalyzedPolicy { resource: any, effect, condition });
        assert_eq!(Analysis::new(usize::MAX).implies(from, to), Some(expected), "{rule}");
    }
}

#[test]
fn denies_without_an_attribute() {
    for (text, expected) in [
        ("user.a == 1", &["user.a"][..]),
        ("(user.a == 1) ?? true", &[]),
        ("(user.a == 1) ?? false", &[]),
        ("exists(user.a) && user.a == 1", &[]),
        ("!(user.a == 1)", &["user.a"]),
        ("user.a == 1 && resource.b == 2", &[]),
        ("user.a == 1 || resource.b == 2", &["user.a", "resource.b"]),
        ("user.a != resource.b", &["user.a", "resource.b"]),
        ("(user.a != resource.b) ?? true", &["resource.b"]),
        ("!exists(resource.b) || ((user.a != resource.b) ?? true)", &[]),
        ("geo.a == 1", &[]),
        (r#"request.subject == "x""#, &[]),
        (r#"exists(request.subject) || user.a == 1"#, &[]),
    ] {
        let condition = condition(text);
        let policy = AnalyzedPolicy {
            resource: &ResourcePattern::Any,
            effect: Effect::Deny,
            condition: &condition,
        };
        let found: Vec<String> = implicit_attributes(&condition)
            .into_iter()
            .filter(|path| Analysis::new(usize::MAX).denies_without(policy, path) == Some(true))
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn tests_that_compare_nothing() {
    for (text, expected) in [
        (r#"request.roles == "a""#, false),
        (r#"request.roles in ["a"]"#, false),
        (r#"request.roles contains "a""#, true),
        (r#"request.roles contains 5"#, true),
        (r#"request.roles starts_with "a""#, false),
        ("request.subject == 5", false),
        ("request.subject in request.action", false),
        ("request.subject in request.roles", true),
        ("user.a == request.roles", false),
        (r#"ip_in(request.time, "10.0.0.0/8")"#, false),
        (r#"request.time before user.a"#, true),
        ("user.a == 5", true),
        ("user.a in []", true),
        (r#"any(request.roles, item == "a")"#, true),
        (r#"any(request.subject, item == "a")"#, false),
        ("length(request.roles) == 1", true),
        ("length(request.subject) == 1", false),
    ] {
        let Condition::Test(test) = condition(text) else { panic!("{text}") };
        assert_eq!(is_determinable(&test), expected, "{text}");
    }
}

#[test]
fn a_question_beyond_its_steps_has_no_answer() {
    let condition = condition("(user.a == 1 || user.a == 2) && user.a == 3");
    let policy = AnalyzedPolicy {
        resource: &ResourcePattern::Any,
        effect: Effect::Allow,
        condition: &condition,
    };
    assert_eq!(Analysis::new(10).never_applies(policy), None);
    assert_eq!(Analysis::new(1_000).never_applies(policy), Some(true));
}

/// A search through 2^300 combinations ends.
#[test]
fn work_is_bounded() {
    let either = (0..300).map(|n| format!("(user.a == {n} || user.b == {n})"));
    let text = either.collect::<Vec<_>>().join(" && ");
    let condition = condition(&text);
    let policy = AnalyzedPolicy {
        resource: &ResourcePattern::Any,
        effect: Effect::Allow,
        condition: &condition,
    };
    let mut analysis = Analysis::new(usize::MAX);
    // Either way is right: the answer, or none.
    assert_ne!(analysis.never_applies(policy), Some(false));
    assert!(usize::MAX - analysis.steps <= MAX_QUESTION_STEPS);
}
