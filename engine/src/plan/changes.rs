//! Changes of a plan: a later revision is made of the compiled parts of an earlier one.
//!
//! The plan keeps its first layer, less the policies that changed, and gets a second, small one. Patterns share budgets
//! in deciding order over the whole plan (`docs/semantics.md`, section 4.8). So a change by which patterns would be in two
//! layers, or be gone from one, compiles all policies again, from their compiled parts.

use std::sync::Arc;

use hashbrown::HashSet;
use uuid::Uuid;

use super::abac::Abac;
use super::index::Rank;
use super::layer::{Layer, Layers, whole};
use super::slots::Namespace;
use super::source::Source;
use crate::datetimes::{Datetimes, Unordering};
use crate::policy::Policy;
use crate::rbac::Rule;
use crate::resolution::ResolverRef;

/// The records that changed between two revisions of a tenant.
#[derive(Debug, Default)]
pub struct PlanChanges {
    /// The ids of all rules that changed, each with the rule as it is now, or `None` if it is gone.
    pub rules: Vec<(Uuid, Option<Rule>)>,
    /// The ids of all policies that changed, each with the policy as it is now, or `None` if it is gone or not enabled.
    pub policies: Vec<(Uuid, Option<Policy>)>,
    /// The properties that the changed policies do not order.
    pub datetimes: Arc<Datetimes>,
}

/// Returns the layers of a plan for `resource` after these policies changed, and the rules of these ids: those whose subject
/// is a relation are present as they are now.
pub(super) fn changed(
    layers: &Layers,
    resource: &str,
    (changed, datetimes): (Vec<(Uuid, Option<Policy>)>, &Datetimes),
    (mut ids, rules): (HashSet<Uuid>, Vec<Source>),
    resolver: impl Fn(&str) -> Option<ResolverRef>,
) -> Layers {
    // Most rules are in no layer.
    let planned = layers.iter().flat_map(|layer| &layer.abac.policies);
    let known = planned.chain(rules.iter().map(|source| &source.policy));
    let known: HashSet<Uuid> = known.filter(|policy| policy.is_rule).map(|rule| rule.id).collect();
    ids.retain(|id| known.contains(id));
    ids.extend(changed.iter().map(|(id, _)| *id));
    if ids.is_empty() {
        return layers.clone();
    }
    let present = changed.into_iter().filter_map(|(_, policy)| policy);
    let present = present.filter(|policy| policy.resource.matches(resource));
    let mut orders = Unordering::new(datetimes);
    let present = present.map(|policy| Source::from_policy(policy, &mut orders));
    let mut changed: Vec<Source> = present.chain(rules).collect();
    let Some((base, earlier)) = layers.split_first() else {
        return whole(changed, resolver);
    };
    // The second layer is compiled anew, with what it had before.
    let earlier = earlier.iter().flat_map(sources);
    changed.extend(earlier.filter(|source| !ids.contains(&source.policy.id)));
    let base = less(base, &ids);
    let changed: Layers = std::iter::once(base).chain(whole(changed, &resolver)).collect();
    if is_too_large(&changed) || !are_patterns_together(&changed) {
        // Earlier namespaces keep their resolvers: none changed since.
        return whole(changed.iter().flat_map(sources).collect(), |namespace| {
            bound(layers, namespace).or_else(|| resolver(namespace))
        });
    }
    changed
}

/// Returns the policies of a plan and of a broader one compiled together; `None` if the plan has all of them.
pub(super) fn joined(own: &Layers, broader: &Layers) -> Option<Layers> {
    let mut all: Vec<Source> = own.iter().flat_map(sources).collect();
    let known: HashSet<Uuid> = all.iter().map(|source| source.policy.id).collect();
    let others = broader.iter().flat_map(sources);
    all.extend(others.filter(|source| !known.contains(&source.policy.id)));
    (all.len() > known.len()).then(|| {
        whole(all, |namespace| bound(own, namespace).or_else(|| bound(broader, namespace)))
    })
}

/// Returns the policies of all layers compiled into one.
pub(super) fn folded(layers: &Layers) -> Layers {
    whole(layers.iter().flat_map(sources).collect(), |namespace| bound(layers, namespace))
}

/// Returns the policies of all layers compiled together.
pub(super) fn together(layers: &Layers) -> Abac {
    let sources = layers.iter().flat_map(sources).collect();
    Abac::compile(sources, |namespace| bound(layers, namespace))
}

/// Returns whether enough policies changed since they were compiled together for [`folded`] to pay.
pub(super) fn is_worth_folding(layers: &[Layer]) -> bool {
    let changed = changed_policies(layers);
    // Then all changes up to here cost about as much as folding.
    changed > 0 && changed * changed >= all_policies(layers)
}

/// Returns the resolver of a namespace.
fn bound(layers: &[Layer], name: &str) -> Option<ResolverRef> {
    let namespaces = layers.iter().flat_map(|layer| layer.abac.slots.namespaces());
    let mut named = namespaces.filter(|namespace: &&Namespace| &*namespace.name == name);
    named.find_map(|namespace| namespace.resolver)
}

/// Returns the policies of a layer that count, as they were before they were compiled.
fn sources(layer: &Layer) -> impl Iterator<Item = Source> {
    layer.ranks().map(|rank| layer.abac.source(rank))
}

/// Returns the layer without the policies with these ids.
fn less(layer: &Layer, ids: &HashSet<Uuid>) -> Layer {
    let policies = (0..).zip(&layer.abac.policies);
    let gone = policies
        .filter(|(rank, policy)| layer.is_gone(*rank) || ids.contains(&policy.id))
        .map(|(rank, _): (Rank, _)| rank)
        .collect();
    Layer { abac: layer.abac.clone(), gone }
}

/// Returns the number of policies that changed since they were compiled together.
fn changed_policies(layers: &[Layer]) -> usize {
    let gone = layers.first().map_or(0, |layer| layer.gone.len());
    let new = layers.iter().skip(1).map(|layer| layer.abac.policies.len());
    gone + new.sum::<usize>()
}

fn all_policies(layers: &[Layer]) -> usize {
    layers.iter().map(|layer| layer.abac.policies.len()).sum()
}

/// Returns whether the second layer costs too much: it is compiled anew by each change. Usually the plan was folded
/// before.
fn is_too_large(layers: &[Layer]) -> bool {
    let changed = changed_policies(layers);
    changed * changed > 16 * all_policies(layers)
}

/// Returns whether all patterns are in one layer, and no policy with a pattern is gone from any.
fn are_patterns_together(layers: &[Layer]) -> bool {
    let with_patterns = layers.iter().filter(|layer| layer.abac.program.has_patterns());
    with_patterns.count() < 2 && !layers.iter().any(lost_a_pattern)
}

/// Returns whether a policy with a pattern is gone from a layer.
fn lost_a_pattern(layer: &Layer) -> bool {
    let mut gone = layer.gone.iter().map(|rank| layer.abac.conditions[*rank as usize]);
    gone.any(|gone| gone.condition.is_some_and(|root| layer.abac.program.has_pattern(root)))
}

#[cfg(test)]
mod tests;
