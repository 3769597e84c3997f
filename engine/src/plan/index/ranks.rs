//! The policies of a plan, by their place in the order in which they decide.

use crate::plan::program::NodeId;
use crate::rbac::Effect;

/// A policy, by its place in the order in which policies decide.
pub(crate) type Rank = u32;

/// A policy as an index sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed {
    pub(crate) effect: Effect,
    /// `None` when the condition cannot be read.
    pub(crate) condition: Option<NodeId>,
}
