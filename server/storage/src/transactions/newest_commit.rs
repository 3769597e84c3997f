//! The newest commit of a SQLite file, in a file beside it. A backup that takes the place of the database lacks that commit,
//! and its tenants begin an epoch: a revision names one state for ever.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::transactions::history::{HistoryPosition, epoch};
use crate::transactions::sqlite_files;

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
pub(crate) struct Noted {
    /// The latest epoch that any tenant has reached.
    pub(crate) epoch: u64,
    pub(crate) tenant: String,
    /// The place in the tenant's history after the commit.
    pub(crate) position: HistoryPosition,
    /// The place in the history of the tenant's entities after the commit, if it changed them.
    // Earlier versions note none.
    #[serde(default)]
    pub(crate) entities: Option<HistoryPosition>,
}

impl NewestCommit {
    /// Returns the file beside `database`.
    pub(crate) fn beside(database: &Path) -> Self {
        let newest = Self { path: sqlite_files::newest_of(database), epoch: AtomicU64::new(0) };
        newest.reach(newest.read().map_or(0, |noted| noted.epoch));
        newest
    }

    /// Notes a commit, which the database has, of a transaction that changed decisions or entities. A note that fails loses
    /// nothing: the commit before it tells almost as much of a backup.
    pub(crate) fn note(
        &self,
        tenant: &str,
        position: &HistoryPosition,
        entities: Option<&HistoryPosition>,
    ) {
        let revisions = [Some(position), entities].into_iter().flatten().map(|at| at.revision);
        let epoch = self.reach(revisions.map(epoch).max().unwrap_or_default());
        let noted = Noted {
            epoch,
            tenant: tenant.to_owned(),
            position: position.recent(),
            entities: entities.map(HistoryPosition::recent),
        };
        if let Err(error) = self.write(&serde_json::to_string(&noted).unwrap_or_default()) {
            tracing::debug!(%error, "cannot note the newest commit");
        }
    }

    /// Returns the latest epoch that any tenant has reached, `epoch` included.
    fn reach(&self, epoch: u64) -> u64 {
        // `fetch_max` returns the number from before.
        self.epoch.fetch_max(epoch, Ordering::Relaxed).max(epoch)
    }

    /// Returns the commit that was noted last.
    pub(crate) fn read(&self) -> Option<Noted> {
        serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()
    }

    /// Removes the note. The epoch stays until the process ends.
    pub(crate) fn remove(&self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "cannot remove the newest commit");
        }
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
}
