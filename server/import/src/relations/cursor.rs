//! A place in the text of a model or of a condition, from which words and symbols are taken.

/// The syntax of words and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// OpenFGA's modeling language: `-`, `.` and `/` are parts of words, and `#` begins a comment.
    Model,
    /// SpiceDB's schema language: `/` is a part of words, and comments are those of C.
    Schema,
}

const ARROW: &str = "->";

/// The rest of a text. White space and comments before a word or symbol are skipped.
pub(crate) struct Cursor<'s> {
    rest: &'s str,
    syntax: Syntax,
    /// The number of line breaks before the next word or symbol.
    line: usize,
}

impl<'s> Cursor<'s> {
    pub(crate) fn new(text: &'s str, syntax: Syntax) -> Self {
        let mut cursor = Self { rest: text.trim_start_matches('\u{feff}'), syntax, line: 0 };
        cursor.skip(true);
        cursor
    }

    /// Returns the number of line breaks before the next word or symbol.
    pub(crate) fn line(&self) -> usize {
        self.line
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

    /// Takes the next word.
    pub(crate) fn word(&mut self) -> Option<&'s str> {
        let word = self.next_word();
        self.cut(word.len());
        (!word.is_empty()).then_some(word)
    }

    /// Takes the text before the `}` of a block whose `{` is taken, and the `}`. Braces inside come in pairs.
    pub(crate) fn block(&mut self) -> Option<&'s str> {
        let mut open = 1_usize;
        let closes = |char: char| {
            match char {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            open == 0
        };
        let text = &self.rest[..self.rest.find(closes)?];
        self.cut(text.len() + '}'.len_utf8());
        Some(text)
    }

    fn next_word(&self) -> &'s str {
        let in_word = |char: char| match char {
            '_' | '/' => true,
            '-' | '.' => self.syntax == Syntax::Model,
            other => other.is_alphanumeric(),
        };
        let end = self.rest.find(|char| !in_word(char)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        match self.syntax {
            Syntax::Model => word,
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
        let ends = |end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
        let line = || text.find('\n').unwrap_or(text.len());
        match self.syntax {
            Syntax::Model if text.starts_with('#') => line(),
            Syntax::Schema if text.starts_with("//") => line(),
            Syntax::Schema if text.starts_with("/*") => ends("*/"),
            _ => 0,
        }
    }
}
