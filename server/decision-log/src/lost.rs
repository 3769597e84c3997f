//! The causes why a record is not in the log.

use strum::IntoStaticStr;

/// The cause why a record is lost. Each lost record is counted by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, thiserror::Error)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Lost {
    /// The disk is slower than the checks of the tenant.
    #[error("too many records wait for the disk")]
    BufferFull,
    /// The tenant has its share of `DECISION_LOG_BUFFER_BYTES`, or the disk is full.
    #[error("the disk of the decision log is full, or its store is down for long")]
    DiskFull,
    /// The record has more bytes than any may have.
    #[error("the record is too large")]
    TooLarge,
    /// The disk failed.
    #[error("the write-ahead file cannot be written")]
    Disk,
    /// The process was killed before the record was on disk.
    #[error("the process was killed")]
    Killed,
    /// A part of a write-ahead file or of a file at rest cannot be read any more.
    #[error("a file of the log is damaged")]
    Damaged,
    /// The log is closed.
    #[error("the service is shutting down")]
    Closed,
}

impl Lost {
    /// Every cause, so that each series exists from the start.
    pub(crate) const ALL: [Self; 7] = [
        Self::BufferFull,
        Self::DiskFull,
        Self::TooLarge,
        Self::Disk,
        Self::Killed,
        Self::Damaged,
        Self::Closed,
    ];
}
