//! The decision on a set of requests, by partial evaluation of every policy.

use std::sync::Arc;

use super::residual::{Outcome, Residual};
use super::simplify::Simplifier;
use crate::plan::Plan;
use crate::plan::index::{Rank, Search};
use crate::plan::partial_evaluation::PartialEvaluation;
use crate::plan::program::Run;
use crate::rbac::Effect;
use crate::resolution::AttributeRequest;

/// A decision that unknown attributes may leave open.
pub(in crate::plan) struct OpenDecision<'p, 'r> {
    plan: &'p Plan,
    search: PartialEvaluation<'p, 'r>,
    /// The decision if no open policy applies.
    otherwise: Effect,
}

impl<'p, 'r> OpenDecision<'p, 'r> {
    /// Decides as far as the values of `run` allow. `ranks` has every policy: the index does not help, since it looks
    /// at attributes that are unknown here. `by_rules` is the decision if no policy applies.
    pub(in crate::plan) fn new(
        plan: &'p Plan,
        ranks: &[Rank],
        run: Run<'r>,
        by_rules: Effect,
    ) -> Self {
        let mut search = PartialEvaluation::new(&plan.whole().conditions, run);
        search.evaluate(ranks);
        search.drop_outranked();
        let certain = plan.whole().conditions.get(search.found as usize);
        let otherwise = certain.map_or(by_rules, |policy| policy.effect);
        search.drop_ineffective(otherwise);
        Self { plan, search, otherwise }
    }

    /// Wraps an evaluation without the open policies that cannot change the decision, which is `otherwise` if none of them
    /// applies.
    pub(in crate::plan) fn from_search(
        plan: &'p Plan,
        search: PartialEvaluation<'p, 'r>,
        otherwise: Effect,
    ) -> Self {
        Self { plan, search, otherwise }
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
        let Self { plan, search, otherwise } = self;
        if search.is_settled() {
            return Err(*otherwise);
        }
        let open = search.open().to_vec();
        let mut simplifier = Simplifier::new(&mut search.run, &plan.whole().slots, max_bytes);
        let conditions = open.iter().map(|rank| {
            let policy = plan.whole().conditions[*rank as usize];
            // Without a condition a policy is not open.
            simplifier.residual(policy.condition?, policy.effect)
        });
        let conditions: Option<Vec<_>> = conditions.collect();
        let policies = open.iter().map(|rank| &plan.whole().policies[*rank as usize]).collect();
        Ok(Residual::new(policies, conditions, *otherwise))
    }

    /// Returns the requests for the attributes of resolvers on which the outcome depends.
    pub(in crate::plan) fn attribute_requests(self) -> Vec<AttributeRequest> {
        self.search.attribute_requests(&self.plan.whole().slots)
    }
}
