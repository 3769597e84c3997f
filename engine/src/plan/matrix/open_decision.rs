//! The decision on a set of requests, by partial evaluation of every policy.

use std::sync::Arc;

use super::outcome::Outcome;
use super::residual::Residual;
use super::simplify::Simplifier;
use crate::plan::Plan;
use crate::plan::index::{Rank, Search};
use crate::plan::slots::Values;
use crate::plan::stages::Stages;
use crate::rbac::Effect;
use crate::resolution::AttributeRequest;

/// A decision that unknown attributes may leave open.
pub(in crate::plan) struct OpenDecision<'p, 'r> {
    plan: &'p Plan,
    stages: Stages<'p, 'r>,
    /// The decision if no open policy applies.
    otherwise: Effect,
}

impl<'p, 'r> OpenDecision<'p, 'r>
where
    'p: 'r,
{
    /// Decides as far as the values of each layer allow. `ranks` has every policy of each layer: the index is no help,
    /// since it looks at attributes that are unknown here. `by_rules` is the decision if no policy applies.
    pub(in crate::plan) fn new<'v: 'r>(
        plan: &'p Plan,
        ranks: &[Vec<Rank>],
        values: &'r [Values<'v>],
        by_rules: Effect,
    ) -> Self {
        let mut stages = Stages::new(&plan.layers, values);
        let mut ranks = ranks.iter();
        stages.evaluate(|layer| layer.evaluate(ranks.next().map_or(&[], Vec::as_slice)));
        let otherwise = stages.found().map_or(by_rules, |policy| policy.effect);
        stages.drop_ineffective(otherwise);
        Self { plan, stages, otherwise }
    }

    /// Returns the outcome. A residual shows its conditions if they have at most `max_bytes` bytes of memory.
    pub(in crate::plan) fn outcome(&mut self, max_bytes: usize) -> Outcome<'p> {
        match self.residual(max_bytes) {
            Ok(residual) => Outcome::Depends(Arc::new(residual)),
            Err(effect) => effect.into(),
        }
    }

    /// Returns the residual, with conditions of at most `max_bytes` bytes of memory.
    ///
    /// # Errors
    /// The decision is settled.
    pub(in crate::plan) fn residual(&mut self, max_bytes: usize) -> Result<Residual<'p>, Effect> {
        let Self { plan, stages, otherwise } = self;
        if stages.is_settled() {
            return Err(*otherwise);
        }
        let open = stages.open();
        let mut left = max_bytes;
        let condition = |(at, rank): &(usize, Rank)| {
            let evaluation = stages.layer(*at);
            let abac = &evaluation.layer.abac;
            let policy = abac.conditions[*rank as usize];
            let mut simplifier = Simplifier::new(&mut evaluation.run, &abac.slots, &mut left);
            simplifier.residual(policy.condition?, policy.effect)
        };
        let conditions: Option<Vec<_>> = open.iter().map(condition).collect();
        let policy = |(at, rank): &(usize, Rank)| plan.layers[*at].policy(*rank);
        let policies = open.iter().filter_map(policy).collect();
        Ok(Residual::new(policies, conditions, *otherwise))
    }

    /// Returns the requests for the attributes of resolvers on which the outcome depends.
    pub(in crate::plan) fn attribute_requests(self) -> Vec<AttributeRequest> {
        self.stages.attribute_requests()
    }
}
