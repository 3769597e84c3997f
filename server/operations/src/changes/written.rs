//! The results of use cases that write.

use portcullis_model::warning::Warning;

/// A record that was stored.
#[derive(Debug)]
pub struct Stored<T> {
    pub record: T,
    /// Nothing had its name before.
    pub is_new: bool,
}

/// A record after a change, and the policy revision of the tenant that includes the change.
#[derive(Debug)]
pub struct Written<T> {
    pub record: T,
    pub revision: u64,
    /// At most two.
    pub warnings: Vec<Warning>,
}

impl<T> Written<(T, Vec<Warning>)> {
    /// Returns the result of a change that returned a record with the warnings about it.
    pub(crate) fn with_warnings(self) -> Written<T> {
        let (record, warnings) = self.record;
        Written { record, revision: self.revision, warnings }
    }
}

impl<T> Written<T> {
    /// Returns the result of a change about which there are no warnings.
    pub fn new(record: T, revision: u64) -> Self {
        Self { record, revision, warnings: Vec::new() }
    }
}
