//! The decision plan: all rules that can decide one resource, compiled.
//!
//! Compilation puts the policies into the order in which they decide, makes one program of their conditions,
//! indexes them by what tells them apart, and puts the RBAC rules into a hash table. Evaluation is total: it
//! maps values to a decision, cannot fail, and allocates nothing but the causes of an undetermined deny.

mod explain;
mod index;
mod program;
mod rbac;
mod slots;

use uuid::Uuid;

use crate::condition::AttributePath;
use crate::decision::{Decision, Undetermined, combine};
use crate::policy::Policy;
use crate::rbac::{Effect, Rule};
use crate::request::Check;
use crate::value::Value;

pub use explain::{
    ExplainedAttribute, ExplainedNode, ExplainedPolicy, ExplainedRule, ExplainedTest, Explanation,
    Outcome,
};
use index::{Index, Indexed, Rank, Search};
use program::{Cause, NodeId, Program, Run};
pub use rbac::MatchedRule;
use rbac::RbacIndex;
use slots::{Slot, Slots, Symbol, Values};

/// All rules that can decide checks of one resource of one tenant, at one revision.
#[derive(Debug)]
pub struct Plan {
    resource: Box<str>,
    revision: u64,
    rules: RbacIndex,
    /// Highest priority first, then denies, then the smallest id: the first that applies decides.
    policies: Box<[PlannedPolicy]>,
    /// Theirs: what most checks read of them.
    conditions: Box<[Indexed]>,
    index: Index,
    program: Program,
    slots: Slots,
}

/// An ABAC policy inside a plan.
#[derive(Debug)]
pub struct PlannedPolicy {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: Box<str>,
    /// What it does when it applies.
    pub effect: Effect,
    /// The highest decides.
    pub priority: i32,
    /// `None` when the stored condition does not compile any more.
    condition: Option<NodeId>,
}

/// The ABAC policy that decided.
#[derive(Clone, Debug)]
pub(crate) struct Applied<'p> {
    pub(crate) policy: &'p PlannedPolicy,
    /// Empty when the condition is true.
    pub(crate) undetermined: Vec<Undetermined<'p>>,
}

/// Whether a policy applies when its condition gives `truth`: an undetermined deny does, an undetermined allow
/// does not (semantics.md section 2).
fn applies(effect: Effect, truth: Option<bool>) -> bool {
    truth.unwrap_or(effect == Effect::Deny)
}

impl Plan {
    /// Compiles the plan for `resource` from a tenant's rules and enabled policies at `revision`; those
    /// that cannot match the resource are left out.
    pub fn compile(
        resource: &str,
        revision: u64,
        rules: &[Rule],
        policies: impl IntoIterator<Item = Policy>,
    ) -> Self {
        let mut program = program::Builder::default();
        let mut planned: Vec<PlannedPolicy> = policies
            .into_iter()
            .filter(|policy| policy.resource.matches(resource))
            .map(|policy| PlannedPolicy {
                id: policy.id,
                name: policy.name.into(),
                effect: policy.effect,
                priority: policy.priority,
                condition: policy.condition.ok().map(|condition| program.add(condition)),
            })
            .collect();
        planned.sort_unstable_by_key(|policy| {
            (std::cmp::Reverse(policy.priority), policy.effect, policy.id)
        });
        let (program, slots) = program.finish(planned.iter().filter_map(|policy| policy.condition));
        let conditions: Box<[Indexed]> = planned
            .iter()
            .map(|policy| Indexed { effect: policy.effect, condition: policy.condition })
            .collect();
        let matching = rules.iter().filter(|rule| rule.tuple.obj.matches(resource));
        Self {
            resource: resource.into(),
            revision,
            rules: RbacIndex::new(matching),
            policies: planned.into(),
            index: index::build(&program, &slots, &conditions),
            conditions,
            program,
            slots,
        }
    }

    /// The tenant's revision that the plan was compiled from.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Decides `check` with both engines (semantics.md section 2, "Combined").
    pub fn evaluate<'p>(&'p self, check: &Check<'_>) -> Decision<'p> {
        combine(self.apply_policies(check), || self.rules.decide(check, &self.resource))
    }

    /// Decides `check` by RBAC alone: the legacy check.
    pub fn evaluate_rbac<'p>(&'p self, check: &Check<'_>) -> Decision<'p> {
        combine(None, || self.rules.decide(check, &self.resource))
    }

    fn apply_policies<'p>(&'p self, check: &Check<'_>) -> Option<Applied<'p>> {
        if self.policies.is_empty() {
            return None;
        }
        let now = self.slots.time_text(check.now);
        let mut values = Values::new();
        self.slots.read(check, &now, &mut values);
        let mut first = FirstThatApplies {
            conditions: &self.conditions,
            run: Run::new(&self.program, &values),
            found: Rank::MAX,
        };
        self.index.visit(&mut first);
        let policy = self.policies.get(first.found as usize)?;
        let undetermined = match policy.effect {
            Effect::Deny => self.why_undetermined(policy, &mut first.run),
            Effect::Allow => Vec::new(),
        };
        Some(Applied { policy, undetermined })
    }

    /// Why a policy that denies is undetermined; empty when it is not.
    fn why_undetermined<'p>(
        &'p self,
        policy: &'p PlannedPolicy,
        run: &mut Run<'_>,
    ) -> Vec<Undetermined<'p>> {
        let Some(condition) = policy.condition else { return vec![Undetermined::Broken] };
        if run.truth(condition).is_some() {
            return Vec::new();
        }
        let mut causes = Vec::new();
        run.causes(condition, &mut causes);
        causes.into_iter().map(|cause| self.undetermined(cause)).collect()
    }

    fn undetermined(&self, cause: Cause) -> Undetermined<'_> {
        match cause {
            Cause::Absent(slot) => Undetermined::Absent(self.path(slot)),
            Cause::Incomparable(slot, operator) => {
                Undetermined::Incomparable(self.path(slot), operator)
            }
        }
    }

    fn path(&self, slot: Slot) -> &AttributePath {
        self.slots.path(slot)
    }

    /// Bytes that the plan occupies, for the weight limit of a cache.
    pub fn weight(&self) -> usize {
        let policies = self.policies.iter();
        let policies: usize =
            policies.map(|policy| size_of::<(PlannedPolicy, Indexed)>() + policy.name.len()).sum();
        size_of::<Self>()
            + self.resource.len()
            + self.rules.weight()
            + policies
            + self.index.weight()
            + self.program.weight()
            + self.slots.weight()
    }
}

/// Tries policies until none that is left could come before the one that was found.
struct FirstThatApplies<'p, 'r> {
    conditions: &'p [Indexed],
    run: Run<'r>,
    /// The smallest rank that applies, of those that were tried.
    found: Rank,
}

impl<'r> Search<'r> for FirstThatApplies<'_, 'r> {
    fn value(&self, slot: Slot) -> Option<Value<'r>> {
        self.run.value(slot)
    }

    fn symbol(&self, slot: Slot) -> Symbol {
        self.run.symbol(slot)
    }

    fn attempt(&mut self, ranks: &[Rank]) {
        for &rank in ranks {
            if rank >= self.found {
                return;
            }
            let Indexed { effect, condition } = self.conditions[rank as usize];
            let truth = condition.and_then(|condition| self.run.truth(condition));
            if applies(effect, truth) {
                self.found = rank;
                return;
            }
        }
    }
}
