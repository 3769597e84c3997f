//! A plan that is judged on a snapshot of a tenant's content, and written by one transaction.

use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_fairness::Turn;
use portcullis_model::Authorship;
use portcullis_model::apply::ApplyAnswer;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::gates::{GateVerdict, Judgement};
use portcullis_runtime::write_refusal::WriteRefusal;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{HistoryPosition, StoreError, Tx, entities, tenants, webhooks};

use super::answer::{Shown, answer};
use super::guards::GuardWrites;
use super::plan::ApplyPlan;
use super::ready::ReadyResolver;
use super::stored_types::ComparedDirectory;
use crate::changes::gated_writes::{MAX_JUDGEMENTS, begin};
use crate::content::tenant_content::TenantContent;

/// A plan with its effects, and the content that it was made for.
pub(super) struct JudgedPlan {
    pub(super) position: HistoryPosition,
    /// The content that changed types were compared with; `None` if no type changes.
    pub(super) directory: Option<ComparedDirectory>,
    pub(super) state: TenantContent,
    pub(super) ready: Vec<ReadyResolver>,
    pub(super) plan: ApplyPlan,
    pub(super) guards: GuardWrites,
    pub(super) judgement: Judgement,
    pub(super) shown: Shown,
}

/// A change of the content of a tenant that is planned and judged on a snapshot, and written by one transaction.
pub(super) trait ContentChange {
    /// Returns the caller who makes the change, and its author.
    fn made_by(&self) -> (&App, &Manager, &Authorship);

    /// Returns whether only the plan is made.
    fn is_dry_run(&self) -> bool;

    /// Makes the plan on a snapshot of the content, and judges it beside the database.
    async fn judge(&self, judging: &mut Option<Arc<Turn>>) -> Result<JudgedPlan, OperationError>;

    /// Writes the plan in a transaction that meets the content which it was made for.
    async fn write(&self, judged: JudgedPlan, tx: Tx) -> Result<ApplyAnswer, OperationError>;
}

/// Makes the plan of `change`, and carries it out unless it is a dry run. After the first plan for content that changed
/// meanwhile, the next one is made in the turn of the tenant: its other writes wait, so that they starve no change.
///
/// # Errors
/// The errors of `change`; the request took too long, too many writes of the tenant wait, other replicas changed the content
/// during each of three judgements, or the store failed.
pub(super) async fn carry_out(change: &impl ContentChange) -> Result<ApplyAnswer, OperationError> {
    let (app, caller, by) = change.made_by();
    // The turn to judge comes before the turn to write, so that no write waits for the judgement of another tenant.
    let (mut judging, mut turn, mut expected) = (None, None, 0);
    for _ in 0..MAX_JUDGEMENTS {
        let judged = change.judge(&mut judging).await?;
        judged.guards.must_be_passable(app, caller.tenant(), &judged.state).await?;
        if change.is_dry_run() {
            return Ok(judged.into_answer(None));
        }
        let mut tx = begin(app, caller, by, turn).await?;
        if judged.is_for(&mut tx).await? {
            return change.write(judged, tx).await;
        }
        expected = judged.state.revision;
        turn = tx.cancel().await?;
    }
    let current = app.read(caller.tenant(), async |tx| tenants::revision(tx).await).await?;
    Err(WriteRefusal::RevisionChanged { expected, current }.into())
}

impl JudgedPlan {
    /// Returns whether the content that `tx` meets is the one that the plan was made for. Webhooks have no revision.
    pub(super) async fn is_for(&self, tx: &mut Tx) -> Result<bool, StoreError> {
        if let Some(directory) = &self.directory
            && entities::state(tx).await?.position != directory.position
        {
            return Ok(false);
        }
        Ok(tenants::position(tx).await? == self.position
            && webhooks::all(tx).await? == self.state.webhooks)
    }

    /// Commits what `tx` wrote of the plan, activates its resolvers, and returns the answer.
    ///
    /// # Errors
    /// The errors of [`App::commit_with`].
    pub(super) async fn commit(
        mut self,
        app: &App,
        tx: Tx,
        is_approved: bool,
    ) -> Result<ApplyAnswer, OperationError> {
        let tenant = tx.tenant().to_owned();
        let judgement = Some(std::mem::take(&mut self.judgement));
        let revision = app.commit_with(tx, GateVerdict { is_approved, judgement }).await?;
        let ready = std::mem::take(&mut self.ready);
        activate(app, &tenant, &self.plan, ready).await;
        Ok(self.into_answer(Some(revision)))
    }

    /// Returns the answer; with the revision that the plan made, if it was carried out.
    pub(super) fn into_answer(self, made: Option<u64>) -> ApplyAnswer {
        let outdated = self.directory.as_ref().map_or(0, |directory| directory.outdated.count());
        let answer =
            answer(self.plan, self.shown, made.unwrap_or(self.state.revision), made.is_some());
        ApplyAnswer { deleted_tuples: outdated, ..answer }
    }

    /// Refuses to delete more tuples than the tenant allows.
    pub(super) fn must_delete_few_tuples(&self) -> Result<(), OperationError> {
        let percent = self.state.settings.max_deletes;
        self.directory.as_ref().map_or(Ok(()), |directory| directory.outdated.must_be_few(percent))
    }

    /// Deletes the tuples that the types do not allow any more, before these change.
    pub(super) async fn delete_outdated(&self, tx: &mut Tx) -> Result<(), StoreError> {
        match &self.directory {
            Some(directory) => directory.outdated.delete(tx).await,
            None => Ok(()),
        }
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
        // A resolver whose version stays keeps the binding that serves.
        let written = plan.writes.resolvers.iter().filter(|write| {
            let [old, new] = [write.before(), write.after()].map(|one| Some(one?.reference()));
            old != new
        });
        let mut written = written.filter_map(RecordWrite::after);
        let Some(new) = written.find(|new| new.manifest.namespace == *namespace) else { continue };
        match resolver.binding {
            Some(binding) => app.resolvers.activate(tenant, new.reference(), binding),
            None => app.resolvers.disable(tenant, new.reference()),
        }
    }
}
