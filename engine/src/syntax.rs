//! The syntax that matchers and expressions share: tokens, numbers and lists.

mod lexer;
mod limits;
mod tokens;

pub(crate) use lexer::{Quoted, Token, TokenKind, all_tokens, is_name};
pub use lexer::{leading_word, unquoted};
pub(crate) use tokens::{Node, Tokens};
