//! The tokens of a matcher, read with one token of lookahead.

use super::lexer::{Lexer, Token};
use crate::invalid::Fault;
use crate::pattern::PatternCheck;

/// Reads tokens one by one.
pub(super) struct Tokens<'s> {
    lexer: Lexer<'s>,
    /// The next token.
    pub(super) next: Token<'s>,
    /// Checks the patterns of function calls.
    pub(super) patterns: &'s mut PatternCheck,
}

impl<'s> Tokens<'s> {
    /// Starts at the first token of `matcher`.
    pub(super) fn new(matcher: &'s str, patterns: &'s mut PatternCheck) -> Result<Self, Fault> {
        let mut lexer = Lexer::new(matcher);
        let next = lexer.next()?;
        Ok(Self { lexer, next, patterns })
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Result<Token<'s>, Fault> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Takes the next token, which must be `symbol`; `expected` completes "expected …".
    pub(super) fn expect(&mut self, symbol: &str, expected: &str) -> Result<Token<'s>, Fault> {
        if self.next.is(symbol) { self.take() } else { Err(self.next.fault(expected)) }
    }
}
