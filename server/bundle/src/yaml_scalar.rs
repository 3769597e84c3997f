//! Texts as YAML writes them: plain where every reader takes them for texts, else in quotes.

use std::fmt::Write;

/// Words that some readers take for another value than a text.
const RESERVED: [&str; 12] =
    ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];

/// Returns a text inside of a list or an object on one line, or the name of a member.
pub(super) fn flow_scalar(text: &str) -> String {
    if is_plain_in_flow(text) { text.to_owned() } else { quoted(text) }
}

/// Returns a text that begins at `column` and is the rest of its line. A text that is wider than `width` or has several
/// lines goes on in lines that begin at `indent`.
pub(super) fn block_scalar(text: &str, column: usize, indent: usize, width: usize) -> String {
    if text.contains('\n') && is_literal(text) {
        let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
        let sign = if text.ends_with('\n') { "|" } else { "|-" };
        return with_lines(sign, lines, indent);
    }
    if column + text.chars().count() > width
        && let Some(lines) = folded(text, width.saturating_sub(indent))
    {
        return with_lines(">-", lines.iter().map(String::as_str), indent);
    }
    if is_plain_in_block(text) { text.to_owned() } else { quoted(text) }
}

fn with_lines<'l>(sign: &str, lines: impl Iterator<Item = &'l str>, indent: usize) -> String {
    let mut out = sign.to_owned();
    for line in lines {
        // An empty line has no spaces either.
        let indent = if line.is_empty() { 0 } else { indent };
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{:indent$}{line}", "");
    }
    out
}

/// Returns whether a text reads the same as lines of a literal.
fn is_literal(text: &str) -> bool {
    let content = text.strip_suffix('\n').unwrap_or(text);
    let starts_well = content.chars().next().is_some_and(|c| c != ' ' && c != '\n');
    starts_well && !content.ends_with('\n') && content.chars().all(|c| c == '\n' || is_common(c))
}

/// Returns the lines of a text that is folded at single spaces; `None` if it would not read the same.
fn folded(text: &str, width: usize) -> Option<Vec<String>> {
    let is_foldable = text.chars().all(is_common)
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.contains("  ");
    if !is_foldable || !text.contains(' ') {
        return None;
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    Some(lines)
}

/// Returns whether a text needs no quotes on one line with other values.
fn is_plain_in_flow(text: &str) -> bool {
    let next = text.chars().skip(1).map(Some).chain([None]);
    let mut pairs = text.chars().zip(next);
    begins_as_text(text)
        && pairs.all(|(c, next)| match c {
            // Before anything else they may end the text, or begin a comment.
            ':' | ' ' => next.is_some_and(|next| next.is_ascii_alphanumeric()),
            c => c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'),
        })
}

/// Returns whether a text needs no quotes as the rest of a line.
fn is_plain_in_block(text: &str) -> bool {
    let begins = begins_as_text(text) || text.starts_with('(');
    begins
        && text.chars().all(is_common)
        && !text.ends_with([' ', ':'])
        && ![": ", " #"].iter().any(|sign| text.contains(sign))
}

fn begins_as_text(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns whether a character is visible and means itself everywhere in YAML.
fn is_common(c: char) -> bool {
    // Spaces, marks of direction and the like are not visible, so they are written as escapes.
    matches!(
        c,
        ' '..='~'
            | '\u{a1}'..='\u{ac}'
            | '\u{ae}'..='\u{ff}'
            | '\u{2010}'..='\u{2027}'
            | '\u{2030}'..='\u{205e}'
            | '\u{20a0}'..='\u{20cf}'
            | '\u{2100}'..='\u{2bff}'
            | '\u{1f300}'..='\u{1faff}'
    ) || (!c.is_ascii() && c.is_alphanumeric())
}

/// Returns the text in single quotes if that saves escapes, else in double quotes.
fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) && text.chars().all(is_common) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_common(c) => out.push(c),
            c => {
                let _ = match u32::from(c) {
                    code @ ..=0xff => write!(out, "\\x{code:02x}"),
                    code @ ..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_a_reader_could_err() {
        for (text, flow, block) in [
            ("wiki:read", "wiki:read", "wiki:read"),
            ("a nurse", "a nurse", "a nurse"),
            ("a, b", "\"a, b\"", "a, b"),
            ("wiki:*", "\"wiki:*\"", "wiki:*"),
            ("*", "\"*\"", "\"*\""),
            ("a: b", "\"a: b\"", "\"a: b\""),
            ("a #b", "\"a #b\"", "\"a #b\""),
            ("0042", "\"0042\"", "\"0042\""),
            ("2026-01-15", "\"2026-01-15\"", "\"2026-01-15\""),
            ("No", "\"No\"", "\"No\""),
            ("", "\"\"", "\"\""),
            ("it's \"so\"", "'it''s \"so\"'", "it's \"so\""),
            (
                "(user.a == \"x\") ?? true",
                "'(user.a == \"x\") ?? true'",
                "(user.a == \"x\") ?? true",
            ),
            ("é — 😀", "\"é — 😀\"", "\"é — 😀\""),
            (
                "a\u{7}\u{202e}\u{e0001}",
                "\"a\\x07\\u202e\\U000e0001\"",
                "\"a\\x07\\u202e\\U000e0001\"",
            ),
        ] {
            assert_eq!(flow_scalar(text), flow, "{text}");
            assert_eq!(block_scalar(text, 2, 2, 100), block, "{text}");
        }
    }

    #[test]
    fn long_texts_and_lines_are_blocks() {
        assert_eq!(block_scalar("aa bb cc", 4, 2, 8), ">-\n  aa bb\n  cc");
        assert_eq!(block_scalar("aa\n\n  bb\n", 4, 2, 8), "|\n  aa\n\n    bb");
        assert_eq!(block_scalar("aa\nbb", 4, 2, 8), "|-\n  aa\n  bb");
        assert_eq!(block_scalar("\naa\n\n", 4, 2, 8), "\"\\naa\\n\\n\"");
    }
}
