//! Compares partial evaluation with the oracle: a decision before resolvers answer is right for every possible answer,
//! and the requested attributes suffice for the others.
//!
//! The scenarios are those of the other properties. Some attributes move to resolvers: trees name them in a namespace,
//! and their values are removed from the request, to be answered on request.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::rc::Rc;

use portcullis_engine::{
    AttributeAnswer, AttributeAnswers, AttributeRequest, Check, Decision, Effect, Plan, Policy,
    Verdict, json,
};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use proptest::test_runner::TestCaseResult;
use serde_json::Value;
use uuid::Uuid;

use crate::analysis::claims::claims;
use crate::effort::run;
use crate::scenarios::scenario;
use crate::support::decision::check;
use crate::support::route::{asked, engine_policies, engine_rules};
use crate::support::{AbacPolicy, Request, Scenario};

const SCENARIOS: u32 = 600;
const REQUESTS: usize = 20;
/// The number of other answers that must not change a decision.
const OTHERS: usize = 6;

/// The attributes that move to resolvers, and their paths there.
pub(crate) const RESOLVED: [(&str, &str); 9] = [
    ("user.dept", "hr.dept"),
    ("user.level", "hr.level"),
    ("user.flag", "hr.flag"),
    ("user.tags", "hr.tags"),
    ("user.since", "hr.since"),
    ("resource.owner", "catalog.owner"),
    ("resource.level", "catalog.level"),
    ("resource.flag", "catalog.flag"),
    ("resource.ip", "catalog.ip"),
];

/// The number of verdicts of each kind.
#[derive(Debug, Default)]
struct Tally {
    decided: u32,
    open: u32,
    /// Resolver attributes that policies of the plans read, and the requested ones among them.
    read: usize,
    asked: usize,
    /// Open checks whose decision another answer changes, as far as a few tries found.
    turned: u32,
    /// Policies of which the analysis claims that they never decide.
    silent: usize,
}

#[test]
fn resolvers_are_asked_for_what_can_change_the_decision() {
    let tally = RefCell::new(Tally::default());
    let paths: Vec<&'static str> = RESOLVED.iter().map(|(path, _)| *path).collect();
    let failing = prop::collection::vec(subsequence(paths, 0..4), REQUESTS);
    run(
        SCENARIOS,
        &(scenario(REQUESTS), failing, any::<Index>()),
        |(scenario, failing, others)| {
            let mut policies = engine_policies(&resolved_policies(&scenario.policies));
            policies.sort_by_key(|policy| (Reverse(policy.priority), policy.effect, policy.id));
            // The analysis takes longer than the checks, so one scenario of five is enough.
            let is_analyzed = others.index(5) == 0;
            let silent = if is_analyzed { never_deciding(&policies) } else { Vec::new() };
            tally.borrow_mut().silent += silent.len();
            let rules = engine_rules(&scenario.rules);
            for (request, failing) in scenario.requests.iter().zip(failing) {
                let request = with_failures(request, failing.iter().map(|path| (*path).to_owned()));
                let plan = Plan::compile(request.resource(), 1, &rules, policies.iter().cloned());
                let others =
                    (0..OTHERS).map(|number| other_answers(&scenario, &request, &others, number));
                let others: Vec<Request> = others.collect();
                verify(&plan, &scenario, &request, &others, &mut tally.borrow_mut())?;
                stays_silent(&plan, &request, &others, &silent)?;
            }
            Ok(())
        },
    );
    let tally = tally.into_inner();
    println!("{tally:?}");
    assert!(tally.decided >= 1_200, "only {} are decided at once", tally.decided);
    assert!(tally.open >= 600, "only {} need resolvers", tally.open);
    assert!(tally.asked * 2 <= tally.read, "most of what policies read is asked for");
    assert!(tally.silent >= 6, "only {} policies never decide", tally.silent);
    assert!(tally.turned * 2 >= tally.open, "resolvers are mostly asked in vain");
}

/// Returns the policies of which the analysis claims that they never decide.
fn never_deciding(policies: &[Policy]) -> Vec<Uuid> {
    claims(policies).into_iter().map(|(at, _)| policies[at].id).collect()
}

/// Whatever resolvers answer, a policy that the analysis calls never deciding does not decide.
fn stays_silent(
    plan: &Plan,
    request: &Request,
    others: &[Request],
    silent: &[Uuid],
) -> TestCaseResult {
    if silent.is_empty() {
        return Ok(());
    }
    let reduced = without_resolved(request);
    asked(&reduced, |question| {
        for answered in std::iter::once(request).chain(others) {
            let answers = match plan.decide(question, &AttributeAnswers::default()) {
                Verdict::Decided(_) => AttributeAnswers::default(),
                Verdict::NeedsAttributes(asks) => answers(&asks, answered),
            };
            let decided = plan.evaluate_with(question, &answers).rule_id();
            prop_assert!(decided.is_none_or(|id| !silent.contains(&id)), "{:?}", decided);
        }
        Ok(())
    })
}

fn verify(
    plan: &Plan,
    scenario: &Scenario,
    request: &Request,
    others: &[Request],
    tally: &mut Tally,
) -> TestCaseResult {
    let reduced = without_resolved(request);
    let read = asked(&reduced, |question| attributes_of_resolvers(plan, question));
    tally.read += read;
    asked(&reduced, |question| match plan.decide(question, &AttributeAnswers::default()) {
        Verdict::Decided(decision) => {
            tally.decided += u32::from(read > 0);
            for answered in std::iter::once(request).chain(others) {
                let expected = check(&scenario.rules, &scenario.policies, answered);
                prop_assert_eq!(decision.effect().into_str(), expected.effect, "if {:?}", answered);
            }
            explained(plan, question, &AttributeAnswers::default(), &decision)
        }
        Verdict::NeedsAttributes(asks) => {
            tally.open += 1;
            tally.asked += asks.iter().map(|ask| ask.attributes.len()).sum::<usize>();
            let effect =
                |answered: &Request| check(&scenario.rules, &scenario.policies, answered).effect;
            let turned = others.iter().any(|other| effect(other) != effect(request));
            tally.turned += u32::from(turned);
            for answered in std::iter::once(request).chain(others) {
                settled(plan, question, &asks, answered, effect(answered))?;
            }
            Ok(())
        }
    })
}

/// The answers to exactly the requested attributes lead to the decision of the oracle, which knows all answers.
fn settled(
    plan: &Plan,
    question: &Check<'_>,
    asks: &[AttributeRequest],
    answered: &Request,
    expected: &str,
) -> TestCaseResult {
    let answers = answers(asks, answered);
    let Verdict::Decided(decision) = plan.decide(question, &answers) else {
        return Err(TestCaseError::fail(format!("{asks:?} does not suffice")));
    };
    prop_assert_eq!(decision.effect().into_str(), expected, "with {:?} of {:?}", asks, answered);
    let again = plan.evaluate_with(question, &answers);
    prop_assert_eq!(again.matched_rule_id(), decision.matched_rule_id());
    explained(plan, question, &answers, &decision)
}

/// The first policy that applies in the explanation decides, unless a rule denies.
fn explained(
    plan: &Plan,
    question: &Check<'_>,
    answers: &AttributeAnswers,
    decision: &Decision<'_>,
) -> TestCaseResult {
    let explanation = plan.explain(question, answers, decision.rule_id());
    let abac = explanation.policies.iter().find(|policy| policy.applies);
    let abac = abac.map(|policy| (policy.effect, policy.id));
    let rbac = explanation.rules.first().map(|rule| (rule.effect, rule.id));
    let leads_to = match (abac, rbac) {
        (Some(deny @ (Effect::Deny, _)), _) | (_, Some(deny @ (Effect::Deny, _))) => Some(deny),
        (abac, rbac) => abac.or(rbac),
    };
    // An open policy may rank before it. Then a rule that denies is reported instead.
    let rule_denies = rbac.is_some_and(|(effect, _)| effect == Effect::Deny);
    if !rule_denies {
        let decided = decision.rule_id().map(|id| (decision.effect(), id));
        prop_assert_eq!(leads_to, decided, "{:?}", explanation);
    }
    prop_assert_eq!(decision.effect() == Effect::Deny || !rule_denies, true);
    Ok(())
}

fn answers(asks: &[AttributeRequest], answered: &Request) -> AttributeAnswers {
    let mut answers = AttributeAnswers::default();
    for ask in asks {
        for name in &ask.attributes {
            let resolved = format!("{}.{name}", ask.namespace);
            let (path, _) =
                RESOLVED.iter().find(|(_, known)| *known == resolved).expect("a known attribute");
            answers.insert(&ask.namespace, name, answer(answered, path));
        }
    }
    answers
}

pub(crate) fn answer(answered: &Request, path: &str) -> AttributeAnswer {
    if answered.fails(path) {
        return AttributeAnswer::Failed("the directory is down".into());
    }
    let (kind, name) = path.split_once('.').expect("a path");
    match answered.body["attributes"][kind].get(name) {
        Some(value) => {
            let text = value.to_string();
            let value = json::parse(text.as_bytes()).expect("serialised JSON is JSON");
            AttributeAnswer::Value(value.into_owned())
        }
        None => AttributeAnswer::Absent,
    }
}

/// Rewrites policies to read the moved attributes in their namespaces.
pub(crate) fn resolved_policies(policies: &[AbacPolicy]) -> Vec<AbacPolicy> {
    let rename = |policy: &AbacPolicy| {
        let tree = policy.tree.as_ref().map(|tree| {
            let mut tree = Value::clone(tree);
            rename(&mut tree);
            Rc::new(tree)
        });
        AbacPolicy { tree, ..policy.clone() }
    };
    policies.iter().map(rename).collect()
}

fn rename(node: &mut Value) {
    match node {
        Value::Object(members) => {
            for (name, value) in members {
                let path = value.as_str().filter(|_| name == "attribute");
                let known = path.and_then(|path| RESOLVED.iter().find(|(known, _)| *known == path));
                match known {
                    Some((_, resolved)) => *value = (*resolved).into(),
                    None => rename(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rename),
        _ => {}
    }
}

/// Removes the moved attributes from the request.
pub(crate) fn without_resolved(request: &Request) -> Request {
    let mut request = request.clone();
    for (path, _) in RESOLVED {
        let (kind, name) = path.split_once('.').expect("a path");
        if let Some(attributes) = request.body["attributes"][kind].as_object_mut() {
            attributes.remove(name);
        }
    }
    request
}

fn with_failures(request: &Request, failed: impl Iterator<Item = String>) -> Request {
    Request { failed: failed.collect(), ..request.clone() }
}

/// Makes other answers for a check: those of another request, all failed, or all absent.
fn other_answers(scenario: &Scenario, request: &Request, at: &Index, number: usize) -> Request {
    let paths = || RESOLVED.iter().map(|(path, _)| (*path).to_owned());
    match number {
        0 => return with_failures(request, paths()),
        1 => return with_failures(&without_resolved(request), std::iter::empty()),
        _ => {}
    }
    let donors = &scenario.requests;
    let donor = &donors[(at.index(donors.len()) + number) % donors.len()];
    let mut other = with_failures(&without_resolved(request), std::iter::empty());
    for (path, _) in RESOLVED {
        let (kind, name) = path.split_once('.').expect("a path");
        if let Some(value) = donor.body["attributes"][kind].get(name) {
            let attributes = &mut other.body["attributes"];
            if attributes.get(kind).is_none() {
                attributes[kind] = Value::Object(Default::default());
            }
            attributes[kind][name] = value.clone();
        }
    }
    other
}

fn attributes_of_resolvers(plan: &Plan, question: &Check<'_>) -> usize {
    let answers = AttributeAnswers::default();
    let explanation = plan.explain(question, &answers, None);
    let resolved = explanation.attributes.iter().filter(|it| it.source.starts_with("resolver:"));
    resolved.count()
}
