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
mod limited;
mod operands;
mod parser;
mod printer;

use crate::condition::Condition;
use crate::invalid::{Fault, Place, Problems};
use crate::json::Json;
use crate::pattern::PatternCheck;
use crate::syntax::read_member;
use parser::Parser;

pub use layout::layout;
pub(crate) use operands::named_attribute;
pub use printer::{print, print_within};

/// Reads `{"expression": "<expression>"}` at `at` of a larger input.
pub(crate) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    patterns: &mut PatternCheck,
) -> Option<Condition> {
    read_member(json, at, problems, "expression", |text| Parser::new(text, patterns)?.whole())
}

/// Compiles an expression into a condition.
///
/// # Errors
/// The first unexpected token, and the tokens that are expected in its place.
pub fn parse(text: &str) -> Result<Condition, Fault> {
    Parser::new(text, &mut PatternCheck::compile())?.whole()
}

#[cfg(test)]
mod tests;
