//! The syntax that matchers and expressions share: tokens, numbers and lists.

mod lexer;
mod limits;
mod literals;
mod member;
mod quoted;
mod tokens;

pub use lexer::leading_word;
pub(crate) use lexer::{Lexer, Token, TokenKind, is_name, unquoted};
pub(crate) use limits::TreeLimits;
pub(crate) use member::read_member;
pub(crate) use quoted::Quoted;
pub(crate) use tokens::Tokens;
