//! The beginnings of texts that an input chose, for errors.

use std::fmt::{self, Write as _};

/// The maximum length of a value that an error quotes, in bytes of JSON.
const MAX_QUOTED: usize = 256;

/// Returns `text`, or its beginning and `…` if it is longer than `max` bytes in a JSON string. Writes nothing after
/// that, so that a long text costs no more than its excerpt.
pub fn excerpt(text: impl fmt::Display, max: usize) -> String {
    let mut excerpt = Excerpt { text: String::new(), room: max };
    // The one error is that the room is used up, and then the text is complete with `…`.
    let _ = write!(excerpt, "{text}");
    excerpt.text
}

/// Returns a value that an error quotes, or its beginning.
pub fn quoted(value: impl fmt::Display) -> String {
    format!("`{}`", excerpt(value, MAX_QUOTED))
}

/// Returns the length of `text` in a JSON string, in bytes, without the quotation marks.
pub fn json_len(text: &str) -> usize {
    text.chars().map(char_len).sum()
}

/// Returns the length of a character in a JSON string, in bytes (RFC 8259, section 7).
fn char_len(char: char) -> usize {
    match char {
        '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..' ' => 6,
        _ => char.len_utf8(),
    }
}

/// The beginning of a text, while it is written.
struct Excerpt {
    text: String,
    /// The bytes of JSON that are left.
    room: usize,
}

impl fmt::Write for Excerpt {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            let Some(room) = self.room.checked_sub(char_len(char)) else {
                self.text.push('…');
                return Err(fmt::Error);
            };
            self.room = room;
            self.text.push(char);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_ends_on_a_character() {
        for (text, max, expected) in [
            ("", 0, ""),
            ("abc", 3, "abc"),
            ("abcd", 3, "abc…"),
            ("äää", 6, "äää"),
            ("äää", 5, "ää…"),
            ("😀😀", 7, "😀…"),
            ("a\"b", 3, "a\"…"),
            ("\u{1}\u{1}", 11, "\u{1}…"),
            ("a", 0, "…"),
        ] {
            assert_eq!(excerpt(text, max), expected, "{text:?} in {max} bytes");
        }
    }

    #[test]
    fn the_length_is_that_of_the_json() {
        for text in ["", "abc", "äß😀", "\"\\/", "\u{8}\t\n\u{c}\r", "\0\u{1f}\u{7f}\u{2028}"] {
            let json = serde_json::to_string(text).expect("JSON");
            assert_eq!(json_len(text), json.len() - 2, "{text:?}");
        }
    }

    /// A text that counts how much of it is written.
    struct Endless<'c>(&'c std::cell::Cell<usize>);

    impl fmt::Display for Endless<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            loop {
                f.write_str("0123456789")?;
                self.0.set(self.0.get() + 1);
            }
        }
    }

    #[test]
    fn writing_ends_when_the_excerpt_is_full() {
        let written = std::cell::Cell::new(0);
        assert_eq!(excerpt(Endless(&written), 25), "0123456789012345678901234…");
        assert_eq!(written.get(), 2);
    }
}
