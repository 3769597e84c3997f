//! The newest commit of a SQLite file, in a file beside it. A backup that takes the place of the database lacks that commit,
//! and its tenants begin an epoch: a revision names one state for ever.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::history::{HistoryPosition, epoch, in_epoch};
use crate::macros::fetch_all;
use crate::sqlite_files;
use crate::tx::Tx;
use crate::{directory, tenants};

/// The bytes of the content, with blanks at its end. Only a long name of a tenant needs more.
const USUAL_LENGTH: usize = 512;

/// The file beside a database that has its newest commit.
#[derive(Debug)]
pub(crate) struct NewestCommit {
    path: PathBuf,
    /// The latest epoch that any tenant has reached.
    epoch: AtomicU64,
}

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    /// The latest epoch that any tenant has reached.
    epoch: u64,
    tenant: String,
    /// The place in the tenant's history after the commit.
    position: HistoryPosition,
}

impl NewestCommit {
    /// Returns the file beside `database`.
    pub(crate) fn beside(database: &Path) -> Self {
        let newest = Self { path: sqlite_files::newest_of(database), epoch: AtomicU64::new(0) };
        newest.reach(newest.read().map_or(0, |noted| noted.epoch));
        newest
    }

    /// Notes a commit, which the database has, in a transaction that changed decisions. Without the file nothing is lost: the commit before it tells as much of a
    /// backup.
    pub(crate) fn note(
        &self,
        tenant: &str,
        position: &HistoryPosition,
        entities: Option<&HistoryPosition>,
    ) {
        let revisions = [Some(position), entities].into_iter().flatten().map(|at| at.revision);
        let epoch = self.reach(revisions.map(epoch).max().unwrap_or_default());
        let noted = Noted { epoch, tenant: tenant.to_owned(), position: position.recent() };
        if let Err(error) = self.write(&serde_json::to_string(&noted).unwrap_or_default()) {
            tracing::debug!(%error, "cannot note the newest commit");
        }
    }

    /// Returns the latest epoch that any tenant has reached, `epoch` included.
    fn reach(&self, epoch: u64) -> u64 {
        self.epoch.fetch_max(epoch, Ordering::Relaxed).max(epoch)
    }

    fn read(&self) -> Option<Noted> {
        serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()
    }

    /// Writes in place and without a change of the length: whoever dies meanwhile leaves what nobody can read.
    fn write(&self, content: &str) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(sqlite_files::OWNER_ONLY);
        let mut file = options.open(&self.path)?;
        let content = format!("{content:<USUAL_LENGTH$}");
        file.write_all(content.as_bytes())?;
        file.set_len(content.len() as u64)
    }

    /// Returns the last revision of the latest epoch that was lost, if the database lacks the commit that was noted last.
    pub(crate) async fn lost(&self, tx: &mut Tx) -> Result<Option<u64>, StoreError> {
        let Some(noted) = self.read() else { return Ok(None) };
        let found = tenants::positions(tx, &[&noted.tenant]).await?.pop();
        let has_it = found.is_some_and(|(_, present)| {
            present.revision >= noted.position.revision && present.agrees_with(&noted.position)
        });
        Ok((!has_it).then(|| in_epoch(0, self.reach(noted.epoch))))
    }
}

/// Returns the ids of all tenants.
pub(crate) async fn every_tenant(tx: &mut Tx) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT id FROM tenants ORDER BY id";
    Ok(fetch_all!(tx, (String,), SQL)?.into_iter().map(|(id,)| id).collect())
}

/// Begins an epoch of the tenant of `tx` after `lost`, and after all that the tenant has.
pub(crate) async fn begin_epoch(tx: &mut Tx, lost: u64) -> Result<(), StoreError> {
    let entities = directory::state(tx).await?.position.revision;
    let lost = lost.max(tenants::revision(tx).await?).max(entities);
    tenants::begin_epoch(tx, lost).await?;
    directory::begin_epoch(tx, lost).await?;
    // Nobody decided on this change: the database made it.
    tx.pass_gates();
    Ok(())
}
