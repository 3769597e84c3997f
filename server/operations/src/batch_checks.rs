//! Batches: many checks by the rules of one revision (`docs/semantics.md`, section 11).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_auth::CheckCaller;
use portcullis_engine::batch::BatchSemantic;
use portcullis_engine::{AttributeAnswers, Check, CheckBody, Decision, Effect, Supply, Verdict};
use portcullis_model::event::Event;
use portcullis_plan_cache::CachedPlan;
use portcullis_resolvers::OpenCheck;
use tokio::time::Instant;

use crate::app::App;
use crate::common_plans::{self, CommonPlans};
use crate::directory::{self, NeededEntities};
use crate::error::OperationError;
use crate::metrics::CheckKind;

/// The time after which a batch lets other requests of its thread go on.
const SLICE: Duration = Duration::from_millis(2);
/// Checks between two looks at the clock, which cost as much as a part of a check each.
const UNTIMED: usize = 16;

/// The parts of a batch that are not in its checks.
#[derive(Clone, Copy, Debug)]
pub struct BatchOptions {
    /// All decisions are made from rules of this revision or a later one; 0 accepts every revision.
    pub at_least: u64,
    pub semantic: BatchSemantic,
    /// Whether the answers say what decided, and why.
    pub with_reasons: bool,
}

/// The answer to a batch.
#[derive(Debug)]
pub struct BatchAnswer {
    /// The revision of the tenant that all decisions reflect.
    pub revision: u64,
    /// In the order of the checks, up to the one after which the batch ends.
    pub answers: Vec<ItemAnswer>,
}

/// The answer to a check of a batch.
#[derive(Debug)]
pub struct ItemAnswer {
    pub effect: Effect,
    /// `None` if nobody needs it.
    pub basis: Option<Basis>,
}

/// The cause of a decision.
#[derive(Debug)]
pub struct Basis {
    /// The id of the policy or rule that decided, or `default-deny`.
    pub matched_rule_id: String,
    pub reason: String,
}

/// Decides the checks in `bodies` for `caller`, and records them in the metrics. The events of denied checks are in the
/// store when this function returns, unless the store is down.
///
/// # Errors
/// The caller may not ask about a domain, the checks are of several tenants, or there are no plans of one revision that is
/// new enough.
pub async fn check_all(
    app: &App,
    caller: &CheckCaller,
    bodies: &[CheckBody<'_>],
    options: BatchOptions,
) -> Result<BatchAnswer, OperationError> {
    let began = Instant::now();
    let Some(tenant) = tenant_of(caller, bodies)? else {
        return Ok(BatchAnswer { revision: options.at_least, answers: Vec::new() });
    };
    app.closed_tenants.must_be_open(&tenant)?;
    let now = app.clock.now();
    let checks = bodies.iter().map(|body| {
        let domain = caller.domain_of(body.domain)?;
        Ok(Check::new(*body, domain, caller.of_check(), now))
    });
    let checks: Vec<Check<'_>> = checks.collect::<Result<_, OperationError>>()?;
    let batch = Batch::prepare(app, &tenant, &checks, options).await?;
    let answers = batch.decide().await;
    batch.count(&answers, began.elapsed());
    batch.record_denials(&answers).await;
    Ok(BatchAnswer { revision: batch.plans.revision, answers })
}

/// Returns the tenant of all checks; `None` without checks.
fn tenant_of(
    caller: &CheckCaller,
    bodies: &[CheckBody<'_>],
) -> Result<Option<String>, OperationError> {
    let mut tenant: Option<String> = None;
    let mut last = None;
    for body in bodies {
        // Most items have the domain of the one before.
        if last == Some(body.domain) {
            continue;
        }
        last = Some(body.domain);
        let domain = caller.domain_of(body.domain)?;
        let own = caller.tenant_of(domain)?;
        match &tenant {
            None => tenant = Some(own.to_owned()),
            Some(known) if known == own => {}
            Some(_) => {
                let what =
                    "the items are of several tenants: send those of each in a batch of their own";
                return Err(OperationError::BadRequest(what.to_owned()));
            }
        }
    }
    Ok(tenant)
}

/// A batch whose plans are found.
struct Batch<'b> {
    app: &'b App,
    tenant: &'b str,
    checks: &'b [Check<'b>],
    plans: CommonPlans,
    /// The number of the plan of each check.
    plan_of: Vec<usize>,
    /// The entities that the plans need.
    entities: NeededEntities,
    options: BatchOptions,
    /// Whether the events of denials need reasons.
    subscribes: bool,
}

impl<'b> Batch<'b> {
    async fn prepare(
        app: &'b App,
        tenant: &'b str,
        checks: &'b [Check<'b>],
        options: BatchOptions,
    ) -> Result<Self, OperationError> {
        let (mut resources, mut numbers) = (Vec::new(), HashMap::new());
        let mut last = None;
        let number = |check: &Check<'b>| {
            // Most items have the resource of the one before.
            if let Some((resource, number)) = last
                && resource == check.resource
            {
                return number;
            }
            let number = *numbers.entry(check.resource).or_insert_with(|| {
                resources.push(check.resource);
                resources.len() - 1
            });
            last = Some((check.resource, number));
            number
        };
        let plan_of = checks.iter().map(number).collect();
        let plans = common_plans::find(&app.plans, tenant, &resources, options.at_least).await?;
        let each = plans.plans.iter().map(|plan| plan.plan());
        let entities = NeededEntities::load_for(app, tenant, each, CheckKind::Combined).await?;
        app.webhooks.prepare(tenant).await;
        let subscribes = app.webhooks.subscribes_to_denials(tenant);
        Ok(Self { app, tenant, checks, plans, plan_of, entities, options, subscribes })
    }

    /// Decides the checks up to the one after which the batch ends: first all without resolvers, then those that need them.
    async fn decide(&self) -> Vec<ItemAnswer> {
        let mut decided: Vec<Option<ItemAnswer>> = Vec::with_capacity(self.checks.len());
        let (mut open, mut open_at) = (Vec::new(), Vec::new());
        let mut slice = Instant::now();
        let supplies = self.supplies();
        let completed: Vec<Check<'_>> = self
            .checks
            .iter()
            .zip(&supplies)
            .map(|(check, supply)| directory::completed(supply.as_ref(), *check))
            .collect();
        let checks = if supplies.is_empty() { self.checks } else { &completed };
        for (check, plan) in checks.iter().zip(self.plans()) {
            let answer = match plan.plan().decide(check, &AttributeAnswers::default()) {
                Verdict::Decided(decision) => Some(self.answer(&decision)),
                Verdict::NeedsAttributes(requests) => {
                    open_at.push(decided.len());
                    open.push(OpenCheck { check, requests });
                    None
                }
            };
            let ends = answer.as_ref().is_some_and(|answer| self.ends_after(answer));
            decided.push(answer);
            if ends {
                break;
            }
            if decided.len().is_multiple_of(UNTIMED) {
                pause(&mut slice).await;
            }
        }
        if !open.is_empty() {
            let answers = self.app.resolvers.ask_all(self.tenant, &open).await;
            for (index, (open, at)) in open.iter().zip(open_at).enumerate() {
                let answers = answers.of(index);
                let Some(plan) = self.plan(at) else { continue };
                let decision = plan.plan().evaluate_with(open.check, &answers);
                if let Some(place) = decided.get_mut(at) {
                    *place = Some(self.answer(&decision));
                }
                pause(&mut slice).await;
            }
        }
        self.cut(decided)
    }

    /// Returns what completes each check; nothing if all are complete as they were sent.
    fn supplies(&self) -> Vec<Option<Supply<'_>>> {
        if self.plans.plans.iter().all(|plan| plan.plan().facts().is_none()) {
            return Vec::new();
        }
        let each = self.checks.iter().zip(self.plans());
        each.map(|(check, plan)| self.supply(check, plan)).collect()
    }

    fn supply<'s>(&'s self, check: &Check<'s>, plan: &'s CachedPlan) -> Option<Supply<'s>> {
        self.entities.supply(plan.plan(), CheckKind::Combined, check)
    }

    /// Drops what comes after the answer that ends the batch.
    fn cut(&self, decided: Vec<Option<ItemAnswer>>) -> Vec<ItemAnswer> {
        let mut answers = Vec::with_capacity(decided.len());
        for answer in decided.into_iter().flatten() {
            let ends = self.ends_after(&answer);
            answers.push(answer);
            if ends {
                break;
            }
        }
        answers
    }

    fn ends_after(&self, answer: &ItemAnswer) -> bool {
        self.options.semantic.ends_after(answer.effect == Effect::Allow)
    }

    fn plan(&self, check: usize) -> Option<&Arc<CachedPlan>> {
        self.plans.plans.get(*self.plan_of.get(check)?)
    }

    /// Returns the plan of each check.
    fn plans(&self) -> impl Iterator<Item = &Arc<CachedPlan>> {
        self.plan_of.iter().filter_map(|number| self.plans.plans.get(*number))
    }

    fn answer(&self, decision: &Decision<'_>) -> ItemAnswer {
        let effect = decision.effect();
        let is_recorded = self.subscribes && effect == Effect::Deny;
        let basis = (self.options.with_reasons || is_recorded).then(|| Basis {
            matched_rule_id: decision.matched_rule_id(),
            reason: decision.reason(),
        });
        ItemAnswer { effect, basis }
    }

    /// Counts each check, with its part of the time.
    fn count(&self, answers: &[ItemAnswer], elapsed: Duration) {
        let count = u32::try_from(answers.len()).unwrap_or(u32::MAX).max(1);
        for effect in [Effect::Allow, Effect::Deny] {
            let number = answers.iter().filter(|answer| answer.effect == effect).count();
            let number = u64::try_from(number).unwrap_or(u64::MAX);
            let checks = &self.app.metrics.checks;
            checks.decided_many(CheckKind::Combined, effect, number, elapsed / count);
        }
    }

    /// Stores the events of denied checks, if a webhook of the tenant subscribes to them.
    async fn record_denials(&self, answers: &[ItemAnswer]) {
        if !self.subscribes {
            return;
        }
        let denied = self.checks.iter().zip(answers).filter_map(|(check, answer)| {
            let basis = answer.basis.as_ref().filter(|_| answer.effect == Effect::Deny)?;
            Some(Event::denied(check, &basis.matched_rule_id, &basis.reason))
        });
        let denied: Vec<_> = denied.collect();
        if !denied.is_empty() {
            self.app.webhooks.record_denials(self.tenant, denied).await;
        }
    }
}

/// Lets other requests of the thread go on after each [`SLICE`].
async fn pause(slice: &mut Instant) {
    if slice.elapsed() > SLICE {
        tokio::task::yield_now().await;
        *slice = Instant::now();
    }
}
