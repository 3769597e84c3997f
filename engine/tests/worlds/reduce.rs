//! The smallest useful case of a difference.

use portcullis_engine::Plan;
use serde_json::Value;

use crate::support::Scenario;
use crate::support::decision::{check, legacy_check};
use crate::support::route::{asked, difference, engine_policies, engine_rules};

/// So many policies may still be worth reading tree by tree.
const READABLE: usize = 30;

/// How a plan of the scenario's rules and policies answers otherwise than the oracle, for whichever of
/// its requests is the first; `None` if it does not. All requests are about one resource.
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

/// The scenario without whatever it can do without and still differ.
pub(crate) fn reduce(mut scenario: Scenario) -> Scenario {
    scenario.policies = without_parts(scenario.policies.clone(), |policies| {
        differs(&Scenario { policies: policies.to_vec(), ..scenario.clone() }).is_some()
    });
    scenario.rules = without_parts(scenario.rules.clone(), |rules| {
        differs(&Scenario { rules: rules.to_vec(), ..scenario.clone() }).is_some()
    });
    // What needs many policies lies in their number, not in their trees.
    while scenario.policies.len() <= READABLE {
        let smaller = smaller_trees(&scenario).find(|smaller| differs(smaller).is_some());
        match smaller {
            Some(smaller) => scenario = smaller,
            None => break,
        }
    }
    scenario
}

/// Leaves out ever smaller parts of `items`, down to single ones, as long as what remains `fails`.
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

/// The scenario with one tree made smaller, in every way in which one step does that.
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

/// A child in the place of its parent, a parent without one of its children, or either further down.
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
