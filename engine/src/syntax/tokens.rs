//! The tokens of a text, read with one token of lookahead.

use super::lexer::{Lexer, Token};
use crate::invalid::Fault;
use crate::pattern::PatternCheck;

/// Reads tokens one by one.
pub(crate) struct Tokens<'s> {
    lexer: Lexer<'s>,
    /// The next token.
    pub(crate) next: Token<'s>,
    /// Checks the patterns of tests.
    pub(crate) patterns: &'s mut PatternCheck,
}

impl<'s> Tokens<'s> {
    /// Starts at the first token of `text`.
    pub(crate) fn new(text: &'s str, patterns: &'s mut PatternCheck) -> Result<Self, Fault> {
        let mut lexer = Lexer::new(text);
        let next = lexer.next()?;
        Ok(Self { lexer, next, patterns })
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Result<Token<'s>, Fault> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Takes the next token, which must be `symbol`; `expected` completes "expected …".
    pub(crate) fn expect(&mut self, symbol: &str, expected: &str) -> Result<Token<'s>, Fault> {
        if self.next.is(symbol) { self.take() } else { Err(self.next.fault(expected)) }
    }
}
