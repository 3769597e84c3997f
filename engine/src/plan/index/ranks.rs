//! Ranks: the positions of policies in the order in which they decide. A search evaluates them.

use crate::plan::program::{NodeId, Run};
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

/// One search for the policies that can apply to a check, as the caller of the index supplies it.
pub(crate) trait Search<'v> {
    /// Returns the run for the check.
    fn run(&self) -> &Run<'v>;
    /// Evaluates these policies, which come by ascending rank.
    fn evaluate(&mut self, ranks: &[Rank]);
}
