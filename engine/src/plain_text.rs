//! Reads plain JSON text from front to back, without a tree and without allocating.
//!
//! Text is *plain* if its strings have no escapes and it has what its reader expects. For every other text, and for every
//! faulty one, a read returns `None`. The caller then reads the text again through the tree of
//! [`json::parse`], so that one place finds faults and words their messages.

use std::borrow::Cow;

use crate::json::{self, Json};
use crate::number::Number;

/// Digits that every natural number of 64 bits has room for.
const SHORT: usize = 18;

/// Plain JSON text, and the place up to which it was read.
#[derive(Debug)]
pub struct PlainText<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> From<&'a str> for PlainText<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> PlainText<'a> {
    /// Begins to read `text`; `None` if it is not UTF-8.
    pub fn new(text: &'a [u8]) -> Option<Self> {
        std::str::from_utf8(text).ok().map(Self::from)
    }

    /// Reads an object. `member` gets the name of each member, and reads its value. The names may repeat.
    #[inline]
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.sign(b'{')?;
        if self.next_is(b'}') {
            return self.sign(b'}');
        }
        loop {
            let name = self.string()?;
            self.sign(b':')?;
            member(self, name)?;
            if self.next_is(b'}') {
                return self.sign(b'}');
            }
            self.sign(b',')?;
        }
    }

    /// Reads an array. `item` reads each item.
    #[inline]
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.sign(b'[')?;
        if self.next_is(b']') {
            return self.sign(b']');
        }
        loop {
            item(self)?;
            if self.next_is(b']') {
                return self.sign(b']');
            }
            self.sign(b',')?;
        }
    }

    /// Reads a string without escapes.
    #[inline]
    pub fn string(&mut self) -> Option<&'a str> {
        self.sign(b'"')?;
        let length = string_length(self.rest())?;
        let string = self.text.get(self.at..self.at + length)?;
        // Behind the closing quote.
        self.at += length + 1;
        Some(string)
    }

    /// Reads `true` or `false`.
    pub fn boolean(&mut self) -> Option<bool> {
        let value = self.next_is(b't');
        self.word(if value { "true" } else { "false" })?;
        Some(value)
    }

    /// Reads a string or a number.
    #[inline]
    pub fn string_or_number(&mut self) -> Option<Json<'a>> {
        match self.peek()? {
            b'"' => Some(Json::String(Cow::Borrowed(self.string()?))),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    /// Returns whether `true` or `false` is next, in text that is JSON.
    pub(crate) fn is_at_boolean(&mut self) -> bool {
        matches!(self.peek(), Some(b't' | b'f'))
    }

    /// Reads `null`.
    pub(crate) fn null(&mut self) -> Option<Json<'a>> {
        self.word("null")?;
        Some(Json::Null)
    }

    /// Returns the number of bytes that are not read yet.
    pub fn remaining(&self) -> usize {
        self.rest().len()
    }

    /// Reads the end of the text.
    pub fn end(&mut self) -> Option<()> {
        self.peek().is_none().then_some(())
    }

    fn number(&mut self) -> Option<Json<'a>> {
        let length = self
            .rest()
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .count();
        let token = self.text.get(self.at..self.at + length)?;
        self.at += length;
        if let Some(number) = short_natural(token) {
            return Some(Json::Number(Number::from(number)));
        }
        // The reader of trees knows every other form, and refuses what is not a number.
        json::parse(token.as_bytes()).ok()
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.rest().starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    /// Reads one sign.
    #[inline]
    fn sign(&mut self, sign: u8) -> Option<()> {
        self.next_is(sign).then(|| self.at += 1)
    }

    /// Returns whether `sign` is next.
    #[inline]
    pub(crate) fn next_is(&mut self, sign: u8) -> bool {
        self.peek() == Some(sign)
    }

    /// Skips white space, and returns the byte behind it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

/// Returns the number that `token` writes with few digits, without a zero before them.
fn short_natural(token: &str) -> Option<u64> {
    let digits = token.as_bytes();
    if digits.len() > SHORT || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    let (first, rest) = digits.split_first()?;
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    rest.iter().try_fold(digit(first)?, |number, byte| Some(10 * number + digit(byte)?))
}

/// The lowest bit of each byte of a word.
const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
/// The highest bit of each byte of a word.
const HIGHEST: u64 = LOWEST << 7;
/// The first character that a string may have without an escape.
const SPACE: u8 = b' ';

/// Returns the number of bytes before the closing quote; `None` if an escape or a control character comes before it.
#[inline]
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut before = 0;
    while let Some(eight) = bytes.get(before..).and_then(|rest| rest.first_chunk()) {
        // In this order the first byte has the lowest bits: trailing zeros count the bytes before a mark.
        let marks = marks(u64::from_le_bytes(*eight));
        if marks != 0 {
            before += marks.trailing_zeros() as usize / 8;
            return (bytes.get(before) == Some(&b'"')).then_some(before);
        }
        before += 8;
    }
    let rest = bytes.get(before..)?;
    let more = rest.iter().position(|byte| matches!(byte, b'"' | b'\\') || *byte < SPACE)?;
    (rest.get(more) == Some(&b'"')).then_some(before + more)
}

/// Marks the bytes of `word` that a string without escapes cannot have, by their highest bits. Bytes behind the first of
/// them may be marked too, because a subtraction borrows from them.
#[inline]
fn marks(word: u64) -> u64 {
    let below = |word: u64, least: u8| word.wrapping_sub(LOWEST * u64::from(least)) & !word;
    // Zero where the byte is equal, and only zero is below 1.
    let equal = |byte: u8| below(word ^ (LOWEST * u64::from(byte)), 1);
    (equal(b'"') | equal(b'\\') | below(word, SPACE)) & HIGHEST
}

/// Stores `value` in an option that must be empty: a second value is a duplicate member. `None` if there is no value, or
/// the option has one.
pub fn fill<T>(place: &mut Option<T>, value: Option<T>) -> Option<()> {
    match place.replace(value?) {
        None => Some(()),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads an array of strings and numbers.
    fn items(text: &str) -> Option<Vec<Json<'_>>> {
        let (mut text, mut items) = (PlainText::new(text.as_bytes())?, Vec::new());
        text.array(|text| {
            items.push(text.string_or_number()?);
            Some(())
        })?;
        text.end()?;
        Some(items)
    }

    #[test]
    fn plain_text_reads_as_the_tree_does() {
        for text in [
            "[]",
            " [ 0 , 1,-1,\n-0, 10,1.5,1e3, 1E-3,123456789012345678,1234567890123456789]\t",
            "[18446744073709551615, 18446744073709551616, -9223372036854775808]",
            r#"["", "a", "1234567", "12345678", "123456789", "äöü", "1234567ä9", "\u007f"]"#,
            "[\"\u{80}\u{7f}~\"]",
        ] {
            let tree = json::parse(text.as_bytes()).expect("JSON");
            let plain = items(text).or_else(|| text.contains('\\').then(Vec::new));
            let expected = tree.as_array().expect("an array");
            let expected = if text.contains('\\') { &[][..] } else { expected };
            assert_eq!(plain.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_text_is_not_plain() {
        for text in [
            "",
            "[",
            "]",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[01]",
            "[-]",
            "[+1]",
            "[1.]",
            "[.5]",
            "[1e400]",
            "[1-1]",
            "[1]]",
            "[1] x",
            "[null]",
            "[true]",
            "[[]]",
            "[{}]",
            "[\"a]",
            "[\"",
            "[\"a\u{1}\"]",
            "[\"12345678\u{1f}\"]",
            r#"["a\n"]"#,
            r#"["12345678\""]"#,
            "[\"a\0\"]",
            "[\u{a0}1]",
        ] {
            assert_eq!(items(text), None, "{text}");
        }
        assert!(PlainText::new(b"\"\xff\"").is_none());
    }

    #[test]
    fn a_string_ends_at_its_first_quote() {
        for length in 0..40 {
            for end in ["\"", "\\", "\u{1f}"] {
                for more in ["", "\"\\\u{1}", "!#[]\u{7f}\u{20}\"\\"] {
                    let text = format!(
                        "{}{end}{more}",
                        "!ä#["[..].repeat(10).chars().take(length).collect::<String>()
                    );
                    let expected = text.find(end).filter(|_| end == "\"");
                    assert_eq!(string_length(text.as_bytes()), expected, "{text}");
                }
            }
        }
    }
}
