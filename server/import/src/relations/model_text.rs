//! The text of a model: what the parsers of all languages of models take from it.

use super::cursor::{Cursor, Syntax};
use super::model::{ModelCondition, Users};
use super::place::Place;
use super::types::MAX_NESTING;

/// The rest of the text of a model. Where something else is next than what must be, that is a fault with its place.
pub(crate) struct ModelText<'s> {
    cursor: Cursor<'s>,
    start: &'s Place,
    /// The number of parentheses that are open.
    nesting: usize,
}

impl<'s> ModelText<'s> {
    /// Begins a text, whose first line is at `start`.
    pub(crate) fn new(text: &'s str, syntax: Syntax, start: &'s Place) -> Self {
        Self { cursor: Cursor::new(text, syntax), start, nesting: 0 }
    }

    /// Returns the place of the next word or symbol.
    pub(crate) fn place(&self) -> Place {
        self.start.below(self.cursor.line())
    }

    /// Returns the next word, or else the next character; empty at the end.
    pub(crate) fn next(&self) -> &'s str {
        self.cursor.next()
    }

    /// Takes `token` if it is next.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        self.cursor.take(token)
    }

    /// Takes `->` if it is next.
    pub(crate) fn take_arrow(&mut self) -> bool {
        self.cursor.take_arrow()
    }

    /// Returns the fault that something else is next than `what`.
    pub(crate) fn expected(&self, what: &str) -> String {
        let reason = match self.next() {
            "" => format!("expected {what}, where the text ends"),
            next => format!("expected {what}, not `{next}`"),
        };
        self.place().says(reason)
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<String, String> {
        let fault = self.expected(what);
        self.cursor.word().map(str::to_owned).ok_or(fault)
    }

    pub(crate) fn symbol(&mut self, symbol: &str) -> Result<(), String> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{symbol}`"))),
        }
    }

    /// Takes `(` if it is next.
    ///
    /// # Errors
    /// Too many parentheses are open.
    pub(crate) fn open(&mut self) -> Result<bool, String> {
        if !self.take("(") {
            return Ok(false);
        }
        self.nesting += 1;
        match self.nesting > MAX_NESTING {
            true => Err(self.expected(&format!("parentheses at most {MAX_NESTING} deep"))),
            false => Ok(true),
        }
    }

    /// Takes the `)` of an open parenthesis.
    pub(crate) fn close(&mut self) -> Result<(), String> {
        self.nesting -= 1;
        self.symbol(")")
    }

    /// Takes which users of a type a relation can have: what stands behind the name of the type.
    pub(crate) fn users(&mut self) -> Result<Users, String> {
        if self.take("#") {
            return Ok(Users::Related(self.word("the name of a relation after `#`")?));
        }
        if !self.take(":") {
            return Ok(Users::One);
        }
        self.symbol("*")?;
        Ok(Users::Everyone)
    }

    /// Takes a condition, which begins with `keyword` and has `separator` between the names and types of its parameters.
    pub(crate) fn condition(
        &mut self,
        keyword: &str,
        separator: Option<&str>,
    ) -> Result<ModelCondition, String> {
        let place = self.place();
        self.symbol(keyword)?;
        let name = self.word(&format!("the name of a {keyword}"))?;
        self.symbol("(")?;
        let mut parameters = Vec::new();
        while self.next() != ")" {
            parameters.push(self.parameter(separator)?);
            if !self.take(",") {
                break;
            }
        }
        self.symbol(")")?;
        self.symbol("{")?;
        let Some(expression) = self.cursor.block() else {
            return Err(place.says(format!("expected `}}` at the end of the {keyword}")));
        };
        Ok(ModelCondition { name, place, parameters, expression: expression.to_owned() })
    }

    fn parameter(&mut self, separator: Option<&str>) -> Result<(String, String), String> {
        let name = self.word("the name of a parameter")?;
        if let Some(separator) = separator {
            self.symbol(separator)?;
        }
        let mut kind = self.word("the type of a parameter")?;
        if self.take("<") {
            kind = format!("{kind}<{}>", self.word("a type")?);
            self.symbol(">")?;
        }
        Ok((name, kind))
    }
}
