//! Expressions: conditions that people can read, one to one with condition trees (`docs/expressions.md`).
//!
//! ```
//! use portcullis_engine::expression;
//!
//! let text = r#"user.ward == resource.ward && !((resource.vip == true) ?? true)"#;
//! let condition = expression::parse(text)?;
//! assert_eq!(expression::print(&condition), text);
//! # Ok::<(), portcullis_engine::invalid::Fault>(())
//! ```

mod calls;
mod hints;
mod layout;
mod operands;
mod parser;
mod pieces;
mod printer;

use crate::condition::Condition;
use crate::invalid::Fault;
use crate::pattern::PatternCheck;
use crate::syntax::Tokens;

pub use layout::layout;
pub(crate) use operands::named_attribute;
pub use pieces::{Piece, PieceKind, pieces};
pub use printer::{print, print_within};

/// Compiles an expression into a condition.
///
/// # Errors
/// The first unexpected token, and the tokens that are expected in its place.
pub fn parse(text: &str) -> Result<Condition, Fault> {
    compile(text, &mut PatternCheck::compile())
}

/// Compiles as [`parse`] does, with this check of patterns.
pub(crate) fn compile(text: &str, patterns: &mut PatternCheck) -> Result<Condition, Fault> {
    parser::whole(&mut Tokens::new(text, "expression", patterns)?)
}

#[cfg(test)]
mod tests;
