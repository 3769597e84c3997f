//! Batches: many checks by the rules of one revision (`docs/semantics.md`, section 11).

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use portcullis_auth::CheckCaller;
use portcullis_decision_log::BatchTexts;
use portcullis_engine::batch::BatchSemantic;
use portcullis_engine::{
    ActionTerms, AttributeRequest, Check, CheckKind, Decision, Effect, Invalid, Judged,
    MatchedRuleId, Plan, Verdict,
};
use portcullis_limits::{MemoryAccount, MemoryCharge, Spent};
use portcullis_model::event::Event;
use portcullis_plan_cache::CachedPlan;
use portcullis_resolvers::{AnswerOrigin, OpenCheck};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;
use tokio::time::Instant;
use uuid::Uuid;

use super::action_terms::must_take_action;
use super::batch_items::BatchItems;
use super::common_plans::{self, CommonPlans};
use super::live_questions::{LiveQuestion, count_overridden, decide_related, look_up_inputs};
use super::recent_reasons::RecentReasons;
use super::recorded_checks::{Made, RecordedRequest};
use super::recording::{self, Recording};
use crate::people::directory::NeededEntities;

/// The time after which a batch lets other requests of its thread go on.
const SLICE: Duration = Duration::from_millis(2);
/// The most checks between two looks at the clock, which cost as much as a part of a check each.
const MAX_UNTIMED: usize = 16;

/// The parts of a batch that are not in its checks.
#[derive(Clone, Copy, Debug)]
pub struct BatchOptions<'r> {
    /// All decisions are made from rules and entities of these revisions or later ones.
    pub at_least: MinRevisions,
    pub semantic: BatchSemantic,
    /// Whether the answers say what decided, and why.
    pub with_reasons: bool,
    /// The request that records name; `None` if the checks are not recorded, and not compared with a draft.
    pub recorded: Option<RecordedRequest<'r>>,
}

/// The answer to a batch.
#[derive(Debug)]
pub struct BatchAnswer {
    /// The revision of the tenant that all decisions reflect.
    pub revision: u64,
    /// The revision of the entities; `None` if no decision needed them.
    pub entities_revision: Option<u64>,
    /// In the order of the checks, up to the one after which the batch ends.
    pub answers: Vec<ItemAnswer>,
    /// The memory of the reasons; `None` without checks.
    pub charge: Option<MemoryCharge>,
}

/// The answer to a check of a batch.
#[derive(Debug)]
pub struct ItemAnswer {
    pub effect: Effect,
    /// `None` if nobody needs it.
    pub basis: Option<Basis>,
    /// The id of the record, if there is one.
    pub decision_id: Option<Uuid>,
    /// The record, until it is there.
    recording: Option<Recording>,
}

impl ItemAnswer {
    /// The place of an answer that resolvers must give first.
    const OPEN: Self =
        // Whatever keeps the answer from its place, nothing is allowed.
        Self { effect: Effect::Deny, basis: None, decision_id: None, recording: None };
}

/// The cause of a decision.
#[derive(Debug)]
pub struct Basis {
    pub matched_rule_id: MatchedRuleId,
    pub reason: Arc<str>,
}

/// Decides the checks in `items` for `caller`, and records them in the metrics. The events of denied checks are in the
/// store when this function returns, unless the store is down.
///
/// # Errors
/// The caller may not ask about a domain or assume tuples there, the checks are of several tenants, the types do not allow a
/// tuple, there are no plans of one revision that is new enough, or the memory for answers is spent.
pub async fn check_all(
    app: &App,
    caller: &CheckCaller,
    items: &dyn BatchItems,
    options: BatchOptions<'_>,
) -> Result<BatchAnswer, OperationError> {
    let began = Instant::now();
    let manager_roles = &app.manager_roles;
    let Some(tenant) = tenant_of(caller, items, manager_roles)? else {
        return Ok(BatchAnswer {
            revision: options.at_least.rules,
            entities_revision: None,
            answers: Vec::new(),
            charge: None,
        });
    };
    app.closed_tenants.must_be_open(&tenant)?;
    let account = MemoryAccount::for_tenant(caller.tenant());
    let mut reasons = RecentReasons::new(app.limits.answers.charge(account));
    let checks = BatchedChecks { items, caller, now: app.clock.now() };
    let batch = Batch::prepare(app, &tenant, checks, options).await?;
    let mut answers = batch.decide(&mut reasons).await?;
    // A decision that must be recorded and is not refuses the whole batch.
    for answer in &mut answers {
        if let Some(recording) = answer.recording.take() {
            answer.decision_id = recording.settled().await?;
        }
    }
    let charge = reasons.into_charge().map_err(|Spent| OperationError::no_room_for_answer())?;
    batch.count(&answers, began.elapsed());
    batch.record_denials(&answers).await;
    let entities_revision = batch.entities.revision();
    let revision = batch.plans.revision;
    Ok(BatchAnswer { revision, entities_revision, answers, charge: Some(charge) })
}

/// Returns the tenant of all checks; `None` without checks.
fn tenant_of(
    caller: &CheckCaller,
    items: &dyn BatchItems,
    manager_roles: &[String],
) -> Result<Option<String>, OperationError> {
    let mut tenant: Option<String> = None;
    let mut last = None;
    for index in 0..items.count() {
        let Some((_, named)) = items.scope(index) else { continue };
        let assumes = assumed_by(items, index).is_some();
        // Most items have the domain of the one before.
        if last == Some((named, assumes)) {
            continue;
        }
        last = Some((named, assumes));
        if assumes {
            caller.may_assume(named, manager_roles)?;
        }
        let domain = caller.domain_of(named)?;
        let own = caller.tenant_of(domain)?;
        match &tenant {
            None => tenant = Some(own.to_owned()),
            Some(known) if known == own => {}
            Some(_) => {
                let what = "the items are of several tenants: send a batch for each tenant";
                return Err(OperationError::BadRequest(what.to_owned()));
            }
        }
    }
    Ok(tenant)
}

/// Returns the number of the list of tuples that a check assumes, if there are any.
fn assumed_by(items: &dyn BatchItems, index: usize) -> Option<usize> {
    let number = items.assumed(index)?;
    items.lists().get(number).filter(|list| !list.tuples.is_empty()).map(|_| number)
}

/// The complete checks of a batch, in domains that its caller may ask about.
#[derive(Clone, Copy)]
struct BatchedChecks<'b> {
    items: &'b dyn BatchItems,
    caller: &'b CheckCaller,
    now: DateTime<Utc>,
}

impl<'b> BatchedChecks<'b> {
    fn get(&self, index: usize) -> Option<Check<'b>> {
        let body = self.items.check(index)?;
        let domain = self.caller.domain_of(body.domain).ok()?;
        Some(Check::new(body, domain, self.caller.for_check(), self.now))
    }

    /// Returns the resources of the checks, each once, and the number of the resource of each check.
    fn resources(&self) -> (Vec<&'b str>, Vec<u32>) {
        let count = self.items.count();
        let (mut resources, mut numbers) = (Vec::new(), HashMap::new());
        let mut number_of = Vec::with_capacity(count);
        let mut last = None;
        for (resource, _) in (0..count).filter_map(|index| self.items.scope(index)) {
            // Most items have the resource of the one before.
            let number = match last {
                Some((known, number)) if known == resource => number,
                _ => *numbers.entry(resource).or_insert_with(|| {
                    resources.push(resource);
                    // There are fewer resources than items.
                    u32::try_from(resources.len() - 1).unwrap_or(u32::MAX)
                }),
            };
            last = Some((resource, number));
            number_of.push(number);
        }
        (resources, number_of)
    }
}

/// Refuses a batch with an action that its tenant does not let the check have.
fn must_take_actions(
    checks: BatchedChecks<'_>,
    plans: &CommonPlans,
    plan_of: &[u32],
) -> Result<(), Invalid> {
    let terms = plans.plans.iter().filter_map(|plan| plan.plan().facts()).map(|facts| facts.terms);
    if terms.into_iter().all(|terms| terms.actions == ActionTerms::Any) {
        return Ok(());
    }
    for (index, number) in plan_of.iter().enumerate() {
        if let (Some(plan), Some(check)) = (plans.plans.get(*number as usize), checks.get(index)) {
            must_take_action(plan.plan(), &check, &format!("/checks/{index}"))?;
        }
    }
    Ok(())
}

/// A check that resolvers must answer first.
struct OpenItem<'i> {
    index: usize,
    question: LiveQuestion<'i>,
    requests: Vec<AttributeRequest>,
}

/// A batch whose plans are found.
struct Batch<'b> {
    app: &'b App,
    tenant: &'b str,
    checks: BatchedChecks<'b>,
    plans: CommonPlans,
    /// The number of the plan of each check.
    plan_of: Vec<u32>,
    /// The entities that the plans need.
    entities: NeededEntities,
    /// The texts of the records.
    texts: BatchTexts,
    /// The entities with the tuples of each list, as far as they are kept.
    with_tuples: Vec<OnceLock<NeededEntities>>,
    options: BatchOptions<'b>,
    /// Whether the events of denials need reasons.
    subscribes: bool,
}

impl<'b> Batch<'b> {
    async fn prepare(
        app: &'b App,
        tenant: &'b str,
        checks: BatchedChecks<'b>,
        options: BatchOptions<'b>,
    ) -> Result<Self, OperationError> {
        let at_least = app.reach(tenant, options.at_least).await?;
        let (resources, plan_of) = checks.resources();
        let plans = common_plans::find(&app.plans, tenant, &resources, at_least).await?;
        let each = plans.plans.iter().map(|plan| plan.plan());
        let mut entities = NeededEntities::load_for(app, tenant, each, CheckKind::Combined).await?;
        let lists = checks.items.lists();
        // All plans have the types of one revision.
        if let Some(plan) = plans.plans.first().filter(|_| !lists.is_empty()) {
            entities = NeededEntities::load_all(app, tenant, plan.plan()).await?;
            // The lists of checks that are not decided tell nobody about the types.
            let numbers = (0..checks.items.count()).filter_map(|one| assumed_by(checks.items, one));
            for list in numbers.collect::<BTreeSet<_>>().into_iter().filter_map(|n| lists.get(n)) {
                entities.must_allow(plan.plan(), list.into())?;
            }
        }
        must_take_actions(checks, &plans, &plan_of)?;
        let with_tuples = lists.iter().map(|_| OnceLock::new()).collect();
        app.webhooks.prepare(tenant).await;
        let subscribes = app.webhooks.subscribes_to_denials(tenant);
        let texts = BatchTexts::default();
        Ok(Self {
            app,
            tenant,
            checks,
            plans,
            plan_of,
            entities,
            with_tuples,
            texts,
            options,
            subscribes,
        })
    }

    /// Returns the entities of a check that assumes the list of this number. Keeps them if checks share the list.
    ///
    /// # Errors
    /// The types do not allow a tuple.
    fn assuming(&self, number: usize, plan: &Plan) -> Result<NeededEntities, OperationError> {
        let kept = self.with_tuples.get(number);
        if let Some(kept) = kept.and_then(OnceLock::get) {
            return Ok(kept.clone());
        }
        let Some(list) = self.checks.items.lists().get(number) else {
            return Ok(self.entities.clone());
        };
        let with = self.entities.with(plan, list.into())?;
        if let Some(kept) = kept.filter(|_| self.checks.items.is_shared(number)) {
            kept.get_or_init(|| with.clone());
        }
        Ok(with)
    }

    /// Decides the checks up to the one after which the batch ends: first all without resolvers, then those that need them.
    ///
    /// # Errors
    /// The relations of the tenant cannot be read, or too many checks of the tenant look at many of them.
    async fn decide(&self, reasons: &mut RecentReasons) -> Result<Vec<ItemAnswer>, OperationError> {
        let mut decided: Vec<ItemAnswer> = Vec::with_capacity(self.plan_of.len());
        // A check after an open one may not be answered at all, and is recorded once that is known.
        let (mut open, mut unrecorded) = (Vec::new(), Vec::new());
        // Checks with megabytes of attributes are slow: the first one is timed alone.
        let (mut slice, mut untimed, mut next_look) = (Instant::now(), 1, 1);
        for (index, plan) in self.plans().enumerate() {
            let records = open.is_empty() || self.options.semantic == BatchSemantic::ExecuteAll;
            match self.decide_first(index, plan, reasons, records).await? {
                Ok(answer) => {
                    unrecorded.extend((!records).then_some(index));
                    let ends = self.ends_after(&answer);
                    decided.push(answer);
                    // Without room for reasons the whole batch is refused, so that the rest needs no decision.
                    if ends || reasons.are_spent() {
                        break;
                    }
                }
                // Whether an open check ends the batch is known last.
                Err(item) => {
                    open.push(item);
                    decided.push(ItemAnswer::OPEN);
                }
            }
            if decided.len() >= next_look {
                untimed = if pause(&mut slice).await { 1 } else { MAX_UNTIMED.min(2 * untimed) };
                next_look = decided.len() + untimed;
            }
        }
        if !open.is_empty() {
            self.decide_open(open, &mut decided, reasons).await?;
            self.cut(&mut decided);
        }
        // The batch did not end before these: they are decided once more, to be recorded.
        for index in unrecorded {
            if let (Some(place), Some(plan)) = (decided.get_mut(index), self.plan(index))
                && let Ok(answer) = self.decide_first(index, plan, reasons, true).await?
            {
                *place = answer;
            }
        }
        Ok(decided)
    }

    /// Decides a check without resolvers, and records it if `records` is true. Returns what resolvers must answer first if
    /// they must.
    async fn decide_first<'s>(
        &'s self,
        index: usize,
        plan: &'s CachedPlan,
        reasons: &mut RecentReasons,
        records: bool,
    ) -> Result<Result<ItemAnswer, OpenItem<'s>>, OperationError> {
        match assumed_by(self.checks.items, index) {
            None => self.decide_with(&self.entities, index, plan, reasons, records).await,
            Some(number) => {
                // In a box, so that a check without tuples has no room for it.
                Box::pin(self.decide_assuming(number, index, plan, reasons, records)).await
            }
        }
    }

    /// Decides a check as [`Batch::decide_first`] does, with the tuples of the list of this number. The entities with them are
    /// gone when it is decided, unless checks share them; those of a check that waits for resolvers are charged.
    async fn decide_assuming<'s>(
        &'s self,
        number: usize,
        index: usize,
        plan: &'s CachedPlan,
        reasons: &mut RecentReasons,
        records: bool,
    ) -> Result<Result<ItemAnswer, OpenItem<'s>>, OperationError> {
        let with = self.assuming(number, plan.plan())?;
        if let Ok(answer) = self.decide_with(&with, index, plan, reasons, records).await? {
            return Ok(Ok(answer));
        }
        let Some(place) = self.with_tuples.get(number) else { return Ok(Ok(ItemAnswer::OPEN)) };
        // The answer is never sent: the batch is refused, because the memory for answers is spent.
        if place.get().is_none() && reasons.count(with.own_weight()).is_err() {
            return Ok(Ok(ItemAnswer::OPEN));
        }
        let kept = place.get_or_init(|| with);
        self.decide_with(kept, index, plan, reasons, records).await
    }

    /// Decides a check with these entities, as [`Batch::decide_first`] does.
    async fn decide_with<'e>(
        &self,
        entities: &'e NeededEntities,
        index: usize,
        plan: &'e CachedPlan,
        reasons: &mut RecentReasons,
        records: bool,
    ) -> Result<Result<ItemAnswer, OpenItem<'e>>, OperationError>
    where
        'b: 'e,
    {
        // Each plan is the plan of a check, so that there is one.
        let Some(check) = self.checks.get(index) else { return Ok(Ok(ItemAnswer::OPEN)) };
        let mut question = LiveQuestion::combined(plan.plan(), entities, check);
        let decision = match question.judge()? {
            Judged::Decided(decision) => decision,
            judged => {
                let asking = (self.app, self.tenant);
                // In a box, so that a quick check has no room for it.
                match Box::pin(decide_related(asking, &mut question, judged)).await? {
                    Verdict::Decided(decision) => decision,
                    Verdict::NeedsAttributes(requests) => {
                        return Ok(Err(OpenItem { index, question, requests }));
                    }
                }
            }
        };
        let recording = records.then(|| self.record(index, plan, &question, &decision, &[]));
        Ok(Ok(self.answer(&decision, reasons, recording.flatten())))
    }

    /// Asks the resolvers for all `open` checks together, and puts the answers into their places in `decided`.
    ///
    /// # Errors
    /// The relations of the tenant cannot be read.
    async fn decide_open(
        &self,
        mut open: Vec<OpenItem<'_>>,
        decided: &mut [ItemAnswer],
        reasons: &mut RecentReasons,
    ) -> Result<(), OperationError> {
        let mut requests = Vec::with_capacity(open.len());
        for item in &mut open {
            let asking = (self.app, self.tenant);
            look_up_inputs(asking, &mut item.question, &item.requests).await?;
            requests.push(mem::take(&mut item.requests));
        }
        let answers = {
            let checks: Vec<_> = open.iter().map(|item| item.question.for_resolvers()).collect();
            let asked = checks.iter().zip(requests);
            let asked: Vec<_> =
                asked.map(|(check, requests)| OpenCheck { check, requests }).collect();
            self.app.resolvers.ask_all(self.tenant, &asked).await
        };
        let (mut slice, mut has_ended) = (Instant::now(), false);
        for (number, OpenItem { index, mut question, .. }) in open.into_iter().enumerate() {
            let Some(plan) = self.plan(index) else { continue };
            question.add(answers.for_check(number));
            let decision = question.settle();
            // What comes after the end is not answered.
            let recording = (!has_ended)
                .then(|| self.record(index, plan, &question, &decision, &answers.origins(number)));
            let answer = self.answer(&decision, reasons, recording.flatten());
            has_ended |= self.ends_after(&answer);
            if let Some(place) = decided.get_mut(index) {
                *place = answer;
            }
            pause(&mut slice).await;
        }
        Ok(())
    }

    /// Records the decision on a check, which reflects the common revision of the plans, and counts what it overrides.
    fn record(
        &self,
        index: usize,
        plan: &CachedPlan,
        question: &LiveQuestion<'_>,
        decision: &Decision<'_>,
        origins: &[AnswerOrigin<'_>],
    ) -> Option<Recording> {
        count_overridden(self.app, question);
        let revisions = (self.plans.revision, self.entities.revision());
        let own = Made::new(self.tenant, plan, question, decision, origins);
        let list = assumed_by(self.checks.items, index)
            .and_then(|number| self.checks.items.lists().get(number));
        let assumed = list.map_or(&[][..], |list| &list.tuples);
        let made = Made { revisions, assumed, texts: Some(&self.texts), ..own };
        recording::record(self.app, self.options.recorded, &made)
    }

    /// Drops what comes after the answer that ends the batch.
    fn cut(&self, decided: &mut Vec<ItemAnswer>) {
        if let Some(last) = decided.iter().position(|answer| self.ends_after(answer)) {
            decided.truncate(last + 1);
        }
    }

    fn ends_after(&self, answer: &ItemAnswer) -> bool {
        self.options.semantic.ends_after(answer.effect == Effect::Allow)
    }

    fn plan(&self, check: usize) -> Option<&Arc<CachedPlan>> {
        self.plans.plans.get(*self.plan_of.get(check)? as usize)
    }

    /// Returns the plan of each check.
    fn plans(&self) -> impl Iterator<Item = &Arc<CachedPlan>> {
        self.plan_of.iter().filter_map(|number| self.plans.plans.get(*number as usize))
    }

    fn answer(
        &self,
        decision: &Decision<'_>,
        reasons: &mut RecentReasons,
        recording: Option<Recording>,
    ) -> ItemAnswer {
        let effect = decision.effect();
        let is_recorded = self.subscribes && effect == Effect::Deny;
        let basis = (self.options.with_reasons || is_recorded).then(|| Basis {
            matched_rule_id: decision.matched_rule_id(),
            reason: reasons.reason(decision),
        });
        if let Some(basis) = basis.as_ref().filter(|_| is_recorded) {
            // Its event has its own reason. Who looks at the reasons sees the refusal.
            let _ = reasons.count(basis.reason.len());
        }
        ItemAnswer { effect, basis, decision_id: None, recording }
    }

    /// Counts each check, with its part of the time.
    fn count(&self, answers: &[ItemAnswer], elapsed: Duration) {
        // A duration is divided by a number of 32 bits, which must not be 0.
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
        let denied = answers.iter().enumerate().filter_map(|(index, answer)| {
            let basis = answer.basis.as_ref().filter(|_| answer.effect == Effect::Deny)?;
            Some(Event::denied(&self.checks.get(index)?, basis.matched_rule_id, &basis.reason))
        });
        let denied: Vec<_> = denied.collect();
        if !denied.is_empty() {
            self.app.webhooks.record_denials(self.tenant, denied).await;
        }
    }
}

/// Lets other requests of the thread go on after each [`SLICE`]. Returns whether the slice was over.
async fn pause(slice: &mut Instant) -> bool {
    let is_over = slice.elapsed() > SLICE;
    if is_over {
        tokio::task::yield_now().await;
        *slice = Instant::now();
    }
    is_over
}
