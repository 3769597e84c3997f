//! A layer of a plan: policies that were compiled together, less those that are gone.
//!
//! A plan whose policies never changed has one layer. A changed plan shares the layer of the plan before, and has a second
//! one for the policies that are new or different. The smallest policy in deciding order that applies in any layer
//! decides, as if all had been compiled together.

use std::sync::Arc;

use smallvec::SmallVec;

use super::abac::Abac;
use super::index::{Indexed, Rank, Search};
use super::made_texts::MadeTexts;
use super::program::Run;
use super::slots::Values;
use super::source::Source;
use crate::decision::{JudgedPolicy, Undetermined};
use crate::policy::{PlannedPolicy, applies};
use crate::rbac::Effect;
use crate::request::Check;
use crate::resolution::{AttributeAnswers, ResolverRef};

/// Policies that were compiled together, less those that are gone.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) abac: Arc<Abac>,
    /// The ranks of the policies that do not count any more, ascending.
    pub(super) gone: Arc<[Rank]>,
}

/// The layers of a plan: one, and one for the policies that changed since it was compiled.
pub(super) type Layers = SmallVec<[Layer; 1]>;

/// Compiles policies into one layer; none if there are no policies.
pub(super) fn whole(
    sources: Vec<Source>,
    resolver: impl Fn(&str) -> Option<ResolverRef>,
) -> Layers {
    if sources.is_empty() {
        return Layers::new();
    }
    SmallVec::from_buf([Layer::new(Abac::compile(sources, resolver))])
}

impl Layer {
    /// Returns a layer from which no policy is gone.
    pub(super) fn new(abac: Abac) -> Self {
        Self { abac: Arc::new(abac), gone: Arc::default() }
    }

    /// Returns whether the policy of a rank does not count any more.
    #[inline]
    pub(super) fn is_gone(&self, rank: Rank) -> bool {
        is_gone(&self.gone, rank)
    }

    /// Returns the ranks of the policies that count, ascending.
    pub(super) fn ranks(&self) -> impl Iterator<Item = Rank> {
        (0..).take(self.abac.policies.len()).filter(|rank| !self.is_gone(*rank))
    }

    /// Returns the ranks of what does not count if rules alone do, or policies alone, ascending.
    pub(super) fn ranks_without(&self, is_rule: bool) -> Vec<Rank> {
        let ranked = (0..).zip(&self.abac.policies);
        let gone = ranked.filter(|(rank, policy)| policy.is_rule != is_rule || self.is_gone(*rank));
        gone.map(|(rank, _)| rank).collect()
    }

    /// Returns the policy of a rank; `None` for the rank of no policy.
    pub(super) fn policy(&self, rank: Rank) -> Option<&PlannedPolicy> {
        self.abac.policies.get(rank as usize)
    }

    /// Returns the first policy that applies, if it comes before `others`. `scanned` is the number of steps that the
    /// layers before have taken.
    #[inline]
    pub(super) fn first_applicable<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
        others: Option<&JudgedPolicy<'p>>,
        scanned: &mut usize,
    ) -> Option<JudgedPolicy<'p>> {
        let slots = &self.abac.slots;
        let mut texts = MadeTexts::new();
        slots.make_texts(check, &mut texts);
        let mut values = Values::new();
        slots.read(check, answers, &texts, &mut values);
        let mut run = Run::new(&self.abac.program, &values);
        // All layers share one budget of steps.
        run.resume(*scanned);
        let (conditions, gone) = (&*self.abac.conditions, &*self.gone);
        let mut first = FirstApplicable { conditions, gone, run, found: Rank::MAX };
        self.abac.index.visit(&mut first);
        let policy = self.policy(first.found);
        let applied = policy
            // Before the causes, which only the policy that decides needs.
            .filter(|policy| others.is_none_or(|other| policy.order() < other.policy.order()))
            .and_then(|_| self.applied(first.found, &mut first.run, answers));
        *scanned = first.run.scanned();
        applied
    }

    /// Returns the policy of a rank, if there is one, and the causes if it applies because it is undetermined.
    pub(super) fn applied<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &AttributeAnswers,
    ) -> Option<JudgedPolicy<'p>> {
        let policy = self.policy(rank)?;
        let undetermined = match policy.effect {
            Effect::Deny => self.causes_of(rank, run, answers),
            // It applies only if it is true.
            Effect::Allow => Vec::new(),
        };
        Some(JudgedPolicy { policy, undetermined })
    }

    /// Returns the policy of a rank, if there is one and failed resolvers leave it undetermined.
    pub(super) fn withheld<'p>(
        &'p self,
        rank: Rank,
        run: &mut Run<'_>,
        answers: &AttributeAnswers,
    ) -> Option<JudgedPolicy<'p>> {
        // Without answers no resolver has failed.
        let policy = self.policy(rank).filter(|_| !answers.is_empty())?;
        let undetermined = self.causes_of(rank, run, answers);
        let mut causes = undetermined.iter();
        causes
            .any(|cause| matches!(cause, Undetermined::Unresolved(..)))
            .then_some(JudgedPolicy { policy, undetermined })
    }

    /// Returns why the policy of a rank is undetermined; empty if it is not.
    pub(super) fn causes_of<'p>(
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
        run.causes(condition, &self.abac.slots, answers, &mut causes);
        causes
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        // An `Arc` has two counters beside its value. An empty list is shared by all.
        let gone = match self.gone.is_empty() {
            true => 0,
            false => 2 * size_of::<usize>() + size_of_val::<[Rank]>(&self.gone),
        };
        self.abac.weight() + 2 * size_of::<usize>() + gone
    }
}

/// Returns whether a rank is among `gone`, which ascend.
#[inline]
pub(super) fn is_gone(gone: &[Rank], rank: Rank) -> bool {
    !gone.is_empty() && gone.binary_search(&rank).is_ok()
}

/// A search for the first policy of a layer that applies.
pub(super) struct FirstApplicable<'p, 'r> {
    pub(super) conditions: &'p [Indexed],
    /// The ranks of the policies that do not count, ascending.
    pub(super) gone: &'p [Rank],
    pub(super) run: Run<'r>,
    /// The smallest rank evaluated so far that applies.
    pub(super) found: Rank,
}

impl<'r> Search<'r> for FirstApplicable<'_, 'r> {
    fn run(&self) -> &Run<'r> {
        &self.run
    }

    fn evaluate(&mut self, ranks: &[Rank]) {
        for &rank in ranks {
            // The ranks ascend: no later one can decide.
            if rank >= self.found {
                return;
            }
            if is_gone(self.gone, rank) {
                continue;
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
