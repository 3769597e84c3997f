//! The causes why a record is not in the log.

use strum::IntoStaticStr;

/// The cause why a record is lost. Each lost record is counted by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, thiserror::Error)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Lost {
    /// The disk is slower than the checks.
    #[error("too many records wait for the disk")]
    BufferFull,
    /// The write-ahead files have `DECISION_LOG_BUFFER_BYTES`, or the disk is full.
    #[error("the disk of the decision log is full, or its store is down for long")]
    DiskFull,
    /// The disk failed.
    #[error("the write-ahead file cannot be written")]
    Disk,
    /// The process was killed before the record was on disk.
    #[error("the process was killed")]
    Killed,
    /// The log is closed.
    #[error("the service is shutting down")]
    Closed,
}

impl Lost {
    /// Every cause, so that each series exists from the start.
    pub(crate) const ALL: [Self; 5] =
        [Self::BufferFull, Self::DiskFull, Self::Disk, Self::Killed, Self::Closed];
}
