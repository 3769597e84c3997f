//! Compares plans of up to thousands of policies on one resource with the oracle: the index must not lose a policy, and
//! undetermined values keep their meaning.
//!
//! The policies of a world share its leaves. The oracle of `support` finds the truth of each leaf for a request once.
//! This test combines these truths to those of trees and decisions. For one request of every set, it also verifies its
//! own result by the whole oracle.

use std::cell::RefCell;
use std::collections::BTreeMap;

use portcullis_engine::{Condition, Plan};

use crate::effort::run_seeds;
use crate::support::conditions::{Truth, truth};
use crate::support::decision::{
    Answer, DecidedBy, abac, applies, check, combined, pattern_matches, rbac,
};
use crate::support::route::{asked, difference, engine_condition, engine_policy, engine_rules};
use crate::support::{ALLOW, AbacPolicy, DENY, EffectName, RbacRule, Request, Scenario};
use crate::worlds::choices::{Choices, Seeded};
use crate::worlds::reduce::{differs, reduce};
use crate::worlds::{PolicyOfTree, Size, World};

/// The number of worlds, and of sets of policies in each. Every request of a world checks every set.
const WORLDS: u32 = 25;
const SETS: usize = 16;
const SIZE: Size = Size { values: 120, leaves: 500, trees: 1_500, requests: 256 };
/// The largest set has `2 << LARGEST` policies, less one. Every order of magnitude is equally frequent.
const LARGEST: usize = 11;
/// A policy that applies to many requests hides all policies that it outranks. So in most sets of any size, at most about
/// this many policies apply to one request.
const APPLYING: [usize; 5] = [2, 5, 20, 100, usize::MAX];

#[test]
fn indexed_plans_decide_as_the_oracle_does() {
    let tally = RefCell::new(Tally::default());
    run_seeds(WORLDS, |seed| judge(&mut Seeded(seed), &mut tally.borrow_mut()));
    tally.into_inner().assert_distribution();
}

/// Compares every set of one world for every request.
fn judge(choices: &mut Seeded, tally: &mut Tally) -> Result<(), String> {
    let world = World::new(choices, &SIZE);
    let truths: Vec<Vec<Truth>> =
        world.requests.iter().map(|request| tree_truths(&world, request)).collect();
    let conditions: Vec<Condition> =
        world.nodes.iter().map(|node| engine_condition(node)).collect();
    let sets: Vec<Set<'_>> =
        (0..SETS).map(|_| Set::new(choices, &world, &truths, &conditions)).collect();
    for (asked_as, (request, truths)) in world.requests.iter().zip(&truths).enumerate() {
        let by_rules = rbac(&world.rules, request);
        asked(request, |question| {
            for (number, set) in sets.iter().enumerate() {
                let by_rules = by_rules.clone().filter(|_| !set.rules.is_empty());
                let candidates = set.candidates.iter().map(|(policy, tree)| {
                    (policy, tree.map_or(Truth::Undetermined, |tree| truths[tree]))
                });
                let expected = combined(abac(candidates), by_rules.clone());
                if asked_as == number {
                    assert_eq!(expected, check(set.rules, &set.policies(), request));
                }
                let legacy = combined(None, by_rules);
                if let Some(difference) = difference(&set.plan, question, &expected, &legacy) {
                    return Err(set.report(request, &difference));
                }
                tally.count(&expected, set.candidates.len());
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Returns the truth of every tree for the request.
fn tree_truths(world: &World, request: &Request) -> Vec<Truth> {
    let leaves: Vec<Truth> = world.leaves.iter().map(|leaf| truth(leaf, request)).collect();
    world.trees.iter().map(|tree| tree.truth(&leaves)).collect()
}

/// Policies on the resource of a world, and their plan, with or without the world's rules.
struct Set<'w> {
    rules: &'w [RbacRule],
    candidates: Vec<PolicyOfTree>,
    plan: Plan,
}

impl<'w> Set<'w> {
    fn new(
        choices: &mut Seeded,
        world: &'w World,
        truths: &[Vec<Truth>],
        conditions: &[Condition],
    ) -> Self {
        let magnitude = choices.below(LARGEST + 1);
        let count = choices.below(1 << magnitude) + (1 << magnitude);
        let at_most = choices.pick(&APPLYING).saturating_mul(truths.len()) / count;
        let [allowing, denying] =
            [ALLOW, DENY].map(|effect| selective(truths, effect, at_most.max(1)));
        let policies = world.policies(choices, count, [&allowing, &denying]);
        let engine_policies = policies
            .iter()
            .map(|(policy, tree)| engine_policy(policy, tree.map(|tree| conditions[tree].clone())));
        let rules = if choices.chance(50) { &world.rules[..] } else { &[] };
        let plan = Plan::compile(world.resource, 1, &engine_rules(rules), engine_policies);
        let on_resource =
            |(policy, _): &PolicyOfTree| pattern_matches(&policy.resource, world.resource);
        Self { rules, candidates: policies.into_iter().filter(on_resource).collect(), plan }
    }

    fn policies(&self) -> Vec<AbacPolicy> {
        self.candidates.iter().map(|(policy, _)| policy.clone()).collect()
    }

    fn report(&self, request: &Request, difference: &str) -> String {
        let scenario = Scenario {
            rules: self.rules.to_vec(),
            policies: self.policies(),
            requests: vec![request.clone()],
        };
        let Some(_) = differs(&scenario) else {
            return format!("{difference} but the plan compiled anew agrees: {scenario:?}");
        };
        let smallest = reduce(scenario);
        let difference = differs(&smallest).unwrap_or_default();
        let policies = self.candidates.len();
        format!("{difference} reduced from {policies} policies: {smallest:?}")
    }
}

/// Returns the trees with which a policy of the effect applies to at least one and at most this many requests; all trees
/// if there is none.
fn selective(truths: &[Vec<Truth>], effect: EffectName, at_most: usize) -> Vec<usize> {
    let trees = truths.first().map_or(0, Vec::len);
    let applied = |tree: usize| truths.iter().filter(|of| applies(effect, of[tree])).count();
    let selective: Vec<usize> =
        (0..trees).filter(|tree| (1..=at_most).contains(&applied(*tree))).collect();
    if selective.is_empty() { (0..trees).collect() } else { selective }
}

/// The counts of all comparisons.
#[derive(Default)]
struct Tally {
    decided: BTreeMap<(DecidedBy, EffectName), u32>,
    /// The counts by the number of decimal digits of the number of policies.
    sizes: BTreeMap<usize, u32>,
    policies: usize,
}

impl Tally {
    fn count(&mut self, answer: &Answer, policies: usize) {
        *self.decided.entry((answer.decided_by, answer.effect)).or_default() += 1;
        *self.sizes.entry(policies.to_string().len()).or_default() += 1;
        self.policies += policies;
    }

    /// Asserts that every kind of answer is frequent: otherwise the comparison proves little.
    fn assert_distribution(&self) {
        let triples: u32 = self.decided.values().sum();
        let mean = self.policies / triples as usize;
        println!(
            "{triples} triples of rules, policies and request compared, of {mean} policies on average: \
             {:?}; by digits of the number of policies {:?}",
            self.decided, self.sizes
        );
        assert!(triples >= 100_000, "only {triples} triples");
        assert!(mean >= 300, "only {mean} policies on average");
        for (kind, per_mille) in [
            ((DecidedBy::Policy, ALLOW), 150),
            ((DecidedBy::Policy, DENY), 100),
            ((DecidedBy::UndeterminedPolicy, DENY), 100),
            ((DecidedBy::Rule, ALLOW), 5),
            ((DecidedBy::Default, DENY), 100),
        ] {
            let count = self.decided.get(&kind).copied().unwrap_or_default();
            assert!(count >= triples / 1_000 * per_mille, "only {count} are decided by {kind:?}");
        }
        for digits in 1..=4 {
            let count = self.sizes.get(&digits).copied().unwrap_or_default();
            assert!(count >= triples / 10, "only {count} plans have {digits} digits of policies");
        }
    }
}
