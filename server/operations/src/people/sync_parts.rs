//! The parts of a full sync of entities or of tuples (`docs/semantics.md`, section 12.4).

use portcullis_model::entity::SyncPart;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::DeletingWrite;
use portcullis_storage::Tx;
use portcullis_storage::syncs::{self, OpenSync, SyncTable};
use uuid::Uuid;

use crate::changes::deletions::Deletions;
use crate::content::stored_settings::settings;

/// Most syncs of a tenant that go on: one for each source.
const MAX_SYNCS: i64 = 100;

/// A part of a sync, while it is written.
pub(crate) struct PartOfSync<'p> {
    part: &'p SyncPart,
    sync: OpenSync,
}

impl<'p> PartOfSync<'p> {
    /// Begins the sync `id` if it is the first part.
    ///
    /// # Errors
    /// The sync is not the one that goes on, or too many go on.
    pub(crate) async fn open(
        tx: &mut Tx,
        table: &SyncTable,
        part: &'p SyncPart,
        id: Uuid,
    ) -> Result<Self, OperationError> {
        let source = &part.source;
        if part.sync.is_none() {
            begin(tx, table, source, id).await?;
        }
        let current = syncs::current(tx, table, source).await?;
        let sync = current.filter(|current| current.id == id).ok_or_else(|| {
            let what = "this sync of the source has ended, or another one began since; begin a new one without `sync`";
            OperationError::Conflict(what.to_owned())
        })?;
        Ok(Self { part, sync })
    }

    /// Returns the most records that the end of the sync may delete.
    pub(crate) async fn max_deletions(&self, tx: &mut Tx) -> Result<usize, OperationError> {
        if self.part.allow_deletes {
            return Ok(usize::MAX);
        }
        let percent = settings(tx).await?.max_deletes;
        let allowed = Deletions::new(0, self.sync.records, percent).limit;
        Ok(if percent < 100 { allowed } else { usize::MAX })
    }

    /// Returns the refusal of an end that would delete `count` records, more than `limit`.
    pub(crate) fn refused(&self, count: usize, limit: usize, by: DeletingWrite) -> OperationError {
        // Records may have come to the source since the sync began.
        let owned = self.sync.records.max(count);
        Deletions { count, owned, limit }.refused(by).into()
    }
}

/// Begins a sync of `source`, in place of one that goes on.
async fn begin(
    tx: &mut Tx,
    table: &SyncTable,
    source: &str,
    id: Uuid,
) -> Result<(), OperationError> {
    let is_new = syncs::current(tx, table, source).await?.is_none();
    if is_new && syncs::count(tx, table).await? >= MAX_SYNCS {
        return Err(OperationError::Conflict(format!(
            "syncs of {MAX_SYNCS} sources go on; end one with `finish` first"
        )));
    }
    Ok(syncs::begin(tx, table, source, id).await?)
}
