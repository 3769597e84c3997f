//! The text of a model: what the parsers of all languages of models take from it.

use super::model::{ModelCondition, Users};
use super::place::Place;

/// The syntax of words and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// OpenFGA's modeling language: `-`, `.` and `/` are parts of words, and `#` begins a comment.
    Model,
    /// SpiceDB's schema language: `/` is a part of words, and comments are written as in C.
    Schema,
}

impl Syntax {
    /// Returns whether words may have this character.
    fn is_in_word(self, char: char) -> bool {
        match char {
            '_' | '/' => true,
            '-' | '.' => self == Self::Model,
            other => other.is_alphanumeric(),
        }
    }
}

const ARROW: &str = "->";
/// The maximum nesting of parentheses in the lines of types, and so in those that become lines.
const MAX_NESTING: usize = 32;

/// The rest of the text of a model. White space and comments before a word or symbol are skipped. Where something else is next
/// than what must be, that is a fault with its place.
pub(crate) struct ModelText<'s> {
    rest: &'s str,
    syntax: Syntax,
    start: &'s Place,
    /// The number of line breaks before the next word or symbol.
    line: usize,
    /// The number of parentheses that are open.
    nesting: usize,
}

impl<'s> ModelText<'s> {
    /// Begins a text, whose first line is at `start`.
    pub(crate) fn new(text: &'s str, syntax: Syntax, start: &'s Place) -> Self {
        let rest = text.trim_start_matches('\u{feff}');
        let mut text = Self { rest, syntax, start, line: 0, nesting: 0 };
        text.skip(true);
        text
    }

    /// Returns the place of the next word or symbol.
    pub(crate) fn place(&self) -> Place {
        self.start.below(self.line)
    }

    /// Returns the next word, or else the next character; empty at the end.
    pub(crate) fn next(&self) -> &'s str {
        let word = self.next_word();
        match self.rest.chars().next() {
            Some(char) if word.is_empty() => &self.rest[..char.len_utf8()],
            _ => word,
        }
    }

    /// Takes `token` if it is next.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        let is_next = self.next() == token;
        if is_next {
            self.cut(token.len());
        }
        is_next
    }

    /// Takes `->` if it is next.
    pub(crate) fn take_arrow(&mut self) -> bool {
        let is_next = self.rest.starts_with(ARROW);
        if is_next {
            self.cut(ARROW.len());
        }
        is_next
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
        let word = self.next_word();
        if word.is_empty() {
            return Err(self.expected(what));
        }
        self.cut(word.len());
        Ok(word.to_owned())
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
        // Only a caller whose `open` took one closes it, so that this does not underflow.
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
        let Some(expression) = self.block() else {
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

    /// Takes the text before the `}` of a block whose `{` is taken, and the `}`. Braces inside come in pairs.
    fn block(&mut self) -> Option<&'s str> {
        let mut open = 1_usize;
        let end = self.rest.find(|char| {
            match char {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            open == 0
        })?;
        let text = &self.rest[..end];
        self.cut(text.len() + '}'.len_utf8());
        Some(text)
    }

    fn next_word(&self) -> &'s str {
        let end = self.rest.find(|char| !self.syntax.is_in_word(char)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        match self.syntax {
            Syntax::Model => word,
            // A `/` is a part of words there, so a comment may begin inside of one.
            Syntax::Schema => ["//", "/*"]
                .iter()
                .filter_map(|comment| self.rest.find(comment))
                .fold(word, |word, at| &word[..at.min(word.len())]),
        }
    }

    fn cut(&mut self, bytes: usize) {
        let (cut, rest) = self.rest.split_at(bytes);
        self.line += cut.matches('\n').count();
        self.rest = rest;
        // A `#` directly behind a word is the one of `group#member`, and begins no comment.
        self.skip(false);
    }

    /// Skips white space and comments. A `#` begins a comment where a line begins, or after white space.
    fn skip(&mut self, is_start: bool) {
        let mut can_comment = is_start || self.syntax == Syntax::Schema;
        loop {
            let trimmed = self.rest.trim_start();
            let space = &self.rest[..self.rest.len() - trimmed.len()];
            can_comment |= !space.is_empty();
            let comment = if can_comment { self.comment(trimmed) } else { 0 };
            let (skipped, rest) = self.rest.split_at(space.len() + comment);
            self.line += skipped.matches('\n').count();
            self.rest = rest;
            if comment == 0 {
                return;
            }
        }
    }

    /// Returns the bytes of the comment with which `text` begins; 0 without one.
    fn comment(&self, text: &str) -> usize {
        let mark = match self.syntax {
            Syntax::Model => "#",
            Syntax::Schema => "//",
        };
        if text.starts_with(mark) {
            return text.find('\n').unwrap_or(text.len());
        }
        let Some(comment) = text.strip_prefix("/*").filter(|_| self.syntax == Syntax::Schema)
        else {
            return 0;
        };
        // The `/` of `/*/` does not end it.
        comment.find("*/").map_or(text.len(), |at| "/*".len() + at + "*/".len())
    }
}
