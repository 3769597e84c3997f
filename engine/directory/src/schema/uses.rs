//! The terms that a term gives, and facts about all terms below one.

use super::layers::Layer;
use super::names::Names;
use super::terms::{RelationId, Term, TermId, TermKind};

/// A use of a term by another one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    /// By a term of the same object.
    Same(TermId),
    /// By a term of each object from which the relation leads here.
    Arrow(RelationId, TermId),
}

/// Facts about a term and all terms that it reaches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    /// Whether one is a [`TermKind::All`], on the side of the object: without the members of usersets.
    pub(crate) has_all: bool,
    /// Whether one stores usersets, on the side of the object.
    pub(crate) has_usersets: bool,
    /// Whether one is a [`TermKind::All`], over the members of usersets too.
    pub(crate) combines: bool,
    /// Whether a claim gives one, over the members of usersets too.
    pub(crate) has_claims: bool,
    /// Whether a claim gives one behind a `!`, over the members of usersets too.
    pub(crate) negates_claims: bool,
}

/// Returns the positive uses of each term.
pub(super) fn uses(terms: &[Term]) -> Vec<Box<[Use]>> {
    let mut uses: Vec<Vec<Use>> = vec![Vec::new(); terms.len()];
    for (id, term) in (0..).zip(terms) {
        match &term.kind {
            TermKind::Any { same, arrows, .. } => {
                for used in same {
                    uses[*used as usize].push(Use::Same(id));
                }
                for arrow in arrows {
                    for (_, used) in &arrow.targets {
                        uses[*used as usize].push(Use::Arrow(arrow.over, id));
                    }
                }
            }
            TermKind::All { all, .. } => {
                for used in all {
                    uses[*used as usize].push(Use::Same(id));
                }
            }
        }
    }
    uses.into_iter().map(Vec::into_boxed_slice).collect()
}

/// Returns the reach of each term. Terms of one component share theirs.
pub(super) fn reaches(terms: &[Term], names: &Names, layers: &[Layer]) -> Vec<Reach> {
    let mut order: Vec<TermId> = (0..).take(terms.len()).collect();
    // Components are numbered after those that they depend on.
    order.sort_unstable_by_key(|term| layers[*term as usize].component);
    let mut by_component: Vec<Reach> = Vec::new();
    for id in &order {
        let (term, component) = (&terms[*id as usize], layers[*id as usize].component as usize);
        by_component.resize(by_component.len().max(component + 1), Reach::default());
        let stored = &names.entry(term.relation).stored;
        let mut reach = by_component[component];
        match &term.kind {
            TermKind::All { .. } => (reach.has_all, reach.combines) = (true, true),
            TermKind::Any { is_stored, .. } => {
                let has_usersets = stored.iter().any(|one| one.which.is_userset());
                reach.has_usersets |= *is_stored && has_usersets;
                let has_claims = names.claims.iter().any(|(claimed, _)| *claimed == term.relation);
                reach.has_claims |= *is_stored && has_claims;
            }
        }
        // What is below in the same component adds to the reach that all of its terms share.
        // Without what is stored, the members of usersets are left out.
        term.each_dependency(&[], |dependency, _| {
            let below = by_component[layers[dependency as usize].component as usize];
            reach.has_all |= below.has_all;
            reach.has_usersets |= below.has_usersets;
        });
        term.each_dependency(stored, |dependency, is_positive| {
            let below = by_component[layers[dependency as usize].component as usize];
            reach.combines |= below.combines;
            reach.has_claims |= below.has_claims;
            reach.negates_claims |= below.negates_claims || (!is_positive && below.has_claims);
        });
        by_component[component] = reach;
    }
    layers.iter().map(|layer| by_component[layer.component as usize]).collect()
}

/// Returns which terms one of `roots` depends on, over the members of usersets too.
pub(super) fn cone(
    terms: &[Term],
    names: &Names,
    roots: impl IntoIterator<Item = TermId>,
) -> Box<[bool]> {
    let mut cone = vec![false; terms.len()];
    let mut open: Vec<TermId> = roots.into_iter().collect();
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut cone[id as usize], true) {
            continue;
        }
        let term = &terms[id as usize];
        let stored = &names.entry(term.relation).stored;
        term.each_dependency(stored, |dependency, _| open.push(dependency));
    }
    cone.into()
}

/// Returns which terms can hold for anybody at all: those with a way that ends at stored subjects.
pub(super) fn possible(terms: &[Term], names: &Names) -> Vec<bool> {
    let mut dependents: Vec<Vec<TermId>> = vec![Vec::new(); terms.len()];
    let mut open: Vec<TermId> = Vec::new();
    for (id, term) in (0..).zip(terms) {
        let stored = &names.entry(term.relation).stored;
        term.each_dependency(stored, |dependency, is_positive| {
            if is_positive {
                dependents[dependency as usize].push(id);
            }
        });
        let is_stored = matches!(term.kind, TermKind::Any { is_stored: true, .. });
        if is_stored && stored.iter().any(|one| !one.which.is_userset()) {
            open.push(id);
        }
    }
    let mut possible = vec![false; terms.len()];
    // A term with factors is looked at again with each factor that becomes possible.
    while let Some(id) = open.pop() {
        let holds = match &terms[id as usize].kind {
            TermKind::Any { .. } => true,
            TermKind::All { all, .. } => all.iter().all(|factor| possible[*factor as usize]),
        };
        if holds && !std::mem::replace(&mut possible[id as usize], true) {
            open.extend(&dependents[id as usize]);
        }
    }
    possible
}
