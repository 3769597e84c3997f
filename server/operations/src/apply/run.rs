//! An apply: its rights, its plan, and one transaction that writes it (`docs/semantics.md`, section 10.4).

use portcullis_auth::Manager;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::Authorship;
use portcullis_model::apply::{ApplyAnswer, ObjectKind, ProposalSummary};
use portcullis_model::audit::CredentialKind;
use portcullis_model::proposal::ProposalRecord;
use portcullis_model::service_key::Permission;
use portcullis_model::settings::TenantSettings;
use portcullis_storage::Tx;
use portcullis_storage::bulk::RecordWrite;
use tokio::time::Instant;

use super::answer::{Shown, answer, case_report};
use super::execute::{Execution, ROLES, execute};
use super::guards::GuardWrites;
use super::impact;
use super::plan::{ApplyPlan, PlanContext, plan};
use super::ready::{ReadyResolver, find_modules, make_ready};
use super::request::ApplyRequest;
use super::secrets;
use super::state::TenantContent;
use crate::app::App;
use crate::error::OperationError;
use crate::gates::{self, Passage};
use crate::proposals::{self, NewProposal};
use crate::roles::must_not_be_entities;
use crate::write_refusal::WriteRefusal;

/// The mandate of an apply: how far it goes.
#[derive(Clone, Copy, Debug)]
pub enum Mandate<'m> {
    /// Only the plan is made.
    DryRun,
    /// The plan is carried out, or becomes a proposal with this body.
    Apply(&'m str),
    /// The plan of a proposal is carried out. The caller approves it.
    Approval(&'m ProposalRecord),
}

/// Makes the plan of `request`, and carries it out as far as `mandate` goes. Rules without a domain are in `domain`.
///
/// Modules must be in memory before `ready_by`.
///
/// # Errors
/// The caller lacks a right, the bundle does not fit the stored content, the plan is refused, or the store failed. Then
/// nothing is written.
pub async fn apply(
    app: &App,
    caller: &Manager,
    request: &ApplyRequest,
    domain: &str,
    mandate: Mandate<'_>,
    ready_by: Instant,
) -> Result<ApplyAnswer, OperationError> {
    let dry_run = matches!(mandate, Mandate::DryRun);
    must_have_rights(caller, request)?;
    must_match(caller, request)?;
    let wanted = request.bundle.resolvers.as_deref().unwrap_or_default();
    let found = find_modules(app, caller.tenant(), wanted, ready_by).await?;
    let by = app.authored_by(caller.actor());
    let mut tx = match dry_run {
        true => app.store.read(caller.tenant()).await?,
        false => app.write(caller, &by).await?,
    };
    let state = TenantContent::load(&mut tx).await?;
    must_be_bound(caller, &request.owner, &state.settings)?;
    must_be_expected(request.expect_revision, state.revision)?;
    let ready = make_ready(app, &mut tx, &state, wanted, found).await;
    let made = match ready {
        Ok(ready) => {
            let attempt = Attempt { app, caller, request, domain, state: &state, by: &by, mandate };
            attempt.make(tx, ready).await
        }
        Err(error) => Err(error),
    };
    let is_written = made.as_ref().is_ok_and(|answer| answer.applied);
    if !is_written {
        // No resolver got these modules, so their compiled code is of no use.
        for resolver in wanted.iter().filter(|resolver| resolver.module.is_some()) {
            app.resolvers.forget_module(&resolver.sha256).await;
        }
    }
    made
}

/// One apply, with the content that it meets.
struct Attempt<'a> {
    app: &'a App,
    caller: &'a Manager,
    request: &'a ApplyRequest,
    state: &'a TenantContent,
    by: &'a Authorship,
    domain: &'a str,
    mandate: Mandate<'a>,
}

impl Attempt<'_> {
    async fn make(
        &self,
        mut tx: Tx,
        ready: Vec<ReadyResolver>,
    ) -> Result<ApplyAnswer, OperationError> {
        let Self { app, caller, request, state, by, domain, mandate } = self;
        let webhooks = request.bundle.webhooks.as_deref().unwrap_or_default();
        let changed_secrets = secrets::changed(&mut tx, &app.keys, state, webhooks).await?;
        let roles = request.bundle.roles.iter().flatten();
        let roles = roles.map(|role| (&*role.name, &*role.includes));
        must_not_be_entities(&mut tx, roles, ROLES).await?;
        let context = PlanContext {
            tenant: caller.tenant(),
            domain,
            by,
            ids: &app.ids,
            resolvers: &ready,
            operator: &app.resolvers.operator_resolvers(),
            changed_secrets: &changed_secrets,
        };
        let mut plan = plan(state, request, &context)?;
        let guards = GuardWrites::of(&request.bundle, state, domain)?;
        guards.add_to(&mut plan, state);
        // Default roles that a resource loses take their rules with them.
        if !plan.writes.rules.is_empty() {
            caller.must_have(Permission::PoliciesWrite)?;
        }
        must_be_fresh(request.expect_fingerprint.as_deref(), &plan)?;
        let judgement = guards.judge(state, &plan).await?;
        let tests = case_report(&judgement.report);
        let impact = match request.impact {
            true => Some(impact::report(state, &plan).await?),
            false => None,
        };
        let shown = Shown { tests, impact };
        if matches!(mandate, Mandate::DryRun) {
            tx.end().await?;
            return Ok(answer(plan, shown, state.revision, false));
        }
        must_be_allowed(request, &plan)?;
        let execution = Execution { keys: &app.keys, by, resolvers: &ready, webhooks };
        execute(&mut tx, &plan, &execution).await?;
        guards.store(&mut tx, by).await?;
        let mut is_approved = false;
        match mandate {
            Mandate::Apply(body) if tx.gates().approval && tx.concerns_gates() => {
                gates::must_pass_cases(&tx, &judgement)?;
                tx.end().await?;
                let answer = answer(plan, shown, state.revision, false);
                return self.propose(answer, body).await;
            }
            Mandate::Approval(proposal) => {
                proposals::settle(&mut tx, proposal, caller, by).await?;
                is_approved = true;
            }
            _ => {}
        }
        let passage = Passage { is_approved, judgement: Some(judgement) };
        let revision = app.commit_with(tx, passage).await?;
        activate(app, caller.tenant(), &plan, ready).await;
        Ok(answer(plan, shown, revision, true))
    }

    /// Makes a proposal of the apply.
    async fn propose(
        &self,
        mut answer: ApplyAnswer,
        body: &str,
    ) -> Result<ApplyAnswer, OperationError> {
        let new = NewProposal {
            owner: self.request.owner.clone(),
            message: self.request.message.clone(),
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

/// Activates the resolvers that the plan wrote, and drops those that it deleted.
async fn activate(app: &App, tenant: &str, plan: &ApplyPlan, ready: Vec<ReadyResolver>) {
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

/// Refuses a caller without the write permission of a kind that the bundle has.
///
/// # Errors
/// [`OperationError::AccessDenied`]
pub fn must_have_rights(caller: &Manager, request: &ApplyRequest) -> Result<(), OperationError> {
    let bundle = &request.bundle;
    for kind in ObjectKind::ALL.into_iter().filter(|kind| bundle.has(*kind)) {
        caller.must_have(write_permission(kind))?;
    }
    // Default roles make rules, and a resource that goes takes them with it.
    if bundle.has_settings_or_cases() || has_default_roles(request) {
        caller.must_have(Permission::PoliciesWrite)?;
    }
    if request.force || request.allow_deletes {
        caller.must_have(Permission::PoliciesForce)?;
    }
    Ok(())
}

fn has_default_roles(request: &ApplyRequest) -> bool {
    let mut resources = request.bundle.resources.iter().flatten();
    resources.any(|resource| !resource.default_roles.is_empty())
}

fn write_permission(kind: ObjectKind) -> Permission {
    match kind {
        ObjectKind::Resource => Permission::ResourcesWrite,
        ObjectKind::Rule
        | ObjectKind::Role
        | ObjectKind::Policy
        | ObjectKind::Settings
        | ObjectKind::Case => Permission::PoliciesWrite,
        ObjectKind::Resolver => Permission::ResolversWrite,
        ObjectKind::Webhook => Permission::WebhooksWrite,
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
    let deletions = plan.deletions;
    if deletions.count > deletions.limit && !request.allow_deletes {
        let (count, owned, limit) = (deletions.count, deletions.owned, deletions.limit);
        return Err(WriteRefusal::DeleteLimit { deletions: count, owned, limit }.into());
    }
    Ok(())
}
