//! The tokens of a matcher, each with its position in characters.

use crate::invalid::Fault;

/// Longest part of a token that a message repeats, in characters.
const MAX_SHOWN: usize = 64;
/// Symbols of two characters; every other character that starts nothing else is a symbol of its own.
const PAIRS: [&str; 6] = ["==", "!=", "<=", ">=", "&&", "||"];

/// A token as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    /// Characters of the matcher before it.
    position: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `r.sub.age`, `in`, `true`, `keyMatch`: words, joined by dots.
    Name,
    /// A string in single or double quotes, which are part of the text.
    Text,
    /// Digits and what may follow them in a number; the sign is a symbol.
    Number,
    Symbol,
    /// Behind the last token.
    End,
}

impl Token<'_> {
    pub(super) fn is(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }

    /// The fault that something else is expected here; `expected` completes "expected …".
    pub(super) fn fault(&self, expected: impl Into<String>) -> Fault {
        let mut token: String = self.text.chars().take(MAX_SHOWN).collect();
        if token.len() < self.text.len() {
            token.push('…');
        }
        Fault::Token { expected: expected.into(), token, position: self.position }
    }

    /// What a [`Kind::Text`] says.
    pub(super) fn content(&self) -> String {
        let inner = self.text.get(1..self.text.len().saturating_sub(1)).unwrap_or_default();
        let mut content = String::with_capacity(inner.len());
        let mut chars = inner.chars();
        while let Some(char) = chars.next() {
            content.extend(if char == '\\' { chars.next() } else { Some(char) });
        }
        content
    }
}

/// Cuts a matcher into tokens.
pub(super) struct Lexer<'s> {
    rest: &'s str,
    position: usize,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(matcher: &'s str) -> Self {
        Self { rest: matcher, position: 0 }
    }

    /// The next token; at the end, [`Kind::End`] for ever.
    pub(super) fn next(&mut self) -> Result<Token<'s>, Fault> {
        let spaces = self.rest.len() - self.rest.trim_start().len();
        self.cut(Kind::End, spaces);
        match self.rest.chars().next() {
            None => Ok(self.cut(Kind::End, 0)),
            Some(quote @ ('"' | '\'')) => self.string(quote),
            Some(char) if char.is_ascii_digit() => Ok(self.cut(Kind::Number, number(self.rest))),
            Some(char) if starts_word(char) => Ok(self.cut(Kind::Name, name(self.rest))),
            Some(char) => {
                let pair = PAIRS.iter().any(|pair| self.rest.starts_with(pair));
                Ok(self.cut(Kind::Symbol, if pair { 2 } else { char.len_utf8() }))
            }
        }
    }

    /// Takes so many bytes.
    fn cut(&mut self, kind: Kind, bytes: usize) -> Token<'s> {
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
                return Ok(self.cut(Kind::Text, at + 1));
            }
            if char == '\\' {
                let escaped = chars.next().map(|(_, char)| char);
                if !matches!(escaped, Some('\\' | '"' | '\'')) {
                    self.cut(Kind::Text, at);
                    let escape = self.cut(Kind::Text, 1 + escaped.map_or(0, char::len_utf8));
                    return Err(escape.fault(r#"`\\`, `\"` or `\'`, the only escapes in a string"#));
                }
            }
        }
        let open = self.cut(Kind::Text, self.rest.len());
        Err(open.fault(format!("a string that ends with `{quote}`")))
    }
}

fn starts_word(char: char) -> bool {
    char.is_alphabetic() || char == '_'
}

fn in_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Bytes of the words joined by dots that `text` starts with.
fn name(text: &str) -> usize {
    let word = |text: &str| text.len() - text.trim_start_matches(in_word).len();
    let mut end = word(text);
    while let Some(next) =
        text[end..].strip_prefix('.').filter(|next| next.starts_with(starts_word))
    {
        end += 1 + word(next);
    }
    end
}

/// Bytes of everything that could belong to the number that `text` starts with.
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
