//! Attributes and the right sides of comparisons.

use super::hints;
use crate::condition::items::STRAY_ITEM;
use crate::condition::{AttributePath, DURATION, Operand};
use crate::invalid::Fault;
use crate::operator::Takes;
use crate::syntax::{Token, TokenKind, Tokens};

pub(super) const ATTRIBUTE: &str = "an attribute such as `user.age` or `resource[\"first name\"]`";

/// Returns the attribute that the first of these tokens of a sound expression begin with, and the token of its name.
pub(crate) fn named_attribute<'s>(tokens: &[Token<'s>]) -> Option<(AttributePath, Token<'s>)> {
    let (path, token) = match tokens {
        [start, opening, name, ..]
            if opening.is("[") && name.kind == TokenKind::Text && !start.text.contains('.') =>
        {
            (format!("{}.{}", start.text, name.content()), *name)
        }
        [start, ..] => (start.text.to_owned(), *start),
        [] => return None,
    };
    let path = AttributePath::parse_in_condition(&path).ok()?;
    (tokens.first()?.kind == TokenKind::Name).then_some((path, token))
}

impl Tokens<'_> {
    /// Reads the attribute whose first token `start` was taken.
    pub(super) fn attribute_from(&mut self, start: Token<'_>) -> Result<AttributePath, Fault> {
        if start.kind != TokenKind::Name {
            return Err(start.fault(ATTRIBUTE));
        }
        if start.text.contains('.') || !self.next.is("[") {
            if self.next.is("-") {
                return Err(self.hyphen(start));
            }
            if start.text == AttributePath::ITEM {
                return self.item(start);
            }
            return AttributePath::parse(start.text).map_err(|expected| start.fault(expected));
        }
        self.take()?;
        let name = self.take()?;
        if name.kind != TokenKind::Text {
            return Err(name.fault("a string: the name of the attribute"));
        }
        self.expect("]", "`]`")?;
        let path = format!("{}.{}", start.text, name.content());
        AttributePath::parse(&path).map_err(|expected| name.fault(expected))
    }

    /// Reads `item`, which was taken.
    fn item(&mut self, start: Token<'_>) -> Result<AttributePath, Fault> {
        match &mut self.names_item {
            Some(names_item) => {
                *names_item = true;
                Ok(AttributePath::Item)
            }
            None => Err(start.fault(STRAY_ITEM)),
        }
    }

    /// Reads the right side of a comparison.
    pub(super) fn right_side(&mut self, takes: Takes) -> Result<Operand, Fault> {
        let start = self.next;
        let operand = self.any_operand()?;
        operand.and_then(|operand| takes.convert(operand)).ok_or_else(|| {
            start.fault(format!("{}{}", expected(takes), hints::right_side(takes, start)))
        })
    }

    /// Reads what the length of a list is compared with.
    pub(super) fn compared_length(&mut self) -> Result<Operand, Fault> {
        let start = self.next;
        match self.any_operand()? {
            Some(operand @ (Operand::Number(_) | Operand::Attribute(_))) => Ok(operand),
            _ => Err(start.fault("a number or an attribute")),
        }
    }

    /// Reads an attribute, a literal or a list. `None` if the next token begins none.
    fn any_operand(&mut self) -> Result<Option<Operand>, Fault> {
        let token = self.next;
        let operand = match (token.kind, token.text) {
            (TokenKind::Name, _) => {
                self.take()?;
                // `true["first name"]` is an attribute of the kind `true`.
                if matches!(token.text, "true" | "false") && !self.next.is("[") {
                    return Ok(Some(Operand::Bool(token.text == "true")));
                }
                let is_item = token.text == AttributePath::ITEM;
                if !token.text.contains('.') && !self.next.is("[") && !is_item {
                    return Ok(None);
                }
                return self.attribute_from(token).map(Operand::Attribute).map(Some);
            }
            (TokenKind::Text, _) => Operand::Text(token.content().into()),
            (TokenKind::Symbol, "[") => return self.list("]").map(Some),
            (TokenKind::Number, _) | (TokenKind::Symbol, "-") => {
                return self.number().map(Operand::Number).map(Some);
            }
            _ => return Ok(None),
        };
        self.take()?;
        Ok(Some(operand))
    }
}

/// Completes "expected …" for a right side.
fn expected(takes: Takes) -> &'static str {
    match takes {
        Takes::Scalar => "a string, a number, `true`, `false` or an attribute",
        Takes::Ordered => "a string, a number or an attribute",
        Takes::Text => "a string or an attribute",
        Takes::List => "a list such as `[\"a\", 1]` or an attribute",
        Takes::Instant => "an RFC 3339 date-time in quotes or an attribute",
        Takes::Duration => DURATION,
    }
}
