//! The limits on the conditions that a text has.

use super::lexer::Token;
use crate::condition::{MAX_DEPTH, MAX_NODES};
use crate::invalid::Fault;

/// The maximum nesting of parentheses, calls and `!`. It bounds the stack of a parser, and still allows parentheses around
/// each node of the deepest tree.
const MAX_NESTING: usize = 2 * MAX_DEPTH;

/// The nodes of the tree so far, and the levels of nesting that are open.
pub(crate) struct TreeLimits {
    /// The word for the whole text.
    text: &'static str,
    nodes: usize,
    nesting: usize,
}

impl TreeLimits {
    /// Begins a tree. `text` is the word for the whole text.
    pub(super) fn new(text: &'static str) -> Self {
        Self { text, nodes: 0, nesting: 0 }
    }

    /// Counts a node of this depth. `at` is the token to blame.
    pub(super) fn count(&mut self, at: Token<'_>, depth: usize) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let text = self.text;
            return Err(at.fault(format!("at most {MAX_NODES} conditions in the whole {text}")));
        }
        if depth > MAX_DEPTH {
            return Err(at.fault(format!("conditions at most {MAX_DEPTH} deep")));
        }
        Ok(())
    }

    /// Enters a level of nesting. `at` opens it, `levels` names what nests.
    pub(crate) fn enter(&mut self, at: Token<'_>, levels: &str) -> Result<(), Fault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(at.fault(format!("{levels} nested at most {MAX_NESTING} deep")));
        }
        Ok(())
    }

    /// Leaves the level that was entered last.
    pub(crate) fn leave(&mut self) {
        self.nesting -= 1;
    }
}
