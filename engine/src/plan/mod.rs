//! The decision plan: all rules and policies that can decide one resource, compiled.
//!
//! Compilation sorts the policies into the order in which they decide, compiles their conditions into one program,
//! indexes the policies by attribute values, and stores the RBAC rules in a hash table. Evaluation is total: it maps
//! values to a decision, cannot fail, and allocates only for the causes of an undetermined condition.

mod compiler;
mod explain;
mod explanation;
pub mod filter;
mod index;
pub mod matrix;
mod partial_evaluation;
mod program;
mod rbac;
pub mod search;
mod slots;

use std::sync::Arc;

use uuid::Uuid;

use crate::condition::{AttributePath, ResolverAttribute};
use crate::decision::{Applied, Decision, Undetermined, Withheld, combine};
use crate::policy::{PlannedPolicy, Policy, applies};
use crate::rbac::{Effect, Rule};
use crate::request::Check;
use crate::resolution::{AttributeAnswer, AttributeAnswers, AttributeRequest, ResolverRef};
use crate::supply::DirectoryNeeds;
use crate::tenant_facts::TenantFacts;
use crate::value::AttributeValue;

use compiler::Compiler;
pub use explanation::{
    ExplainedAttribute, ExplainedNode, ExplainedPolicy, ExplainedRule, ExplainedTest, Explanation,
    TruthValue,
};
use index::{Index, Indexed, Rank, Search};
use partial_evaluation::PartialEvaluation;
use program::{Cause, Program, Run};
use rbac::RbacIndex;
use slots::{Slot, Slots, Symbol, Values};

/// All rules that can decide checks of one resource of one tenant, at one revision.
#[derive(Debug)]
pub struct Plan {
    resource: Box<str>,
    revision: u64,
    rules: RbacIndex,
    /// The facts about the tenant, shared by its plans; `None` if a check is complete as it was sent.
    facts: Option<Arc<TenantFacts>>,
    /// Shared with the plans of other revisions that have the same policies.
    abac: Arc<Abac>,
}

/// The policies of a plan, compiled.
#[derive(Debug)]
struct Abac {
    /// Highest priority first, then denies, then the smallest id: the first that applies decides.
    policies: Box<[PlannedPolicy]>,
    /// The effect and condition of each policy, kept apart because most checks read nothing else.
    conditions: Box<[Indexed]>,
    index: Index,
    program: Program,
    slots: Slots,
    over_budget: Box<[Uuid]>,
}

/// The result of a check, as far as the known attributes allow.
#[derive(Debug)]
pub enum Verdict<'p> {
    /// The decision, which no resolver can change.
    Decided(Decision<'p>),
    /// Resolvers must answer first. Each is called once, all at the same time.
    NeedsAttributes(Vec<AttributeRequest>),
}

impl Plan {
    /// Compiles the plan for `resource` from a tenant's rules and enabled policies at `revision`. Leaves out rules and
    /// policies that do not match the resource. Binds each namespace to the resolver that `resolver` returns for it. An
    /// unbound namespace has no resolver.
    pub fn compile_with(
        resource: &str,
        revision: u64,
        rules: &[Rule],
        policies: impl IntoIterator<Item = Policy>,
        resolver: impl Fn(&str) -> Option<ResolverRef>,
    ) -> Self {
        let policies = policies.into_iter().filter(|policy| policy.resource.matches(resource));
        let matching = rules.iter().filter(|rule| rule.tuple.obj.matches(resource));
        Self {
            resource: resource.into(),
            revision,
            rules: RbacIndex::new(matching),
            facts: None,
            abac: Arc::new(Abac::compile(policies.collect(), resolver)),
        }
    }

    /// Compiles a plan as [`Plan::compile_with`] does, without resolvers.
    pub fn compile(
        resource: &str,
        revision: u64,
        rules: &[Rule],
        policies: impl IntoIterator<Item = Policy>,
    ) -> Self {
        Self::compile_with(resource, revision, rules, policies, |_| None)
    }

    /// Returns the plan of a later revision that differs in rules alone. `changed` has the ids of all rules that changed
    /// since, each with the rule as it is now, or `None` if it is gone. The policies are not compiled again.
    #[must_use]
    pub fn with_rules(&self, revision: u64, changed: &[(Uuid, Option<Rule>)]) -> Self {
        let matching = |rule: &&Rule| rule.tuple.obj.matches(&self.resource);
        let mut rules = self.rules.without(&changed.iter().map(|(id, _)| *id).collect());
        let present = changed.iter().filter_map(|(_, rule)| rule.as_ref());
        present.filter(matching).for_each(|rule| rules.insert(rule));
        let (facts, abac) = (self.facts.clone(), Arc::clone(&self.abac));
        Self { resource: self.resource.clone(), revision, rules, facts, abac }
    }

    /// Returns the plan with facts about its tenant.
    #[must_use]
    pub fn with_facts(self, facts: Arc<TenantFacts>) -> Self {
        Self { facts: Some(facts).filter(|facts| !facts.are_plain()), ..self }
    }

    /// Returns the facts about the tenant of the plan; `None` if a check is complete as it was sent.
    #[inline]
    pub fn facts(&self) -> Option<&TenantFacts> {
        self.facts.as_deref()
    }

    /// Returns the parts of the directory on which decisions of the plan can depend.
    pub fn directory_needs(&self) -> DirectoryNeeds {
        let needs = self.abac.slots.directory_needs();
        DirectoryNeeds { roles: needs.roles || self.rules.names_subjects(), ..needs }
    }

    /// Returns the policies with a pattern that is over the budget of the policy or the plan. Its tests are undetermined.
    pub fn policies_over_budget(&self) -> &[Uuid] {
        &self.abac.over_budget
    }

    /// Returns the tenant's revision that the plan was compiled from.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Decides `check` with both engines (`docs/semantics.md`, section 2.6). Returns attribute requests instead if
    /// attributes that `answers` does not have can still change the decision.
    #[inline]
    pub fn decide<'p>(&'p self, check: &Check<'_>, answers: &AttributeAnswers) -> Verdict<'p> {
        if self.abac.slots.namespaces().is_empty() {
            return Verdict::Decided(self.evaluate_at_once(check, answers));
        }
        self.decide_in_stages(check, answers)
    }

    /// Decides by partial evaluation: attributes of resolvers may still be missing from `answers`.
    fn decide_in_stages<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Verdict<'p> {
        let now = self.abac.slots.time_text(check.now);
        let mut values = Values::new();
        self.abac.slots.read(check, answers, &now, &mut values);
        let mut search =
            PartialEvaluation::new(&self.abac.conditions, Run::new(&self.abac.program, &values));
        self.abac.index.visit(&mut search);
        search.drop_outranked();
        let rule = self.rules.decide(check, &self.resource);
        // An RBAC deny beats every ABAC allow, and an ABAC deny would not change the effect.
        if rule.as_ref().is_some_and(|rule| rule.effect == Effect::Deny) && !search.is_settled() {
            return Verdict::Decided(combine(None, || rule));
        }
        let applied = self.applied(search.found, &mut search.run, answers);
        let decision = combine(applied, || rule)
            .or_withheld(|| self.withheld(search.withheld, &mut search.run, answers));
        search.drop_ineffective(decision.effect());
        if search.is_settled() {
            return Verdict::Decided(decision);
        }
        Verdict::NeedsAttributes(search.attribute_requests(&self.abac.slots))
    }

    /// Decides `check` with both engines, without resolvers. Tests of their attributes are undetermined.
    #[inline]
    pub fn evaluate<'p>(&'p self, check: &Check<'_>) -> Decision<'p> {
        self.evaluate_with(check, &AttributeAnswers::default())
    }

    /// Decides `check` with both engines. An attribute that `answers` does not have counts as a failure of its
    /// resolver: tests of it are undetermined.
    #[inline]
    pub fn evaluate_with<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Decision<'p> {
        if self.abac.slots.namespaces().is_empty() {
            return self.evaluate_at_once(check, answers);
        }
        match self.decide_in_stages(check, answers) {
            Verdict::Decided(decision) => decision,
            Verdict::NeedsAttributes(_) => self.evaluate_at_once(check, answers),
        }
    }

    /// Decides with the known attributes alone.
    fn evaluate_at_once<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Decision<'p> {
        combine(self.apply_policies(check, answers), || self.rules.decide(check, &self.resource))
    }

    /// Decides `check` by RBAC alone: the legacy check.
    pub fn evaluate_rbac<'p>(&'p self, check: &Check<'_>) -> Decision<'p> {
        combine(None, || self.rules.decide(check, &self.resource))
    }

    /// Returns the first policy that applies.
    fn apply_policies<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Option<Applied<'p>> {
        if self.abac.policies.is_empty() {
            return None;
        }
        let now = self.abac.slots.time_text(check.now);
        let mut values = Values::new();
        self.abac.slots.read(check, answers, &now, &mut values);
        let mut first = FirstApplicable {
            conditions: &self.abac.conditions,
            run: Run::new(&self.abac.program, &values),
            found: Rank::MAX,
        };
        self.abac.index.visit(&mut first);
        self.applied(first.found, &mut first.run, answers)
    }

    /// Returns the policy of a rank, if there is one, and the causes if it applies because it is undetermined.
    fn applied<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &AttributeAnswers,
    ) -> Option<Applied<'p>> {
        let policy = self.abac.policies.get(rank as usize)?;
        let undetermined = match policy.effect {
            Effect::Deny => self.causes_of(rank, run, answers),
            Effect::Allow => Vec::new(),
        };
        Some(Applied { policy, undetermined })
    }

    /// Returns the policy of a rank, if there is one and failed resolvers leave it undetermined.
    fn withheld<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &AttributeAnswers,
    ) -> Option<Withheld<'p>> {
        let policy = self.abac.policies.get(rank as usize).filter(|_| !answers.is_empty())?;
        let undetermined = self.causes_of(rank, run, answers);
        let failed = |cause: &Undetermined<'_>| matches!(cause, Undetermined::Unresolved(..));
        undetermined.iter().any(failed).then_some(Withheld { policy, undetermined })
    }

    /// Returns why the policy of a rank is undetermined; empty if it is not.
    fn causes_of<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &AttributeAnswers,
    ) -> Vec<Undetermined<'p>> {
        let Some(condition) = self.abac.conditions[rank as usize].condition else {
            return vec![Undetermined::Broken];
        };
        if run.truth(condition).is_some() {
            return Vec::new();
        }
        let mut causes = Vec::new();
        run.causes(condition, &mut causes);
        causes.into_iter().map(|cause| self.undetermined(cause, answers)).collect()
    }

    /// Names the attribute of a cause.
    fn undetermined(&self, cause: Cause, answers: &AttributeAnswers) -> Undetermined<'_> {
        match cause {
            Cause::Absent(slot) => Undetermined::Absent(self.path(slot)),
            Cause::Unresolved(slot) => {
                let path = self.path(slot);
                Undetermined::Unresolved(path, unresolved_cause(path, answers).into())
            }
            Cause::Incomparable(slot, operator) => {
                Undetermined::Incomparable(self.path(slot), operator)
            }
            Cause::TooLong(slot) => Undetermined::TooLong(self.path(slot)),
            Cause::PatternTooLarge(slot) => Undetermined::PatternTooLarge(self.path(slot)),
        }
    }

    fn path(&self, slot: Slot) -> &AttributePath {
        self.abac.slots.path(slot)
    }

    /// Returns the bytes that the plan occupies, for the weight limit of a cache.
    pub fn weight(&self) -> usize {
        let facts = self.facts.as_ref().map_or(0, |facts| facts.weight());
        size_of::<Self>() + self.resource.len() + self.rules.weight() + self.abac.weight() + facts
    }
}

impl Abac {
    fn compile(mut policies: Vec<Policy>, resolver: impl Fn(&str) -> Option<ResolverRef>) -> Self {
        policies.sort_unstable_by_key(|policy| {
            (std::cmp::Reverse(policy.priority), policy.effect, policy.id)
        });
        let mut compiler = Compiler::default();
        let (policies, conditions): (Vec<PlannedPolicy>, Vec<Indexed>) =
            policies.into_iter().map(|policy| compiler.policy(policy)).unzip();
        let Compiler { program, patterns, over_budget } = compiler;
        let roots = conditions.iter().filter_map(|indexed| indexed.condition);
        let (mut program, mut slots) = program.finish(roots, &patterns);
        let (index, implied) = index::build(&program, &slots, &conditions);
        for (root, test) in implied {
            program.evaluate_last(root, test);
        }
        slots.bind(resolver);
        Self {
            policies: policies.into(),
            conditions: conditions.into(),
            index,
            program,
            slots,
            over_budget: over_budget.into(),
        }
    }

    /// Returns the number of steps that every value may take without reaching the limit of a run.
    fn max_steps_of_value(&self) -> usize {
        let roots = self.conditions.iter().filter_map(|indexed| indexed.condition);
        self.program.max_steps_of_value(roots)
    }

    fn weight(&self) -> usize {
        let names: usize = self.policies.iter().map(|policy| policy.name.len()).sum();
        size_of::<Self>()
            + size_of_val::<[PlannedPolicy]>(&self.policies)
            + size_of_val::<[Indexed]>(&self.conditions)
            + names
            + self.index.weight()
            + self.program.weight()
            + self.slots.weight()
            + size_of_val::<[Uuid]>(&self.over_budget)
    }
}

/// Returns why the value of a resolver's attribute is not known.
fn unresolved_cause(path: &AttributePath, answers: &AttributeAnswers) -> String {
    let AttributePath::Resolver(ResolverAttribute { namespace, name }) = path else {
        return String::new();
    };
    match answers.get(namespace, name) {
        Some(AttributeAnswer::Failed(cause)) => cause.to_string(),
        _ => format!("resolver `{namespace}` was not asked"),
    }
}

/// A search for the first policy that applies.
struct FirstApplicable<'p, 'r> {
    conditions: &'p [Indexed],
    run: Run<'r>,
    /// The smallest rank evaluated so far that applies.
    found: Rank,
}

impl<'r> Search<'r> for FirstApplicable<'_, 'r> {
    fn value(&self, slot: Slot) -> Option<AttributeValue<'r>> {
        self.run.value(slot)
    }

    fn symbol(&self, slot: Slot) -> Symbol {
        self.run.symbol(slot)
    }

    fn evaluate(&mut self, ranks: &[Rank]) {
        for &rank in ranks {
            // The ranks ascend: no later one can decide.
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

#[cfg(test)]
mod tests;
