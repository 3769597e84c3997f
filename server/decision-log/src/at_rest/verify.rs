//! Compares the files with the manifest, and the manifest with its chain.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_storage::decision_files::{self, FileRow};
use portcullis_storage::{StoreError, Tx};
use sha2::{Digest, Sha256};

use super::archive::{Archive, ArchiveError};
use super::chain;

/// Rows of the chain that are read at once.
const PAGE: i64 = 500;

/// The findings about all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Rows of the chain.
    pub rows: u64,
    /// Rows that are not kept, about files that are long gone.
    pub pruned: u64,
    /// Files that are there as they were written.
    pub files: u64,
    pub records: u64,
    pub bytes: u64,
    /// Files that an erasure replaced, with the digest from before and the new one.
    pub erased: Vec<String>,
    /// Files whose time is over.
    pub expired: u64,
    pub findings: Vec<RecordFault>,
}

/// A fault of the record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    #[error("the manifest has a gap: rows {0} to {1} are missing")]
    RowsMissing(i64, i64),
    #[error("row {0} of the manifest was changed: its hash does not follow from the row before")]
    RowChanged(i64),
    #[error("row {0} of the manifest is not signed by a key of `ENCRYPTION_KEY`")]
    NotSigned(i64),
    #[error("`{0}` is missing")]
    Missing(String),
    #[error("`{0}` was changed: its SHA-256 differs from the one in the manifest")]
    Changed(String),
    #[error("`{0}` is left out of queries, and no row of the manifest says why")]
    Hidden(String),
}

impl Archive {
    /// Verifies the chain of the manifest and reads every file.
    ///
    /// # Errors
    /// The database or the store failed.
    pub async fn verify(&self) -> Result<Verification, ArchiveError> {
        // One snapshot: a running service takes rows out meanwhile.
        let (mut found, present) =
            self.store().read_all(async |tx| self.verify_chain(tx).await).await?;
        for row in present {
            self.verify_file(&row, &mut found).await?;
        }
        Ok(found)
    }

    /// Verifies the chain. Returns the rows of the files that are to be there, too.
    pub(crate) async fn verify_chain(
        &self,
        tx: &mut Tx,
    ) -> Result<(Verification, Vec<FileRow>), StoreError> {
        let (mut found, mut present) = (Verification::default(), Vec::new());
        let (mut hash, mut seq) = (Vec::new(), 0);
        let (mut replaced, mut gone) = (BTreeSet::new(), BTreeSet::new());
        let mut digests = BTreeMap::<String, String>::new();
        loop {
            let rows = decision_files::list(tx, seq, PAGE).await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                self.verify_row((seq, &hash), &row, &mut found);
                note_replaced(&mut found, &digests, &row);
                replaced.extend(row.replaces.clone());
                (seq, hash) = (row.seq, row.hash.clone());
                let Some(path) = &row.path else { continue };
                digests.insert(path.clone(), hex::encode(&row.sha256));
                match row.gone_at {
                    Some(_) => _ = gone.insert(path.clone()),
                    None => present.push(row),
                }
            }
        }
        found.findings.extend(gone.difference(&replaced).cloned().map(RecordFault::Hidden));
        Ok((found, present))
    }

    /// Verifies a row that follows the one at the place `seq` with this hash.
    fn verify_row(&self, (seq, hash): (i64, &[u8]), row: &FileRow, found: &mut Verification) {
        let first = chain::first(row);
        if first > seq + 1 {
            found.findings.push(RecordFault::RowsMissing(seq + 1, first - 1));
        }
        if first <= seq || !chain::follows(hash, row) {
            found.findings.push(RecordFault::RowChanged(row.seq));
        } else if !chain::is_signed(self.keys(), row) {
            found.findings.push(RecordFault::NotSigned(row.seq));
        }
        if chain::is_pruned(row) {
            found.pruned += u64::try_from(row.records).unwrap_or_default();
        } else {
            found.rows += 1;
        }
    }

    /// Reads the file of `row`.
    pub(crate) async fn verify_file(
        &self,
        row: &FileRow,
        found: &mut Verification,
    ) -> Result<(), ArchiveError> {
        let Some(path) = &row.path else { return Ok(()) };
        let fault = match self.get(path).await? {
            None => RecordFault::Missing(path.clone()),
            Some(bytes) if *Sha256::digest(&bytes) != *row.sha256 => {
                RecordFault::Changed(path.clone())
            }
            Some(_) => {
                found.files += 1;
                found.records += u64::try_from(row.records).unwrap_or_default();
                found.bytes += u64::try_from(row.bytes).unwrap_or_default();
                return Ok(());
            }
        };
        // A running service may have written the file anew or removed it meanwhile.
        let present =
            self.store().read_all(async |tx| decision_files::find(tx, path).await).await?;
        if present.is_some_and(|row| row.gone_at.is_none()) {
            found.findings.push(fault);
        }
        Ok(())
    }
}

fn note_replaced(found: &mut Verification, digests: &BTreeMap<String, String>, row: &FileRow) {
    let Some(before) = &row.replaces else { return };
    if row.cause == "expired" {
        found.expired += 1;
        return;
    }
    let old = digests.get(before).map_or("unknown", String::as_str);
    let now = row.path.as_deref().unwrap_or("nothing");
    found.erased.push(format!("`{before}` ({old}) became `{now}` ({})", hex::encode(&row.sha256)));
}
