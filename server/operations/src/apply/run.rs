//! An apply: a plan that is made and judged on a snapshot, and one transaction that writes it (`docs/semantics.md`,
//! section 10.4).

use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_bundle::{BundleDocument, SkipCause};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_fairness::Turn;
use portcullis_model::Authorship;
use portcullis_model::apply::{ApplyAnswer, ObjectKind, ProposalSummary};
use portcullis_model::audit::CredentialKind;
use portcullis_model::proposal::ProposalRecord;
use portcullis_model::revision::RevisionVia;
use portcullis_model::settings::TenantSettings;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::gates::{self, Judgement};
use portcullis_runtime::write_refusal::{DeletingWrite, WriteRefusal};
use portcullis_storage::{Tx, tenants};
use tokio::time::Instant;

use super::answer::{Shown, case_report};
use super::execute::execute;
use super::execution::{Execution, ROLES};
use super::guards::GuardWrites;
use super::impact;
use super::judged_plan::{ContentChange, JudgedPlan, carry_out};
use super::plan::{ApplyPlan, PlanContext, plan};
use super::proposals::{self, NewProposal};
use super::ready::{FoundModule, find_modules, make_ready};
use super::request::ApplyRequest;
use super::rights::{self, Visibility};
use super::secrets;
use super::stored_types::check_types;
use crate::content::roles::must_not_be_entities;
use crate::content::tenant_content::TenantContent;

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
    must_match(caller, &request.bundle)?;
    let wanted = request.bundle.resolvers.as_deref().unwrap_or_default();
    // Outside of any transaction, because the admission of a module takes seconds.
    let found = find_modules(app, caller.tenant(), wanted, ready_by).await?;
    let by = app.authored_by(caller.actor());
    let attempt = Attempt { app, caller, request, domain, by: &by, mode, found: &found };
    let made = carry_out(&attempt).await;
    let is_written = made.as_ref().is_ok_and(|answer| answer.applied);
    if !is_written {
        // No resolver got these modules, so their compiled code is of no use.
        for resolver in wanted.iter().filter(|resolver| resolver.module.is_some()) {
            app.resolvers.forget_module(&resolver.sha256).await;
        }
    }
    let visibility = Visibility::new(caller, request);
    made.map(|answer| visibility.limit_answer(answer))
        .map_err(|error| visibility.limit_error(error))
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

impl ContentChange for Attempt<'_> {
    fn made_by(&self) -> (&App, &Manager, &Authorship) {
        (self.app, self.caller, self.by)
    }

    fn is_dry_run(&self) -> bool {
        matches!(self.mode, ApplyMode::DryRun)
    }

    async fn judge(&self, judging: &mut Option<Arc<Turn>>) -> Result<JudgedPlan, OperationError> {
        let Self { app, caller, request, domain, by, .. } = self;
        let dry_run = self.is_dry_run();
        let mut tx = app.store.begin_read(caller.tenant()).await?;
        let position = tenants::position(&mut tx).await?;
        let state = TenantContent::load(&mut tx).await?;
        if let ApplyMode::Approval(proposal) = self.mode {
            // Of the same snapshot: what another approval made would look like content that the proposer never saw.
            proposals::must_be_open(&mut tx, proposal, by.at).await?;
        }
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
        // No transaction stays open while the plan is made and judged.
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
        let sent = (&request.bundle, request.delete_tuples_of.as_deref());
        let directory = check_types(app, caller, sent, &state, &plan).await?;
        let guards = GuardWrites::new(&request.bundle, &state, domain)?;
        guards.add_to(&mut plan, &state);
        // Resources may change rules.
        let rules = plan.writes.rules.first().map(|_| ObjectKind::Rule);
        rights::must_have_rights_of(caller, rules.into_iter(), dry_run)?;
        must_be_fresh(request.expect_fingerprint.as_deref(), &plan)?;
        let judgement = guards.judge(app, caller.tenant(), &state, &plan, judging).await?;
        let tests = case_report(&judgement.report);
        let impact = match request.impact {
            true => Some(impact::report(app, caller.tenant(), &state, &plan).await?),
            false => None,
        };
        if !dry_run {
            must_be_allowed(request, &plan)?;
            must_pass_cases(request, &judgement)?;
        }
        let shown = Shown { tests, impact };
        let judged =
            JudgedPlan { position, directory, state, ready, plan, guards, judgement, shown };
        if !dry_run && !request.allow_deletes {
            judged.must_delete_few_tuples()?;
        }
        Ok(judged)
    }

    async fn write(&self, judged: JudgedPlan, mut tx: Tx) -> Result<ApplyAnswer, OperationError> {
        let Self { app, caller, by, mode, .. } = self;
        tx.came_by(RevisionVia::Apply, self.request.source.clone());
        let webhooks = self.request.bundle.webhooks.as_deref().unwrap_or_default();
        let execution = Execution { keys: &app.keys, by, resolvers: &judged.ready, webhooks };
        judged.delete_outdated(&mut tx).await?;
        execute(&mut tx, &judged.plan, &execution).await?;
        judged.guards.store(&mut tx, by).await?;
        match mode {
            ApplyMode::Apply(body) if tx.gates().approval && tx.concerns_gates() => {
                gates::must_pass_cases(&tx, &judged.judgement)?;
                // What was written only told whether the gate wants an approval, and is taken back.
                tx.end().await?;
                self.propose(judged.into_answer(None), body).await
            }
            ApplyMode::Approval(proposal) => {
                proposals::settle(&mut tx, proposal, caller, by).await?;
                judged.commit(app, tx, true).await
            }
            _ => judged.commit(app, tx, false).await,
        }
    }
}

impl Attempt<'_> {
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

/// Refuses rules that could match no check of the tenant.
pub(crate) fn must_match(caller: &Manager, bundle: &BundleDocument) -> Result<(), OperationError> {
    let mut problems = Problems::default();
    let root = Place::root();
    let at = root.key("bundle");
    let at = at.key("rules");
    for (index, rule) in bundle.rules.iter().flatten().enumerate() {
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

/// Refuses a plan after which cases fail, if the request says so. The gate of the tenant has its own say.
fn must_pass_cases(request: &ApplyRequest, judgement: &Judgement) -> Result<(), OperationError> {
    if !request.cases_must_pass {
        return Ok(());
    }
    let report = &judgement.report;
    // A case without a verdict because of the limits of a judgement did not pass.
    let cut = report
        .skipped
        .iter()
        .filter(|case| matches!(case.cause, SkipCause::TooMuchWork | SkipCause::TooMuchTime));
    let cut = cut.map(|case| case.clone().into_failure());
    let named: Vec<_> = report.failed.iter().cloned().chain(cut).collect();
    match named.len() {
        0 => Ok(()),
        count => Err(OperationError::CasesFailed { named, count }),
    }
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
