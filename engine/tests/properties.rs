//! Compares the engine with an oracle: plans decide as semantics.md says.
//!
//! `support` has an evaluator that is slow and obviously right. Here, generated rules, policies and requests go through
//! the engine's public route and must get the same decision. The tests assert the distributions as well, since a
//! comparison in which nothing ever matches proves nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;

use portcullis_engine::json::{self, JsonError};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, CheckBuffer, Effect, ExplainedNode, Plan, TruthValue,
    expression, operator,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseResult;

use crate::effort::run;
use crate::named_parts::named_policies;
use crate::scenarios::{scenario, single_conditions};
use crate::support::conditions::{Truth, truth};
use crate::support::decision::{DecidedBy, check, legacy_check, rule_matches};
use crate::support::route::{asked, difference, engine_condition, engine_policies, engine_rules};
use crate::support::{ALLOW, AbacPolicy, DENY, EffectName, Request, Scenario};

/// The number of scenarios, and the maximum number of requests of each.
const SCENARIOS: u32 = 600;
const REQUESTS: usize = 60;
/// The number of cases of a few conditions and a few requests.
const GRIDS: u32 = 1_000;
const GRID: usize = 12;
/// The number of scenarios whose requests are read on both paths.
const READINGS: u32 = 700;

#[test]
fn plans_decide_as_the_oracle_does() {
    let tally = RefCell::new(BTreeMap::<(DecidedBy, EffectName), u32>::new());
    run(SCENARIOS, &scenario(REQUESTS), |ref scenario| {
        let rules = engine_rules(&scenario.rules);
        let policies = engine_policies(&scenario.policies);
        let named = named_policies(&scenario.policies);
        let (mut plans, mut named_plans) = (BTreeMap::new(), BTreeMap::new());
        for request in &scenario.requests {
            let named = named_plans.entry(request.resource()).or_insert_with_key(|resource| {
                Plan::compile(resource, 1, &rules, named.iter().cloned())
            });
            let plan = plans.entry(request.resource()).or_insert_with_key(|resource| {
                Plan::compile(resource, 1, &rules, policies.iter().cloned())
            });
            let expected = check(&scenario.rules, &scenario.policies, request);
            let legacy = legacy_check(&scenario.rules, request);
            let difference =
                asked(request, |question| difference(plan, question, &expected, &legacy));
            prop_assert_eq!(difference, None);
            asked(request, |question| explained(plan, question, scenario, request))?;
            asked(request, |question| decides_alike(named, plan, question))?;
            *tally.borrow_mut().entry((expected.decided_by, expected.effect)).or_default() += 1;
        }
        Ok(())
    });
    let tally = tally.into_inner();
    let triples: u32 = tally.values().sum();
    println!("{triples} triples of rules, policies and request compared: {tally:?}");
    assert!(triples >= 15_000, "only {triples} triples");
    for kind in [
        (DecidedBy::Policy, ALLOW),
        (DecidedBy::Policy, DENY),
        (DecidedBy::UndeterminedPolicy, DENY),
        (DecidedBy::Rule, ALLOW),
        (DecidedBy::Rule, DENY),
        (DecidedBy::Default, DENY),
    ] {
        let count = tally.get(&kind).copied().unwrap_or_default();
        assert!(count * 30 >= triples, "only {count} of {triples} are decided by {kind:?}");
    }
}

/// A plan whose policies use names decides as the plan of the same policies without names, also when it is compiled again
/// from its parts, and its explanation has the same truths.
pub(crate) fn decides_alike(named: &Plan, plan: &Plan, question: &Check<'_>) -> TestCaseResult {
    let reason = plan.evaluate(question).reason().to_string();
    prop_assert_eq!(named.evaluate(question).reason().to_string(), &*reason);
    prop_assert_eq!(named.folded().evaluate(question).reason().to_string(), reason);
    let answers = AttributeAnswers::default();
    let outcomes = |plan: &Plan| -> Vec<TruthValue> {
        let policies = plan.explain(question, &answers, None).policies;
        policies.iter().map(|policy| policy.outcome).collect()
    };
    prop_assert_eq!(outcomes(named), outcomes(plan));
    Ok(())
}

/// The explanation lists every candidate with the oracle's truth, and leads to the decision.
fn explained(
    plan: &Plan,
    question: &Check<'_>,
    scenario: &Scenario,
    request: &Request,
) -> TestCaseResult {
    let decision = plan.evaluate(question);
    let answers = AttributeAnswers::default();
    let explanation = plan.explain(question, &answers, decision.rule_id());
    for explained in &explanation.policies {
        let policy = scenario.policies.iter().find(|policy| policy.id == explained.id);
        let policy = policy.expect("a policy of the scenario");
        let expected =
            policy.tree.as_ref().map_or(Truth::Undetermined, |tree| truth(tree, request));
        let outcome = match explained.outcome {
            TruthValue::True => Truth::True,
            TruthValue::False => Truth::False,
            TruthValue::Undetermined => Truth::Undetermined,
        };
        prop_assert_eq!(outcome, expected, "{:?}", policy);
        let expression = explained.condition.as_ref().and_then(ExplainedNode::expression);
        let printed = policy.tree.as_ref().map(|tree| expression::print(&engine_condition(tree)));
        // Some trees have longer expressions than an explanation shows.
        prop_assert!(expression.is_none_or(|text| Some(text) == printed.as_deref()), "{policy:?}");
        let is_long = printed.as_ref().is_none_or(|text| text.len() > 1_000);
        prop_assert!(expression.is_some() || is_long, "{policy:?}");
    }
    let mut rules: Vec<_> = explanation.rules.iter().map(|rule| rule.id).collect();
    rules.sort_unstable();
    let matching = scenario.rules.iter().filter(|rule| rule_matches(rule, request));
    let mut expected: Vec<_> = matching.map(|rule| rule.id).collect();
    expected.sort_unstable();
    prop_assert_eq!(rules, expected, "the matching rules");
    let abac = explanation.policies.iter().find(|policy| policy.applies);
    let abac = abac.map(|policy| (policy.effect, policy.id));
    // Denies come first, each effect by id.
    let rbac = explanation.rules.first().map(|rule| (rule.effect, rule.id));
    let leads_to = match (abac, rbac) {
        (Some(deny @ (Effect::Deny, _)), _) | (_, Some(deny @ (Effect::Deny, _))) => Some(deny),
        (abac, rbac) => abac.or(rbac),
    };
    let (effect, id) = (decision.effect(), decision.rule_id());
    prop_assert_eq!(leads_to.unzip(), (id.map(|_| effect), id), "where the explanation leads");
    let flagged = (explanation.policies.iter().filter(|policy| policy.decides).map(|it| it.id))
        .chain(explanation.rules.iter().filter(|rule| rule.decides).map(|rule| rule.id));
    prop_assert_eq!(
        flagged.collect::<Vec<_>>(),
        id.into_iter().collect::<Vec<_>>(),
        "what decides"
    );
    Ok(())
}

/// A decision shows little of its conditions. Here each condition is alone, and each operator must occur with each of
/// its truths.
#[test]
fn single_conditions_are_as_the_oracle_says() {
    let tally = RefCell::new(BTreeMap::<(String, Truth), u32>::new());
    run(GRIDS, &single_conditions(GRID), |scenario| {
        for policy in &scenario.policies {
            let shown = TruthByPlan::new(policy);
            let node = policy.tree.as_ref().expect("a single condition");
            for request in &scenario.requests {
                let expected = truth(node, request);
                let actual = asked(request, |question| shown.truth(question));
                prop_assert_eq!(actual, expected, "{} for {:?}", node, request);
                let operator = node["operator"].as_str().unwrap_or_default().to_owned();
                *tally.borrow_mut().entry((operator, expected)).or_default() += 1;
            }
        }
        Ok(())
    });
    let tally = tally.into_inner();
    println!("{} conditions compared: {tally:?}", tally.values().sum::<u32>());
    for operator in operator::names() {
        let count = |truth| tally.get(&(operator.to_owned(), truth)).copied().unwrap_or_default();
        let [yes, no, open] = [Truth::True, Truth::False, Truth::Undetermined].map(count);
        let all = yes + no + open;
        assert!(yes * 50 >= all && no * 50 >= all, "`{operator}`: {yes} true, {no} false");
        assert_eq!(open * 50 >= all, operator != "exists", "`{operator}`: {open} undetermined");
    }
}

/// A `CheckBuffer` reads valid and damaged checks as the tree does.
#[test]
fn generated_checks_read_the_same_in_both_ways() {
    let tally = RefCell::new([0u32; 2]);
    let puts = ["", "\"", "{", "1", "\\u0061", " ", ":", "[", "é"];
    let damage = (any::<Index>(), 0usize..4, select(puts.to_vec()));
    run(READINGS, &(scenario(20), damage), |(scenario, (at, length, put))| {
        for request in &scenario.requests {
            let text = request.body.to_string();
            let chars: Vec<char> = text.chars().collect();
            let at = at.index(chars.len());
            let before: String = chars[..at].iter().collect();
            let after: String = chars[at..].iter().skip(length).collect();
            for text in [&text, &format!("{before}{put}{after}")] {
                let tree = json::parse(text.as_bytes());
                let by_tree = match &tree {
                    Ok(tree) => CheckBody::parse(tree).map_err(JsonError::from),
                    Err(error) => Err(JsonError::Syntax(error.to_string())),
                };
                let mut buffer = CheckBuffer::default();
                let by_buffer = buffer.read(text.as_bytes());
                tally.borrow_mut()[usize::from(by_tree.is_ok())] += 1;
                let shown = |read: Result<CheckBody<'_>, JsonError>| match read {
                    Ok(body) => format!("{body:?}"),
                    Err(error) => error.to_string().replace("the text is not valid JSON: ", ""),
                };
                prop_assert_eq!(shown(by_buffer), shown(by_tree), "{}", text);
            }
        }
        Ok(())
    });
    let [refused, accepted] = tally.into_inner();
    println!("{accepted} texts accepted in both ways, {refused} refused");
    assert!(accepted >= 7_000 && refused >= 3_500);
}

/// Two plans that together show the truth of a condition: one allows if it is true, one denies if it is true or
/// undetermined.
struct TruthByPlan {
    allows: Plan,
    denies: Plan,
}

impl TruthByPlan {
    fn new(policy: &AbacPolicy) -> Self {
        let plan = |effect| {
            let policy = AbacPolicy { effect, ..policy.clone() };
            Plan::compile("doc:v1:read", 1, &[], engine_policies(&[policy]))
        };
        Self { allows: plan(ALLOW), denies: plan(DENY) }
    }

    fn truth(&self, question: &Check<'_>) -> Truth {
        match (self.allows.evaluate(question).rule_id(), self.denies.evaluate(question).rule_id()) {
            (Some(_), _) => Truth::True,
            (None, Some(_)) => Truth::Undetermined,
            (None, None) => Truth::False,
        }
    }
}
