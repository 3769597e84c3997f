//! A place in a line, from which words and symbols are taken.

use portcullis_engine::invalid::Fault;
use portcullis_engine::leading_word;

use super::part::Word;

/// The operators of two characters. Any other character that starts no word is its own symbol.
const PAIRS: [&str; 4] = ["||", "&&", "->", "!="];

/// The rest of a line. Spaces before a word or symbol are skipped.
pub(super) struct Cursor<'s> {
    rest: &'s str,
    position: usize,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        let mut cursor = Self { rest: text, position: 0 };
        cursor.skip_spaces();
        cursor
    }

    /// Returns the number of characters before the next word or symbol.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Returns the next word or symbol; empty at the end.
    pub(super) fn next(&self) -> &'s str {
        let pair = PAIRS.into_iter().find(|pair| self.rest.starts_with(pair));
        let word = leading_word(self.rest);
        match (pair, self.rest.chars().next()) {
            (Some(pair), _) => pair,
            (None, Some(char)) if word.is_empty() => &self.rest[..char.len_utf8()],
            _ => word,
        }
    }

    fn skip_spaces(&mut self) {
        let spaces = self.rest.len() - self.rest.trim_start().len();
        self.cut(spaces);
    }

    /// Takes `symbol` if it is next.
    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let is_next = self.next() == symbol;
        if is_next {
            self.cut(symbol.len());
            self.skip_spaces();
        }
        is_next
    }

    /// Takes the next word; `expected` says what it is.
    pub(super) fn word(&mut self, expected: &str) -> Result<Word, Fault> {
        let word = leading_word(self.rest);
        self.take_text(word).ok_or_else(|| self.fault(expected))
    }

    /// Takes the name of a type, which may have characters that no word has.
    pub(super) fn type_name(&mut self) -> Option<Word> {
        let name = self.rest.split(ends_type_name).next().unwrap_or_default();
        self.take_text(name)
    }

    fn take_text(&mut self, text: &str) -> Option<Word> {
        let word = Word { text: text.into(), position: self.position };
        self.cut(text.len());
        self.skip_spaces();
        (!text.is_empty()).then_some(word)
    }

    /// Makes the fault of a next word or symbol that is not what is `expected`.
    pub(super) fn fault(&self, expected: impl Into<String>) -> Fault {
        let token = self.next().to_owned();
        Fault::Token { expected: expected.into(), token, position: self.position }
    }

    fn cut(&mut self, bytes: usize) {
        let (cut, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        // Faults name characters, as people count them, and not bytes.
        self.position += cut.chars().count();
    }
}

fn ends_type_name(char: char) -> bool {
    char.is_whitespace() || matches!(char, '[' | ']' | ',' | '#' | ':')
}
