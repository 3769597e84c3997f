//! Changes of the whole content of a tenant, whoever owns it: the restoration of a revision (`docs/semantics.md`, section
//! 16) and the publication of a draft (section 18.2). They are judged and written as an apply is.

use std::collections::HashSet;
use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_bundle::BundleDocument;
use portcullis_fairness::Turn;
use portcullis_model::Authorship;
use portcullis_model::apply::{ApplyAnswer, PlanCounts};
use portcullis_model::audit::ChangeSource;
use portcullis_model::draft::{DraftMode, DraftRecord};
use portcullis_model::revision::RevisionVia;
use portcullis_model::service_key::Permission;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, drafts, policies, tenants};
use tokio::time::Instant;

use super::answer::{Shown, case_report};
use super::execute::execute;
use super::execution::{Execution, ROLES};
use super::guards::GuardWrites;
use super::judged_plan::{ContentChange, JudgedPlan, carry_out};
use super::plan::{ApplyPlan, PlanContext, plan};
use super::ready::{ReadyResolver, find_modules, make_ready};
use super::restoration::{self, new_policies, wanted_resolvers};
use super::rights::{self, Visibility};
use super::shadow_gates;
use super::stored_types::check_types;
use crate::changes::etag::{Precondition, entity_tag};
use crate::changes::ownership;
use crate::content::content_at::content_at;
use crate::content::roles::must_not_be_entities;
use crate::content::tenant_content::TenantContent;

/// The content that a tenant is to have.
#[derive(Clone, Copy, Debug)]
pub enum Replacement<'r> {
    /// The content at an earlier revision, if the present one has the tag that the client expects.
    Revision { revision: u64, precondition: &'r Precondition, message: Option<&'r str> },
    /// The present one with the kinds of this draft. With `force` managed objects change, too.
    Draft { draft: &'r DraftRecord, bundle: &'r BundleDocument, force: bool },
}

/// Makes the content of the caller's tenant the one of `replacement`, in one revision; with `dry_run`, only makes the plan.
///
/// Modules must be in memory before `ready_by`.
///
/// # Errors
/// The caller lacks a right, the revision is not kept, the precondition does not hold, what comes back does not fit what
/// stays, a gate refuses it, or the store failed. Then nothing is written.
pub async fn replace(
    app: &App,
    caller: &Manager,
    replacement: Replacement<'_>,
    dry_run: bool,
    ready_by: Instant,
) -> Result<ApplyAnswer, OperationError> {
    let needed = if dry_run { Permission::PoliciesRead } else { Permission::PoliciesWrite };
    caller.must_have(needed)?;
    // Two contents are in memory.
    let _turn = app.uploads.begin(caller.tenant()).await?;
    let by = app.authored_by(caller.actor());
    let attempt = Attempt { app, caller, replacement, by: &by, dry_run, ready_by };
    match carry_out(&attempt).await {
        Ok(answer) => {
            let kinds = answer.changes.iter().map(|change| change.kind);
            Ok(Visibility::for_kinds(caller, kinds).limit_answer(answer))
        }
        // Without kinds only the right to see cases limits an error.
        Err(error) => Err(Visibility::for_kinds(caller, [].into_iter()).limit_error(error)),
    }
}

/// One replacement.
struct Attempt<'a> {
    app: &'a App,
    caller: &'a Manager,
    replacement: Replacement<'a>,
    by: &'a Authorship,
    dry_run: bool,
    ready_by: Instant,
}

/// A plan, and what it needs beside its writes.
type Planned = (ApplyPlan, GuardWrites, Vec<ReadyResolver>);

impl ContentChange for Attempt<'_> {
    fn made_by(&self) -> (&App, &Manager, &Authorship) {
        (self.app, self.caller, self.by)
    }

    fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    async fn judge(&self, judging: &mut Option<Arc<Turn>>) -> Result<JudgedPlan, OperationError> {
        let Self { app, caller, .. } = self;
        let mut tx = app.store.begin_read(caller.tenant()).await?;
        let position = tenants::position(&mut tx).await?;
        let state = TenantContent::load(&mut tx).await?;
        tx.end().await?;
        // No transaction stays open while another one reads, or a module is made ready.
        let (mut plan, guards, ready) = match self.replacement {
            Replacement::Revision { revision, precondition, .. } => {
                // The tag of the content is its revision in quotes (RFC 9110, 8.8.3).
                precondition.check_tag(Some(&format!("\"{}\"", state.revision)))?;
                self.plan_of_past(&state, revision).await?
            }
            Replacement::Draft { draft, bundle, force } => {
                self.plan_of_draft(&state, (draft, bundle), force).await?
            }
        };
        guards.add_to(&mut plan, &state);
        let kinds = plan.changes.iter().map(|change| change.kind);
        rights::must_have_rights_of(caller, kinds, self.dry_run)?;
        let sent = (&BundleDocument::default(), None);
        let directory = check_types(app, caller, sent, &state, &plan).await?;
        let judgement = guards.judge(app, caller.tenant(), &state, &plan, judging).await?;
        let shown = Shown { tests: case_report(&judgement.report), impact: None };
        Ok(JudgedPlan { position, directory, state, ready, plan, guards, judgement, shown })
    }

    async fn write(&self, judged: JudgedPlan, mut tx: Tx) -> Result<ApplyAnswer, OperationError> {
        let Self { app, by, .. } = self;
        self.note_way(&mut tx).await?;
        // Deleted policies are retained under the ids with which they come back.
        policies::forget_deleted(&mut tx, &new_policies(&judged.plan.writes)).await?;
        let execution = Execution { keys: &app.keys, by, resolvers: &judged.ready, webhooks: &[] };
        execute(&mut tx, &judged.plan, &execution).await?;
        judged.guards.store(&mut tx, by).await?;
        judged.commit(app, tx, false).await
    }
}

impl Attempt<'_> {
    async fn plan_of_past(
        &self,
        state: &TenantContent,
        revision: u64,
    ) -> Result<Planned, OperationError> {
        let Self { app, caller, .. } = self;
        let tenant = caller.tenant();
        let past = app.read(tenant, async |tx| content_at(tx, revision).await).await?;
        let wanted = wanted_resolvers(state, &past);
        let found = find_modules(app, tenant, &wanted, self.ready_by).await;
        let found = found.map_err(|error| does_not_fit(error, revision))?;
        let plan = restoration::plan(state, &past, self.by)?;
        let guards = GuardWrites::between(state, &past);
        let mut tx = app.store.begin_read(tenant).await?;
        let ready = make_ready(app, &mut tx, state, &wanted, &found).await;
        let ready = ready.map_err(|error| does_not_fit(error, revision))?;
        let roles = plan.writes.roles.iter().filter_map(|write| write.after());
        let roles = roles.map(|role| (&*role.name, &*role.includes));
        let free = must_not_be_entities(&mut tx, roles, ROLES).await;
        free.map_err(|error| does_not_fit(error, revision))?;
        tx.end().await?;
        Ok((plan, guards, ready))
    }

    /// Makes the plan of a draft, which must meet the gates of its tenant.
    async fn plan_of_draft(
        &self,
        state: &TenantContent,
        (draft, bundle): (&DraftRecord, &BundleDocument),
        force: bool,
    ) -> Result<Planned, OperationError> {
        let Self { app, caller, .. } = self;
        shadow_gates::must_pass(app, caller, draft, state.settings.gates.of_drafts, force).await?;
        let roles = bundle.roles.iter().flatten();
        let roles = roles.map(|role| (&*role.name, &*role.includes));
        app.read(caller.tenant(), async |tx| must_not_be_entities(tx, roles, ROLES).await).await?;
        let (plan, guards) = plan_kinds(app, state, (&draft.into(), bundle), self.by)?;
        // The plan reaches the objects of every owner, so that each of them is asked for here.
        let owners: HashSet<&str> = plan.writes.owners().collect();
        owners
            .into_iter()
            .try_for_each(|owner| ownership::check(self.caller, Some(owner), force))?;
        Ok((plan, guards, Vec::new()))
    }

    /// Notes the way on which the changes come. A draft that is published goes.
    async fn note_way(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let (via, message) = match self.replacement {
            Replacement::Revision { message, .. } => (RevisionVia::Restore, message),
            Replacement::Draft { draft, .. } => {
                // It may have changed since the plan was made.
                let known = drafts::find(tx, &draft.name).await?;
                if known.as_ref().map(entity_tag) != Some(entity_tag(draft)) {
                    return Err(OperationError::PreconditionFailed);
                }
                drafts::delete(tx, draft, true).await?;
                (RevisionVia::Draft, None)
            }
        };
        let message = message.map(str::to_owned);
        tx.came_by(via, ChangeSource { message, ..ChangeSource::default() });
        Ok(())
    }
}

/// The origin of a bundle, and the objects that it replaces.
#[derive(Clone, Debug)]
pub struct BundleOrigin {
    pub tenant: String,
    /// The domain of what the bundle has without one.
    pub domain: String,
    pub author: String,
    pub reach: BundleReach,
}

/// The objects that a bundle replaces.
#[derive(Clone, Debug)]
pub enum BundleReach {
    /// The objects of the kinds that it names, whoever owns them; with `prune` those go that it does not name.
    EveryOwner { prune: bool },
    /// The objects of this owner, as an apply does.
    Owner { owner: String, prune: bool, force: bool },
}

impl From<&DraftRecord> for BundleOrigin {
    fn from(draft: &DraftRecord) -> Self {
        Self {
            tenant: draft.tenant_id.clone(),
            domain: draft.domain.clone(),
            author: draft.created_by.clone(),
            reach: BundleReach::EveryOwner { prune: draft.mode == DraftMode::Replace },
        }
    }
}

impl From<&Manager> for BundleOrigin {
    fn from(caller: &Manager) -> Self {
        Self {
            tenant: caller.tenant().to_owned(),
            domain: caller.domain().to_owned(),
            author: caller.actor().to_owned(),
            reach: BundleReach::EveryOwner { prune: true },
        }
    }
}

/// Returns the plan that replaces the objects that a bundle reaches.
fn plan_kinds(
    app: &App,
    state: &TenantContent,
    (origin, bundle): (&BundleOrigin, &BundleDocument),
    by: &Authorship,
) -> Result<(ApplyPlan, GuardWrites), OperationError> {
    let operator = app.resolvers.operator_resolvers();
    let (owner, prune, force) = match &origin.reach {
        BundleReach::EveryOwner { prune } => (None, *prune, true),
        BundleReach::Owner { owner, prune, force } => (Some(&**owner), *prune, *force),
    };
    let context = PlanContext {
        tenant: &origin.tenant,
        owner,
        prune,
        force,
        domain: &origin.domain,
        by,
        ids: &app.ids,
        resolvers: &[],
        operator: &operator,
        changed_secrets: &HashSet::new(),
    };
    let plan = plan(state, bundle, &context)?;
    let guards = GuardWrites::new(bundle, state, &origin.domain)?;
    Ok((plan, guards))
}

/// Returns the content that `state` becomes with the objects of a bundle. It takes as long as the plan of an apply.
///
/// # Errors
/// The bundle does not fit the content.
pub fn with_kinds(
    app: &App,
    mut state: TenantContent,
    origin: &BundleOrigin,
    bundle: &BundleDocument,
) -> Result<TenantContent, OperationError> {
    let by = app.authored_by(&origin.author);
    let (plan, guards) = plan_kinds(app, &state, (origin, bundle), &by)?;
    plan.writes.put_into(&mut state);
    guards.put_into(&mut state)?;
    Ok(state)
}

/// Returns the numbers of changes that a bundle makes to `state`. It takes as long as the plan of an apply.
///
/// # Errors
/// The bundle does not fit the content.
pub fn counts_of(
    app: &App,
    mut state: TenantContent,
    origin: &BundleOrigin,
    bundle: &BundleDocument,
) -> Result<PlanCounts, OperationError> {
    let by = app.authored_by(&origin.author);
    let (mut plan, guards) = plan_kinds(app, &state, (origin, bundle), &by)?;
    guards.add_to(&mut plan, &state);
    guards.put_into(&mut state)?;
    Ok(plan.counts)
}

/// Returns the error that a record of the past does not fit the present: nothing in the request is at fault.
fn does_not_fit(error: OperationError, revision: u64) -> OperationError {
    match error {
        OperationError::Invalid(invalid) => OperationError::Conflict(format!(
            "revision {revision} does not fit what the tenant has now: {invalid}"
        )),
        other => other,
    }
}
