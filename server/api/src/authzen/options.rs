//! The options of AuthZEN evaluations.

use portcullis_engine::batch::BatchSemantic;

/// The options of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) semantic: BatchSemantic,
    /// Whether decisions come with reasons.
    pub(super) reasons: bool,
}
