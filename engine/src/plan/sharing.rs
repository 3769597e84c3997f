//! Plans that share rules and policies: the plan of a resource has those on `<name>:*` and `*` in common with the plans of
//! these patterns, so that a tenant has them in memory once.
//!
//! Policies are shared by a plan that has none itself. Else all are compiled together: patterns share budgets in the
//! order in which policies decide (`docs/semantics.md`, section 4.8), and searches read every policy.

use hashbrown::HashSet;
use uuid::Uuid;

use super::Plan;
use super::changes::{self, PlanChanges};
use super::layer::Layers;
use super::rules::SharedPatterns;
use super::source::Source;
use crate::policy::Policy;
use crate::rbac::Rule;
use crate::relation::relation_of_subject;
use crate::resolution::ResolverRef;
use crate::resource::ResourcePattern;

impl Plan {
    /// Returns the plan with the rules of `broader`, and with its policies if it has none itself. `broader` is the plan
    /// of `*` or of `<name>:*` at the same revision. This plan was compiled from the rules that `broader` does not have,
    /// and from no policies or from all that match. Rules whose subject is a relation count as policies: the
    /// plan gets `broader`'s rules of this kind too.
    #[must_use]
    pub fn over(self, broader: &Self) -> Self {
        let shared = SharedPatterns::with(&broader.resource);
        if !self.layers.is_empty() {
            let joined =
                self.has_relations().then(|| changes::joined(&self.layers, &broader.layers));
            let rules = self.rules.over(&broader.rules);
            let Some(layers) = joined.flatten() else { return Self { shared, rules, ..self } };
            let plan = Self::new(&self.resource, self.revision, rules, layers);
            return Self { shared, facts: self.facts, ..plan };
        }
        let rules = self.rules.over(&broader.rules);
        let (layers, whole) = (broader.layers.clone(), broader.whole.clone());
        let reads_resolvers = broader.reads_resolvers;
        Self { shared, rules, layers, whole, reads_resolvers, shares_policies: true, ..self }
    }

    /// Returns the plan of a later revision that differs in `changes` alone. The policies that did not change are not
    /// compiled again, unless the changes became many. `broader` is the plan at the later revision with which it shares, as
    /// in [`Plan::over`]. `resolver` is as in [`Plan::compile_with`]; namespaces of policies that did not change keep
    /// their resolvers. `None` if the plan must be compiled anew, because it shares other rules or policies by then.
    #[must_use]
    pub fn with_changes(
        &self,
        revision: u64,
        changes: PlanChanges,
        broader: Option<&Self>,
        resolver: impl Fn(&str) -> Option<ResolverRef>,
    ) -> Option<Self> {
        let shared =
            broader.map(|broader| SharedPatterns::with(&broader.resource)).unwrap_or_default();
        let mut present = changes.policies.iter().filter_map(|(_, policy)| policy.as_ref());
        let is_own =
            |pattern: &ResourcePattern| shared.leaves(pattern) && pattern.matches(&self.resource);
        let (texts, relations): (Vec<&Rule>, Vec<&Rule>) =
            changes.rules.iter().filter_map(|(_, rule)| rule.as_ref()).partition(|rule| {
                !self.has_relations() || relation_of_subject(&rule.tuple.sub).is_none()
            });
        let has_own = present.any(|policy: &Policy| is_own(&policy.resource))
            || relations.iter().any(|rule| is_own(&rule.tuple.obj));
        // A plan with a policy of its own must compile those that it shares together with it.
        if shared != self.shared || (self.shares_policies && has_own) {
            return None;
        }
        let ids: HashSet<Uuid> = changes.rules.iter().map(|(id, _)| *id).collect();
        let texts = texts.into_iter().filter(|rule| is_own(&rule.tuple.obj));
        let rules = self.rules.changed(&ids, texts);
        let layers = match self.shares_policies {
            true => Layers::new(),
            false => {
                let matching =
                    relations.into_iter().filter(|rule| rule.tuple.obj.matches(&self.resource));
                let present = matching.filter_map(Source::from_rule).collect();
                // Without relations no layer has a rule.
                let ids = if self.has_relations() { ids } else { HashSet::new() };
                changes::changed(
                    &self.layers,
                    &self.resource,
                    (changes.policies, &changes.datetimes),
                    (ids, present),
                    resolver,
                )
            }
        };
        let facts = self.facts.clone();
        let plan = Self { facts, ..Self::new(&self.resource, revision, rules, layers) };
        Some(match broader {
            // What is shared is left out above, and comes from the broader plan.
            Some(broader) => plan.over(broader),
            None => plan,
        })
    }

    /// Returns whether other plans share parts of this one, so that to drop it frees little.
    pub fn is_shared(&self) -> bool {
        self.rules.are_shared()
    }
}
