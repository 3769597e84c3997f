//! The decision plan: all rules that can decide one resource, compiled.
//!
//! Compilation puts the policies into the order in which they decide, makes one program of their conditions,
//! indexes them by what tells them apart, and puts the RBAC rules into a hash table. Evaluation is total: it
//! maps values to a decision, cannot fail, and allocates nothing but the causes of an undetermined deny.

mod explain;
mod index;
mod open;
mod program;
mod rbac;
mod slots;

use crate::answers::{Answers, Ask, Resolved, ResolverRef};
use crate::condition::{AttributePath, ResolvedAttribute};
use crate::decision::{Applied, Decision, Undetermined, Withheld, combine};
use crate::policy::{PlannedPolicy, Policy, applies};
use crate::rbac::{Effect, Rule};
use crate::request::Check;
use crate::value::Value;

pub use explain::{
    ExplainedAttribute, ExplainedNode, ExplainedPolicy, ExplainedRule, ExplainedTest, Explanation,
    Outcome,
};
use index::{Index, Indexed, Rank, Search};
use open::Undecided;
use program::{Cause, Program, Run};
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

/// What comes of a check, as far as is known.
#[derive(Debug)]
pub enum Verdict<'p> {
    /// The decision: no resolver can change it.
    Decided(Decision<'p>),
    /// Resolvers must be asked, each once, and all at the same time.
    Open(Vec<Ask>),
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
        let mut planned: Vec<(PlannedPolicy, Indexed)> = policies
            .into_iter()
            .filter(|policy| policy.resource.matches(resource))
            .map(|policy| plan_policy(policy, &mut program))
            .collect();
        planned.sort_unstable_by_key(|(policy, _)| {
            (std::cmp::Reverse(policy.priority), policy.effect, policy.id)
        });
        let (policies, conditions): (Vec<PlannedPolicy>, Vec<Indexed>) =
            planned.into_iter().unzip();
        let roots = conditions.iter().filter_map(|indexed| indexed.condition);
        let (mut program, slots) = program.finish(roots);
        let (index, superfluous) = index::build(&program, &slots, &conditions);
        for (root, test) in superfluous {
            program.ask_last(root, test);
        }
        let matching = rules.iter().filter(|rule| rule.tuple.obj.matches(resource));
        Self {
            resource: resource.into(),
            revision,
            rules: RbacIndex::new(matching),
            policies: policies.into(),
            conditions: conditions.into(),
            index,
            program,
            slots,
        }
    }

    /// The tenant's revision that the plan was compiled from.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Says which resolver answers a namespace; without this, no resolver of the tenant does.
    #[must_use]
    pub fn with_resolvers(mut self, resolver: impl Fn(&str) -> Option<ResolverRef>) -> Self {
        self.slots.bind(resolver);
        self
    }

    /// Decides `check` with both engines (`docs/semantics.md`, section 2.6), or says which resolvers must be asked
    /// before: those that can still change the decision, given what `answers` has.
    #[inline]
    pub fn decide<'p>(&'p self, check: &Check<'_>, answers: &Answers) -> Verdict<'p> {
        if self.slots.namespaces().is_empty() {
            return Verdict::Decided(self.evaluate_all(check, answers));
        }
        self.decide_in_stages(check, answers)
    }

    fn decide_in_stages<'p>(&'p self, check: &Check<'_>, answers: &Answers) -> Verdict<'p> {
        let now = self.slots.time_text(check.now);
        let mut values = Values::new();
        self.slots.read(check, answers, &now, &mut values);
        let mut search = Undecided::new(&self.conditions, Run::new(&self.program, &values));
        self.index.visit(&mut search);
        search.drop_what_comes_later();
        let rule = self.rules.decide(check, &self.resource);
        if rule.as_ref().is_some_and(|rule| rule.effect == Effect::Deny) && !search.is_settled() {
            return Verdict::Decided(combine(None, || rule));
        }
        let applied = self.applied(search.found, &mut search.run, answers);
        let decision = combine(applied, || rule)
            .or_withheld(|| self.withheld(search.withheld, &mut search.run, answers));
        search.drop_what_turns_nothing(decision.effect());
        if search.is_settled() {
            return Verdict::Decided(decision);
        }
        Verdict::Open(search.asks(&self.slots))
    }

    /// Decides `check` with both engines, without resolvers: their attributes are undetermined.
    #[inline]
    pub fn evaluate<'p>(&'p self, check: &Check<'_>) -> Decision<'p> {
        self.evaluate_with(check, &Answers::default())
    }

    /// Decides `check` with both engines. What `answers` has not got is undetermined, as if its resolver had failed.
    #[inline]
    pub fn evaluate_with<'p>(&'p self, check: &Check<'_>, answers: &Answers) -> Decision<'p> {
        if self.slots.namespaces().is_empty() {
            return self.evaluate_all(check, answers);
        }
        match self.decide_in_stages(check, answers) {
            Verdict::Decided(decision) => decision,
            Verdict::Open(_) => self.evaluate_all(check, answers),
        }
    }

    fn evaluate_all<'p>(&'p self, check: &Check<'_>, answers: &Answers) -> Decision<'p> {
        combine(self.apply_policies(check, answers), || self.rules.decide(check, &self.resource))
    }

    /// Decides `check` by RBAC alone: the legacy check.
    pub fn evaluate_rbac<'p>(&'p self, check: &Check<'_>) -> Decision<'p> {
        combine(None, || self.rules.decide(check, &self.resource))
    }

    fn apply_policies<'p>(&'p self, check: &Check<'_>, answers: &Answers) -> Option<Applied<'p>> {
        if self.policies.is_empty() {
            return None;
        }
        let now = self.slots.time_text(check.now);
        let mut values = Values::new();
        self.slots.read(check, answers, &now, &mut values);
        let mut first = FirstThatApplies {
            conditions: &self.conditions,
            run: Run::new(&self.program, &values),
            found: Rank::MAX,
        };
        self.index.visit(&mut first);
        self.applied(first.found, &mut first.run, answers)
    }

    /// The policy of a rank, if there is one, and why it applies.
    fn applied<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &Answers,
    ) -> Option<Applied<'p>> {
        let policy = self.policies.get(rank as usize)?;
        let undetermined = match policy.effect {
            Effect::Deny => self.why_undetermined(rank, run, answers),
            Effect::Allow => Vec::new(),
        };
        Some(Applied { policy, undetermined })
    }

    /// The policy of a rank, if there is one, and it is resolvers that leave it undetermined.
    fn withheld<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &Answers,
    ) -> Option<Withheld<'p>> {
        let policy = self.policies.get(rank as usize).filter(|_| !answers.is_empty())?;
        let undetermined = self.why_undetermined(rank, run, answers);
        let failed = |cause: &Undetermined<'_>| matches!(cause, Undetermined::Unresolved(..));
        undetermined.iter().any(failed).then_some(Withheld { policy, undetermined })
    }

    /// Why the policy of a rank is undetermined; empty when it is not.
    fn why_undetermined<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &Answers,
    ) -> Vec<Undetermined<'p>> {
        let Some(condition) = self.conditions[rank as usize].condition else {
            return vec![Undetermined::Broken];
        };
        if run.truth(condition).is_some() {
            return Vec::new();
        }
        let mut causes = Vec::new();
        run.causes(condition, &mut causes);
        causes.into_iter().map(|cause| self.undetermined(cause, answers)).collect()
    }

    fn undetermined(&self, cause: Cause, answers: &Answers) -> Undetermined<'_> {
        match cause {
            Cause::Absent(slot) => Undetermined::Absent(self.path(slot)),
            Cause::Unresolved(slot) => {
                let path = self.path(slot);
                Undetermined::Unresolved(path, why_unresolved(path, answers).into())
            }
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

/// Splits a policy into what a decision reports of it and what evaluation reads.
fn plan_policy(policy: Policy, program: &mut program::Builder) -> (PlannedPolicy, Indexed) {
    let Policy { id, name, effect, priority, condition, .. } = policy;
    let condition = condition.ok().map(|condition| program.add(condition));
    let planned = PlannedPolicy { id, name: name.into(), effect, priority };
    (planned, Indexed { effect, condition })
}

/// Why an attribute of a resolver is not known.
fn why_unresolved(path: &AttributePath, answers: &Answers) -> String {
    let AttributePath::Resolved(ResolvedAttribute { namespace, name }) = path else {
        return String::new();
    };
    match answers.get(namespace, name) {
        Some(Resolved::Failed(cause)) => cause.to_string(),
        _ => format!("resolver `{namespace}` was not asked"),
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
