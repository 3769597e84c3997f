//! A bound on the work of one question.

/// The maximum number of edges that the question for one relation looks at. With more it is undetermined.
pub const MAX_EDGES: usize = 100_000;
/// The steps that are counted as the work of one edge. Lines of people need two or three.
const STEPS_PER_EDGE: usize = 10;

/// A bound on the work of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaxWork {
    /// The number of edges that are looked at.
    pub(crate) edges: usize,
    /// The number of steps from one term to another.
    pub(crate) steps: usize,
}

impl MaxWork {
    /// Bounds the edges, and with them the steps.
    pub(crate) fn new(edges: usize) -> Self {
        Self { edges, steps: edges.saturating_mul(STEPS_PER_EDGE) }
    }

    /// Returns the smaller of both bounds.
    pub(crate) fn min(self, other: Self) -> Self {
        Self { edges: self.edges.min(other.edges), steps: self.steps.min(other.steps) }
    }

    /// Returns what is left.
    pub(crate) fn less(self, spent: Self) -> Self {
        Self {
            edges: self.edges.saturating_sub(spent.edges),
            steps: self.steps.saturating_sub(spent.steps),
        }
    }
}
