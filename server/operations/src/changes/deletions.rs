//! The limit of deletions: a write that would delete a large part of what somebody keeps is refused unless it is forced
//! (`docs/semantics.md`, sections 10.3 and 12.4).

use portcullis_runtime::write_refusal::{DeletingWrite, WriteRefusal};

/// The deletions of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletions {
    pub count: usize,
    /// The number of records that could be deleted.
    pub owned: usize,
    /// The most deletions that the tenant allows.
    pub limit: usize,
}

impl Deletions {
    /// Returns the deletions of a write, of which the tenant allows this part in percent, and always one.
    pub fn new(count: usize, owned: usize, percent: u32) -> Self {
        let percent = usize::try_from(percent).unwrap_or(100);
        Self { count, owned, limit: (owned.saturating_mul(percent) / 100).max(1) }
    }

    /// Returns the refusal of a write with more deletions than the limit.
    pub fn refused(self, by: DeletingWrite) -> WriteRefusal {
        let Self { count, owned, limit } = self;
        WriteRefusal::DeleteLimit { by, deletions: count, owned, limit }
    }
}
