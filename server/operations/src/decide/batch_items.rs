//! The items of a batch, as their reader keeps them. A check is made when it is decided: the checks of a large batch
//! would be most of its memory.

use portcullis_engine::CheckBody;
use portcullis_engine::batch::BatchBody;

/// The checks of a batch.
pub trait BatchItems: Sync {
    /// Returns the number of checks.
    fn count(&self) -> usize;

    /// Returns a check by its number.
    fn check(&self, index: usize) -> Option<CheckBody<'_>>;

    /// Returns the resource and the domain of a check by its number.
    fn scope(&self, index: usize) -> Option<(&str, Option<&str>)>;
}

impl BatchItems for BatchBody<'_> {
    fn count(&self) -> usize {
        self.count()
    }

    fn check(&self, index: usize) -> Option<CheckBody<'_>> {
        self.check(index)
    }

    fn scope(&self, index: usize) -> Option<(&str, Option<&str>)> {
        self.scope(index)
    }
}
