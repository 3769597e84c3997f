//! The decision plan: all rules that can decide one resource, compiled.
//!
//! Compilation orders the policies so that the first one that applies decides, gives every attribute a
//! slot, and puts the RBAC rules into a hash table. Evaluation is total: it maps values to a decision
//! and cannot fail.

mod rbac;
mod slots;

use uuid::Uuid;

use crate::condition::{AttributePath, Cause, Condition};
use crate::decision::{Decision, Undetermined, combine};
use crate::policy::Policy;
use crate::rbac::{Effect, Rule};
use crate::request::Check;

pub use rbac::MatchedRule;
use rbac::RbacIndex;
use slots::{Slots, Values};

/// All rules that can decide checks of one resource of one tenant, at one revision.
#[derive(Debug)]
pub struct Plan {
    resource: Box<str>,
    revision: u64,
    rules: RbacIndex,
    /// Highest priority first, then denies, then the smallest id: the first that applies decides.
    policies: Box<[PlannedPolicy]>,
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
    condition: Option<Condition<usize>>,
}

/// The ABAC policy that decided.
#[derive(Clone, Debug)]
pub(crate) struct Applied<'p> {
    pub(crate) policy: &'p PlannedPolicy,
    /// Empty when the condition is true.
    pub(crate) undetermined: Vec<Undetermined<'p>>,
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
        let mut slots = Slots::default();
        let mut planned: Vec<PlannedPolicy> = policies
            .into_iter()
            .filter(|policy| policy.resource.matches(resource))
            .map(|policy| PlannedPolicy {
                id: policy.id,
                name: policy.name.into(),
                effect: policy.effect,
                priority: policy.priority,
                condition: policy
                    .condition
                    .ok()
                    .map(|condition| condition.map(&mut |path| slots.slot(path))),
            })
            .collect();
        planned.sort_unstable_by_key(|policy| {
            (std::cmp::Reverse(policy.priority), policy.effect, policy.id)
        });
        let matching = rules.iter().filter(|rule| rule.tuple.obj.matches(resource));
        Self {
            resource: resource.into(),
            revision,
            rules: RbacIndex::new(matching),
            policies: planned.into(),
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
        let values = self.slots.read(check, &now);
        let read = |slot: usize| values[slot];
        self.policies.iter().find_map(|policy| {
            let truth = policy.condition.as_ref().and_then(|condition| condition.evaluate(&read));
            match (truth, policy.effect) {
                (Some(true), _) => Some(Applied { policy, undetermined: Vec::new() }),
                (None, Effect::Deny) => {
                    Some(Applied { policy, undetermined: self.explain_open(policy, &values) })
                }
                (Some(false), _) | (None, Effect::Allow) => None,
            }
        })
    }

    /// Why `policy` is undetermined.
    fn explain_open<'p>(
        &'p self,
        policy: &'p PlannedPolicy,
        values: &Values<'_>,
    ) -> Vec<Undetermined<'p>> {
        let Some(condition) = &policy.condition else {
            return vec![Undetermined::Broken];
        };
        let mut causes = Vec::new();
        condition.causes(&|slot| values[slot], &mut causes);
        causes
            .into_iter()
            .map(|cause| match cause {
                Cause::Absent(slot) => Undetermined::Absent(self.path(slot)),
                Cause::Incomparable(slot, operator) => {
                    Undetermined::Incomparable(self.path(slot), operator)
                }
            })
            .collect()
    }

    fn path(&self, slot: usize) -> &AttributePath {
        self.slots.path(slot)
    }

    /// Bytes that the plan occupies, for the weight limit of a cache.
    pub fn weight(&self) -> usize {
        let policies: usize = self
            .policies
            .iter()
            .map(|policy| {
                size_of::<PlannedPolicy>()
                    + policy.name.len()
                    + policy.condition.as_ref().map_or(0, Condition::weight)
            })
            .sum();
        size_of::<Self>()
            + self.resource.len()
            + self.rules.weight()
            + policies
            + self.slots.weight()
    }
}
