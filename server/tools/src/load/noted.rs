//! The progress of a load, noted beside its file.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// The end of the name of the file with the progress.
const ENDING: &str = "progress";

/// The numbers of records by what the service did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub(super) written: u64,
    pub(super) unchanged: u64,
    pub(super) deleted: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { written, unchanged, deleted } = self;
        write!(f, "{written} written, {unchanged} unchanged, {deleted} deleted")
    }
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: u64,
    pub(super) offset: u64,
    /// SHA-256 of everything before, in hexadecimal.
    pub(super) digest: String,
}

/// The progress of a load.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The service, the kind, the source and whether it is a sync: another job begins anew.
    job: String,
    /// The last line that is written.
    pub(super) written_to: u64,
    /// The place before the last part that is written.
    #[serde(flatten)]
    pub(super) before_last: Position,
    /// The sync that goes on.
    pub(super) sync: Option<String>,
    pub(super) counts: Counts,
}

/// The progress, and the file that has it; `None` if it is noted nowhere.
#[derive(Debug, Default)]
pub(super) struct NotedProgress {
    file: Option<PathBuf>,
    progress: Progress,
}

impl NotedProgress {
    /// Returns a progress that nobody can go on from.
    pub(super) fn nowhere() -> Self {
        Self::default()
    }

    /// Returns the progress that is noted beside `loaded` for the job, or its begin.
    pub(super) fn beside(loaded: &Path, job: &str) -> Self {
        let begun = Self::beside_changed(loaded, job);
        let text = begun.file.as_ref().and_then(|file| fs::read(file).ok());
        let noted = text.and_then(|text| serde_json::from_slice::<Progress>(&text).ok());
        match noted.filter(|noted| noted.job == job) {
            Some(progress) => Self { progress, ..begun },
            None => begun,
        }
    }

    /// Returns the begin of the job.
    pub(super) fn beside_changed(loaded: &Path, job: &str) -> Self {
        let mut name = loaded.as_os_str().to_owned();
        name.push(".");
        name.push(ENDING);
        let progress = Progress { job: job.to_owned(), ..Progress::default() };
        Self { file: Some(name.into()), progress }
    }

    pub(super) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns whether a part is written.
    pub(super) fn is_begun(&self) -> bool {
        self.progress.written_to > 0
    }

    /// Returns whether another run of the command finds the progress.
    pub(super) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Notes what the service did with the lines up to `written_to`, the end of a part that begins at `before_last`.
    pub(super) fn note(
        &mut self,
        before_last: Position,
        written_to: u64,
        sync: Option<String>,
        counts: Counts,
    ) -> anyhow::Result<()> {
        let job = std::mem::take(&mut self.progress.job);
        self.progress = Progress { job, written_to, before_last, sync, counts };
        let Some(file) = &self.file else { return Ok(()) };
        let text = serde_json::to_vec(&self.progress)?;
        // A command that is stopped while it writes leaves the note of the part before.
        let new = file.with_extension("new");
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, file))
            .with_context(|| format!("cannot note the progress in {}", file.display()))
    }

    /// Notes the progress nowhere from now on.
    pub(super) fn keep_nowhere(&mut self) {
        self.file = None;
    }

    /// Forgets the progress.
    pub(super) fn forget(&self) {
        // A file of one part has left no note.
        let _ = self.file.as_ref().map(fs::remove_file);
    }
}
