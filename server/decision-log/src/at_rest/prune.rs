//! Removes rows of the manifest about files that are long gone: one row with the hash of the chain so far takes their place.

use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_storage::decision_files::{self, FileRow};
use portcullis_storage::{StoreError, Tx};

use super::archive::{Archive, ArchiveError};
use super::chain;

/// The time for which the manifest tells of a file that is gone, and of the erasures before that.
const TOLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The most files of one round.
const ROUND: i64 = 100;

impl Archive {
    /// Removes rows about files that are long gone. The store must have none of them any more.
    pub(crate) async fn prune(&self, now: Timestamp) -> Result<(), ArchiveError> {
        let before = Timestamp::from_millis(now.millis() - TOLD.as_millis() as i64);
        let ended = self
            .store()
            .read_all(async |tx| decision_files::ended(tx, before, ROUND).await)
            .await?;
        // While nothing is due, nobody waits for a transaction that writes.
        if ended.is_empty() {
            return Ok(());
        }
        let mut tx = self.store().write_all().await?;
        for run in ended.chunk_by(|one, next| next - one == 1) {
            // What one row says of another is only good while both are as the service wrote them.
            if !self.prune_run(&mut tx, run, now).await? {
                return Ok(());
            }
        }
        tx.commit().await?;
        Ok(())
    }

    /// Puts one row in the place of those at `run`, which are adjacent, and of the rows beside them that stand for others.
    /// False if somebody changed one, or another process was faster.
    async fn prune_run(
        &self,
        tx: &mut Tx,
        run: &[i64],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (Some(&first), Some(&last)) = (run.first(), run.last()) else { return Ok(true) };
        let before = decision_files::before(tx, first).await?;
        // With the row after the run, if there is one: it may stand for others.
        let mut rows = decision_files::list(tx, first - 1, last - first + 2).await?;
        let after = rows.pop_if(|row| row.seq > last);
        if !rows.iter().map(|row| row.seq).eq(run.iter().copied()) {
            return Ok(false);
        }
        let hash = before.as_ref().map(|row| row.hash.clone()).unwrap_or_default();
        let Some(end) = self.end_of(&hash, &rows) else {
            tracing::warn!(
                rows = ?run,
                "the manifest of decisions was changed and keeps its rows: see `portcullis decisions verify`"
            );
            return Ok(false);
        };
        let before = before.filter(|row| row.seq == first - 1 && self.stands_for_others(row));
        let after = after.filter(|row| {
            chain::first(row) == last + 1
                && chain::follows(&end.hash, row)
                && self.stands_for_others(row)
        });
        let end = after.as_ref().unwrap_or(end);
        let row = match &before {
            Some(row) => chain::pruned(self.keys(), (chain::first(row), &row.sha256), end, now),
            None => chain::pruned(self.keys(), (first, &hash), end, now),
        };
        // Fewer rows are there if another process was faster: without a commit they stay.
        let wanted = rows.len() + usize::from(before.is_some()) + usize::from(after.is_some());
        if decision_files::remove(tx, chain::first(&row), row.seq).await? != wanted as u64 {
            return Ok(false);
        }
        decision_files::append(tx, &row).await?;
        Ok(true)
    }

    /// Returns the last of the rows that follow the hash `before`. `None` if one is not as the service wrote it.
    fn end_of<'r>(&self, before: &[u8], rows: &'r [FileRow]) -> Option<&'r FileRow> {
        let mut hash = before;
        for row in rows {
            if !chain::follows(hash, row) || !chain::is_signed(self.keys(), row) {
                return None;
            }
            hash = &row.hash;
        }
        rows.last()
    }

    /// Returns whether the service put the row in the place of others.
    fn stands_for_others(&self, row: &FileRow) -> bool {
        chain::is_pruned(row) && chain::is_signed(self.keys(), row)
    }
}
