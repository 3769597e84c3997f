//! Changes and tables as lines of text, and changes against the decisions on single checks.

use std::collections::BTreeSet;

use portcullis_engine::condition::NamedConditions;
use portcullis_engine::request::{Action, Attributes, Roles};
use portcullis_engine::{
    Check, Effect, Plan, Policy, ResourcePattern, RoleInclusions, Rule, RuleTuple, expression,
};
use portcullis_model::apply::{CellDecision, ImpactChange, ImpactReport};
use uuid::Uuid;

use super::{DecisionSet, MatrixFilter, impact, table};
use crate::rulebook::Rulebook;

const REGISTERED: [&str; 2] = ["chart:read", "chart:write"];

/// Reads rules: `sub, dom, obj, act, effect`.
fn rules(lines: &[&str]) -> Vec<Rule> {
    let rule = |(id, line): (u128, &&str)| {
        let mut parts = line.split(", ").map(str::to_owned);
        let mut next = || parts.next().expect("five parts");
        let (sub, dom, obj, act, effect) = (next(), next(), next(), next(), next());
        let obj = ResourcePattern::parse(&obj).expect("a pattern");
        Rule {
            id: Uuid::from_u128(id),
            tuple: RuleTuple { sub, dom, obj, act },
            effect: effect.parse().expect("an effect"),
        }
    };
    (1..).zip(lines).map(rule).collect()
}

/// Reads policies: `name, resource, effect, priority: condition`.
fn policies(lines: &[&str]) -> Vec<Policy> {
    let policy = |(id, line): (u128, &&str)| {
        let (head, condition) = line.split_once(": ").expect("a condition");
        let mut parts = head.split(", ");
        let mut next = || parts.next().expect("four parts");
        let (name, resource, effect, priority) = (next(), next(), next(), next());
        Policy {
            id: Uuid::from_u128(id),
            name: name.to_owned(),
            resource: ResourcePattern::parse(resource).expect("a pattern"),
            effect: effect.parse().expect("an effect"),
            priority: priority.parse().expect("a number"),
            condition: Ok(expression::parse(condition).expect("an expression")),
        }
    };
    (100..).zip(lines).map(policy).collect()
}

fn shown(outcome: &CellDecision) -> String {
    match outcome {
        CellDecision::Allow => "allow".to_owned(),
        CellDecision::Deny => "deny".to_owned(),
        CellDecision::Depends { condition, policies, more_policies } => match condition {
            Some(condition) => format!("{condition} [{}]", policies.join(", ")),
            None => format!("too large [{}, and {more_policies} more]", policies.join(", ")),
        },
    }
}

fn place(parts: [&Option<String>; 3], resource: &str) -> String {
    let [role, domain, action] = parts.map(|part| part.as_deref().unwrap_or("other"));
    format!("{role}, {domain}, {resource}, {action}")
}

type Set<'t> = (&'t [&'t str], &'t [&'t str]);

/// Returns the changes between two sets of rules and policies.
fn changes(before: Set<'_>, after: Set<'_>) -> Vec<String> {
    let [before, after] =
        [before, after].map(|(own, of)| Rulebook::from_stored(rules(own), policies(of)));
    let [before, after] = [&before, &after].map(|all| DecisionSet::new(all, REGISTERED));
    lines(&impact(&before, &after, || true))
}

fn lines(impact: &ImpactReport) -> Vec<String> {
    assert!(impact.complete, "{:?}", impact.note);
    let line = |change: &ImpactChange| {
        let place = place([&change.role, &change.domain, &change.action], &change.resource);
        format!("{place}: {} -> {}", shown(&change.before), shown(&change.after))
    };
    impact.changes.iter().chain(&impact.others).map(line).collect()
}

#[test]
fn changes_are_those_of_decisions() {
    let read = "doctor, er, chart:read, read, allow";
    let write = "doctor, er, chart:write, write, allow";
    let own = "own, chart:write, allow, 0: user.ward == resource.ward";
    let of_nurses = r#"nurses, chart:read, allow, 5: request.roles contains "nurse" && user.on"#;
    let of_nurses = format!("{of_nurses} == true");
    let cases: [(Set<'_>, Set<'_>, &[&str]); 9] = [
        ((&[read], &[]), (&[read], &[]), &[]),
        ((&[read], &[]), (&[read, write], &[]), &["doctor, er, chart:write, write: deny -> allow"]),
        // Another order, other names and ids decide the same.
        (
            (&[read, write], &[own]),
            (&[write, read], &["x, chart:write, allow, 0: user.ward == resource.ward"]),
            &[],
        ),
        // A rule that another one covers changes nothing.
        ((&["*, *, chart:*, *, allow"], &[]), (&["*, *, chart:*, *, allow", read], &[]), &[]),
        (
            (&[], &[]),
            (&[], &[own]),
            &["*, *, chart:write, *: deny -> user.ward == resource.ward [own]"],
        ),
        (
            (&[read], &[]),
            (&[read], &[&of_nurses]),
            &["nurse, *, chart:read, *: deny -> user.on == true [nurses]"],
        ),
        (
            (&["doctor, er, chart:*, *, allow"], &[]),
            (&["doctor, *, chart:*, *, allow"], &[]),
            &[
                "doctor, other, chart:*, *: deny -> allow",
                "doctor, other, chart:read, *: deny -> allow",
                "doctor, other, chart:write, *: deny -> allow",
            ],
        ),
        (
            (&["*, *, chart:read, read, allow"], &[]),
            (&["*, *, chart:read, read, allow"], &["sealed, *, deny, 9: resource.sealed == true"]),
            &["*, *, chart:read, read: allow -> unless resource.sealed == true [sealed]"],
        ),
        // The cells of each role differ, those of the others do not.
        (
            (&["a, *, chart:read, read, allow", "b, *, chart:read, read, deny"], &[]),
            (&["*, *, chart:read, read, allow", "b, *, chart:read, read, deny"], &[]),
            &["other, *, chart:read, read: deny -> allow"],
        ),
    ];
    for (before, after, expected) in cases {
        assert_eq!(changes(before, after), expected, "{before:?} {after:?}");
    }
}

/// A role that includes others in one of two sets alone changes the decisions on what those may, and nothing else.
#[test]
fn other_inclusions_change_decisions() {
    let book = |pairs: &[(&str, &[&str])]| {
        let read = ["doctor, er, chart:read, read, allow", "clerk, er, desk:use, use, allow"];
        let writes = r#"writes, chart:write, allow, 5: request.roles contains "doctor""#;
        let owned = |role: &&str| (*role).to_owned();
        let pairs = pairs.iter().map(|(name, of)| (owned(name), of.iter().map(owned).collect()));
        Rulebook::from_stored(rules(&read), policies(&[writes]))
            .with_inclusions(RoleInclusions::new(pairs))
    };
    let (none, head) = (book(&[]), book(&[("head", &["doctor"])]));
    let chief = book(&[("head", &["doctor"]), ("chief", &["head", "nobody"])]);
    let gains = |role: &str, from: &str, to: &str| {
        ["er, chart:read, read", "*, chart:write, *"]
            .map(|cells| format!("{role}, {cells}: {from} -> {to}"))
    };
    for (before, after, expected) in [
        (&none, &head, gains("head", "deny", "allow").to_vec()),
        (&head, &none, gains("head", "allow", "deny").to_vec()),
        (&head, &chief, gains("chief", "deny", "allow").to_vec()),
        (&head, &head, vec![]),
    ] {
        let sets = [before, after].map(|book| DecisionSet::new(book, REGISTERED));
        assert_eq!(lines(&impact(&sets[0], &sets[1], || true)), expected);
    }
}

/// A change for a role is one for each role that includes it, and what that role lets through already is none.
#[test]
fn roles_that_include_a_changed_role_change_with_it() {
    let inclusions = || {
        let owned = |role: &str| role.to_owned();
        let pairs = [("head", ["doctor"]), ("chief", ["head"]), ("aide", ["porter"])];
        RoleInclusions::new(pairs.map(|(role, of)| (owned(role), of.map(owned).to_vec())))
    };
    let book = |lines: &[&str], of: &[&str]| {
        Rulebook::from_stored(rules(lines), policies(of)).with_inclusions(inclusions())
    };
    let read = "doctor, er, chart:read, read, allow";
    let of_doctors = r#"doctors, chart:read, allow, 5: request.roles contains "doctor""#;
    let head = "head, er, chart:read, read, allow";
    for (before, after, expected) in [
        (
            book(&[], &[]),
            book(&[read], &[]),
            &[
                "chief, er, chart:read, read: deny -> allow",
                "doctor, er, chart:read, read: deny -> allow",
                "head, er, chart:read, read: deny -> allow",
            ][..],
        ),
        (
            book(&[], &[]),
            book(&[], &[of_doctors]),
            &[
                "chief, *, chart:read, *: deny -> allow",
                "doctor, *, chart:read, *: deny -> allow",
                "head, *, chart:read, *: deny -> allow",
            ],
        ),
        (book(&[read], &[]), book(&[read, head], &[]), &[]),
    ] {
        let sets = [&before, &after].map(|book| DecisionSet::new(book, REGISTERED));
        assert_eq!(lines(&impact(&sets[0], &sets[1], || true)), expected);
    }
}

/// A policy whose text stays changes with a condition that it uses, also through another one.
#[test]
fn a_changed_condition_changes_the_policies_that_use_it() {
    let written = [
        "outer, chart:read, allow, 0: condition.outer",
        "inner, chart:write, deny, 1: !condition.inner",
        "none, ward:*, allow, 0: condition.other",
    ];
    let book = |inner: &str| {
        let named =
            [("inner", inner), ("outer", "condition.inner && user.b == 2"), ("other", "user.c")];
        let named =
            named.map(|(name, text)| (name.into(), expression::parse(text).expect("sound")));
        let named = NamedConditions::new(named);
        let mut policies = policies(&written);
        for policy in &mut policies {
            let condition = policy.condition.clone().expect("a condition");
            policy.condition = Ok(named.resolve(condition).expect("known names"));
        }
        Rulebook::from_stored(Vec::new(), policies)
    };
    let (before, after) = (book("user.a == 1"), book("user.a == 3"));
    let [before, after] = [&before, &after].map(|book| DecisionSet::new(book, REGISTERED));
    assert_eq!(
        lines(&impact(&before, &after, || true)),
        [
            "*, *, chart:read, *: user.a == 1 && user.b == 2 [outer] -> user.a == 3 && user.b == 2 [outer]"
        ]
    );
    assert_eq!(lines(&impact(&before, &before, || true)), [""; 0]);
}

#[test]
fn a_large_residual_is_compared_by_its_policies() {
    let condition = |text: &str| {
        let texts: Vec<_> =
            (0..100).map(|number| format!(r#"user.a{number} == "{text}""#)).collect();
        format!("large, chart:read, allow, 0: {}", texts.join(" && "))
    };
    let (one, other) = (condition("one"), condition("other"));
    assert_eq!(
        changes((&[], &[&one]), (&[], &[&other])),
        ["*, *, chart:read, *: too large [large, and 0 more] -> too large [large, and 0 more]"],
    );
    let more = "more, chart:*, deny, -1: user.b == 1";
    assert_eq!(changes((&[], &[&one]), (&[], &[&one, more])), [""; 0]);
}

#[test]
fn more_cells_than_the_limit_are_named() {
    let many: Vec<String> =
        (0..400).map(|n| format!("role {n}, domain {n}, chart:read, read, allow")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (many, write) = (rules(&many), rules(&["doctor, er, chart:write, write, allow"]));
    let all = [many, write].concat();
    let books = [Vec::new(), all].map(|rules| Rulebook::from_stored(rules, Vec::new()));
    let sets = books.each_ref().map(|book| DecisionSet::new(book, REGISTERED));
    let impact = impact(&sets[0], &sets[1], || true);
    assert!(!impact.complete);
    let note = "1 resources are left out (`chart:read`): they have more cells or policies than are decided at once";
    assert_eq!(impact.note.as_deref(), Some(note));
    assert_eq!(impact.changes.len(), 1, "the other resource is compared");
}

#[test]
fn resources_after_the_time_are_named() {
    let all =
        rules(&["doctor, er, chart:read, read, allow", "doctor, er, chart:write, write, allow"]);
    let books = [Vec::new(), all].map(|rules| Rulebook::from_stored(rules, Vec::new()));
    let sets = books.each_ref().map(|book| DecisionSet::new(book, REGISTERED));
    let asked = std::cell::Cell::new(0);
    let first_alone = || asked.replace(asked.get() + 1) < 1;
    let impact = impact(&sets[0], &sets[1], first_alone);
    assert_eq!((impact.complete, impact.changes.len()), (false, 1));
    assert!(
        impact
            .note
            .is_some_and(|note| note.starts_with("1 resources are left out (`chart:write`)"))
    );
}

#[test]
fn a_table_has_what_is_not_denied() {
    let rules = rules(&["doctor, er, chart:*, *, allow", "nurse, er, chart:read, read, allow"]);
    let policies = policies(&["sealed, chart:read, deny, 9: resource.sealed == true"]);
    let rulebook = Rulebook::from_stored(rules, policies);
    let set = DecisionSet::new(&rulebook, REGISTERED);
    let rows = |roles: &[&str], resources: &[&str]| -> Vec<String> {
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        let resources = resources.iter().filter_map(|text| ResourcePattern::parse(text)).collect();
        let table = table(&set, &MatrixFilter { roles, resources });
        let row = |row: &super::MatrixRow| {
            let place = place([&row.role, &row.domain, &row.action], &row.resource);
            format!("{place}: {}", shown(&row.outcome))
        };
        table.cells.iter().map(row).collect()
    };
    assert_eq!(
        rows(&[], &[]),
        [
            "doctor, er, chart:*, *: allow",
            "doctor, er, chart:read, *: unless resource.sealed == true [sealed]",
            "nurse, er, chart:read, read: unless resource.sealed == true [sealed]",
            "doctor, er, chart:write, *: allow",
        ],
    );
    assert_eq!(rows(&["doctor"], &["chart:write"]), ["doctor, er, chart:write, *: allow"]);
    assert_eq!(rows(&["clerk"], &[]), [""; 0]);
}

/// Random rules: each change of a single check has its line, and each line changes the checks that it stands for.
#[test]
fn changes_agree_with_single_checks() {
    let mut random = fastrand::Rng::with_seed(14);
    let (mut changed, mut same) = (0, 0);
    for _ in 0..300 {
        let mut generate = || -> Vec<Rule> {
            let mut pick =
                |pool: &[&'static str]| random.choice(pool.iter()).copied().unwrap_or("");
            let lines: Vec<String> = (0..4)
                .map(|_| {
                    let (sub, dom) = (pick(&["a", "b", "*"]), pick(&["x", "y", "*"]));
                    let obj = pick(&["d:r", "d:w", "d:*", "e:r", "*"]);
                    let (act, effect) = (pick(&["r", "w", "*"]), pick(&["allow", "allow", "deny"]));
                    format!("{sub}, {dom}, {obj}, {act}, {effect}")
                })
                .collect();
            rules(&lines.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let (before, after) = (generate(), generate());
        let counts = compare_single_checks(&before, &after);
        changed += counts[1];
        same += counts[0];
    }
    assert!(changed >= 5_000 && same >= 5_000, "{changed} changed, {same} the same");
}

/// Compares the changes with the decisions on every check of a small world. Returns the number of checks that are decided
/// the same, and of the others.
fn compare_single_checks(before: &[Rule], after: &[Rule]) -> [u32; 2] {
    let both = [before, after].concat();
    let known: BTreeSet<String> =
        both.iter().map(|rule| rule.tuple.obj.to_string()).chain(["d:r".to_owned()]).collect();
    let books = [before, after].map(|rules| Rulebook::from_stored(rules.to_vec(), Vec::new()));
    let sets = books.each_ref().map(|book| DecisionSet::new(book, ["d:r"]));
    let impact = impact(&sets[0], &sets[1], || true);
    let mut counts = [0; 2];
    for resource in ["d:r", "d:w", "d:q", "e:r", "f:q"] {
        let plans = [before, after].map(|rules| Plan::compile(resource, 1, rules, []));
        // The row of the resource, or of the narrowest pattern that stands for it.
        let row = super::decision_set::patterns_of(resource).into_iter().rev();
        let row =
            row.max_by_key(|pattern| (known.contains(pattern), pattern.len(), pattern != "d:*"));
        let row = row.expect("three patterns");
        let of_row: Vec<&Rule> =
            both.iter().filter(|rule| rule.tuple.obj.matches(resource)).collect();
        let verb = row.rsplit_once(':').map_or("", |(_, verb)| verb);
        for (role, domain, action) in checks() {
            let effects = plans.each_ref().map(|plan| decision(plan, role, domain, action));
            let is_named = |value: &str, field: fn(&RuleTuple) -> &str| {
                of_row.iter().any(|rule| field(&rule.tuple) == value)
            };
            let names = |name: &Option<String>, value: &str, is_named: bool| match name {
                Some(name) => name == "*" || name == value,
                None => !is_named,
            };
            let lines = impact.changes.iter().chain(&impact.others).filter(|line| {
                line.resource == row
                    && names(&line.role, role, is_named(role, |tuple| &tuple.sub))
                    && names(&line.domain, domain, is_named(domain, |tuple| &tuple.dom))
                    && names(
                        &line.action,
                        action,
                        action == verb || is_named(action, |tuple| &tuple.act),
                    )
            });
            let found: Vec<_> = lines.map(|line| (&line.before, &line.after)).collect();
            let cell = |effect: Effect| match effect {
                Effect::Allow => CellDecision::Allow,
                Effect::Deny => CellDecision::Deny,
            };
            let [was, is] = effects.map(cell);
            let expected = if was == is { vec![] } else { vec![(&was, &is)] };
            assert_eq!(
                found, expected,
                "{role} {domain} {resource} {action}: {before:?} {after:?}"
            );
            counts[usize::from(was != is)] += 1;
        }
    }
    counts
}

fn checks() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let domains = ["x", "y", "z"];
    let actions = ["r", "w", "q"];
    ["a", "b", "c"].into_iter().flat_map(move |role| {
        domains.into_iter().flat_map(move |domain| actions.map(|action| (role, domain, action)))
    })
}

fn decision(plan: &Plan, role: &str, domain: &str, action: &str) -> Effect {
    let roles = [role.to_owned()];
    let check = Check {
        subject: "nobody",
        subject_type: None,
        resource: "",
        action: Action::Plain(action),
        domain,
        roles: Roles::Claimed(&roles),
        attributes: Attributes::default(),
        claims: None,
        now: chrono::DateTime::UNIX_EPOCH,
        relations: None,
        expected: None,
    };
    plan.evaluate(&check).effect()
}
