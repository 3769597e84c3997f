//! The tokens of a text, read with one token of lookahead, and what the grammars make of them alike.

use super::lexer::{Lexer, Token, TokenKind};
use super::limits::TreeLimits;
use crate::condition::{Condition, MAX_LIST, Operand};
use crate::invalid::Fault;
use crate::json::Json;
use crate::number::Number;
use crate::pattern::PatternCheck;
use crate::value::LiteralList;

/// Reads tokens one by one.
pub(crate) struct Tokens<'s> {
    lexer: Lexer<'s>,
    /// The next token.
    pub(crate) next: Token<'s>,
    /// Checks the patterns of tests.
    pub(crate) patterns: &'s mut PatternCheck,
    pub(crate) limits: TreeLimits,
    /// Whether the condition on items that is read has named `item`; `None` outside of such a condition.
    pub(crate) names_item: Option<bool>,
}

/// A condition, its depth in nodes, and the form in which it is written.
pub(crate) struct Node<F> {
    pub(crate) condition: Condition,
    pub(crate) depth: usize,
    pub(crate) form: F,
}

impl<'s> Tokens<'s> {
    /// Starts at the first token of `text`, which is a `kind`.
    pub(crate) fn new(
        text: &'s str,
        kind: &'static str,
        patterns: &'s mut PatternCheck,
    ) -> Result<Self, Fault> {
        let mut lexer = Lexer::new(text);
        let next = lexer.next()?;
        Ok(Self { lexer, next, patterns, limits: TreeLimits::new(kind), names_item: None })
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Result<Token<'s>, Fault> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Returns what `read` reads. Goes back to the next token if it reads nothing, or meets a fault.
    pub(crate) fn attempt<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<T>, Fault>,
    ) -> Option<T> {
        let (lexer, next) = (self.lexer, self.next);
        let read = read(self).ok().flatten();
        if read.is_none() {
            (self.lexer, self.next) = (lexer, next);
        }
        read
    }

    /// Returns whether the next token is this word alone, and not the namespace of an attribute in brackets.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        // A copy: the token behind the next one is not taken.
        let mut lexer = self.lexer;
        self.next.kind == TokenKind::Name
            && self.next.text == word
            && !lexer.next().is_ok_and(|after| after.is("["))
    }

    /// Takes the next token, which must be `symbol`; `expected` completes "expected …".
    pub(crate) fn expect(&mut self, symbol: &str, expected: &str) -> Result<Token<'s>, Fault> {
        if self.next.is(symbol) { self.take() } else { Err(self.next.fault(expected)) }
    }

    /// Counts a node against the limits. `at` is the token to blame.
    pub(crate) fn node<F: Default>(
        &mut self,
        at: Token<'_>,
        condition: Condition,
        depth: usize,
    ) -> Result<Node<F>, Fault> {
        self.limits.count(at, depth)?;
        Ok(Node { condition, depth, form: F::default() })
    }

    /// Reads one part, or several with `symbol` between them.
    pub(crate) fn join<F: Default>(
        &mut self,
        symbol: &str,
        part: fn(&mut Self) -> Result<Node<F>, Fault>,
        make: fn(Box<[Condition]>) -> Condition,
    ) -> Result<Node<F>, Fault> {
        let first = part(self)?;
        let joint = self.next;
        if !joint.is(symbol) {
            return Ok(first);
        }
        let (mut parts, mut depth) = (vec![first.condition], first.depth);
        while self.next.is(symbol) {
            self.take()?;
            let next = part(self)?;
            depth = depth.max(next.depth);
            parts.push(next.condition);
        }
        self.node(joint, make(parts.into()), depth + 1)
    }

    /// Reads a number with an optional sign.
    pub(crate) fn number(&mut self) -> Result<Number, Fault> {
        let negative = self.next.is("-");
        if negative {
            self.take()?;
        }
        let digits = self.take()?;
        let sign = if negative { "-" } else { "" };
        // Numbers are those of JSON: `01` and `1.` are not.
        match serde_json::from_str(&format!("{sign}{}", digits.text)) {
            Ok(Json::Number(number)) if digits.kind == TokenKind::Number => Ok(number),
            _ => Err(digits.fault("a number such as `3`, `-2` or `0.5`")),
        }
    }

    /// Reads strings and numbers up to `closing`. The next token opens the list.
    pub(crate) fn list(&mut self, closing: &str) -> Result<Operand, Fault> {
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        self.take()?;
        while !self.next.is(closing) {
            let item = self.next;
            if texts.len() + numbers.len() == MAX_LIST {
                return Err(item.fault(format!("at most {MAX_LIST} values")));
            }
            match item.kind {
                TokenKind::Text => {
                    texts.push(item.content().into());
                    self.take()?;
                }
                TokenKind::Number => numbers.push(self.number()?),
                TokenKind::Symbol if item.is("-") => numbers.push(self.number()?),
                _ => return Err(item.fault("a string or a number")),
            }
            // A comma before the closing sign is accepted.
            if !self.next.is(closing) {
                self.expect(",", &format!("`,` or `{closing}`"))?;
            }
        }
        self.take()?;
        Ok(Operand::List(LiteralList::new(texts, numbers)))
    }
}
