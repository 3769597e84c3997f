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
mod comparisons;
mod hints;
mod operands;
mod parser;
mod printer;

use crate::condition::Condition;
use crate::fields::{Fields, string};
use crate::invalid::{Fault, Place, Problems};
use crate::json::Json;
use crate::pattern::PatternCheck;
use parser::Parser;

pub use printer::print;

/// Reads `{"expression": "<expression>"}` at `at` of a larger input.
pub(crate) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    patterns: &mut PatternCheck,
) -> Option<Condition> {
    let mut fields = Fields::open(json, at, problems)?;
    let condition = fields.required("expression", |json, at, problems| {
        let text = string(json, at, problems)?;
        Parser::new(text, patterns)
            .and_then(Parser::whole)
            .map_err(|fault| problems.push(at, fault))
            .ok()
    });
    fields.close();
    condition
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
