//! Writes YAML for people who review it: one form for each value, so that the same content always has the same bytes.
//!
//! A serializer of a library may change its layout with a new version, and every exported folder would then differ.

use std::fmt::Write;

use portcullis_engine::Json;
use portcullis_engine::json::Member;

use crate::yaml_scalar::{block_scalar, flow_scalar};

/// The widest line of a list or an object, in characters. A wider one has a line for each item.
const WIDTH: usize = 100;
/// The spaces of one level.
const INDENT: usize = 2;

/// The layout of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemLayout {
    /// An item on one line, if it is not too wide.
    Line,
    /// An item on several lines, with an empty line before the next one.
    Block,
}

/// Returns the text of a file that is a list.
pub(super) fn list_text(items: &[Json<'_>], layout: ItemLayout) -> String {
    if items.is_empty() {
        return "[]\n".to_owned();
    }
    let mut out = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 && layout == ItemLayout::Block {
            out.push('\n');
        }
        match (layout, item) {
            (ItemLayout::Block, Json::Object(members)) if !members.is_empty() => {
                out.push_str("- ");
                write_members(members, INDENT, &mut out);
            }
            _ => write_item(item, 0, &mut out),
        }
    }
    out
}

/// Returns the text of a file that is an object.
pub(super) fn object_text(members: &[Member<'_>]) -> String {
    if members.is_empty() {
        return "{}\n".to_owned();
    }
    let mut out = String::new();
    write_members(members, 0, &mut out);
    out
}

/// Writes an item of a list that begins at `indent`.
fn write_item(item: &Json<'_>, indent: usize, out: &mut String) {
    out.push_str("- ");
    match item {
        Json::Object(members) if !fits(item, indent + INDENT) => {
            write_members(members, indent + INDENT, out);
        }
        item => write_value(item, indent + INDENT, indent + INDENT, out),
    }
}

/// Writes members, the first one at the end of the present line.
fn write_members(members: &[Member<'_>], indent: usize, out: &mut String) {
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            spaces(indent, out);
        }
        let name = flow_scalar(name);
        let column = indent + name.chars().count() + 2;
        // Writing to a string cannot fail.
        let _ = write!(out, "{name}:");
        let is_wide = matches!(value, Json::Object(_) | Json::Array(_)) && !fits(value, column);
        if !is_wide {
            out.push(' ');
            write_value(value, column, indent + INDENT, out);
            continue;
        }
        out.push('\n');
        match value {
            Json::Object(members) => {
                spaces(indent + INDENT, out);
                write_members(members, indent + INDENT, out);
            }
            Json::Array(items) => {
                for item in items {
                    spaces(indent + INDENT, out);
                    write_item(item, indent + INDENT, out);
                }
            }
            _ => {}
        }
    }
}

/// Writes a value that begins at `column` and ends the line. Its further lines begin at `indent`.
fn write_value(value: &Json<'_>, column: usize, indent: usize, out: &mut String) {
    match value {
        Json::String(text) => out.push_str(&block_scalar(text, column, indent, WIDTH)),
        Json::Array(items) if !fits(value, column) => {
            // A list in a list: its first item ends the present line.
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    spaces(indent, out);
                }
                write_item(item, indent, out);
            }
            return;
        }
        value => out.push_str(&flow(value)),
    }
    out.push('\n');
}

/// Returns whether a value that begins at `column` is written on one line. An empty one always is.
fn fits(value: &Json<'_>, column: usize) -> bool {
    let is_empty = match value {
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    // A long list is not written to be measured.
    is_empty || (count(value) <= WIDTH && column + flow(value).chars().count() <= WIDTH)
}

/// Returns the number of values in `value`.
fn count(value: &Json<'_>) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Json::Object(members) => 1 + members.iter().map(|(_, value)| count(value)).sum::<usize>(),
        _ => 1,
    }
}

/// Returns the value on one line.
fn flow(value: &Json<'_>) -> String {
    match value {
        Json::String(text) => flow_scalar(text),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Json::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(name, value)| format!("{}: {}", flow_scalar(name), flow(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
    }
}

fn spaces(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str, layout: ItemLayout) -> String {
        let json = portcullis_engine::json::parse(json.as_bytes()).expect("JSON");
        list_text(json.as_array().expect("a list"), layout)
    }

    #[test]
    fn a_short_item_is_a_line_and_a_long_list_has_a_line_for_each_item() {
        let roles = (0..12).map(|n| format!("\"role-{n:02}-of-all\"")).collect::<Vec<_>>();
        let long = format!(
            r#"[{{"sub": "writer", "obj": "wiki:*", "k": -1.5}}, {{"name": "x", "roles": [{}]}}]"#,
            roles.join(",")
        );
        let written = text(&long, ItemLayout::Line);
        let mut lines = written.lines();
        assert_eq!(lines.next(), Some(r#"- {sub: writer, obj: "wiki:*", k: -1.5}"#));
        assert_eq!(lines.by_ref().take(2).collect::<Vec<_>>(), ["- name: x", "  roles:"]);
        assert_eq!(lines.next(), Some("    - role-00-of-all"));
        assert_eq!(lines.count(), 11);
    }

    #[test]
    fn blocks_have_a_member_on_each_line() {
        let json = r#"[{"name": "a", "when": "!(user.a == \"x\")", "empty": [], "deep": {"x": [1, null]}}, {}, 1]"#;
        let expected = "- name: a\n  when: '!(user.a == \"x\")'\n  empty: []\n  deep: {x: [1, null]}\n\n- {}\n\n- 1\n";
        assert_eq!(text(json, ItemLayout::Block), expected);
        assert_eq!(text("[]", ItemLayout::Block), "[]\n");
    }
}
