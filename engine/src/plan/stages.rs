//! Partial evaluation of all layers of a plan as one (`docs/semantics.md`, section 5.6).

use std::iter;

use smallvec::SmallVec;

use super::index::Rank;
use super::layer::Layer;
use super::made_texts::MadeTexts;
use super::partial_evaluation::PartialEvaluation;
use super::program::Run;
use super::slots::Values;
use super::{Plan, Verdict};
use crate::decision::{JudgedPolicy, combine};
use crate::policy::PlannedPolicy;
use crate::rbac::Effect;
use crate::request::Check;
use crate::resolution::{AttributeAnswers, AttributeRequest};

/// The values of one check, for each layer of a plan. Those of the first layer, which most plans have alone, are filled in
/// place, because moving a buffer of that size takes long.
#[derive(Default)]
pub(super) struct LayerValues<'v> {
    first: Values<'v>,
    others: Vec<Values<'v>>,
}

impl<'v> LayerValues<'v> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Values<'v>> {
        iter::once(&self.first).chain(&self.others)
    }
}

/// A partial evaluation of each layer of a plan.
struct Stages<'p, 'r>(SmallVec<[(&'p Layer, PartialEvaluation<'p, 'r>); 1]>);

impl<'p, 'r> Stages<'p, 'r>
where
    'p: 'r,
{
    /// Evaluates layers with the values of each. Each comes with the ranks of the policies that do not count.
    fn new<'v: 'r>(
        layers: impl Iterator<Item = (&'p Layer, &'r [Rank])>,
        values: &'r LayerValues<'v>,
    ) -> Self {
        let (mut stages, mut scanned) = (Self(SmallVec::new()), 0);
        for ((layer, gone), values) in layers.zip(values.iter()) {
            let mut run = Run::new(&layer.abac.program, values);
            run.resume(scanned);
            stages.0.push((layer, PartialEvaluation::new(&layer.abac.conditions, run)));
            // Evaluated in its place, because it is large.
            if let Some((_, evaluation)) = stages.0.last_mut() {
                evaluation.gone = gone;
                layer.abac.index.visit(evaluation);
                evaluation.drop_outranked();
                scanned = evaluation.run.scanned();
            }
        }
        // A policy that certainly applies in one layer outranks open ones of the others.
        if stages.0.len() > 1
            && let Some(found) = stages.found()
        {
            for (layer, evaluation) in &mut stages.0 {
                evaluation.retain_open(|rank| {
                    layer.policy(rank).map(PlannedPolicy::order) < Some(found.order())
                });
            }
        }
        stages
    }

    /// Returns the first policy that certainly applies.
    fn found(&self) -> Option<&'p PlannedPolicy> {
        let found = self.0.iter().filter_map(|(layer, one)| layer.policy(one.found));
        found.min_by_key(|policy| policy.order())
    }

    /// Returns the first policy that certainly applies, with the causes if it is undetermined.
    fn applied(&mut self, answers: &AttributeAnswers) -> Option<JudgedPolicy<'p>> {
        let (layer, evaluation, rank) = self.first(|one| one.found)?;
        layer.applied(rank, &mut evaluation.run, answers)
    }

    /// Returns the first policy that would allow if failed resolvers did not leave it undetermined.
    fn withheld(&mut self, answers: &AttributeAnswers) -> Option<JudgedPolicy<'p>> {
        let (layer, evaluation, rank) = self.first(|one| one.withheld)?;
        layer.withheld(rank, &mut evaluation.run, answers)
    }

    /// Returns the first of the policies that `rank` names in each layer.
    fn first(
        &mut self,
        rank: impl Fn(&PartialEvaluation<'p, 'r>) -> Rank,
    ) -> Option<(&'p Layer, &mut PartialEvaluation<'p, 'r>, Rank)> {
        // One layer needs no order.
        if self.0.len() == 1 {
            let (layer, one) = self.0.first_mut()?;
            let rank = rank(one);
            // A rank without a policy says that there is none.
            return layer.policy(rank).map(|_| (*layer, one, rank));
        }
        let ranked = self.0.iter_mut().filter_map(|(layer, one)| {
            let rank = rank(one);
            let order = layer.policy(rank)?.order();
            Some((order, *layer, one, rank))
        });
        let (_, layer, evaluation, rank) = ranked.min_by_key(|(order, ..)| *order)?;
        Some((layer, evaluation, rank))
    }

    /// Drops the open policies that cannot change the decision, which is `otherwise` if none of them applies.
    fn drop_ineffective(&mut self, otherwise: Effect) {
        if let [(_, only)] = &mut *self.0 {
            only.drop_ineffective(otherwise);
            return;
        }
        // The last open policy decides only if no other one applies. If its effect equals `otherwise`, the decision
        // is the same whether it applies or not.
        while let Some((policy, at)) = self.last_open()
            && policy.effect == otherwise
        {
            self.0[at].1.drop_last();
        }
    }

    /// Returns the open policy that comes last in deciding order, and the place of its layer.
    fn last_open(&self) -> Option<(&'p PlannedPolicy, usize)> {
        let last = (0..).zip(&self.0).filter_map(|(at, (layer, one)): (usize, _)| {
            Some((layer.policy(*one.open().last()?)?, at))
        });
        last.max_by_key(|(policy, _)| policy.order())
    }

    /// Returns whether no policy is open.
    fn is_settled(&self) -> bool {
        self.0.iter().all(|(_, evaluation)| evaluation.is_settled())
    }

    /// Returns the requests for the attributes that settle the open policies, one per resolver.
    fn attribute_requests(self) -> Vec<AttributeRequest> {
        let mut requests: Vec<AttributeRequest> = Vec::new();
        let all = self.0.into_iter();
        let all = all.flat_map(|(layer, one)| one.attribute_requests(&layer.abac.slots));
        for request in all {
            match requests.iter_mut().find(|known| known.namespace == request.namespace) {
                Some(known) => {
                    let new = request.attributes.into_iter();
                    let new: Vec<_> = new.filter(|name| !known.attributes.contains(name)).collect();
                    known.attributes.extend(new);
                }
                None => requests.push(request),
            }
        }
        requests
    }
}

impl Plan {
    /// Decides by partial evaluation: attributes of resolvers, and relations, may still be missing from `answers`.
    pub(super) fn decide_in_stages<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Verdict<'p> {
        let layers = self.layers.iter().map(|layer| (layer, &*layer.gone));
        self.decide_among(layers, check, answers)
    }

    /// Decides `check` by RBAC alone, as [`Plan::decide`] does by both engines.
    pub fn decide_rbac<'p>(&'p self, check: &Check<'_>, answers: &AttributeAnswers) -> Verdict<'p> {
        if !self.has_relations() {
            return Verdict::Decided(combine(None, || self.rules.decide(check, &self.resource)));
        }
        let gone: Vec<_> = self.layers.iter().map(|layer| layer.ranks_without(true)).collect();
        self.decide_among(self.layers.iter().zip(gone.iter().map(Vec::as_slice)), check, answers)
    }

    /// Returns the policy that denies beside a rule that does. `None` if there is none, or if resolvers must say so.
    #[cold]
    pub(super) fn denying_policy<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Option<JudgedPolicy<'p>> {
        let texts = self.made_texts(check);
        let mut values = LayerValues::default();
        self.read_values(check, answers, &texts, &mut values);
        let gone: Vec<_> = self.layers.iter().map(|layer| layer.ranks_without(false)).collect();
        let layers = self.layers.iter().zip(gone.iter().map(Vec::as_slice));
        let mut stages = Stages::new(layers, &values);
        let applied = stages.applied(answers).filter(|_| stages.is_settled())?;
        (applied.policy.effect == Effect::Deny).then_some(applied)
    }

    /// Decides by the policies of `layers` that count, and by the rules.
    fn decide_among<'p, 'g>(
        &'p self,
        layers: impl Iterator<Item = (&'p Layer, &'g [Rank])>,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Verdict<'p> {
        let texts = self.made_texts(check);
        let mut values = LayerValues::default();
        self.read_values(check, answers, &texts, &mut values);
        #[expect(clippy::borrow_deref_ref, reason = "the values of a check live shorter")]
        let layers = layers.map(|(layer, gone)| (layer, &*gone));
        let mut stages = Stages::new(layers, &values);
        let rule = self.rules.decide(check, &self.resource);
        // An RBAC deny beats every ABAC allow, and an ABAC deny would not change the effect.
        if rule.as_ref().is_some_and(|rule| rule.effect == Effect::Deny) && !stages.is_settled() {
            return Verdict::Decided(combine(None, || rule));
        }
        // A policy that denies is named before the rule, if no resolver must be asked for it.
        let mut applied = stages.applied(answers);
        if applied.as_ref().is_some_and(|applied| applied.policy.is_denying_rule()) {
            applied = self.denying_policy(check, answers).or(applied);
        }
        let decision = combine(applied, || rule).or_withheld(|| stages.withheld(answers));
        stages.drop_ineffective(decision.effect());
        if stages.is_settled() {
            return Verdict::Decided(decision);
        }
        Verdict::NeedsAttributes(stages.attribute_requests())
    }

    /// Returns the texts that policies read and the check has in another form.
    pub(super) fn made_texts(&self, check: &Check<'_>) -> MadeTexts {
        let mut texts = MadeTexts::new();
        self.layers.iter().for_each(|layer| layer.abac.slots.make_texts(check, &mut texts));
        texts
    }

    /// Reads every attribute of the plan into `values`, for each layer.
    pub(super) fn read_values<'v>(
        &self,
        check: &'v Check<'v>,
        answers: &'v AttributeAnswers,
        texts: &'v MadeTexts,
        values: &mut LayerValues<'v>,
    ) {
        let Some((first, others)) = self.layers.split_first() else { return };
        first.abac.slots.read(check, answers, texts, &mut values.first);
        values.others.resize_with(others.len(), Values::new);
        for (layer, values) in others.iter().zip(&mut values.others) {
            layer.abac.slots.read(check, answers, texts, values);
        }
    }
}
