//! Compares plans that were made of earlier ones with plans that are compiled of everything: after any sequence of
//! changes both give the same decisions, explanations, attribute requests and cells.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_engine::matrix::{MatrixCell, Outcome, PlanMatrix};
use portcullis_engine::request::Attributes;
use portcullis_engine::{
    AttributeAnswers, AttributeRequest, Check, Effect, Plan, PlanChanges, Policy, ResolverRef,
    ResourcePattern, Rule, Verdict,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseResult;
use uuid::Uuid;

use crate::effort::run;
use crate::scenarios::scenario;
use crate::support::route::{asked, engine_policies, engine_rules};
use crate::support::{Request, Scenario};
use crate::two_stages::{RESOLVED, answer, resolved_policies, without_resolved};

/// The number of scenarios, and of the ignored test.
const SCENARIOS: u32 = 150;
const MANY_SCENARIOS: u32 = 10_000;
const REQUESTS: usize = 6;

/// The namespace, the resolver and the attributes of a request.
type Asked = (Box<str>, Option<ResolverRef>, Vec<Box<str>>);

/// The changes of one commit.
#[derive(Clone, Debug)]
struct Commit {
    rules: Vec<(Index, u8)>,
    policies: Vec<(Index, u8, Index)>,
    /// Whether the plan is compiled whole after the commit.
    folds: bool,
}

#[derive(Debug, Default)]
struct Tally {
    /// Decisions by plans of several layers, and those that need resolvers first.
    decisions: u32,
    open: u32,
    /// Decisions that another policy or rule makes than before the commit.
    turned: u32,
    /// Cells that depend on unknown attributes.
    depends: u32,
    /// Plans of patterns that decided a resource.
    shared: u32,
    /// Plans over a broader one that were made of an earlier one, and those that had to be compiled anew.
    over: [u32; 2],
}

/// The rules and policies of a tenant at one revision.
#[derive(Clone, Default)]
struct Records {
    rules: BTreeMap<Uuid, Rule>,
    policies: BTreeMap<Uuid, Policy>,
}

fn commits() -> impl Strategy<Value = Vec<Commit>> {
    let rules = vec((any::<Index>(), 0..4u8), 0..4);
    let policies = vec((any::<Index>(), 0..8u8, any::<Index>()), 0..4);
    let commit = (rules, policies, prop::bool::weighted(0.1));
    let commit = commit.prop_map(|(rules, policies, folds)| Commit { rules, policies, folds });
    vec(commit, 1..6)
}

#[test]
fn a_plan_of_an_earlier_one_is_as_a_new_one() {
    compare_many(SCENARIOS);
}

/// Takes minutes.
#[test]
#[ignore = "a soak: `.ci/long` runs it"]
fn a_plan_of_an_earlier_one_is_as_a_new_one_many_times() {
    compare_many(MANY_SCENARIOS);
}

fn compare_many(scenarios: u32) {
    let tally = RefCell::new(Tally::default());
    run(scenarios, &(scenario(REQUESTS), commits()), |(scenario, commits)| {
        follow(&scenario, &commits, &mut tally.borrow_mut())
    });
    let tally = tally.into_inner();
    println!("{tally:?}");
    assert!(tally.decisions >= 5 * scenarios, "few decisions: {tally:?}");
    assert!(3 * tally.open >= scenarios, "few decisions need resolvers: {tally:?}");
    assert!(2 * tally.turned >= scenarios, "few decisions change: {tally:?}");
    assert!(2 * tally.depends >= scenarios, "few cells depend: {tally:?}");
    assert!(2 * tally.shared >= scenarios, "few plans are shared: {tally:?}");
    assert!(10 * tally.over[0] >= scenarios, "few plans over others change: {tally:?}");
    assert!(10 * tally.over[1] >= scenarios, "few plans over others are compiled anew: {tally:?}");
}

/// Applies commits one after the other, and compares the plan of each request with a new one after each.
fn follow(scenario: &Scenario, commits: &[Commit], tally: &mut Tally) -> TestCaseResult {
    let all = Records {
        rules: engine_rules(&scenario.rules).into_iter().map(|rule| (rule.id, rule)).collect(),
        policies: engine_policies(&resolved_policies(&scenario.policies))
            .into_iter()
            .map(|policy| (policy.id, policy))
            .collect(),
    };
    let mut now = all.clone();
    // Two thirds are there at first.
    let mut number = 0;
    now.policies.retain(|_, _| {
        number += 1;
        number % 3 != 0
    });
    let mut plans: BTreeMap<String, Plan> = BTreeMap::new();
    // As `plans`, but each shares with the plan of a broader pattern.
    let mut over: BTreeMap<String, Plan> = BTreeMap::new();
    for request in &scenario.requests {
        // The broadest pattern first.
        for pattern in ResourcePattern::matching(request.resource()).into_iter().rev() {
            let plan = now.compile_over(&over, &pattern, 1);
            over.insert(pattern.clone(), plan);
            plans.entry(pattern).or_insert_with_key(|pattern| now.compile(pattern, 1));
        }
    }
    for (revision, commit) in (2..).zip(commits) {
        let (rules, policies) = now.apply(&all, commit);
        for (resource, plan) in &mut plans {
            let changes = now.changes(&rules, &policies);
            let after = plan.with_changes(revision, changes, None, resolver);
            let before = std::mem::replace(plan, after.expect("it shares nothing"));
            if commit.folds {
                *plan = plan.folded();
            }
            let new = now.compile(resource, revision);
            for request in scenario.requests.iter().filter(|one| one.resource() == *resource) {
                compare(plan, &new, &before, request, tally)?;
            }
        }
        for request in &scenario.requests {
            now.compare_shared(&plans, revision, request, tally)?;
            for pattern in ResourcePattern::matching(request.resource()).into_iter().rev() {
                if over[&pattern].revision() == revision {
                    continue;
                }
                let changes = now.changes(&rules, &policies);
                let broader = now.broader(&over, &pattern);
                let after = over[&pattern].with_changes(revision, changes, broader, resolver);
                tally.over[usize::from(after.is_none())] += 1;
                let after = after.unwrap_or_else(|| now.compile_over(&over, &pattern, revision));
                over.insert(pattern, if commit.folds { after.folded() } else { after });
            }
            let new = now.compile(request.resource(), revision);
            compare(&over[request.resource()], &new, &new, request, tally)?;
        }
    }
    Ok(())
}

impl Records {
    fn compile(&self, resource: &str, revision: u64) -> Plan {
        let rules: Vec<Rule> = self.rules.values().cloned().collect();
        let policies = self.policies.values().cloned();
        Plan::compile_with(resource, revision, &rules, policies, Arc::default(), resolver)
    }

    fn changes(&self, rules: &[Uuid], policies: &[Uuid]) -> PlanChanges {
        PlanChanges {
            rules: rules.iter().map(|id| (*id, self.rules.get(id).cloned())).collect(),
            policies: policies.iter().map(|id| (*id, self.policies.get(id).cloned())).collect(),
            ..PlanChanges::default()
        }
    }

    /// Returns the plan with which the one of `resource` shares its rules.
    fn broader<'p>(&self, over: &'p BTreeMap<String, Plan>, resource: &str) -> Option<&'p Plan> {
        let [_, name, any] = ResourcePattern::matching(resource);
        match resource {
            resource if resource == any => None,
            resource if resource == name || !self.names(&name) => Some(&over[&any]),
            _ => Some(&over[&name]),
        }
    }

    fn compile_over(&self, over: &BTreeMap<String, Plan>, resource: &str, revision: u64) -> Plan {
        let Some(broader) = self.broader(over, resource) else {
            return self.compile(resource, revision);
        };
        let mut own = self.clone();
        let is_shared = |pattern: &ResourcePattern| pattern.matches(broader.resource());
        own.rules.retain(|_, rule| !is_shared(&rule.tuple.obj));
        let mut policies = self.policies.values();
        let has_own =
            |policy: &Policy| policy.resource.matches(resource) && !is_shared(&policy.resource);
        if !policies.any(has_own) {
            own.policies.clear();
        }
        own.compile(resource, revision).over(broader)
    }

    /// Compares the plan of the pattern that decides a resource which no rule and no policy names with its own plan.
    fn compare_shared(
        &self,
        plans: &BTreeMap<String, Plan>,
        revision: u64,
        request: &Request,
        tally: &mut Tally,
    ) -> TestCaseResult {
        let [resource, name, any] = ResourcePattern::matching(request.resource());
        let pattern = match [&resource, &name].map(|pattern| self.names(pattern)) {
            [true, _] => return Ok(()),
            [false, true] => name,
            [false, false] => any,
        };
        tally.shared += 1;
        let new = self.compile(&resource, revision);
        let shared = plans[&pattern].renamed(&resource, revision);
        compare(&shared, &new, &new, request, tally)
    }

    /// Returns whether a rule or a policy has the pattern.
    fn names(&self, pattern: &str) -> bool {
        let patterns = self.rules.values().map(|rule| &rule.tuple.obj);
        let mut patterns = patterns.chain(self.policies.values().map(|policy| &policy.resource));
        patterns.any(|one| one.to_string() == pattern)
    }

    /// Applies a commit, and returns the ids of the rules and policies that it changed.
    fn apply(&mut self, all: &Self, commit: &Commit) -> (Vec<Uuid>, Vec<Uuid>) {
        let pick = |index: &Index, ids: Vec<Uuid>| (!ids.is_empty()).then(|| *index.get(&ids));
        let (mut rules, mut policies) = (Vec::new(), Vec::new());
        for (index, kind) in &commit.rules {
            let Some(id) = pick(index, all.rules.keys().copied().collect()) else { continue };
            let rule = all.rules.get(&id).cloned().map(|rule| match kind {
                1 => Rule { effect: other(rule.effect), ..rule },
                _ => rule,
            });
            match rule.filter(|_| *kind != 0) {
                Some(rule) => _ = self.rules.insert(id, rule),
                None => _ = self.rules.remove(&id),
            }
            rules.push(id);
        }
        for (index, kind, donor) in &commit.policies {
            let Some(id) = pick(index, all.policies.keys().copied().collect()) else { continue };
            let donor = pick(donor, all.policies.keys().copied().collect());
            let donor = donor.and_then(|donor| all.policies.get(&donor));
            let policy = all.policies.get(&id).cloned().zip(donor);
            let policy = policy.map(|(policy, donor)| match kind {
                1 | 2 => Policy { effect: other(policy.effect), ..policy },
                3 | 4 => Policy { priority: donor.priority.saturating_add(1), ..policy },
                5 | 6 => Policy { condition: donor.condition.clone(), ..policy },
                _ => policy,
            });
            match policy.filter(|_| *kind != 0) {
                Some(policy) => _ = self.policies.insert(id, policy),
                None => _ = self.policies.remove(&id),
            }
            policies.push(id);
        }
        for ids in [&mut rules, &mut policies] {
            ids.sort_unstable();
            ids.dedup();
        }
        (rules, policies)
    }
}

fn other(effect: Effect) -> Effect {
    if effect == Effect::Allow { Effect::Deny } else { Effect::Allow }
}

fn resolver(namespace: &str) -> Option<ResolverRef> {
    (namespace == "hr").then(|| ResolverRef { id: Uuid::from_u128(7), version: 3 })
}

fn compare(
    plan: &Plan,
    new: &Plan,
    before: &Plan,
    request: &Request,
    tally: &mut Tally,
) -> TestCaseResult {
    prop_assert_eq!(plan.revision(), new.revision());
    let given = without_resolved(request);
    asked(&given, |question| {
        let verdict = |plan: &Plan, answers: &AttributeAnswers| match plan.decide(question, answers)
        {
            Verdict::Decided(decision) => Ok(format!("{decision:?}")),
            Verdict::NeedsAttributes(requests) => Err(sorted(requests)),
        };
        let answers = AttributeAnswers::default();
        let first = verdict(plan, &answers);
        prop_assert_eq!(&first, &verdict(new, &answers));
        explained(plan, new, question, &answers)?;
        let mut answers = answers;
        if let Err(requests) = &first {
            tally.open += 1;
            for (namespace, _, names) in requests {
                names.iter().for_each(|name| answer_to(request, namespace, name, &mut answers));
            }
            prop_assert_eq!(verdict(plan, &answers), verdict(new, &answers));
            explained(plan, new, question, &answers)?;
        }
        tally.decisions += 1;
        let decided = new.evaluate_with(question, &answers).rule_id();
        tally.turned += u32::from(before.evaluate_with(question, &answers).rule_id() != decided);
        let legacy = [plan, new]
            .map(|plan| format!("{:?}", plan.decide_rbac(question, &AttributeAnswers::default())));
        prop_assert_eq!(&legacy[0], &legacy[1]);
        cells(plan, new, question, tally)
    })
}

/// Orders what has no order: which resolver is named first, and which of its attributes.
fn sorted(requests: Vec<AttributeRequest>) -> Vec<Asked> {
    let mut sorted: Vec<_> = requests
        .into_iter()
        .map(|AttributeRequest { namespace, resolver, mut attributes }| {
            attributes.sort_unstable();
            (namespace, resolver, attributes)
        })
        .collect();
    sorted.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    sorted
}

fn answer_to(request: &Request, namespace: &str, name: &str, answers: &mut AttributeAnswers) {
    let resolved = format!("{namespace}.{name}");
    let known = RESOLVED.iter().find(|(_, known)| *known == resolved);
    let (path, _) = known.expect("a known attribute");
    answers.insert(namespace, name, answer(request, path));
}

fn explained(
    plan: &Plan,
    new: &Plan,
    question: &Check<'_>,
    answers: &AttributeAnswers,
) -> TestCaseResult {
    let decides = new.evaluate_with(question, answers).rule_id();
    let [by_plan, by_new] =
        [plan, new].map(|plan| format!("{:?}", plan.explain(question, answers, decides)));
    prop_assert_eq!(by_plan, by_new);
    Ok(())
}

/// Compares the cells of the subject's roles with nothing else known, and with everything known.
fn cells(plan: &Plan, new: &Plan, question: &Check<'_>, tally: &mut Tally) -> TestCaseResult {
    let roles: Vec<String> = question.roles.iter().map(str::to_owned).collect();
    let open =
        MatrixCell { subject: None, roles: &roles, relation: None, domain: None, action: None };
    let (subject, domain) = (Some(question.subject), Some(question.domain));
    let action = Some(question.action);
    let known = MatrixCell { subject, domain, action, roles: &roles, relation: None };
    for (cell, attributes) in [(open, Attributes::default()), (known, question.attributes)] {
        let [by_plan, by_new] = [plan, new].map(|plan| {
            let outcome = PlanMatrix::new(plan, attributes).outcome(&cell);
            match &outcome {
                Outcome::Depends(residual) => {
                    format!("{:?} {:?}", residual.text(), residual.policies())
                }
                settled => format!("{settled:?}"),
            }
        });
        tally.depends += u32::from(by_new.starts_with("Some") || by_new.starts_with("None"));
        prop_assert_eq!(by_plan, by_new);
    }
    Ok(())
}
