//! The check: finds the plan, decides, and records the decision (`docs/semantics.md`, section 2).

use chrono::{DateTime, Utc};
use portcullis_auth::CheckCaller;
use portcullis_engine::{Check, CheckBody, CheckKind, Effect, Judged, MatchedRuleId};
use portcullis_model::event::Event;
use portcullis_model::resource::doubt_about_resource;
use portcullis_resolvers::CacheMode;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;
use portcullis_runtime::plans::{PlanError, is_lost};
use portcullis_traces::enter;
use tokio::time::Instant;
use uuid::Uuid;

use super::action_terms::{must_take_action, takes_action};
use super::assumed::Assumed;
use super::explained_checks::{Evidence, ExplainedCheck, explained_relations};
use super::hints::hints;
use super::live_hints::KnownOfTenant;
use super::live_questions::{self, LiveQuestion, count_overridden};
use super::open_scope::open_scope;
use super::past_plans::PastRules;
use super::plan_source::PlanSource;
use super::recorded_checks::{Made, RecordedRequest};
use super::recording::{self, Recording};
use crate::people::directory::NeededEntities;

/// The parts of a check that are not in its body.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions<'o> {
    /// Selects the rules that decide.
    pub kind: CheckKind,
    /// The decision is made from rules and entities of these revisions or later ones.
    pub at_least: MinRevisions,
    /// Keeps the evidence for an explanation.
    pub explain: bool,
    /// The instant that stands for the present in conditions and resolvers; `None` is the present itself. With an
    /// instant, resolvers are called past their caches.
    pub now: Option<DateTime<Utc>>,
    /// Tuples that count beside the stored ones.
    pub assumed: Assumed<'o>,
    /// The revision whose content decides; `None` is the present content.
    pub at_revision: Option<u64>,
    /// The request that a record names; `None` if the check is not recorded, and not compared with a draft.
    pub recorded: Option<RecordedRequest<'o>>,
}

impl CheckOptions<'_> {
    /// Returns the options of a check by the present content at the present instant, which is not recorded.
    pub fn present(kind: CheckKind, at_least: MinRevisions) -> Self {
        Self {
            kind,
            at_least,
            explain: false,
            now: None,
            assumed: Assumed::default(),
            at_revision: None,
            recorded: None,
        }
    }
}

/// A check that is decided.
#[derive(Debug)]
pub struct DecidedCheck<'c> {
    /// The complete question.
    pub check: Check<'c>,
    pub answer: CheckAnswer,
    /// `None` unless [`CheckOptions::explain`] is set.
    pub evidence: Option<Evidence>,
}

impl DecidedCheck<'_> {
    /// Calls `use_it` with the explanation, which borrows everything; returns `None` if the check was not to be explained.
    pub fn explained<T>(&self, use_it: impl FnOnce(ExplainedCheck<'_>) -> T) -> Option<T> {
        let Evidence { cached, entities, answers, asked, relations, known } =
            self.evidence.as_ref()?;
        let question = LiveQuestion::combined(cached.plan(), entities, self.check);
        let (check, MatchedRuleId(rule_id)) = (question.completed(), self.answer.matched_rule_id);
        let explanation = question.plan.explain(&check, answers, rule_id);
        let is_denied = self.answer.effect == Effect::Deny;
        let changes = is_denied.then(|| question.plan.would_allow(&check, answers));
        let hints = hints(&known.facts(), question.plan, &self.check, &explanation);
        let explained = ExplainedCheck::new(explanation, relations, changes).with_hints(hints);
        Some(use_it(explained.of_service(self.answer.revision, &asked.reports)))
    }
}

/// The answer to a check. It does not borrow from the plan.
#[derive(Clone, Debug)]
pub struct CheckAnswer {
    pub effect: Effect,
    pub matched_rule_id: MatchedRuleId,
    pub reason: String,
    /// The revision of the tenant that the plan reflects.
    pub revision: u64,
    /// The revision of the entities; `None` if the decision needed none.
    pub entities_revision: Option<u64>,
    /// The id of the record; `None` if there is none.
    pub decision_id: Option<Uuid>,
}

impl CheckAnswer {
    fn new(Made { decision, revisions, .. }: &Made<'_>) -> Self {
        Self {
            effect: decision.effect(),
            matched_rule_id: decision.matched_rule_id(),
            reason: decision.reason(),
            revision: revisions.0,
            entities_revision: revisions.1,
            decision_id: None,
        }
    }
}

/// Decides the check in `body` for `caller`, and records it in the metrics. If it is denied, its event is in the
/// store when this function returns, unless the store is down. An explained check has no event.
///
/// # Errors
/// The caller may not ask about the domain, for an explanation or with tuples, the types do not allow one, or there is no plan
/// that is new enough.
pub async fn check<'c>(
    app: &App,
    caller: &'c CheckCaller,
    body: CheckBody<'c>,
    mut options: CheckOptions<'_>,
) -> Result<DecidedCheck<'c>, OperationError> {
    if options.explain {
        caller.may_explain(body.domain, &app.manager_roles)?;
    } else if !options.assumed.tuples.is_empty() {
        caller.may_assume(body.domain, &app.manager_roles)?;
    }
    let began = Instant::now();
    let (domain, tenant) = open_scope(app, caller, body.domain)?;
    let now = options.now.unwrap_or_else(|| app.clock.now());
    let check = Check::new(body, domain, caller.for_check(), now);
    // Most checks name no revision of entities, and need no box for the wait.
    if options.at_least.entities > 0 {
        options.at_least.rules = Box::pin(app.reach(tenant, options.at_least)).await?;
    }
    let (mut decided, recording) = decide_recorded(app, tenant, check, options).await?;
    if let Some(recording) = recording {
        decided.answer.decision_id = recording.settled().await?;
    }
    app.metrics.checks.decided(options.kind, decided.answer.effect, began.elapsed());
    let is_present = options.at_revision.is_none();
    if let Some(evidence) = decided.evidence.as_ref().filter(|_| is_present)
        && decided.answer.matched_rule_id.0.is_none()
    {
        let names = evidence.known.names();
        let registered = names.registered.iter().map(String::as_str);
        decided.answer.reason += &doubt_about_resource(check.resource, names.is_named, registered);
    }
    // An explanation is a question of a manager. Nobody was refused anything.
    if !options.explain {
        record_denial(app, tenant, &decided).await;
    }
    Ok(decided)
}

/// Decides `check` in `tenant` and records nothing.
///
/// # Errors
/// There is no plan that is new enough, or the relations do not allow a tuple that is assumed.
pub async fn decide<'c>(
    app: &App,
    tenant: &str,
    check: Check<'c>,
    options: CheckOptions<'_>,
) -> Result<DecidedCheck<'c>, OperationError> {
    let options = CheckOptions { recorded: None, ..options };
    Ok(decide_recorded(app, tenant, check, options).await?.0)
}

/// Decides `check` in `tenant`, and records the decision if `options` say so.
async fn decide_recorded<'c>(
    app: &App,
    tenant: &str,
    check: Check<'c>,
    options: CheckOptions<'_>,
) -> Result<(DecidedCheck<'c>, Option<Recording>), OperationError> {
    // An explanation reads the plan after the decision, and a hot plan is only borrowed.
    if !options.explain
        && options.assumed.tuples.is_empty()
        && let Some((answer, recording)) = decide_with_hot_plan(app, tenant, &check, options)?
    {
        return Ok((DecidedCheck { check, answer, evidence: None }, recording));
    }
    // In a box, so that a check with a hot plan has no room for the state of a load.
    Box::pin(decide_with_any_plan(app, tenant, check, options)).await
}

/// Decides `check` with a plan that may have to be loaded, and asks the resolvers that the decision needs.
async fn decide_with_any_plan<'c>(
    app: &App,
    tenant: &str,
    check: Check<'c>,
    options: CheckOptions<'_>,
) -> Result<(DecidedCheck<'c>, Option<Recording>), OperationError> {
    // One plan decides before and after the resolvers answer: two plans could have two revisions.
    let cached = {
        let past = PastRules::read(app, tenant, options.at_revision).await?;
        let plans = PlanSource::new(app, past.as_ref());
        plans.find(tenant, check.resource, options.at_least.rules).await?
    };
    must_take_action(cached.plan(), &check, "")?;
    // Before the decision: the denial then needs no read, also if the store fails meanwhile.
    app.webhooks.prepare(tenant).await;
    let entities = match options.assumed {
        Assumed { tuples: [], .. } => {
            NeededEntities::load(app, tenant, cached.plan(), options.kind).await?
        }
        assumed => NeededEntities::assuming(app, tenant, cached.plan(), assumed).await?,
    };
    let mut question = LiveQuestion::new(cached.plan(), &entities, check, options.kind);
    let mode = if options.now.is_none() { CacheMode::Use } else { CacheMode::Bypass };
    let (decision, asked) = live_questions::decide((app, tenant), &mut question, mode).await?;
    let (answer, recording) = {
        let origins = asked.origins();
        let made = Made::new(tenant, &cached, &question, &decision, &origins);
        let made = Made { assumed: options.assumed.tuples, ..made };
        conclude(app, options.recorded, &made)
    };
    let mut decided = DecidedCheck { check, answer, evidence: None };
    if options.explain {
        let relations =
            explained_relations((app, tenant), &mut question, options.assumed.tuples).await?;
        let answers = question.into_answers();
        let known = KnownOfTenant::read((app, tenant), cached.plan(), &check).await?;
        decided.evidence = Some(Evidence { cached, entities, answers, asked, relations, known });
    }
    Ok((decided, recording))
}

/// The answer of a plan that is hot and needs no resolver, with its record. `None` leaves the check to the slower path.
fn decide_with_hot_plan(
    app: &App,
    tenant: &str,
    check: &Check<'_>,
    options: CheckOptions<'_>,
) -> Result<Option<(CheckAnswer, Option<Recording>)>, PlanError> {
    let _step = enter("plan");
    let plans = app.plans.hot()?;
    let Some(cached) = plans.get(tenant, check.resource, options.at_least.rules) else {
        return Ok(None);
    };
    // The slower path says so.
    if is_lost(options.at_least.rules, cached.revision()) {
        return Ok(None);
    }
    // The slower path refuses the action, and says what is expected.
    if !takes_action(cached.plan(), check) {
        return Ok(None);
    }
    let Some(entities) = NeededEntities::ready(app, tenant, cached.plan(), options.kind)? else {
        return Ok(None);
    };
    let mut question = LiveQuestion::new(cached.plan(), &entities, *check, options.kind);
    let Judged::Decided(decision) = question.judge()? else { return Ok(None) };
    let made = Made::new(tenant, cached, &question, &decision, &[]);
    Ok(Some(conclude(app, options.recorded, &made)))
}

/// Returns the answer to a question that is decided, and records it if it is `recorded`.
fn conclude(
    app: &App,
    recorded: Option<RecordedRequest<'_>>,
    made: &Made<'_>,
) -> (CheckAnswer, Option<Recording>) {
    count_overridden(app, made.question);
    let recording = recording::record(app, recorded, made);
    (CheckAnswer::new(made), recording)
}

/// Stores the event of a denied check, if a webhook of `tenant` subscribes to it.
async fn record_denial(app: &App, tenant: &str, decided: &DecidedCheck<'_>) {
    let answer = &decided.answer;
    if answer.effect == Effect::Deny && app.webhooks.subscribes_to_denials(tenant) {
        let event = Event::denied(&decided.check, answer.matched_rule_id, &answer.reason);
        // In a box for the same reason.
        Box::pin(app.webhooks.record_denial(tenant, event)).await;
    }
}
