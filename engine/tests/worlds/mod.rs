//! Worlds: one resource, policies whose trees share some hundreds of leaves, and requests that match them.
//!
//! Everything is generated from [`Choices`], so that the indexed property test (from a seed) and the fuzz
//! target (from the fuzzer's bytes) test the same shapes.

pub(crate) mod choices;
mod leaves;
pub(crate) mod reduce;
mod requests;
mod trees;
mod values;

use std::rc::Rc;

use serde_json::Value;
use uuid::Uuid;

use crate::support::pools::{
    PRIORITIES, RESOURCE_PATTERNS, RESOURCES, RULE_ACTIONS, RULE_DOMAINS, RULE_SUBJECTS,
};
use crate::support::{ALLOW, AbacPolicy, DENY, RbacRule, Request};
use choices::Choices;
use leaves::Leaves;
use trees::{Tree, tree};
use values::Values;

/// The approximate sizes of a world.
pub(crate) struct Size {
    pub(crate) values: usize,
    pub(crate) leaves: usize,
    pub(crate) trees: usize,
    pub(crate) requests: usize,
}

pub(crate) struct World {
    pub(crate) resource: &'static str,
    pub(crate) rules: Vec<RbacRule>,
    pub(crate) leaves: Vec<Value>,
    pub(crate) trees: Vec<Tree>,
    /// Returns the trees as JSON.
    pub(crate) nodes: Vec<Rc<Value>>,
    pub(crate) requests: Vec<Request>,
}

/// A policy and the index of its tree in the world; `None` for a tree that does not compile.
pub(crate) type PolicyOfTree = (AbacPolicy, Option<usize>);

impl World {
    pub(crate) fn new(choices: &mut impl Choices, size: &Size) -> Self {
        let resource = choices.pick(&RESOURCES);
        let values = Values::new(choices, size.values);
        let leaves = Leaves::new(choices, &values, size.leaves);
        let trees: Vec<Tree> = (0..size.trees).map(|_| tree(choices, &leaves)).collect();
        let nodes = trees.iter().map(|tree| tree.node(&leaves.nodes).into()).collect();
        let request = |_| requests::request(choices, &values, resource);
        let requests = (0..size.requests).map(request).collect();
        let rules = (0..choices.below(12) as u64).map(|number| rule(choices, number)).collect();
        Self { resource, rules, leaves: leaves.nodes, trees, nodes, requests }
    }

    /// Generates `count` policies of the given trees: the first for allows, the second for denies.
    pub(crate) fn policies(
        &self,
        choices: &mut impl Choices,
        count: usize,
        [allowing, denying]: [&[usize]; 2],
    ) -> Vec<PolicyOfTree> {
        let denies = choices.pick(&[50, 50, 5, 95, 0, 100]);
        let span = choices.pick(&[1, 3, 100, 2_000]);
        // A broken deny hides every policy of lower priority, so they are rare.
        let broken = choices.chance(20);
        (0..count as u64)
            .map(|number| {
                let deny = choices.chance(denies);
                let candidates = if deny { denying } else { allowing };
                let tree = choices.pick(candidates);
                let tree = (!broken || choices.below(400) > 0).then_some(tree);
                let policy = AbacPolicy {
                    id: id(choices, number),
                    resource: self.pattern(choices),
                    effect: if deny { DENY } else { ALLOW },
                    priority: priority(choices, span),
                    tree: tree.map(|tree| Rc::clone(&self.nodes[tree])),
                };
                (policy, tree)
            })
            .collect()
    }

    fn pattern(&self, choices: &mut impl Choices) -> String {
        match choices.below(10) {
            0 => choices.pick(&RESOURCE_PATTERNS).to_string(),
            // No pattern may have a verb of this form.
            1..=5 if !self.resource.ends_with('*') => self.resource.to_owned(),
            _ => "*".to_owned(),
        }
    }
}

/// Generates one of `span` priorities, or an extreme one.
fn priority(choices: &mut impl Choices, span: usize) -> i32 {
    if choices.below(200) == 1 {
        return choices.pick(&PRIORITIES);
    }
    i32::try_from(choices.below(span)).unwrap_or_default() - 1
}

/// Generates an id whose order is independent of the order of creation.
fn id(choices: &mut impl Choices, number: u64) -> Uuid {
    Uuid::from_u64_pair(choices.below(1 << 16) as u64, number)
}

fn rule(choices: &mut impl Choices, number: u64) -> RbacRule {
    RbacRule {
        id: id(choices, number),
        sub: choices.pick(&RULE_SUBJECTS).to_string(),
        dom: choices.pick(&RULE_DOMAINS).to_string(),
        obj: choices.pick(&RESOURCE_PATTERNS).to_string(),
        act: choices.pick(&RULE_ACTIONS).to_string(),
        effect: if choices.chance(15) { DENY } else { ALLOW },
    }
}
