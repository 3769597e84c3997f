//! An apply: a plan that is made and judged on a snapshot, and one transaction that writes it (`docs/semantics.md`,
//! section 10.4).

use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_fairness::Turn;
use portcullis_model::Authorship;
use portcullis_model::apply::{ApplyAnswer, ProposalSummary};
use portcullis_model::audit::CredentialKind;
use portcullis_model::proposal::ProposalRecord;
use portcullis_model::revision::RevisionVia;
use portcullis_model::settings::TenantSettings;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::gates::{self, GateVerdict, Judgement};
use portcullis_runtime::write_refusal::{DeletingWrite, WriteRefusal};
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{HistoryPosition, StoreError, Tx, WriteTurn, entities, tenants, webhooks};
use tokio::time::Instant;

use super::answer::{Shown, answer, case_report};
use super::execute::{Execution, ROLES, execute};
use super::guards::GuardWrites;
use super::impact;
use super::plan::{ApplyPlan, PlanContext, plan};
use super::ready::{FoundModule, ReadyResolver, find_modules, make_ready};
use super::request::ApplyRequest;
use super::rights::{self, Sight};
use super::secrets;
use super::stored_types::check_types;
use crate::gated_writes::{MAX_JUDGEMENTS, must_be_in_time};
use crate::proposals::{self, NewProposal};
use crate::roles::must_not_be_entities;
use crate::tenant_content::TenantContent;

/// The mode of an apply: how far it goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum ApplyMode<'m> {
    /// Only the plan is made.
    DryRun,
    /// The plan is carried out, or becomes a proposal with this body.
    Apply(&'m str),
    /// The plan of a proposal is carried out. The caller approves it.
    Approval(&'m ProposalRecord),
}

/// Applies the request that `read` makes of a body, with the body itself; with `dry_run`, only makes the plan.
///
/// Modules must be in memory before `ready_by`.
///
/// # Errors
/// The error of `read`; too many bundles are being read, or the apply is refused as `apply` says.
pub async fn apply_body<E: From<OperationError> + Send + 'static>(
    app: &App,
    caller: &Manager,
    read: impl FnOnce() -> Result<(ApplyRequest, String), E> + Send + 'static,
    dry_run: bool,
    ready_by: Instant,
) -> Result<ApplyAnswer, E> {
    // A tree takes many times the memory of its text, and a bundle may bring modules.
    let _turn = app.uploads.begin(caller.tenant()).await?;
    let (request, body) = app.compilations.run(caller.tenant(), read).await??;
    let mode = if dry_run { ApplyMode::DryRun } else { ApplyMode::Apply(&body) };
    Ok(apply(app, caller, &request, caller.domain(), mode, ready_by).await?)
}

/// Makes the plan of `request`, and carries it out as far as `mode` goes. Rules without a domain are in `domain`.
///
/// Modules must be in memory before `ready_by`.
///
/// # Errors
/// The caller lacks a right, the bundle does not fit the stored content, the plan is refused, or the store failed. Then
/// nothing is written.
pub(super) async fn apply(
    app: &App,
    caller: &Manager,
    request: &ApplyRequest,
    domain: &str,
    mode: ApplyMode<'_>,
    ready_by: Instant,
) -> Result<ApplyAnswer, OperationError> {
    rights::must_have_rights(caller, request, matches!(mode, ApplyMode::DryRun))?;
    must_match(caller, request)?;
    let wanted = request.bundle.resolvers.as_deref().unwrap_or_default();
    let found = find_modules(app, caller.tenant(), wanted, ready_by).await?;
    let by = app.authored_by(caller.actor());
    let attempt = Attempt { app, caller, request, domain, by: &by, mode, found: &found };
    let made = attempt.make().await;
    let is_written = made.as_ref().is_ok_and(|answer| answer.applied);
    if !is_written {
        // No resolver got these modules, so their compiled code is of no use.
        for resolver in wanted.iter().filter(|resolver| resolver.module.is_some()) {
            app.resolvers.forget_module(&resolver.sha256).await;
        }
    }
    let sight = Sight::of(caller, request);
    made.map(|answer| sight.of_answer(answer)).map_err(|error| sight.of_error(error))
}

/// One apply.
struct Attempt<'a> {
    app: &'a App,
    caller: &'a Manager,
    request: &'a ApplyRequest,
    by: &'a Authorship,
    domain: &'a str,
    mode: ApplyMode<'a>,
    found: &'a [FoundModule],
}

/// A plan with its effects, and the content that it was made for.
pub(super) struct JudgedPlan {
    pub(super) position: HistoryPosition,
    /// The place in the history of the entities that changed types were compared with; `None` if no type changes.
    pub(super) entities: Option<HistoryPosition>,
    pub(super) state: TenantContent,
    pub(super) ready: Vec<ReadyResolver>,
    pub(super) plan: ApplyPlan,
    pub(super) guards: GuardWrites,
    pub(super) judgement: Judgement,
    pub(super) shown: Shown,
}

/// The end of one attempt to carry out a plan.
pub(super) enum CarriedOut {
    Done(Box<ApplyAnswer>),
    /// Nothing is written: the content is not the one that the plan was made for.
    Changed(Option<WriteTurn>),
}

impl Attempt<'_> {
    /// Makes the plan, and carries it out as far as the mode goes. After the first plan for content that changed
    /// meanwhile, the next one is made in the turn of the tenant: its other writes wait, so that they starve no apply.
    async fn make(&self) -> Result<ApplyAnswer, OperationError> {
        // The turn to judge comes before the turn to write, so that no write waits for the judgement of another tenant.
        let (mut judging, mut turn, mut expected) = (None, None, 0);
        for _ in 0..MAX_JUDGEMENTS {
            let judged = self.judge(&mut judging).await?;
            if matches!(self.mode, ApplyMode::DryRun) {
                return Ok(judged.into_answer(None));
            }
            must_be_allowed(self.request, &judged.plan)?;
            expected = judged.state.revision;
            match self.carry_out(judged, turn).await? {
                CarriedOut::Done(answer) => return Ok(*answer),
                CarriedOut::Changed(kept) => turn = kept,
            }
        }
        let mut tx = self.app.store.read(self.caller.tenant()).await?;
        let current = tenants::revision(&mut tx).await?;
        tx.end().await?;
        Err(WriteRefusal::RevisionChanged { expected, current }.into())
    }

    /// Makes the plan on a snapshot of the content, and judges it beside the database.
    async fn judge(&self, judging: &mut Option<Arc<Turn>>) -> Result<JudgedPlan, OperationError> {
        let Self { app, caller, request, domain, by, .. } = self;
        let dry_run = matches!(self.mode, ApplyMode::DryRun);
        let mut tx = app.store.read(caller.tenant()).await?;
        let position = tenants::position(&mut tx).await?;
        let state = TenantContent::load(&mut tx).await?;
        if !dry_run {
            must_be_bound(caller, &request.owner, &state.settings)?;
        }
        must_be_expected(request.expect_revision, state.revision)?;
        let wanted = request.bundle.resolvers.as_deref().unwrap_or_default();
        let ready = make_ready(app, &mut tx, &state, wanted, self.found).await?;
        let webhooks = request.bundle.webhooks.as_deref().unwrap_or_default();
        let changed_secrets = secrets::changed(&mut tx, &app.keys, &state, webhooks).await?;
        let roles = request.bundle.roles.iter().flatten();
        let roles = roles.map(|role| (&*role.name, &*role.includes));
        must_not_be_entities(&mut tx, roles, ROLES).await?;
        tx.end().await?;
        let context = PlanContext {
            tenant: caller.tenant(),
            owner: Some(&request.owner),
            prune: request.prune,
            force: request.force,
            domain,
            by,
            ids: &app.ids,
            resolvers: &ready,
            operator: &app.resolvers.operator_resolvers(),
            changed_secrets: &changed_secrets,
        };
        let mut plan = plan(&state, &request.bundle, &context)?;
        let entities = check_types(app, caller, &request.bundle, &state, &plan).await?;
        let guards = GuardWrites::of(&request.bundle, &state, domain)?;
        guards.add_to(&mut plan, &state);
        rights::must_have_rights_to(caller, &plan, dry_run)?;
        must_be_fresh(request.expect_fingerprint.as_deref(), &plan)?;
        let judgement = guards.judge(app, caller.tenant(), &state, &plan, judging).await?;
        let tests = case_report(&judgement.report);
        let impact = match request.impact {
            true => Some(impact::report(app, caller.tenant(), &state, &plan).await?),
            false => None,
        };
        let shown = Shown { tests, impact };
        Ok(JudgedPlan { position, entities, state, ready, plan, guards, judgement, shown })
    }

    /// Writes the plan, or makes a proposal of it, if the content is still the one that it was made for.
    async fn carry_out(
        &self,
        mut judged: JudgedPlan,
        turn: Option<WriteTurn>,
    ) -> Result<CarriedOut, OperationError> {
        let Self { app, caller, by, mode, .. } = self;
        must_be_in_time(caller)?;
        let turn = match turn {
            Some(turn) => turn,
            None => app.store.turn(caller.tenant()).await?,
        };
        let mut tx = app.write_in(turn, caller, by).await?;
        if !judged.is_for(&mut tx).await? {
            return Ok(CarriedOut::Changed(tx.cancel().await?));
        }
        tx.came_by(RevisionVia::Apply, self.request.source.clone());
        let webhooks = self.request.bundle.webhooks.as_deref().unwrap_or_default();
        let execution = Execution { keys: &app.keys, by, resolvers: &judged.ready, webhooks };
        execute(&mut tx, &judged.plan, &execution).await?;
        judged.guards.store(&mut tx, by).await?;
        let mut is_approved = false;
        match mode {
            ApplyMode::Apply(body) if tx.gates().approval && tx.concerns_gates() => {
                gates::must_pass_cases(&tx, &judged.judgement)?;
                tx.end().await?;
                let answer = judged.into_answer(None);
                let proposed = self.propose(answer, body).await?;
                return Ok(CarriedOut::Done(Box::new(proposed)));
            }
            ApplyMode::Approval(proposal) => {
                proposals::settle(&mut tx, proposal, caller, by).await?;
                is_approved = true;
            }
            _ => {}
        }
        let judgement = Some(std::mem::take(&mut judged.judgement));
        let verdict = GateVerdict { is_approved, judgement };
        let revision = app.commit_with(tx, verdict).await?;
        let ready = std::mem::take(&mut judged.ready);
        activate(app, caller.tenant(), &judged.plan, ready).await;
        Ok(CarriedOut::Done(Box::new(judged.into_answer(Some(revision)))))
    }

    /// Makes a proposal of the apply.
    async fn propose(
        &self,
        mut answer: ApplyAnswer,
        body: &str,
    ) -> Result<ApplyAnswer, OperationError> {
        let new = NewProposal {
            owner: self.request.owner.clone(),
            message: self.request.source.message.clone(),
            body,
            plan: serde_json::to_value(&answer)
                .map_err(|error| OperationError::Internal(error.into()))?,
            fingerprint: answer.fingerprint.clone(),
        };
        let record = proposals::propose(self.app, self.caller, new).await?;
        answer.proposal = Some(ProposalSummary::from(&record));
        Ok(answer)
    }
}

impl JudgedPlan {
    /// Returns whether the content that `tx` meets is the one that the plan was made for. Webhooks have no revision.
    pub(super) async fn is_for(&self, tx: &mut Tx) -> Result<bool, StoreError> {
        if let Some(entities) = &self.entities
            && entities::state(tx).await?.position != *entities
        {
            return Ok(false);
        }
        Ok(tenants::position(tx).await? == self.position
            && webhooks::all(tx).await? == self.state.webhooks)
    }

    /// Returns the answer; with the revision that the plan made, if it was carried out.
    pub(super) fn into_answer(self, made: Option<u64>) -> ApplyAnswer {
        answer(self.plan, self.shown, made.unwrap_or(self.state.revision), made.is_some())
    }
}

/// Activates the resolvers that the plan wrote, and drops those that it deleted.
pub(super) async fn activate(app: &App, tenant: &str, plan: &ApplyPlan, ready: Vec<ReadyResolver>) {
    for write in &plan.writes.resolvers {
        let new = write.after();
        if let RecordWrite::Delete(old) = write {
            app.resolvers.remove(tenant, old.id);
        }
        if let Some(old) = write.before()
            && new.is_none_or(|new| new.module.sha256 != old.module.sha256)
        {
            app.resolvers.forget_module(&old.module.sha256).await;
        }
    }
    for resolver in ready {
        let namespace = &resolver.manifest.namespace;
        let written = plan.writes.resolvers.iter().filter(|write| {
            let version = |record: Option<&_>| {
                record.map(portcullis_model::resolver::StoredResolver::reference)
            };
            version(write.before()) != version(write.after())
        });
        let mut written = written.filter_map(RecordWrite::after);
        let Some(new) = written.find(|new| new.manifest.namespace == *namespace) else { continue };
        match resolver.binding {
            Some(binding) => app.resolvers.activate(tenant, new.reference(), binding),
            None => app.resolvers.disable(tenant, new.reference()),
        }
    }
}

/// Refuses rules that could match no check of the tenant.
fn must_match(caller: &Manager, request: &ApplyRequest) -> Result<(), OperationError> {
    let mut problems = Problems::default();
    let root = Place::root();
    let at = root.key("bundle");
    let at = at.key("rules");
    for (index, rule) in request.bundle.rules.iter().flatten().enumerate() {
        if !caller.has_checks_in(&rule.tuple.dom) {
            let own = caller.domain();
            let what = format!("`{own}` or `*`, because another domain is another tenant");
            problems.expected(&at.index(index).key("dom"), what);
        }
    }
    Ok(problems.into_result()?)
}

/// Refuses a service key that the settings do not let apply as `owner`.
fn must_be_bound(
    caller: &Manager,
    owner: &str,
    settings: &TenantSettings,
) -> Result<(), OperationError> {
    let origin = caller.origin();
    let key = origin.key.as_deref().unwrap_or_default();
    if origin.credential != CredentialKind::ServiceKey || settings.admits(owner, key) {
        return Ok(());
    }
    let what = format!(
        "the settings of the tenant bind `{owner}` to other service keys; add this key to `owners`"
    );
    Err(OperationError::AccessDenied(what))
}

fn must_be_expected(expected: Option<u64>, current: u64) -> Result<(), OperationError> {
    match expected.filter(|expected| *expected != current) {
        Some(expected) => Err(WriteRefusal::RevisionChanged { expected, current }.into()),
        None => Ok(()),
    }
}

fn must_be_fresh(expected: Option<&str>, plan: &ApplyPlan) -> Result<(), OperationError> {
    if expected.is_some_and(|expected| expected != plan.fingerprint) {
        return Err(WriteRefusal::PlanStale.into());
    }
    Ok(())
}

/// Refuses a plan with conflicts or with too many deletions.
fn must_be_allowed(request: &ApplyRequest, plan: &ApplyPlan) -> Result<(), OperationError> {
    if !plan.conflicts.is_empty() {
        return Err(WriteRefusal::OwnedByAnother(plan.conflicts.clone()).into());
    }
    if plan.deletions.count > plan.deletions.limit && !request.allow_deletes {
        return Err(plan.deletions.refused(DeletingWrite::Apply).into());
    }
    Ok(())
}
