//! Ranks: the positions of policies in the order in which they decide.

use crate::plan::program::NodeId;
use crate::rbac::Effect;

/// The position of a policy in the order in which policies decide: the smallest rank that applies wins.
pub(crate) type Rank = u32;

/// A policy as the index and the evaluation read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed {
    pub(crate) effect: Effect,
    /// The root of the condition; `None` when the stored condition does not compile.
    pub(crate) condition: Option<NodeId>,
}
