//! Numbers and lists.

use super::lexer::TokenKind;
use super::tokens::Tokens;
use crate::condition::{MAX_LIST, Operand};
use crate::invalid::Fault;
use crate::json::Json;
use crate::number::Number;
use crate::value::LiteralList;

impl Tokens<'_> {
    /// Reads a number with an optional sign.
    pub(crate) fn number(&mut self) -> Result<Number, Fault> {
        let negative = self.next.is("-");
        if negative {
            self.take()?;
        }
        let digits = self.take()?;
        let sign = if negative { "-" } else { "" };
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
            if !self.next.is(closing) {
                self.expect(",", &format!("`,` or `{closing}`"))?;
            }
        }
        self.take()?;
        Ok(Operand::List(LiteralList::new(texts, numbers)))
    }
}
