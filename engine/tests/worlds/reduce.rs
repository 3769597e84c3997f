//! Reduces a failing scenario to a small one.

use portcullis_engine::Plan;
use serde_json::Value;

use crate::support::Scenario;
use crate::support::decision::{check, legacy_check};
use crate::support::route::{asked, difference, engine_policies, engine_rules};

/// Trees are reduced only if at most this many policies remain.
const READABLE: usize = 30;

/// Describes the first request for which a plan of the scenario's rules and policies differs from the oracle; `None` if
/// none differs. All requests are for one resource.
pub(crate) fn differs(scenario: &Scenario) -> Option<String> {
    let resource = scenario.requests.first()?.resource();
    let (rules, policies) = (engine_rules(&scenario.rules), engine_policies(&scenario.policies));
    let plan = Plan::compile(resource, 1, &rules, policies);
    scenario.requests.iter().find_map(|request| {
        let expected = check(&scenario.rules, &scenario.policies, request);
        let legacy = legacy_check(&scenario.rules, request);
        asked(request, |question| difference(&plan, question, &expected, &legacy))
    })
}

/// Removes every part of the scenario without which it still differs.
pub(crate) fn reduce(mut scenario: Scenario) -> Scenario {
    scenario.policies = without_parts(scenario.policies.clone(), |policies| {
        differs(&Scenario { policies: policies.to_vec(), ..scenario.clone() }).is_some()
    });
    scenario.rules = without_parts(scenario.rules.clone(), |rules| {
        differs(&Scenario { rules: rules.to_vec(), ..scenario.clone() }).is_some()
    });
    // A difference that needs many policies depends on their number, not on their trees.
    while scenario.policies.len() <= READABLE {
        let smaller = smaller_trees(&scenario).find(|smaller| differs(smaller).is_some());
        match smaller {
            Some(smaller) => scenario = smaller,
            None => break,
        }
    }
    scenario
}

/// Removes ever smaller parts of `items`, down to single ones, as long as the rest still `fails`.
fn without_parts<T: Clone>(mut items: Vec<T>, fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut part = items.len();
    while part > 0 {
        let mut from = 0;
        while from < items.len() {
            let mut fewer = items.clone();
            fewer.drain(from..(from + part).min(items.len()));
            if fails(&fewer) {
                items = fewer;
            } else {
                from += part;
            }
        }
        part /= 2;
    }
    items
}

/// Returns every scenario with one tree reduced by one step.
fn smaller_trees(scenario: &Scenario) -> impl Iterator<Item = Scenario> {
    scenario.policies.iter().enumerate().flat_map(move |(at, policy)| {
        let trees = policy.tree.iter().flat_map(|tree| smaller(tree));
        trees.map(move |tree| {
            let mut scenario = scenario.clone();
            scenario.policies[at].tree = Some(tree.into());
            scenario
        })
    })
}

/// Returns every reduction of a tree: a child replaces its parent, or a parent loses a child, at any level.
fn smaller(node: &Value) -> Vec<Value> {
    let mut trees = Vec::new();
    if let Some(child) = node.get("child") {
        trees.push(child.clone());
        trees.extend(smaller(child).into_iter().map(|child| {
            let mut node = node.clone();
            node["child"] = child;
            node
        }));
    }
    let children = node["children"].as_array().map_or(&[][..], Vec::as_slice);
    trees.extend(children.iter().cloned());
    for (at, child) in children.iter().enumerate() {
        let with = |replaced: Option<Value>| {
            let mut children = children.to_vec();
            children.splice(at..=at, replaced);
            let mut node = node.clone();
            node["children"] = children.into();
            node
        };
        if children.len() > 1 {
            trees.push(with(None));
        }
        trees.extend(smaller(child).into_iter().map(|child| with(Some(child))));
    }
    trees
}
