//! Searches for actions: which verbs of a type are allowed on one resource.

use portcullis_auth::CheckCaller;
use portcullis_engine::fields::within;
use portcullis_engine::rbac::MAX_ACTION;
use portcullis_engine::request::{Action, Attributes};
use portcullis_engine::resource::split_resource;
use portcullis_engine::{Check, CheckBody, CheckKind, Effect, Verdict};
use portcullis_model::search::SearchPage;
use portcullis_plan_cache::WILDCARD;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;
use portcullis_runtime::searches::PAGE_TIME;
use portcullis_storage::verbs::{self, VerbChunk};
use tokio::time::Instant;

use super::cursor::{Position, RequestMark};
use super::page::{ConditionalEntity, FoundEntity, SearchSource, SearchedPage};
use super::scope;
use crate::decide::live_questions::{LiveQuestion, decide_related};
use crate::decide::past_plans::PastRules;
use crate::decide::plan_source::PlanSource;
use crate::people::directory::NeededEntities;

/// A search for actions.
#[derive(Debug)]
pub struct ActionQuestion<'q> {
    pub subject: &'q str,
    /// The type of the subject; `None` reads it from the name.
    pub subject_type: Option<&'q str>,
    /// The type of the resource.
    pub resource_type: &'q str,
    /// Returns the action of the check of a verb; `None` leaves it out.
    pub action_of: Option<fn(&str) -> String>,
    pub domain: Option<&'q str>,
    pub attributes: Attributes<'q>,
    pub page: SearchPage<'q>,
    /// The place of the cursor in the body, as a JSON pointer.
    pub cursor_at: &'static str,
    /// Answers from rules and entities of these revisions or later ones.
    pub at_least: MinRevisions,
    /// The revision whose rules decide; `None` is the present.
    pub at_revision: Option<u64>,
}

/// Searches for the actions that are allowed. Records no denials.
///
/// # Errors
/// The caller may not ask, the cursor is of another request, or there is no plan or directory that is new enough.
pub async fn search_actions(
    app: &App,
    caller: &CheckCaller,
    question: &ActionQuestion<'_>,
    mark: &RequestMark,
) -> Result<SearchedPage, OperationError> {
    let began = Instant::now();
    let (domain, tenant) =
        scope(app, caller, Some(question.subject), question.domain, question.at_revision)?;
    let cursor = question.page.cursor;
    let position = cursor.map(|cursor| mark.position(&app.keys, cursor, question.cursor_at));
    let position = position.transpose()?;
    let mut last = position.as_ref().map_or("", |at| &*at.last).to_owned();
    let revision = position.as_ref().map_or(0, |at| at.revision);
    let past = PastRules::read(app, tenant, question.at_revision).await?;
    let plans = PlanSource::new(app, past.as_ref());
    // A page that decides nothing has a revision, too: the revision of the plan that every tenant has.
    let at_least = app.reach(tenant, question.at_least).await?;
    let at_least = plans.find(tenant, WILDCARD, at_least).await?.revision();
    let decider = ActionDecider { app, caller, question, domain, tenant, plans, at_least };
    let mut page = SearchedPage::new(SearchSource::Request, revision.max(at_least));
    'page: loop {
        let chunk = match &past {
            Some(past) => past.verbs(question.resource_type, &last),
            None => read_verbs(app, tenant, question.resource_type, &last).await?,
        };
        for verb in chunk.verbs {
            let is_full = page.len() >= question.page.limit || began.elapsed() >= PAGE_TIME;
            // A page of none ends where it begins.
            if is_full && (page.looked_at > 0 || question.page.limit == 0) {
                page.next = Some(last);
                break 'page;
            }
            decider.decide(&verb, &mut page).await?;
            last = verb;
        }
        match chunk.next {
            // A chunk without verbs that a check can have takes time, too.
            Some(next) if began.elapsed() >= PAGE_TIME => {
                page.next = Some(next);
                break;
            }
            Some(next) => last = next,
            None => break,
        }
    }
    page.rules_changed = position.is_some_and(|at| at.revision != page.revision);
    page.next =
        page.next.map(|last| mark.cursor(&app.keys, &Position { revision: page.revision, last }));
    Ok(page)
}

async fn read_verbs(
    app: &App,
    tenant: &str,
    resource_type: &str,
    after: &str,
) -> Result<VerbChunk, OperationError> {
    app.read(tenant, async |tx| verbs::for_type(tx, resource_type, after).await).await
}

/// Decides the actions of a search, one by one.
struct ActionDecider<'d> {
    app: &'d App,
    caller: &'d CheckCaller,
    question: &'d ActionQuestion<'d>,
    domain: &'d str,
    tenant: &'d str,
    plans: PlanSource<'d>,
    /// The revision that plans have at least.
    at_least: u64,
}

impl ActionDecider<'_> {
    /// Decides one action, and adds it to the page unless it is denied.
    async fn decide(&self, verb: &str, page: &mut SearchedPage) -> Result<(), OperationError> {
        let Self { app, question, tenant, .. } = *self;
        let resource = format!("{}:{verb}", question.resource_type);
        let sent = question.action_of.map(|action_of| action_of(verb));
        page.looked_at += 1;
        // No check can have such a resource or action, though a rule may name it.
        if split_resource(&resource).is_none()
            || !within(sent.as_deref().unwrap_or(verb), MAX_ACTION)
        {
            return Ok(());
        }
        let cached = self.plans.find(tenant, &resource, self.at_least).await?;
        let plan = cached.plan();
        page.revision = page.revision.max(cached.revision());
        let body = CheckBody {
            subject: question.subject,
            subject_type: question.subject_type,
            resource: &resource,
            action: Action::of(sent.as_deref(), &resource),
            domain: question.domain,
            attributes: question.attributes,
            expected: None,
        };
        let entities = NeededEntities::load(app, tenant, plan, CheckKind::Combined).await?;
        page.entities_revision = page.entities_revision.max(entities.revision());
        let check = Check::new(body, self.domain, self.caller.for_check(), app.clock.now());
        let mut asked = LiveQuestion::combined(plan, &entities, check);
        let judged = asked.judge()?;
        match decide_related((app, tenant), &mut asked, judged).await? {
            Verdict::Decided(decision) => {
                if let (Effect::Allow, Some(rule)) = (decision.effect(), decision.rule_id()) {
                    page.found.push(FoundEntity { id: verb.to_owned(), rule });
                }
            }
            Verdict::NeedsAttributes(requests) => {
                page.conditional.push(ConditionalEntity::from_requests(verb, &requests));
            }
        }
        Ok(())
    }
}
