use std::collections::{HashMap, HashSet};

use super::*;
use crate::bench::tenant::Tenant;
use portcullis_bundle::Bundle;
use portcullis_engine::{CheckBody, Effect, Policy, RuleTuple, json};

fn tenant(bundle: Bundle) -> Tenant {
    let (rules, policies) = (bundle.rulebook.rules().to_vec(), bundle.rulebook.policies().to_vec());
    Tenant::new(bundle.tenant.clone(), None, rules, policies, Some(bundle))
}

fn samples() -> Vec<Tenant> {
    Bundle::embedded().expect("sound").into_iter().map(tenant).collect()
}

fn made(tenants: &[Tenant], index: usize, seed: u64) -> Vec<MeasuredCheck> {
    checks(index, tenants, Rng::with_seed(seed))
}

/// Returns the ids of the rules and policies that decide a check, and the number of checks denied by default.
fn deciders(tenants: &[Tenant], asked: &[MeasuredCheck]) -> (HashSet<Uuid>, usize) {
    let mut plans = HashMap::new();
    let (mut deciders, mut defaults) = (HashSet::new(), 0);
    for asked in asked {
        let tenant = &tenants[asked.tenant];
        let check = asked.check(tenants).expect("a sound check");
        let plan = plans
            .entry((asked.tenant, check.resource))
            .or_insert_with(|| tenant.plan(check.resource));
        match plan.evaluate(&check).rule_id() {
            Some(id) => drop(deciders.insert(id)),
            None => defaults += 1,
        }
    }
    (deciders, defaults)
}

/// The policies that read resolvers, and the rules for the resources of those.
fn resolved(tenant: &Tenant) -> HashSet<Uuid> {
    let reads = |policy: &&Policy| {
        policy.condition.as_ref().is_ok_and(|tree| !tree.resolved_attributes().is_empty())
    };
    let policies: Vec<_> = tenant.policies.iter().filter(reads).collect();
    let is_behind = |rule: &&Rule| {
        policies.iter().any(|policy| policy.resource.matches(&rule.tuple.obj.to_string()))
    };
    let rules = tenant.rules.iter().filter(is_behind).map(|rule| rule.id);
    policies.iter().map(|policy| policy.id).chain(rules).collect()
}

#[test]
fn each_rule_and_policy_of_the_samples_decides_a_check_and_some_match_nothing() {
    let tenants = samples();
    for seed in 1..=5 {
        for (index, tenant) in tenants.iter().enumerate() {
            let asked = made(&tenants, index, seed);
            assert!(asked.len() >= FEWEST);
            let (deciders, defaults) = deciders(&tenants, &asked);
            let policies = tenant.policies.iter().map(|policy| (policy.id, policy.name.clone()));
            let rules = tenant.rules.iter().map(|rule| (rule.id, rule.tuple.to_string()));
            // What resolvers answer is not made up: where policies read it, they deny, or do not allow.
            let open = resolved(tenant);
            let silent: Vec<_> = policies
                .chain(rules)
                .filter(|(id, _)| !deciders.contains(id) && !open.contains(id))
                .collect();
            assert!(silent.is_empty(), "seed {seed}, {}: {silent:?}", tenant.id);
            assert!(defaults > 0, "seed {seed}, {}", tenant.id);
        }
    }
}

#[test]
fn a_seed_gives_the_same_checks_and_another_gives_others() {
    let tenants = samples();
    let text = |seed| format!("{:?}", made(&tenants, 0, seed));
    let first = text(7);
    assert_eq!(first, text(7));
    assert_ne!(first, text(8));
}

#[test]
fn every_body_is_one_that_the_api_takes() {
    let tenants = samples();
    for asked in made(&tenants, 0, 1).into_iter().chain(made(&tenants, 1, 1)) {
        let text = asked.body.to_string();
        let json = json::parse(text.as_bytes()).expect("JSON");
        CheckBody::parse(&json).expect("a check");
    }
}

/// A tenant whose policies are all about `doc:read`, each with a condition and the other as `effect` says.
fn with_conditions(conditions: &[(&str, Effect)]) -> Tenant {
    let policies = conditions.iter().enumerate().map(|(index, (text, effect))| {
        let json = json::parse(text.as_bytes()).expect("JSON");
        Policy {
            id: Uuid::from_u128(index as u128 + 1),
            name: (*text).to_owned(),
            resource: ResourcePattern::Exact("doc:read".to_owned()),
            effect: *effect,
            priority: 10,
            condition: Ok(portcullis_engine::Condition::parse(&json).expect("a condition")),
        }
    });
    Tenant::new("acme".to_owned(), None, Vec::new(), policies.collect(), None)
}

const OFFICE_HOURS: &str =
    r#"{"days": ["mon", "fri"], "from": "08:00", "to": "08:30", "zone": "Asia/Kolkata"}"#;

#[test]
fn every_operator_is_met_against_a_literal_and_against_an_attribute() {
    let test = |left: &str, operator: &str, right: &str| {
        format!(
            r#"{{"type": "CONDITION", "attribute": "{left}", "operator": "{operator}", "value": {right}}}"#
        )
    };
    let other = r#"{"attribute": "resource.other"}"#;
    let mut tests = vec![
        test("user.ip", "ip_in", r#""10.0.0.0/8""#),
        test("user.code", "matches", r#""[A-Z]{3}-\\d+""#),
        test("user.level", "eq", "true"),
        test("request.roles", "contains", r#""auditor""#),
        test("request.subject", "eq", r#""root""#),
        test("request.time", "before", r#""2020-01-01T00:00:00Z""#),
        test("request.time", "during", OFFICE_HOURS),
        test("user.born", "during", OFFICE_HOURS),
        test("token.level", "gte", "3"),
        r#"{"type": "CONDITION", "attribute": "user.badge", "operator": "exists"}"#.to_owned(),
    ];
    for operator in ["eq", "ne", "lt", "lte", "gt", "gte", "contains", "starts_with", "ends_with"] {
        tests.push(test("user.name", operator, r#""ann""#));
        tests.push(test("user.name", operator, other));
    }
    for operator in ["in", "not_in"] {
        tests.push(test("user.region", operator, r#"["eu", "us", 3]"#));
        tests.push(test("user.region", operator, other));
    }
    for operator in ["contains_any", "contains_all"] {
        tests.push(test("user.teams", operator, r#"["eu", "us", 3]"#));
        tests.push(test("request.roles", operator, r#"["auditor", "nurse"]"#));
        tests.push(test("user.teams", operator, other));
    }
    for operator in ["within", "within_next"] {
        tests.push(test("user.born", operator, r#""PT15M""#));
    }
    for operator in ["before", "after"] {
        tests.push(test("user.born", operator, r#""2000-02-29T00:00:00Z""#));
        tests.push(test("user.born", operator, other));
        tests.push(test("request.time", operator, other));
    }
    for condition in tests {
        let negated = format!(r#"{{"type": "NOT", "child": {condition}}}"#);
        for condition in [&condition, &negated] {
            // An allow: it applies only if the condition is true, not if it is undetermined.
            let tenants = [with_conditions(&[(condition, Effect::Allow)])];
            // An `exists` of an absent attribute is the negated one.
            let (deciders, _) = deciders(&tenants, &made(&tenants, 0, 1));
            assert_eq!(deciders.len(), 1, "{condition}");
        }
    }
}

#[test]
fn generated_checks_avoid_policies_that_would_decide_first() {
    let test = |name: &str| {
        format!(
            r#"{{"type": "CONDITION", "attribute": "user.{name}", "operator": "eq", "value": "x"}}"#
        )
    };
    let names: Vec<String> = (0..20).map(|index| test(&format!("a{index}"))).collect();
    // Every other one denies while it is undetermined.
    let conditions: Vec<(&str, Effect)> = names
        .iter()
        .enumerate()
        .map(|(index, text)| (&**text, if index % 2 == 0 { Effect::Deny } else { Effect::Allow }))
        .collect();
    let tenants = [with_conditions(&conditions)];
    let (deciders, _) = deciders(&tenants, &made(&tenants, 0, 1));
    assert_eq!(deciders.len(), 20);
}

#[test]
fn a_rule_without_a_resource_of_its_own_gets_one() {
    let rule = |id, sub: &str, obj: &str, act: &str| Rule {
        id: Uuid::from_u128(id),
        tuple: RuleTuple {
            sub: sub.to_owned(),
            dom: "*".to_owned(),
            obj: ResourcePattern::parse(obj).expect("a pattern"),
            act: act.to_owned(),
        },
        effect: Effect::Allow,
    };
    let rules =
        vec![rule(1, "a", "*", "*"), rule(2, "b", "wiki:*", "read"), rule(3, "*", "x:y", "z")];
    let tenants = [Tenant::new("acme".to_owned(), None, rules, Vec::new(), None)];
    let (deciders, _) = deciders(&tenants, &made(&tenants, 0, 1));
    assert_eq!(deciders.len(), 3);
    let empty = [Tenant::new("acme".to_owned(), None, Vec::new(), Vec::new(), None)];
    assert!(made(&empty, 0, 1).is_empty());
}
