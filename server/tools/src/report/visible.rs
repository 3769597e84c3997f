//! Texts of tenants as a terminal and a comment show them.

use std::fmt::Write;

/// The longest value that is shown, in characters.
const MAX_VALUE: usize = 400;

/// Returns the text with an escape for each character that would move the cursor or change the direction of the text.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let is_mark = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if c.is_control() || is_mark {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns a value as far as a line has room for it.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_long_values_shortened() {
        assert_eq!(visible("a\nb\u{7f}"), "a\\nb\\u{7f}");
        assert_eq!(visible("a\u{1b}[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
        assert_eq!(shortened(&"x".repeat(1_000)).chars().count(), MAX_VALUE + 1);
        assert_eq!(shortened("short"), "short");
    }
}
