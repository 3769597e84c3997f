//! Compares the files with the manifest, and the manifest with its chain.

use std::collections::BTreeSet;

use portcullis_storage::decision_files::{self, FileRow};
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
    #[error("`{0}` was changed: its SHA-256 is not that of the manifest")]
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
        let (mut found, mut hash, mut seq) = (Verification::default(), Vec::new(), 0);
        let (mut replaced, mut gone) = (BTreeSet::new(), BTreeSet::new());
        let mut digests = std::collections::BTreeMap::<String, String>::new();
        loop {
            let rows =
                self.store().read_all(async |tx| decision_files::list(tx, seq, PAGE).await).await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                self.verify_row((seq, &hash), &row, &mut found);
                note_replaced(&mut found, &digests, &row);
                replaced.extend(row.replaces.clone());
                if let Some(path) = &row.path {
                    digests.insert(path.clone(), hex::encode(&row.sha256));
                    match row.gone_at {
                        Some(_) => _ = gone.insert(path.clone()),
                        None => self.verify_file(path, &row, &mut found).await?,
                    }
                }
                (seq, hash) = (row.seq, row.hash);
            }
        }
        found.findings.extend(gone.difference(&replaced).cloned().map(RecordFault::Hidden));
        Ok(found)
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

    async fn verify_file(
        &self,
        path: &str,
        row: &FileRow,
        found: &mut Verification,
    ) -> Result<(), ArchiveError> {
        match self.get(path).await? {
            None => found.findings.push(RecordFault::Missing(path.to_owned())),
            Some(bytes) if *Sha256::digest(&bytes) != *row.sha256 => {
                found.findings.push(RecordFault::Changed(path.to_owned()));
            }
            Some(_) => {
                found.files += 1;
                found.records += u64::try_from(row.records).unwrap_or_default();
                found.bytes += u64::try_from(row.bytes).unwrap_or_default();
            }
        }
        Ok(())
    }
}

fn note_replaced(
    found: &mut Verification,
    digests: &std::collections::BTreeMap<String, String>,
    row: &FileRow,
) {
    let Some(before) = &row.replaces else { return };
    if row.cause == "expired" {
        found.expired += 1;
        return;
    }
    let old = digests.get(before).map_or("unknown", String::as_str);
    let now = row.path.as_deref().unwrap_or("nothing");
    found.erased.push(format!("`{before}` ({old}) became `{now}` ({})", hex::encode(&row.sha256)));
}
