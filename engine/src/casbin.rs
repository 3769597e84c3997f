//! Casbin matchers: compiles an expression over the request into a condition tree (`docs/semantics.md`,
//! section 4.7).
//!
//! | Expression | Condition |
//! |---|---|
//! | `r.sub.<name>`, `r.obj.<name>` | `user.<name>`, `resource.<name>`; dots in the name are part of it |
//! | `r.sub`, `r.obj`, `r.act`, `r.dom`, `r.time` | `request.subject`, `.resource`, `.action`, `.domain`, `.time` |
//! | `a && b && c`, <code>a &#124;&#124; b</code>, `!a` | `AND`, `OR`, `NOT` |
//! | `x == 1`, `1 < x`, `x == y` | `eq`, `gt`, `eq` with another attribute |
//! | `x in ("a", 1)`, `x in ["a", 1]`, `x in y` | `in` |
//! | `"a" in x` | `contains` |
//! | `x` | `eq true`, since Casbin fails if `x` is not a boolean |
//! | `true`, `false` | always, never |
//! | `keyMatch(x, "/a/*")` | `starts_with "/a/"`, as in Casbin; `eq` without `*` |
//! | `keyMatch2`, `regexMatch` | `matches`, but as a search |
//! | `ipMatch` | `ip_in` |
//! | `during(x, "mon-fri 08:00-18:00 Europe/Berlin")` | `during`; Casbin has no such function |

mod functions;
mod operands;
mod parser;

use crate::condition::Condition;
use crate::invalid::Fault;
use crate::pattern::PatternCheck;
use crate::syntax::{Tokens, all_tokens};

pub use crate::syntax::unquoted;
pub(crate) use operands::named_attribute;

/// Compiles a matcher into a condition.
///
/// # Errors
/// The first unexpected token, and the tokens that are expected in its place.
pub fn parse(matcher: &str) -> Result<Condition, Fault> {
    compile(matcher, &mut PatternCheck::compile())
}

/// Compiles as [`parse`] does, with this check of patterns.
pub(crate) fn compile(matcher: &str, patterns: &mut PatternCheck) -> Result<Condition, Fault> {
    parser::whole(&mut Tokens::new(matcher, "matcher", patterns)?)
}

/// Returns the tokens of any Casbin expression as they are written, without the white space between them. A string keeps
/// its quotes.
///
/// # Errors
/// The first string that has no end or an unknown escape.
pub fn tokens(expression: &str) -> Result<Vec<&str>, Fault> {
    Ok(all_tokens(expression)?.into_iter().map(|token| token.text).collect())
}

#[cfg(test)]
mod tests;
