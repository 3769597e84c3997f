//! The syntax that matchers and expressions share: tokens, numbers and lists.

mod lexer;
mod literals;
mod tokens;

pub(crate) use lexer::{Lexer, Token, TokenKind, is_name};
pub(crate) use tokens::Tokens;
