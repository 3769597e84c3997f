//! A place in the text of a model or of a condition, from which words and symbols are taken.

/// The rest of a text. White space and comments before a word or symbol are skipped.
pub(super) struct Cursor<'s> {
    rest: &'s str,
    /// The number of line breaks before the next word or symbol.
    line: usize,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        let mut cursor = Self { rest: text.trim_start_matches('\u{feff}'), line: 0 };
        cursor.skip(true);
        cursor
    }

    /// Returns the number of line breaks before the next word or symbol.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Returns the next word, or else the next character; empty at the end.
    pub(super) fn next(&self) -> &'s str {
        let word = self.next_word();
        match self.rest.chars().next() {
            Some(char) if word.is_empty() => &self.rest[..char.len_utf8()],
            _ => word,
        }
    }

    /// Takes `token` if it is next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let is_next = self.next() == token;
        if is_next {
            self.cut(token.len());
        }
        is_next
    }

    /// Takes the next word.
    pub(super) fn word(&mut self) -> Option<&'s str> {
        let word = self.next_word();
        self.cut(word.len());
        (!word.is_empty()).then_some(word)
    }

    /// Takes the text before `end`, and `end`.
    pub(super) fn until(&mut self, end: char) -> Option<&'s str> {
        let (text, _) = self.rest.split_once(end)?;
        self.cut(text.len() + end.len_utf8());
        Some(text)
    }

    fn next_word(&self) -> &'s str {
        let in_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '/');
        let end = self.rest.find(|char| !in_word(char)).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn cut(&mut self, bytes: usize) {
        let (cut, rest) = self.rest.split_at(bytes);
        self.line += cut.matches('\n').count();
        self.rest = rest;
        self.skip(false);
    }

    /// Skips white space and comments. A `#` begins a comment where a line begins, or after white space.
    fn skip(&mut self, is_start: bool) {
        let mut can_comment = is_start;
        loop {
            let trimmed = self.rest.trim_start();
            let space = &self.rest[..self.rest.len() - trimmed.len()];
            self.line += space.matches('\n').count();
            can_comment |= !space.is_empty();
            self.rest = trimmed;
            if !can_comment || !trimmed.starts_with('#') {
                return;
            }
            self.rest = &trimmed[trimmed.find('\n').unwrap_or(trimmed.len())..];
        }
    }
}
