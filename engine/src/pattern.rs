//! Regular expressions in conditions (`docs/semantics.md`, sections 4.5 and 4.6).
//!
//! A [`Pattern`] is the text of an expression. A plan compiles it into an [`Automaton`]. Both steps have a bound: the
//! cost of compiling is counted before it is spent, and an automaton says what a match can cost before it runs.

mod automaton;
mod compiler;
mod cost;
mod expression;
mod whole;

pub use automaton::Automaton;
pub(crate) use automaton::MAX_MATCH_STEPS;
pub use compiler::PatternFault;
pub(crate) use compiler::{PatternCheck, PatternCompiler};
pub use expression::Pattern;

#[cfg(test)]
mod tests;
