//! The operands of a matcher: attributes, literals and lists.

use compact_str::CompactString;

use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField, Test};
use crate::invalid::Fault;
use crate::operator::{Operator, Takes};
use crate::syntax::{Token, TokenKind, Tokens};

pub(super) const ATTRIBUTE: &str = "`r.sub`, `r.obj`, `r.act`, `r.dom`, `r.time`, `r.sub.<name>`, `r.obj.<name>`, `r.act.<name>` or `r.ctx.<name>`, an attribute of the request";
pub(super) const VALUE: &str =
    "an attribute such as `r.sub.age`, a string, a number, `true` or `false`";

impl Tokens<'_> {
    /// Reads an attribute, a literal or a list in brackets.
    pub(super) fn value(&mut self) -> Result<Operand, Fault> {
        let token = self.next;
        let value = match (token.kind, token.text) {
            (TokenKind::Name, "true") => Operand::Bool(true),
            (TokenKind::Name, "false") => Operand::Bool(false),
            (TokenKind::Name, _) => Operand::Attribute(attribute(token)?),
            (TokenKind::Text, _) => Operand::Text(token.content().into()),
            (TokenKind::Symbol, "[") => return self.list("]"),
            (TokenKind::Number, _) | (TokenKind::Symbol, "-") => {
                return self.number().map(Operand::Number);
            }
            _ => return Err(token.fault(VALUE)),
        };
        self.take()?;
        Ok(value)
    }
}

pub(super) fn test(attribute: AttributePath, predicate: Predicate) -> Condition {
    Condition::Test(Test { attribute, predicate, if_missing: None })
}

/// Returns the attribute that a token of a sound matcher names, and the token.
pub(crate) fn named_attribute(token: Token<'_>) -> Option<(AttributePath, Token<'_>)> {
    (token.kind == TokenKind::Name).then(|| attribute(token).ok())?.map(|path| (path, token))
}

/// Returns the attribute with this name.
pub(super) fn attribute(token: Token<'_>) -> Result<AttributePath, Fault> {
    let path = match token.text {
        "r.sub" => Some(AttributePath::Request(RequestField::Subject)),
        "r.obj" => Some(AttributePath::Request(RequestField::Resource)),
        "r.act" => Some(AttributePath::Request(RequestField::Action)),
        "r.dom" => Some(AttributePath::Request(RequestField::Domain)),
        "r.time" => Some(AttributePath::Request(RequestField::Time)),
        text => name_after("r.sub.", text)
            .map(AttributePath::User)
            .or_else(|| name_after("r.obj.", text).map(AttributePath::Resource))
            .or_else(|| name_after("r.act.", text).map(AttributePath::Action))
            .or_else(|| name_after("r.ctx.", text).map(AttributePath::Context)),
    };
    path.ok_or_else(|| token.fault(ATTRIBUTE))
}

fn name_after(prefix: &str, text: &str) -> Option<CompactString> {
    text.strip_prefix(prefix).map(CompactString::from)
}

pub(super) fn comparison(token: Token<'_>) -> Option<Operator> {
    match token.kind {
        TokenKind::Symbol => Operator::from_symbol(token.text),
        // `in` is a word: its right side has its own form.
        _ => None,
    }
}

/// Makes a comparison. Swaps the sides if the literal is on the left.
pub(super) fn compare(
    left_start: Token<'_>,
    left: Operand,
    operator: Operator,
    right_start: Token<'_>,
    right: Operand,
) -> Result<Condition, Fault> {
    let (path, operator, operand, start) = match (left, right) {
        (Operand::Attribute(path), operand) => (path, operator, operand, right_start),
        (operand, Operand::Attribute(path)) => {
            // Each operator that is a symbol has a mirrored one.
            (path, operator.mirrored(false).unwrap_or(operator), operand, left_start)
        }
        _ => return Err(right_start.fault(format!("{ATTRIBUTE}, on one side of a comparison"))),
    };
    match operand {
        Operand::List(_) => Err(start.fault(VALUE)),
        Operand::Bool(_) if operator.row().takes == Takes::Ordered => {
            Err(start.fault("a string, a number or an attribute, which have an order"))
        }
        operand => Ok(test(path, Predicate::Compare(operator, operand))),
    }
}
