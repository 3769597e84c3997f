//! An expression as a YAML scalar (`docs/expressions.md`, section "In files").

use portcullis_engine::{Condition, expression};
use serde_saphyr::granit_parser::ScalarStyle;

use crate::yaml_document::is_block;

/// The columns that a line of a formatted file may have. A test that is longer keeps its line.
pub const FORMAT_WIDTH: usize = 100;
/// The columns by which a block scalar stands further to the right than its key.
const INDENT: usize = 2;
/// The header of a new block scalar. It joins the lines to one, unless they are indented.
const HEADER: &str = ">-";

/// The place of a scalar in its file.
pub(super) struct ScalarPlace<'t> {
    pub(super) style: ScalarStyle,
    /// Whether the scalar is inside of `{…}` or `[…]`, where block scalars cannot be.
    pub(super) in_braces: bool,
    /// The column of the key, from 0.
    pub(super) key_column: usize,
    /// The column of the scalar, from 0.
    pub(super) column: usize,
    /// The header of a block scalar with the comment after it, as written.
    pub(super) header: &'t str,
    /// The comment after a scalar of another style, with the white space before it.
    pub(super) comment: &'t str,
    pub(super) newline: &'t str,
}

/// Writes a condition as an expression in the style of its place, and what followed it on its line.
pub(super) fn written(condition: &Condition, place: &ScalarPlace<'_>) -> String {
    let line = expression::print(condition);
    if is_block(place.style) {
        let (mark, comment) = split_header(place.header);
        if line.chars().any(is_unprintable) {
            return double_quoted(&line) + comment;
        }
        return block(condition, &format!("{mark}{comment}"), place);
    }
    let quoted = on_one_line(&line, place.style, place.in_braces);
    let fits = place.column + quoted.chars().count() <= FORMAT_WIDTH;
    // In a line of width 0 everything is broken that can be.
    let is_single = !expression::layout(condition, 0).contains('\n');
    if fits || is_single || place.in_braces || line.chars().any(is_unprintable) {
        return quoted + place.comment;
    }
    block(condition, &format!("{HEADER}{}", place.comment), place)
}

/// Returns the lines of an expression in a block scalar.
fn layout(condition: &Condition, place: &ScalarPlace<'_>) -> String {
    expression::layout(condition, FORMAT_WIDTH.saturating_sub(place.key_column + INDENT))
}

fn block(condition: &Condition, header: &str, place: &ScalarPlace<'_>) -> String {
    let indent = " ".repeat(place.key_column + INDENT);
    let mut text = header.to_owned();
    for line in layout(condition, place).lines() {
        text.push_str(place.newline);
        text.push_str(&indent);
        text.push_str(line);
    }
    text
}

/// Splits a header into the mark, without the number of its indentation, and the comment with the space before it.
fn split_header(header: &str) -> (String, &str) {
    let end = header.find(char::is_whitespace).unwrap_or(header.len());
    let (mark, comment) = header.split_at(end);
    (mark.chars().filter(|c| !c.is_ascii_digit()).collect(), comment.trim_end())
}

/// Writes a text as a scalar of one line: in its style, where the style can hold it.
fn on_one_line(text: &str, style: ScalarStyle, in_braces: bool) -> String {
    if text.chars().any(is_unprintable) || style == ScalarStyle::DoubleQuoted {
        return double_quoted(text);
    }
    if style == ScalarStyle::Plain && is_plain(text, in_braces) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns whether YAML reads an expression without quotes as this text (YAML 1.2.2, section 7.3.3). An expression is
/// never a number, a boolean or null.
fn is_plain(text: &str, in_braces: bool) -> bool {
    let starts_plain = text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '('));
    let has_mark = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    let ends_early = in_braces && text.contains([',', '[', ']', '{', '}', ':']);
    starts_plain && !has_mark && !ends_early
}

fn double_quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if is_unprintable(c) => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether a character needs an escape (YAML 1.2.2, section 5.1), or ends a line for some readers.
fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_style_holds_the_text() {
        use ScalarStyle::{DoubleQuoted, Plain, SingleQuoted};
        for (text, style, in_braces, expected) in [
            ("user.a == 1", Plain, false, "user.a == 1"),
            ("(user.a == 1) ?? true", Plain, false, "(user.a == 1) ?? true"),
            ("!exists(user.a)", Plain, false, "'!exists(user.a)'"),
            ("user.a == \"it's: x\"", Plain, false, "'user.a == \"it''s: x\"'"),
            ("user.a == \" #\"", Plain, false, "'user.a == \" #\"'"),
            ("user.a in [1]", Plain, false, "user.a in [1]"),
            ("user.a in [1]", Plain, true, "'user.a in [1]'"),
            ("user.a == 1", SingleQuoted, false, "'user.a == 1'"),
            ("user.a == \"b\"", DoubleQuoted, false, "\"user.a == \\\"b\\\"\""),
            (
                "user.a == \"\n\u{7f}\u{2028}\"",
                Plain,
                false,
                "\"user.a == \\\"\\n\\U0000007F\\U00002028\\\"\"",
            ),
        ] {
            assert_eq!(on_one_line(text, style, in_braces), expected);
        }
        assert_eq!(split_header("|2- # why "), ("|-".to_owned(), " # why"));
    }
}
