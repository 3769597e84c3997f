//! The lexer: cuts a text into tokens, each with its position in characters.

use std::fmt::{self, Display, Write as _};

use crate::invalid::Fault;
use crate::word::{in_word, starts_word};

/// The maximum length of a token in a message, in characters.
const MAX_SHOWN: usize = 64;
/// The symbols of two characters. Any other character that starts no other token is its own symbol.
const PAIRS: [&str; 7] = ["==", "!=", "<=", ">=", "&&", "||", "??"];

/// A token as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'s str,
    /// The number of characters before the token.
    position: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `r.sub.age`, `in`, `true`, `keyMatch`: words, joined by dots.
    Name,
    /// A string in single or double quotes, which are part of the text.
    Text,
    /// Digits, and the characters that may follow them in a number. The sign is a symbol.
    Number,
    Symbol,
    /// The end of the text.
    End,
}

impl Token<'_> {
    pub(crate) fn is(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// Makes the fault of an unexpected token; `expected` completes "expected …".
    pub(crate) fn fault(&self, expected: impl Into<String>) -> Fault {
        let mut token: String = self.text.chars().take(MAX_SHOWN).collect();
        if token.len() < self.text.len() {
            token.push('…');
        }
        Fault::Token { expected: expected.into(), token, position: self.position }
    }

    /// Returns the content of a [`TokenKind::Text`], without quotes and escapes.
    pub(crate) fn content(&self) -> String {
        unquoted(self.text)
    }
}

/// Returns the text of a string as written, without quotes and escapes.
pub fn unquoted(string: &str) -> String {
    // Without the quotes, which have a byte each.
    let inner = string.get(1..string.len().saturating_sub(1)).unwrap_or_default();
    let mut content = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        content.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    content
}

/// A string in quotes, with the escapes of the lexer.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for char in self.0.chars() {
            if matches!(char, '"' | '\\') {
                f.write_char('\\')?;
            }
            f.write_char(char)?;
        }
        f.write_char('"')
    }
}

/// Returns the tokens of a text, without the end.
pub(crate) fn all_tokens(text: &str) -> Result<Vec<Token<'_>>, Fault> {
    let (mut lexer, mut tokens) = (Lexer::new(text), Vec::new());
    loop {
        match lexer.next()? {
            Token { kind: TokenKind::End, .. } => return Ok(tokens),
            token => tokens.push(token),
        }
    }
}

/// Cuts a text into tokens.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'s> {
    rest: &'s str,
    position: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Self { rest: text, position: 0 }
    }

    /// Returns the next token; after the last one, always [`TokenKind::End`].
    pub(crate) fn next(&mut self) -> Result<Token<'s>, Fault> {
        let spaces = self.rest.len() - self.rest.trim_start().len();
        // Only moves on: the token of the spaces is dropped.
        self.cut(TokenKind::End, spaces);
        match self.rest.chars().next() {
            None => Ok(self.cut(TokenKind::End, 0)),
            Some(quote @ ('"' | '\'')) => self.string(quote),
            Some(char) if char.is_ascii_digit() => {
                Ok(self.cut(TokenKind::Number, number(self.rest)))
            }
            Some(char) if starts_word(char) => Ok(self.cut(TokenKind::Name, name(self.rest))),
            Some(char) => {
                let pair = PAIRS.iter().any(|pair| self.rest.starts_with(pair));
                Ok(self.cut(TokenKind::Symbol, if pair { 2 } else { char.len_utf8() }))
            }
        }
    }

    /// Cuts a token of this many bytes.
    fn cut(&mut self, kind: TokenKind, bytes: usize) -> Token<'s> {
        let (text, rest) = self.rest.split_at(bytes);
        let token = Token { kind, text, position: self.position };
        self.rest = rest;
        self.position += text.chars().count();
        token
    }

    fn string(&mut self, quote: char) -> Result<Token<'s>, Fault> {
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, char)) = chars.next() {
            if char == quote {
                return Ok(self.cut(TokenKind::Text, at + 1));
            }
            if char == '\\' {
                let escaped = chars.next().map(|(_, char)| char);
                if !matches!(escaped, Some('\\' | '"' | '\'')) {
                    // Up to the escape first, so that the fault is at the escape.
                    self.cut(TokenKind::Text, at);
                    let escape = self.cut(TokenKind::Text, 1 + escaped.map_or(0, char::len_utf8));
                    return Err(escape.fault(r#"`\\`, `\"` or `\'`, the only escapes in a string"#));
                }
            }
        }
        let open = self.cut(TokenKind::Text, self.rest.len());
        Err(open.fault(format!("a string that ends with `{quote}`")))
    }
}

/// Returns the length in bytes of the word at the start of `text`.
fn word_len(text: &str) -> usize {
    text.len() - text.trim_start_matches(in_word).len()
}

/// Returns the word at the start of `text`, as the names of attributes in expressions have it; empty if there is none.
pub fn leading_word(text: &str) -> &str {
    if text.starts_with(starts_word) { &text[..word_len(text)] } else { "" }
}

/// Returns whether `text` is one [`TokenKind::Name`].
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(starts_word) && name(text) == text.len()
}

/// Returns the length in bytes of the name at the start of `text`: words joined by dots.
fn name(text: &str) -> usize {
    let mut end = word_len(text);
    while let Some(next) =
        text[end..].strip_prefix('.').filter(|next| next.starts_with(starts_word))
    {
        end += 1 + word_len(next);
    }
    end
}

/// Returns the length in bytes of everything that could belong to the number at the start of `text`.
fn number(text: &str) -> usize {
    let mut before = ' ';
    let end = text.char_indices().find(|(_, char)| {
        let part = in_word(*char)
            || *char == '.'
            || (matches!(char, '+' | '-') && matches!(before, 'e' | 'E'));
        before = *char;
        !part
    });
    end.map_or(text.len(), |(at, _)| at)
}
