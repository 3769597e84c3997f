//! Authorship of records.

use crate::timestamp::Timestamp;

/// The author of a change, and its instant.
#[derive(Clone, Debug)]
pub struct Authorship {
    /// A token's `sub`.
    pub actor: String,
    pub at: Timestamp,
}
