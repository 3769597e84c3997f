//! Writes of what decides, which the gates of the tenant judge (`docs/semantics.md`, section 10.9).
//!
//! On SQLite all tenants write with one connection, so that a transaction must not wait for a judgement. A write that needs
//! one is made, read and taken back; its cases are decided on a snapshot; then it is made again, and committed if the
//! content is still the one of the snapshot.

use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_fairness::Turn;
use portcullis_model::Authorship;
use portcullis_model::service_key::Permission;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::gates::{self, Change, GateVerdict, Judgement};
use portcullis_runtime::write_refusal::WriteRefusal;
use portcullis_storage::{HistoryPosition, Tx, WriteTurn};

use super::written::Written;

/// Most judgements of one change. Within a process none is needed twice, because the tenant's other writes wait for their
/// turn; another replica may write in between.
pub(crate) const MAX_JUDGEMENTS: usize = 3;

/// Makes `change` in a transaction of the caller's tenant. Repeats it until the verdict is about the content it commits
/// against.
///
/// # Errors
/// The error of `change`, or an error of [`GatedWrite::begin`] or [`GatedWrite::commit`].
pub(crate) async fn write<T>(
    app: &App,
    caller: &Manager,
    change: impl AsyncFnOnce(&mut Tx, &Authorship) -> Result<T, OperationError> + Clone,
) -> Result<Written<T>, OperationError> {
    let by = app.authored_by(caller.actor());
    GatedWrite::new(app, caller, &by).make(change).await
}

/// A write of the caller's tenant, whose gates judge it.
#[derive(Debug)]
pub(crate) struct GatedWrite<'w> {
    app: &'w App,
    caller: &'w Manager,
    by: &'w Authorship,
    /// Kept from one transaction to the next.
    turn: Option<WriteTurn>,
    /// The turn to judge, from the moment when the gates need it until the change is written. So judged changes of a tenant
    /// follow each other, and the turn to write is kept while cases are decided and never while a judgement waits.
    judging: Option<Arc<Turn>>,
    /// The last judgement, and the place in the history of the content that it is about.
    judged: Option<(HistoryPosition, Judgement)>,
    judgements: usize,
}

impl<'w> GatedWrite<'w> {
    pub(crate) fn new(app: &'w App, caller: &'w Manager, by: &'w Authorship) -> Self {
        Self { app, caller, by, turn: None, judging: None, judged: None, judgements: 0 }
    }

    /// Returns the write in a turn that the caller's tenant has.
    pub(crate) fn in_turn(self, turn: impl Into<Option<WriteTurn>>) -> Self {
        Self { turn: turn.into(), ..self }
    }

    /// Makes `change` as [`write()`] does.
    pub(crate) async fn make<T>(
        mut self,
        // `Clone`, because the compiler cannot see that the future of an `AsyncFnMut` is `Send`.
        change: impl AsyncFnOnce(&mut Tx, &Authorship) -> Result<T, OperationError> + Clone,
    ) -> Result<Written<T>, OperationError> {
        loop {
            let mut tx = self.begin().await?;
            let made = (change.clone())(&mut tx, self.by).await;
            let record = made.map_err(|error| limited_for(self.caller, error))?;
            if let Some(revision) = self.commit(tx).await? {
                return Ok(Written::new(record, revision));
            }
        }
    }

    /// Begins the transaction in which the changes are made.
    ///
    /// # Errors
    /// The request took too long, too many writes of the tenant wait, or the store failed.
    pub(crate) async fn begin(&mut self) -> Result<Tx, OperationError> {
        begin(self.app, self.caller, self.by, self.turn.take()).await
    }

    /// Commits the changes as [`App::commit`] does. Returns `None` if they were judged instead, and are to be made again.
    ///
    /// # Errors
    /// The errors of [`App::commit`]; other replicas changed the content during each of three judgements.
    pub(crate) async fn commit(&mut self, tx: Tx) -> Result<Option<u64>, OperationError> {
        let committed = self.commit_or_judge(tx).await;
        committed.map_err(|error| limited_for(self.caller, error))
    }

    async fn commit_or_judge(&mut self, mut tx: Tx) -> Result<Option<u64>, OperationError> {
        if !gates::need_judgement(&tx) {
            return self.app.commit(tx).await.map(Some);
        }
        let Some(turn) = self.judging.clone() else {
            // The changes are made again: the content may be another one when the turn comes.
            drop(tx.cancel().await?);
            let turn = self.app.judgements.begin(self.caller.tenant()).await?;
            self.judging = Some(Arc::new(turn));
            return Ok(None);
        };
        let change = Change::read(&mut tx).await?;
        let judged = self.judged.take();
        // For the refusal: the revision of the last judgement, or the present one if there is none.
        let expected = judged.as_ref().map_or(change.met.revision, |(met, _)| met.revision);
        if let Some((_, judgement)) = judged.filter(|(met, _)| *met == change.met) {
            let verdict = GateVerdict { is_approved: false, judgement: Some(judgement) };
            return self.app.commit_with(tx, verdict).await.map(Some);
        }
        if self.judgements == MAX_JUDGEMENTS {
            let current = change.met.revision;
            return Err(WriteRefusal::RevisionChanged { expected, current }.into());
        }
        self.judgements += 1;
        // After a judgement in vain the tenant's other writes wait, so that they starve no change.
        self.turn = tx.cancel().await?.filter(|_| self.judgements > 1);
        let met = change.met.clone();
        let judgement = change.judge(&self.app.store, &turn).await?;
        self.judged = judgement.map(|judgement| (met, judgement));
        Ok(None)
    }
}

/// Returns the error without the names that `caller` may not read.
pub(crate) fn limited_for(caller: &Manager, error: OperationError) -> OperationError {
    match caller.must_have(Permission::PoliciesRead) {
        Ok(()) => error,
        Err(_) => error.without_names(),
    }
}

/// Begins a transaction in which `caller` changes its tenant, in `turn` if the tenant has it already.
///
/// # Errors
/// The request took too long, too many writes of the tenant wait, or the store failed.
pub(crate) async fn begin(
    app: &App,
    caller: &Manager,
    by: &Authorship,
    turn: Option<WriteTurn>,
) -> Result<Tx, OperationError> {
    must_be_in_time(caller)?;
    let turn = match turn {
        Some(turn) => turn,
        None => app.turn(caller).await?,
    };
    Ok(app.write_in(turn, caller, by).await?)
}

/// Refuses to write for a request that took too long: its sender may have been told that nothing was written.
///
/// # Errors
/// [`OperationError::NotNow`]
pub(crate) fn must_be_in_time(caller: &Manager) -> Result<(), OperationError> {
    if caller.is_in_time() {
        return Ok(());
    }
    let what = "the request took too long, and nothing was written; try again later";
    Err(OperationError::NotNow(what.to_owned()))
}
