//! The decision plan: all rules and policies that can decide one resource, compiled.
//!
//! Compilation sorts the policies into the order in which they decide, compiles their conditions into one program,
//! indexes the policies by attribute values, and stores the RBAC rules in a hash table. Evaluation is total: it maps
//! values to a decision, cannot fail, and allocates only for the causes of an undetermined condition.

mod abac;
mod changes;
mod compiler;
mod explain;
mod explanation;
pub mod filter;
mod index;
mod layer;
mod made_texts;
pub mod matrix;
mod partial_evaluation;
mod program;
mod rbac;
mod reads;
mod rules;
pub mod search;
mod sharing;
mod slots;
mod source;
mod stages;
mod symbols;
mod undetermined;
mod would_allow;
mod written;

use std::sync::{Arc, LazyLock, OnceLock};

use uuid::Uuid;

use crate::check_terms::UnknownSubjects;
use crate::datetimes::Unordering;
use crate::decision::{Decision, JudgedPolicy, combine};
use crate::policy::Policy;
use crate::rbac::Rule;
use crate::relation::relation_of_subject;
use crate::request::Check;
use crate::resolution::{AttributeAnswers, AttributeRequest, ResolverRef};
use crate::supply::DirectoryNeeds;
use crate::tenant_facts::TenantFacts;

use abac::Abac;
pub use changes::PlanChanges;
pub use explanation::{
    AttributeChange, ChangeSet, Counterfactuals, ExplainedAttribute, ExplainedItems, ExplainedNode,
    ExplainedPolicy, ExplainedReference, ExplainedRule, ExplainedTest, Explanation, TruthValue,
};
use layer::{Layer, Layers, whole};
use rules::{Rules, SharedPatterns};
use source::Source;

/// The compiled policies of plans without any.
static NO_POLICIES: LazyLock<Abac> = LazyLock::new(|| Abac::compile(Vec::new(), |_| None));

/// All rules that can decide checks of one resource of one tenant, at one revision.
#[derive(Clone, Debug)]
pub struct Plan {
    resource: Box<str>,
    revision: u64,
    rules: Rules,
    /// The rules that the plan shares with a broader one.
    shared: SharedPatterns,
    /// Whether the policies are the broader plan's.
    shares_policies: bool,
    /// The facts about the tenant, shared by its plans; `None` if a check is complete as it was sent.
    facts: Option<Arc<TenantFacts>>,
    layers: Layers,
    /// The policies of all layers compiled together, once something needs them so; `None` if they are so already.
    whole: Option<Arc<OnceLock<Abac>>>,
    /// Whether a policy reads attributes of resolvers.
    reads_resolvers: bool,
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
    /// Compiles the plan for `resource` from a tenant's rules and enabled policies at `revision`, and the facts about it.
    /// Leaves out rules and policies that do not match the resource. Binds each namespace to the resolver that `resolver`
    /// returns for it. An unbound namespace has no resolver.
    pub fn compile_with(
        resource: &str,
        revision: u64,
        rules: &[Rule],
        policies: impl IntoIterator<Item = Policy>,
        facts: Arc<TenantFacts>,
        resolver: impl Fn(&str) -> Option<ResolverRef>,
    ) -> Self {
        let policies = policies.into_iter().filter(|policy| policy.resource.matches(resource));
        let matching = rules.iter().filter(|rule| rule.tuple.obj.matches(resource));
        let mut orders = Unordering::new(&facts.datetimes);
        let mut sources: Vec<Source> =
            policies.map(|policy| Source::from_policy(policy, &mut orders)).collect();
        let rules = match facts.relations {
            None => Rules::new(matching),
            // A rule whose subject is a relation is a condition of the program, and not in the table.
            Some(_) => {
                sources.extend(matching.clone().filter_map(Source::from_rule));
                Rules::new(matching.filter(|rule| relation_of_subject(&rule.tuple.sub).is_none()))
            }
        };
        Self::new(resource, revision, rules, whole(sources, resolver)).with_facts(facts)
    }

    /// Compiles a plan as [`Plan::compile_with`] does, without facts and resolvers.
    pub fn compile(
        resource: &str,
        revision: u64,
        rules: &[Rule],
        policies: impl IntoIterator<Item = Policy>,
    ) -> Self {
        Self::compile_with(resource, revision, rules, policies, Arc::default(), |_| None)
    }

    fn new(resource: &str, revision: u64, rules: Rules, layers: Layers) -> Self {
        // One layer from which nothing is gone is compiled together already.
        let is_changed = layers.len() > 1 || layers.iter().any(|layer| !layer.gone.is_empty());
        Self {
            resource: resource.into(),
            revision,
            rules,
            shared: SharedPatterns::Nothing,
            shares_policies: false,
            facts: None,
            reads_resolvers: layers.iter().any(|layer| !layer.abac.slots.namespaces().is_empty()),
            layers,
            // Clones share the cell, so that the layers are compiled together once for all of them.
            whole: is_changed.then(Arc::default),
        }
    }

    /// Returns the plan of another resource, which the same rules and policies match at `revision`. Both share their parts.
    #[must_use]
    pub fn renamed(&self, resource: &str, revision: u64) -> Self {
        Self { resource: resource.into(), revision, ..self.clone() }
    }

    /// Returns the bytes that a plan of [`Plan::renamed`] occupies beside the parts that it shares.
    pub fn own_weight(&self) -> usize {
        let spilled = if self.layers.spilled() { self.layers.capacity() } else { 0 };
        let spilled = spilled * size_of::<Layer>() + self.rules.spilled();
        size_of::<Self>() + self.resource.len() + spilled
    }

    /// Returns whether enough policies changed since they were compiled together for [`Plan::folded`] to pay.
    pub fn is_worth_folding(&self) -> bool {
        !self.shares_policies && changes::is_worth_folding(&self.layers)
    }

    /// Returns the same plan with all policies compiled together. Takes as long as compiling them at first.
    #[must_use]
    pub fn folded(&self) -> Self {
        if self.shares_policies {
            return self.clone();
        }
        Self { layers: changes::folded(&self.layers), whole: None, ..self.clone() }
    }

    /// Returns whether some policy matches the resource.
    pub fn has_policies(&self) -> bool {
        !self.layers.is_empty()
    }

    /// Returns the policies with a pattern that is over the budget of the policy or the plan. Its tests are undetermined.
    pub fn policies_over_budget(&self) -> impl Iterator<Item = Uuid> {
        self.layers.iter().flat_map(|layer| layer.abac.over_budget.iter().copied())
    }

    /// Returns the plan with equal facts about its tenant, which other plans have too.
    #[must_use]
    pub fn with_facts(self, facts: Arc<TenantFacts>) -> Self {
        Self { facts: Some(facts).filter(|facts| !facts.are_plain()), ..self }
    }

    /// Returns the facts about the tenant of the plan; `None` if a check is complete as it was sent.
    #[inline]
    pub fn facts(&self) -> Option<&TenantFacts> {
        self.facts.as_deref()
    }

    /// Returns the facts about the tenant of the plan, for another of its plans.
    pub fn shared_facts(&self) -> Arc<TenantFacts> {
        self.facts.clone().unwrap_or_default()
    }

    /// Returns whether the subjects of rules can be relations.
    #[inline]
    fn has_relations(&self) -> bool {
        self.facts().is_some_and(|facts| facts.relations.is_some())
    }

    /// Returns the parts of the directory on which decisions of the plan can depend.
    pub fn directory_needs(&self) -> DirectoryNeeds {
        let has_relations = self.has_relations();
        let mut all =
            DirectoryNeeds { roles: self.rules.names_subjects(), ..DirectoryNeeds::default() };
        for needs in self.layers.iter().map(|layer| layer.abac.slots.directory_needs(has_relations))
        {
            all.roles |= needs.roles;
            all.user |= needs.user;
            all.resource |= needs.resource;
            all.relations |= needs.relations;
        }
        let terms = self.facts().map(|facts| facts.terms).unwrap_or_default();
        all.withholds_roles = all.roles && terms.unknown_subjects == UnknownSubjects::NoRoles;
        all
    }

    /// Returns the names with a dot that each layer reads, of users and of resources: they may lead behind references.
    pub(crate) fn dotted_names(&self) -> [[&[Box<str>]; 2]; 2] {
        let mut names = [[&[] as &[_]; 2]; 2];
        // A plan has at most two layers.
        for (number, layer) in self.layers.iter().take(2).enumerate() {
            let [of_user, of_resource] = layer.abac.slots.dotted();
            (names[0][number], names[1][number]) = (of_user, of_resource);
        }
        names
    }

    /// Returns the policies of all layers compiled together. Searches, filters and cells read every policy, and do not
    /// know layers: the first of them on a changed plan takes as long as [`Plan::folded`].
    fn whole(&self) -> &Abac {
        match (&self.whole, self.layers.first()) {
            (Some(whole), _) => whole.get_or_init(|| changes::together(&self.layers)),
            (None, Some(only)) => &only.abac,
            (None, None) => &NO_POLICIES,
        }
    }

    /// Returns the resource whose checks the plan decides, or the pattern.
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Returns the tenant's revision that the plan was compiled from.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Decides `check` with both engines (`docs/semantics.md`, section 2.6). Returns attribute requests instead if
    /// attributes that `answers` does not have can still change the decision.
    #[inline]
    pub fn decide<'p>(&'p self, check: &Check<'_>, answers: &AttributeAnswers) -> Verdict<'p> {
        if !self.reads_resolvers {
            return Verdict::Decided(self.evaluate_at_once(check, answers));
        }
        self.decide_in_stages(check, answers)
    }

    /// Decides `check` with both engines, without resolvers. Tests of their attributes are undetermined.
    #[inline]
    pub fn evaluate<'p>(&'p self, check: &Check<'_>) -> Decision<'p> {
        self.evaluate_with(check, AttributeAnswers::none())
    }

    /// Decides `check` with both engines. An attribute that `answers` does not have counts as a failure of its
    /// resolver: tests of it are undetermined.
    #[inline]
    pub fn evaluate_with<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Decision<'p> {
        if !self.reads_resolvers {
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
        let applied = self.apply_policies(check, answers);
        // Many plans have policies alone.
        if self.rules.is_empty() {
            return combine(applied, || None);
        }
        combine(applied, || self.rules.decide(check, &self.resource))
    }

    /// Returns the policy that decides, or the rule whose subject is a relation.
    fn apply_policies<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Option<JudgedPolicy<'p>> {
        let first = self.first_applicable(check, answers);
        match &first {
            // Section 2.6: a policy that denies goes before a rule that denies.
            Some(applied) if applied.policy.is_denying_rule() => {
                self.denying_policy(check, answers).or(first)
            }
            _ => first,
        }
    }

    /// Returns the first policy that applies.
    #[inline]
    fn first_applicable<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Option<JudgedPolicy<'p>> {
        let (mut first, mut scanned) = (None, 0);
        // Most plans have one layer.
        if let [only] = &*self.layers {
            return only.first_applicable(check, answers, None, &mut scanned);
        }
        for layer in &self.layers {
            let found = layer.first_applicable(check, answers, first.as_ref(), &mut scanned);
            first = found.or(first);
        }
        first
    }

    /// Returns the bytes that the plan occupies, for the weight limit of a cache, without what it shares with a broader
    /// plan. Those of a changed plan include about the bytes of its policies compiled together, whether they are or not.
    pub fn weight(&self) -> usize {
        let facts = self.facts.as_ref().map_or(0, |facts| facts.weight());
        self.own_weight() + self.rules.weight() + self.weight_of_policies() + facts
    }

    /// Returns the part of the weight that the compiled policies have.
    pub fn weight_of_policies(&self) -> usize {
        if self.shares_policies {
            return 0;
        }
        let layers: usize = self.layers.iter().map(Layer::weight).sum();
        // A changed plan may compile its layers together later, when its weight is settled.
        if self.whole.is_some() { 2 * layers } else { layers }
    }
}

#[cfg(test)]
mod tests;
