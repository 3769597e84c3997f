//! The topic of an evaluation: the parts of its question that answers name.

/// The parts of a question that its answer names or depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topic<'q> {
    /// The name of the action.
    pub(super) action: &'q str,
    /// The type of the resource.
    pub(super) kind: &'q str,
    pub(super) domain: Option<&'q str>,
    /// The number of the list of tuples that it assumes.
    pub(super) assumed: Option<usize>,
}
