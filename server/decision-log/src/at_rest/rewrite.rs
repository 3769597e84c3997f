//! Removes records from sealed files: a new file takes the place of the old one, and the chain has both digests.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use portcullis_fairness::run_apart;
use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use portcullis_storage::decision_files::{self, FileRow, PartRow};
use portcullis_storage::record_answers;
use sha2::{Digest, Sha256};

use super::archive::{Archive, ArchiveError};
use super::chain::{self, Event};
use super::excluded::{ErasedRecords, Excluded};
use super::reader::{RestedPart, every_group};
use super::rows::UnsortedRows;
use super::seal::NewFile;
use super::uploads;
use crate::reading::DecisionSpan;
use crate::wanted::Wanted;

/// The time for which a file that is gone stays in the store: queries that began before read on.
const LEFT: Duration = Duration::from_secs(60);
/// The most files of one round.
const ROUND: i64 = 100;

/// The outcome of the erasure of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erased {
    pub records: u64,
    /// The deliveries of denied checks that are gone.
    pub deliveries: u64,
    /// The deliveries of them that their receivers may have.
    pub sent: u64,
}

impl Archive {
    /// Removes the records of `tenant` that one of `selections` selects and that are excluded, from every file.
    pub(crate) async fn erase(
        &self,
        tenant: &str,
        selections: &[DecisionSelection],
        now: Timestamp,
    ) -> Result<(), ArchiveError> {
        let wanted = selections
            .iter()
            .map(|selection| Wanted::new(tenant, selection, DecisionSpan::default()));
        let wanted: Arc<[Wanted]> = wanted.collect();
        // Another process may write a file anew meanwhile, and knew of no erasure: the new one is looked at, too.
        while self.erase_once(tenant, &wanted, now).await? {}
        Ok(())
    }

    /// Writes the files anew that have records which one of `wanted` wants and which are excluded. Returns whether there were
    /// any.
    async fn erase_once(
        &self,
        tenant: &str,
        wanted: &Arc<[Wanted]>,
        now: Timestamp,
    ) -> Result<bool, ArchiveError> {
        let tenants = BTreeSet::from([tenant.to_owned()]);
        let (excluded, mut found_any) = (Arc::new(self.excluded(&tenants).await?), false);
        let all = Wanted::new(tenant, &DecisionSelection::default(), DecisionSpan::default());
        for part in self.parts(&all).await? {
            let path = part.path().to_owned();
            let (archive, wanted, excluded) =
                (self.clone(), Arc::clone(wanted), Arc::clone(&excluded));
            let has_some = run_apart(move || {
                for wanted in &*wanted {
                    if has_excluded(&archive, &part, wanted, &excluded)? {
                        return Ok::<_, ArchiveError>(true);
                    }
                }
                Ok(false)
            });
            if has_some.await?? {
                found_any = true;
                self.rewrite(&path, now).await?;
            }
        }
        Ok(found_any)
    }

    /// Removes what expired or belongs to nobody any more: parts, files, objects.
    pub(crate) async fn sweep(&self, now: Timestamp) -> Result<(), ArchiveError> {
        let before = Timestamp::from_millis(now.millis() - LEFT.as_millis() as i64);
        let mut tx = self.store().begin_read_all().await?;
        let is_due = decision_files::has_expired(&mut tx, now).await?
            || record_answers::has_older(&mut tx, before).await?;
        tx.end().await?;
        // While nothing is due, nobody waits for a transaction that writes.
        if is_due {
            let mut tx = self.store().write_all().await?;
            decision_files::expire(&mut tx, now).await?;
            record_answers::remove_older(&mut tx, before).await?;
            tx.commit().await?;
        }
        // This comes after the commit, so that what expired in this round is found.
        let mut tx = self.store().begin_read_all().await?;
        let shrunk = decision_files::shrunk(&mut tx, ROUND).await?;
        let left = decision_files::left(&mut tx, before, ROUND).await?;
        tx.end().await?;
        for path in shrunk {
            self.rewrite(&path, now).await?;
        }
        uploads::remove_unnamed(self, now).await?;
        // The manifest has to tell of files that are gone as long as the store has them.
        if left.is_empty() {
            self.prune(now).await?;
        }
        for path in left {
            // This comes before the note: if the process ends in between, the next round deletes again, and a missing
            // file is no error.
            self.delete(&path).await?;
            let mut tx = self.store().write_all().await?;
            decision_files::note_deleted(&mut tx, &path).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Writes the file anew without what is excluded, and without tenants that have no part in it.
    pub(crate) async fn rewrite(&self, path: &str, now: Timestamp) -> Result<(), ArchiveError> {
        let mut tx = self.store().begin_read_all().await?;
        let row = decision_files::find(&mut tx, path).await?;
        let parts = decision_files::parts_of_file(&mut tx, path).await?;
        tx.end().await?;
        // Another process may have replaced the file meanwhile.
        let Some(row) = row.filter(|row| row.gone_at.is_none()) else { return Ok(()) };
        let (file, erased) = match parts.is_empty() {
            true => (None, ErasedRecords::default()),
            false => self.written_anew(&row, path, &parts).await?,
        };
        if let Some(file) = &file {
            uploads::store(self, &file.path, file.bytes.clone(), now).await?;
        }
        self.replace(path, &parts, (file, erased), now).await
    }

    async fn written_anew(
        &self,
        row: &FileRow,
        path: &str,
        parts: &[PartRow],
    ) -> Result<(Option<NewFile>, ErasedRecords), ArchiveError> {
        let bytes = u64::try_from(row.bytes).unwrap_or_default();
        let object = self.object(path, bytes);
        let tenants: BTreeSet<String> = parts.iter().map(|part| part.tenant_id.clone()).collect();
        let excluded = self.excluded(&tenants).await?;
        let (archive, path) = (self.clone(), path.to_owned());
        run_apart(move || {
            let (mut rows, mut erased) = (UnsortedRows::default(), ErasedRecords::default());
            for group in every_group(object)? {
                group.every(|(tenant, id, bytes), json, cells| {
                    let record = (tenant, id, json);
                    if tenants.contains(tenant) && !excluded.has(&archive, record, &mut erased) {
                        rows.add_cells((tenant, id, bytes), cells);
                    }
                })?;
            }
            let rows = rows.sorted();
            let tenants: Vec<String> = rows.tenants().map(str::to_owned).collect();
            // The name follows from the records: two processes may write the file anew, and each without others.
            let mut digest = Sha256::new();
            for id in tenants.iter().flat_map(|tenant| rows.ids(tenant)) {
                digest.update(id.as_bytes());
            }
            let digest = hex::encode(digest.finalize());
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let file = NewFile::write(&rows, &tenants, |first| {
                format!("{folder}/{first}-{digest}.parquet")
            })?;
            Ok((file, erased))
        })
        .await?
    }

    /// Puts `file`, which has the records that are not `erased`, in the place of the one at `path`.
    async fn replace(
        &self,
        path: &str,
        parts: &[PartRow],
        (file, erased): (Option<NewFile>, ErasedRecords),
        now: Timestamp,
    ) -> Result<(), ArchiveError> {
        let mut tx = self.store().write_all().await?;
        if !decision_files::leave(&mut tx, path, now).await? {
            // Another process was faster. What it did not name of the new file is removed later.
            return Ok(());
        }
        if let Some(file) = &file {
            uploads::name(&mut tx, &file.path).await?;
        }
        decision_files::remove_parts(&mut tx, path).await?;
        let replaces = Some(path.to_owned());
        let event = match &file {
            Some(file) => file.event("erased", replaces, now),
            None => Event {
                cause: if parts.is_empty() { "expired" } else { "erased" },
                path: None,
                replaces,
                at: now.millis(),
                records: 0,
                bytes: 0,
                sha256: Vec::new(),
            },
        };
        chain::append(&mut tx, self.keys(), [event]).await?;
        for part in file.iter().flat_map(|file| &file.parts) {
            // The records that are left expire when they would have without the erasure.
            let before = parts.iter().find(|before| before.tenant_id == part.tenant_id);
            let expires_at = before.map_or(part.last_at, |before| before.expires_at);
            decision_files::add_part(&mut tx, &PartRow { expires_at, ..part.clone() }).await?;
        }
        erased.note(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// Returns whether the part has a wanted record that is excluded. Blocks.
fn has_excluded(
    archive: &Archive,
    part: &RestedPart,
    wanted: &Wanted,
    excluded: &Excluded,
) -> Result<bool, ArchiveError> {
    let (mut found, mut erased) = (false, ErasedRecords::default());
    let (first, last) = part.ids();
    if !wanted.overlaps(first, last) {
        return Ok(false);
    }
    for group in part.groups(wanted).map_err(|error| part.failure(&error))? {
        group.load(wanted, |id, json, _| {
            found |= excluded.has(archive, (&*wanted.tenant, id, json), &mut erased);
        })?;
        // What cannot be read may be about a person.
        found |= group.is_damaged();
    }
    Ok(found)
}
