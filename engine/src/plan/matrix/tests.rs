//! Outcomes of cells, as text.

use std::sync::Arc;

use uuid::Uuid;

use super::{MatrixCell, Outcome, PlanMatrix};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::rbac::{Effect, Rule, RuleTuple};
use crate::request::{Action, Attributes};
use crate::resource::ResourcePattern;
use crate::tenant_facts::TenantFacts;
use crate::{expression, invalid};

type Sample = (&'static [&'static str], &'static [(&'static str, i32, &'static str)], &'static str);

/// Rules as `<subject> <effect>`, policies as effect, priority and condition, and the outcome for an editor.
const SAMPLES: [Sample; 16] = [
    (&["editor allow"], &[], "allow"),
    (&["viewer allow"], &[], "deny"),
    (&["editor allow"], &[("deny", 0, r#"user.a == 1"#)], "unless user.a == 1"),
    (&[], &[("deny", 0, r#"user.a == 1"#)], "deny"),
    (&["editor deny"], &[("allow", 0, r#"user.a == 1"#)], "deny"),
    (&[], &[("allow", 0, r#"user.a == 1"#)], "user.a == 1"),
    // Known parts drop out.
    (
        &[],
        &[("allow", 0, r#"request.roles contains "editor" && user.a == 1 && user.b == 2"#)],
        "user.a == 1 && user.b == 2",
    ),
    (&[], &[("allow", 0, r#"request.roles contains "viewer" && user.a == 1"#)], "deny"),
    (&["editor allow"], &[("deny", 0, r#"!(user.a == 1 || request.domain == "er")"#)], "allow"),
    // A test that compares no such types is undetermined: no allow, and a deny.
    (&[], &[("allow", 0, r#"user.a == 1 || request.domain > 1"#)], "user.a == 1"),
    (&[], &[("allow", 0, r#"user.a == 1 && request.domain > 1"#)], "deny"),
    (
        &["editor allow"],
        &[("deny", 0, r#"user.a == 1 && request.domain > 1"#)],
        "unless user.a == 1",
    ),
    // Several policies: the first that applies decides.
    (
        &[],
        &[("deny", 2, "user.c == 3"), ("allow", 1, "user.b == 2"), ("allow", 0, "user.a == 1")],
        "user.a == 1 || user.b == 2 unless user.c == 3",
    ),
    (
        &["editor allow"],
        &[("allow", 2, "user.c == 3"), ("deny", 1, "user.b == 2")],
        "user.c == 3, or (unless user.b == 2)",
    ),
    (
        &[],
        &[
            ("deny", 3, "user.d == 4"),
            ("allow", 2, "user.c == 3"),
            ("deny", 1, "user.b == 2"),
            ("allow", 0, "(user.a == 1) ?? true"),
        ],
        "(user.c == 3, or ((user.a == 1) ?? true unless user.b == 2)) unless user.d == 4",
    ),
    // A policy that applies for certain hides those after it.
    (
        &["editor allow"],
        &[("allow", 1, r#"request.domain == "er""#), ("deny", 0, "user.a == 1")],
        "allow",
    ),
];

fn plan(
    resource: &str,
    rules: &[&str],
    policies: &[(&str, i32, &str)],
) -> Result<Plan, invalid::Fault> {
    let effect = |text: &str| text.parse().unwrap_or(Effect::Deny);
    let rules: Vec<Rule> = (1..)
        .zip(rules)
        .map(|(id, text)| {
            let (sub, name) = text.split_once(' ').unwrap_or_default();
            let tuple = RuleTuple {
                sub: sub.to_owned(),
                dom: "*".to_owned(),
                obj: ResourcePattern::Any,
                act: "*".to_owned(),
            };
            Rule { id: Uuid::from_u128(id), tuple, effect: effect(name) }
        })
        .collect();
    let policies: Vec<Policy> = (100..)
        .zip(policies)
        .map(|(id, (name, priority, text))| {
            Ok(Policy {
                id: Uuid::from_u128(id),
                name: format!("policy {id}"),
                resource: ResourcePattern::Any,
                effect: effect(name),
                priority: *priority,
                condition: Ok(expression::parse(text)?),
            })
        })
        .collect::<Result<_, invalid::Fault>>()?;
    Ok(Plan::compile(resource, 1, &rules, policies))
}

/// Returns the outcome for an editor who reads in `er`, as text.
fn shown(plan: &Plan) -> String {
    let roles = ["editor".to_owned()];
    let cell = MatrixCell {
        subject: None,
        roles: &roles,
        relation: None,
        domain: Some("er"),
        action: Some(Action::Plain("read")),
    };
    match PlanMatrix::new(plan, Attributes::default()).outcome(&cell) {
        Outcome::Allow => "allow".to_owned(),
        Outcome::Deny => "deny".to_owned(),
        Outcome::Depends(residual) => residual.text().unwrap_or("too large").to_owned(),
    }
}

#[test]
fn outcomes_say_what_they_depend_on() -> Result<(), invalid::Fault> {
    for (rules, policies, expected) in SAMPLES {
        let plan = plan("chart:read", rules, policies)?;
        assert_eq!(shown(&plan), expected, "{rules:?} {policies:?}");
    }
    Ok(())
}

/// The plan of a pattern stands for resources that nothing names.
#[test]
fn a_pattern_leaves_its_resource_open() -> Result<(), invalid::Fault> {
    for (resource, condition, expected) in [
        ("chart:read", r#"request.resource == "chart:read""#, "allow"),
        ("chart:*", r#"request.resource == "chart:read""#, r#"request.resource == "chart:read""#),
        ("chart:*", r#"request.object == "chart""#, "allow"),
        ("*", r#"request.object == "chart""#, r#"request.object == "chart""#),
    ] {
        let plan = plan(resource, &[], &[("allow", 0, condition)])?;
        assert_eq!(shown(&plan), expected, "{resource}: {condition}");
    }
    Ok(())
}

#[test]
fn a_large_residual_names_its_policies_only() -> Result<(), invalid::Fault> {
    let long = "x".repeat(9_000);
    let condition = format!(r#"user.a == "{long}""#);
    let policies = [("allow", 1, "user.b == 2"), ("allow", 0, condition.as_str())];
    let plan = plan("chart:read", &[], &policies)?;
    assert_eq!(shown(&plan), "too large");
    let cell = MatrixCell { subject: None, roles: &[], relation: None, domain: None, action: None };
    let outcome = PlanMatrix::new(&plan, Attributes::default()).outcome(&cell);
    let Outcome::Depends(residual) = outcome else { panic!("it depends on two policies") };
    let names: Vec<&str> = residual.policies().iter().map(|policy| &*policy.name).collect();
    assert_eq!(names, ["policy 100", "policy 101"]);
    Ok(())
}

/// A test that compares no texts is undetermined in a known domain, and open in an unknown one.
#[test]
fn cells_that_leave_a_test_open_have_an_outcome_of_their_own() -> Result<(), invalid::Fault> {
    let plan = plan("chart:read", &["* allow"], &[("deny", 0, "(request.domain > 1) ?? false")])?;
    let mut matrix = PlanMatrix::new(&plan, Attributes::default());
    let known = MatrixCell {
        subject: None,
        roles: &[],
        relation: None,
        domain: Some("er"),
        action: Some(Action::Plain("read")),
    };
    assert!(matches!(matrix.outcome(&known), Outcome::Deny));
    let open = MatrixCell { domain: None, ..known };
    assert!(matches!(matrix.outcome(&open), Outcome::Depends(_)));
    assert!(matches!(matrix.outcome(&known), Outcome::Deny));
    Ok(())
}

#[test]
fn only_cells_that_policies_tell_apart_cost_policies() -> Result<(), invalid::Fault> {
    for (condition, expected) in [
        ("user.a == 1", 0),
        (r#"request.object == "chart""#, 0),
        (r#"request.roles contains "a""#, 1),
        (r#"resource.owner == request.subject"#, 1),
    ] {
        let plan = plan("chart:read", &[], &[("allow", 0, condition)])?;
        let matrix = PlanMatrix::new(&plan, Attributes::default());
        assert_eq!(matrix.cost_per_cell(), expected, "{condition}");
    }
    Ok(())
}

#[test]
fn large_conditions_cost_as_much_as_many_policies() -> Result<(), invalid::Fault> {
    let test = |number: usize| format!(r#"request.subject == "user-{number}""#);
    let costs = [1, 15, 160].map(|tests| {
        let condition = (0..tests).map(test).collect::<Vec<_>>().join(" || ");
        let plan = plan("chart:read", &[], &[("allow", 0, &condition)])?;
        Ok(PlanMatrix::new(&plan, Attributes::default()).cost())
    });
    let costs: Result<Vec<usize>, invalid::Fault> = costs.into_iter().collect();
    assert_eq!(costs?, [1, 2, 11]);
    Ok(())
}

#[test]
fn a_cell_tells_an_action_that_is_sent_from_one_that_is_left_out() {
    let resource = "doc:do%20it";
    let roles = ["editor".to_owned()];
    let facts = TenantFacts { relations: Some("types".into()), ..TenantFacts::default() };
    let facts = Arc::new(facts);
    for (act, action, expected) in [
        ("do it", Action::of(None, resource), Effect::Allow),
        ("do%20it", Action::of(None, resource), Effect::Allow),
        ("do it", Action::Plain("do%20it"), Effect::Deny),
        ("do%20it", Action::Plain("do%20it"), Effect::Allow),
        ("do%20it", Action::Plain("do it"), Effect::Deny),
        ("do it", Action::Plain("do it"), Effect::Allow),
    ] {
        for (sub, obj) in [
            ("editor", ResourcePattern::Exact(resource.to_owned())),
            ("editor@resource", ResourcePattern::Exact(resource.to_owned())),
            ("editor@resource", ResourcePattern::Name("doc".to_owned())),
            ("editor@resource", ResourcePattern::Any),
        ] {
            let [sub, dom, act] = [sub, "*", act].map(str::to_owned);
            let rule = Rule {
                id: Uuid::from_u128(1),
                tuple: RuleTuple { sub, dom, obj, act },
                effect: Effect::Allow,
            };
            let rules = [rule];
            let plan = Plan::compile_with(resource, 1, &rules, [], Arc::clone(&facts), |_| None);
            let (subject, relation, domain) = (None, Some("editor"), Some("er"));
            let cell =
                MatrixCell { subject, roles: &roles, relation, domain, action: Some(action) };
            let outcome = PlanMatrix::new(&plan, Attributes::default()).outcome(&cell);
            let actual = match outcome {
                Outcome::Allow => Effect::Allow,
                Outcome::Deny => Effect::Deny,
                Outcome::Depends(_) => panic!("{:?} {action:?}", rules[0].tuple),
            };
            assert_eq!(actual, expected, "{:?} {action:?}", rules[0].tuple);
        }
    }
}
