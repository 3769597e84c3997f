//! Decides checks: by a plan in memory, and where that leaves it open, with the answers of resolvers.

use portcullis_engine::{AttributeAnswers, Check, Decision, Plan, Verdict};
use portcullis_plan_cache::CachedPlan;

use crate::app::App;
use crate::metrics::CheckKind;
use crate::plans::PlanError;
use portcullis_resolvers::Asked;

impl CheckKind {
    fn decide<'p>(
        self,
        plan: &'p Plan,
        check: &Check<'_>,
        answers: &AttributeAnswers,
    ) -> Verdict<'p> {
        match self {
            Self::Combined => plan.decide(check, answers),
            Self::Legacy => Verdict::Decided(plan.evaluate_rbac(check)),
        }
    }
}

impl App {
    /// What `tell` makes of how `check` is decided in `tenant`: of the plan, which is no older than revision
    /// `at_least`, of what resolvers were asked, and of the decision.
    pub async fn decide<R>(
        &self,
        tenant: &str,
        check: &Check<'_>,
        at_least: u64,
        kind: CheckKind,
        tell: impl Fn(&CachedPlan, &Asked, &Decision<'_>) -> R,
    ) -> Result<R, PlanError> {
        let at_once = |cached: &CachedPlan| {
            let asked = Asked::default();
            match kind.decide(cached.plan(), check, &asked.answers) {
                Verdict::Decided(decision) => Some(tell(cached, &asked, &decision)),
                Verdict::NeedsAttributes(_) => None,
            }
        };
        match self.plans.with(tenant, check.resource, at_least, at_once).await? {
            Some(told) => Ok(told),
            None => self.decide_with_resolvers(tenant, check, at_least, kind, tell).await,
        }
    }

    async fn decide_with_resolvers<R>(
        &self,
        tenant: &str,
        check: &Check<'_>,
        at_least: u64,
        kind: CheckKind,
        tell: impl Fn(&CachedPlan, &Asked, &Decision<'_>) -> R,
    ) -> Result<R, PlanError> {
        // One plan for both stages: a write in between must not mix what is asked with what is decided.
        let cached = self.plans.get(tenant, check.resource, at_least).await?;
        let asks = match kind.decide(cached.plan(), check, &AttributeAnswers::default()) {
            Verdict::Decided(decision) => return Ok(tell(&cached, &Asked::default(), &decision)),
            Verdict::NeedsAttributes(asks) => asks,
        };
        let asked = self.resolvers.ask(tenant, check, &asks).await;
        let decision = cached.plan().evaluate_with(check, &asked.answers);
        Ok(tell(&cached, &asked, &decision))
    }
}
