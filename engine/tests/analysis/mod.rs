//! Compares the claims of the analysis with random checks: a policy that it calls never deciding never decides.

pub(crate) mod claims;

use std::cell::RefCell;
use std::rc::Rc;

use portcullis_engine::analysis::{Analysis, AnalyzedPolicy, rule_condition};
use portcullis_engine::{Effect, Plan, Policy, Rule};
use serde_json::{Value, json};
use uuid::Uuid;

use claims::claims;

use crate::effort::run_seeds;
use crate::support::conditions::{Truth, truth};
use crate::support::decision::{applies, pattern_matches};
use crate::support::route::{asked, engine_policies, engine_rules};
use crate::support::{ALLOW, AbacPolicy, Request};
use crate::worlds::choices::{Choices, Seeded};
use crate::worlds::{Size, World};

const WORLDS: u32 = 60;
/// Few values and leaves, so that conditions touch each other.
const SIZE: Size = Size { values: 8, leaves: 24, trees: 40, requests: 200 };
/// The number of policies of a world that are generated, and of those that are made from them so that they never decide.
const POLICIES: usize = 24;
const CONSTRUCTED: usize = 8;

#[derive(Default)]
struct Tally {
    /// Checks of claims: one claim and one request each.
    checks: usize,
    /// Claims about policies that were generated at random.
    found: usize,
    /// Claims that a rule beats a policy.
    by_rules: usize,
    /// Policies that are constructed to never decide, and those of them that the analysis finds.
    constructed: usize,
    proved: usize,
}

#[test]
fn policies_that_never_decide_never_decide() {
    let tally = RefCell::new(Tally::default());
    run_seeds(WORLDS, |seed| judge(&mut Seeded(seed), &mut tally.borrow_mut()));
    let Tally { checks, found, by_rules, constructed, proved } = tally.into_inner();
    println!(
        "{checks} checks of claims; {found} claims about random policies, {by_rules} of rules; {proved} of {constructed} constructed ones"
    );
    assert!(checks >= 50_000, "only {checks} checks");
    assert!(found >= 250, "only {found} claims about random policies");
    assert!(by_rules >= 50, "only {by_rules} claims of rules");
    assert!(proved * 100 >= constructed * 95, "only {proved} of {constructed} are found");
}

/// Compares every claim about the policies of one world with every request.
fn judge(choices: &mut Seeded, tally: &mut Tally) -> Result<(), String> {
    let world = World::new(choices, &SIZE);
    let trees: Vec<usize> = (0..world.nodes.len()).collect();
    let generated = world.policies(choices, POLICIES, [&trees, &trees]);
    let mut policies: Vec<AbacPolicy> =
        generated.into_iter().map(|(policy, _)| policy).filter(|it| it.tree.is_some()).collect();
    let made: Vec<AbacPolicy> = (0..CONSTRUCTED as u64)
        .map(|number| {
            let from = choices.pick(&policies);
            let leaf = choices.pick(&world.leaves);
            never_decides(choices.below(3), number, &from, &leaf)
        })
        .collect();
    let constructed: Vec<Uuid> = made.iter().map(|policy| policy.id).collect();
    policies.extend(made);
    policies.sort_by_key(|policy| {
        (std::cmp::Reverse(policy.priority), policy.effect != "deny", policy.id)
    });

    let compiled = engine_policies(&policies);
    let rules = engine_rules(&world.rules);
    let found = claims(&compiled);
    let beaten = beaten_by_rules(&compiled, &rules);
    tally.by_rules += beaten.len();
    tally.constructed += constructed.len();
    for (at, _) in &found {
        let is_made = constructed.contains(&policies[*at].id);
        *(if is_made { &mut tally.proved } else { &mut tally.found }) += 1;
    }
    let plan = Plan::compile(world.resource, 1, &rules, compiled);
    for request in &world.requests {
        let decided = asked(request, |question| plan.evaluate(question).rule_id());
        tally.checks += beaten.len();
        if let Some(at) = beaten.iter().find(|at| decided == Some(policies[**at].id)) {
            return Err(format!("{:?} decides {request:?}, although a rule denies", policies[*at]));
        }
        for (at, by) in &found {
            tally.checks += 1;
            let policy = &policies[*at];
            if decided == Some(policy.id) {
                return Err(format!("{policy:?} decides {request:?}"));
            }
            let is_refuted = it_applies(policy, request)
                && by.is_none_or(|by| !it_applies(&policies[by], request));
            if is_refuted {
                return Err(format!("{policy:?} applies to {request:?}, and {by:?} does not"));
            }
        }
    }
    Ok(())
}

/// Returns the allows of which the analysis claims that a rule denies whenever they apply.
fn beaten_by_rules(policies: &[Policy], rules: &[Rule]) -> Vec<usize> {
    let denying = rules.iter().filter(|rule| rule.effect == Effect::Deny);
    let conditions: Vec<_> =
        denying.map(|rule| (&rule.tuple.obj, rule_condition(&rule.tuple))).collect();
    let mut analysis = Analysis::new(usize::MAX);
    let mut is_beaten = |policy: &Policy| {
        let condition = policy.condition.as_ref().expect("trees that compile");
        let Policy { resource, effect, .. } = policy;
        let analyzed = AnalyzedPolicy { resource, effect: *effect, condition };
        conditions.iter().any(|(resource, condition)| {
            let rule = AnalyzedPolicy { resource, effect: Effect::Deny, condition };
            analysis.implies(analyzed, rule) == Some(true)
        })
    };
    let allows = policies.iter().enumerate().filter(|(_, policy)| policy.effect == Effect::Allow);
    allows.filter(|(_, policy)| is_beaten(policy)).map(|(at, _)| at).collect()
}

/// Makes a policy that never decides from another one: the same after it, a narrower one after it, or a contradiction.
fn never_decides(shape: usize, number: u64, from: &AbacPolicy, leaf: &Value) -> AbacPolicy {
    let tree = from.tree.as_deref().cloned().unwrap_or_default();
    let is_contradiction = shape == 2;
    let both = |other: Value| json!({"type": "AND", "children": [tree.clone(), other]});
    let tree = match shape {
        0 => tree.clone(),
        1 => both(leaf.clone()),
        _ => both(json!({"type": "NOT", "child": tree.clone()})),
    };
    AbacPolicy {
        // After every generated id.
        id: Uuid::from_u64_pair(u64::MAX, number),
        resource: from.resource.clone(),
        // An undetermined contradiction denies.
        effect: if is_contradiction { ALLOW } else { from.effect },
        priority: from.priority,
        tree: Some(Rc::new(tree)),
    }
}

fn it_applies(policy: &AbacPolicy, request: &Request) -> bool {
    let tree = policy.tree.as_ref().map(|tree| truth(tree, request));
    let is_candidate = pattern_matches(&policy.resource, request.resource());
    is_candidate && applies(policy.effect, tree.unwrap_or(Truth::Undetermined))
}
