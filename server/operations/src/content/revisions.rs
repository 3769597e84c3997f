//! The use cases of the history: revisions, and what they changed (`docs/semantics.md`, section 16).

mod differences;
mod retention;

use portcullis_auth::Manager;
use portcullis_engine::Invalid;
use portcullis_model::page::Listed;
use portcullis_model::revision::{
    RecordRevision, RevisionChanges, RevisionDetail, RevisionDiff, RevisionRecord,
};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, policies, revision_changes, revisions};
use uuid::Uuid;

pub use self::differences::Sides;
pub(crate) use self::differences::change;
pub use self::retention::prune_for_ever;

const NOT_FOUND: OperationError = OperationError::NotFound("revision");

/// The kind of a policy in the history.
const POLICY: &str = portcullis_model::apply::ObjectKind::Policy.into_str();

/// The part of a list of changes that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct ChangesPage<'p> {
    /// The place after which the page begins, as [`RevisionChanges::next`] has it; empty at the start.
    pub after: &'p str,
    pub limit: i64,
}

/// Lists the revisions of the caller's tenant before `before`, newest first.
///
/// # Errors
/// The store failed.
pub async fn list(
    app: &App,
    caller: &Manager,
    before: u64,
    limit: i64,
) -> Result<Listed<RevisionRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| revisions::list(tx, before, limit).await).await
}

/// Returns a revision of the caller's tenant with its changes.
///
/// # Errors
/// The revision is not kept, or the store failed.
pub async fn get(
    app: &App,
    caller: &Manager,
    revision: u64,
    page: ChangesPage<'_>,
) -> Result<RevisionDetail, OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let record = find(&mut tx, revision).await?;
    // A revision changed what differs from the one before it.
    let sides = Sides { from: revision.saturating_sub(1), to: revision };
    let changes = changes(&mut tx, sides, page).await?;
    tx.end().await?;
    Ok(RevisionDetail { revision: record, changes })
}

/// Returns what differs between two revisions of the caller's tenant.
///
/// # Errors
/// A revision is not kept, or the store failed.
pub async fn diff(
    app: &App,
    caller: &Manager,
    sides: Sides,
    page: ChangesPage<'_>,
) -> Result<RevisionDiff, OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    for revision in [sides.from, sides.to] {
        find(&mut tx, revision).await?;
    }
    let changes = changes(&mut tx, sides, page).await?;
    tx.end().await?;
    Ok(RevisionDiff { from: sides.from, to: sides.to, changes })
}

/// Lists the revisions before `before` that changed a policy of the caller's tenant, newest first. The policy may be
/// deleted.
///
/// # Errors
/// The tenant has no such policy, and no revision that is kept changed it; or the store failed.
pub async fn for_policy(
    app: &App,
    caller: &Manager,
    id: Uuid,
    before: u64,
    limit: i64,
) -> Result<Listed<RecordRevision>, OperationError> {
    let (mut tx, record) = (app.store.begin_read(caller.tenant()).await?, id.to_string());
    let changed = (POLICY, &*record);
    let page = revision_changes::for_record(&mut tx, changed, before, limit).await?;
    // A policy whose changes are not kept any more has an empty list.
    if page.records.is_empty() && policies::find(&mut tx, id).await?.is_none() {
        return Err(OperationError::NotFound("policy"));
    }
    let made = revisions::for_record(&mut tx, changed, before, page.records.len()).await?;
    tx.end().await?;
    // Both are newest first. A change whose revision is removed already is older than all others, so that the pairs fit.
    let pairs = made.into_iter().zip(&page.records);
    let records = pairs.map(|(revision, one)| RecordRevision { revision, change: change(one) });
    Ok(Listed { records: records.collect(), more: page.more })
}

/// Finds a revision that is kept.
async fn find(tx: &mut Tx, revision: u64) -> Result<RevisionRecord, OperationError> {
    revisions::find(tx, revision).await?.ok_or(NOT_FOUND)
}

/// Reads a page of what differs between two revisions.
async fn changes(
    tx: &mut Tx,
    sides: Sides,
    page: ChangesPage<'_>,
) -> Result<RevisionChanges, OperationError> {
    let after = match page.after {
        "" => ("", ""),
        place => {
            place.split_once('/').ok_or_else(|| Invalid::expected("", "a `next` of before"))?
        }
    };
    let Listed { records, more } =
        revision_changes::between(tx, sides.in_order(), after, page.limit).await?;
    let last = records.last().filter(|_| more);
    let next = last.map(|one| format!("{}/{}", one.kind.into_str(), one.record));
    let changes = records.into_iter().map(|one| change(&sides.directed(one)));
    // A record that has other times alone does not differ.
    let changes = changes.filter(|one| !one.change.fields.is_empty());
    Ok(RevisionChanges { changes: changes.collect(), complete: !more, next })
}
