//! Writes the conditions of a file as `when`, in place of `rule_data`.

use std::ops::Range;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Json, expression};
use serde_saphyr::granit_parser::ScalarStyle;

use super::meaning;
use super::scalar::{ScalarPlace, written};
use crate::error::BundleError;
use crate::files::syntax;
use crate::yaml_document::{YamlContent, YamlDocument, YamlNode, column, edited, line_end};
use crate::{positions, yaml};

/// A file whose conditions are expressions.
pub struct WithWhen {
    /// The text of the file.
    pub text: String,
    /// The number of objects whose `when` is an expression now.
    pub converted: usize,
    /// The objects whose condition stays as it is, and why: a line with its place for each.
    pub left: Vec<String>,
}

/// Writes the condition of each policy or named condition of a file as an expression `when`. Comments inside of a condition come
/// before it, and everything else stays as it is. A search becomes a pattern of the whole text. `file` names the file in
/// messages.
///
/// # Errors
/// The text is not YAML, or a condition cannot be read: every fault with its place.
pub fn write_as_when(file: &str, text: &str) -> Result<WithWhen, BundleError> {
    let json = yaml::parse(text).map_err(|fault| syntax(file.to_owned(), fault))?;
    let document = YamlDocument::read(text);
    let (mut problems, mut result) = (Problems::default(), (Vec::new(), 0, Vec::new()));
    let (root, policies) = (Place::root(), json.as_array().unwrap_or_default());
    let nodes = match &document.root {
        Some(YamlNode { content: YamlContent::List(nodes), .. }) => nodes.as_slice(),
        _ => &[],
    };
    // Both are read from one text, so that the items pair.
    for (index, (node, policy)) in nodes.iter().zip(policies).enumerate() {
        let is_tree = policy.get("when").is_some_and(|when| when.as_object().is_some());
        let member = match (node.member("rule_data"), node.member("when")) {
            (Some(_), None) => "rule_data",
            (None, Some(_)) if is_tree => "when",
            _ => continue,
        };
        let Some(condition) = meaning::condition(policy, &root.index(index), &mut problems) else {
            continue;
        };
        match edits(text, &document, (node, member), condition) {
            Ok(edits) => {
                result.0.extend(edits);
                result.1 += 1;
            }
            Err(reason) => result.2.push(left(file, text, (node, member), policy, reason)),
        }
    }
    problems
        .into_result()
        .map_err(|invalid| BundleError::Invalid(positions::describe(file, text, &invalid)))?;
    let (edits, converted, left) = result;
    let written = edited(text, edits);
    if meaning::is_equal(text, &written) {
        Ok(WithWhen { text: written, converted, left })
    } else {
        Err(meaning::changed(file))
    }
}

/// Returns the line about an object whose condition stays as it is.
fn left(
    file: &str,
    text: &str,
    (node, member): (&YamlNode, &str),
    policy: &Json<'_>,
    reason: &str,
) -> String {
    let before = text.get(..node.place.start).unwrap_or_default();
    let (line, column) = (before.matches('\n').count() + 1, column(text, node.place.start) + 1);
    let name = policy.get("name").and_then(Json::as_str).unwrap_or_default();
    format!("{file}:{line}:{column}: `{name}` keeps its `{member}`: {reason}")
}

/// Returns the edits that write the condition of a policy as `when`, or the reason why there are none.
fn edits(
    text: &str,
    document: &YamlDocument,
    (policy, member): (&YamlNode, &str),
    condition: Condition,
) -> Result<Vec<(Range<usize>, String)>, &'static str> {
    let condition = condition.without_searches();
    if expression::parse(&expression::print(&condition)).as_ref() != Ok(&condition) {
        return Err("no expression within the limits stands for it");
    }
    let Some((key, value)) = policy.member(member) else { return Ok(vec![]) };
    if value.has_marks() {
        return Err("it has an anchor, an alias or a tag; write the condition itself");
    }
    let YamlContent::Map { in_braces: false, .. } = policy.content else {
        return Err("the object is written in braces; write each member on a line");
    };
    let mut edits = vec![condition_edit(text, document, key, value, &condition)];
    if let Some((key, value)) = policy.member("format") {
        edits.push(removed_line(text, key, value)?);
    }
    Ok(edits)
}

/// Returns the edit that writes `when` and the comments of the old condition.
fn condition_edit(
    text: &str,
    document: &YamlDocument,
    key: &YamlNode,
    value: &YamlNode,
    condition: &Condition,
) -> (Range<usize>, String) {
    let place = key.place.start..line_end(text, value.place.end);
    let key_column = column(text, place.start);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let scalar = ScalarPlace {
        style: ScalarStyle::Plain,
        in_braces: false,
        key_column,
        column: key_column + "when: ".len(),
        header: "",
        comment: "",
        newline,
    };
    let mut lines = vec![format!("when: {}", written(condition, &scalar))];
    let comments = document.comments.iter().filter(|it| place.contains(&it.start));
    let comments = comments.filter_map(|it| Some(text.get(it.clone())?.trim_end().to_owned()));
    // Before the key, unless the `-` of the policy is there.
    let at = if is_first_on_line(text, place.start) { 0 } else { 1 };
    lines.splice(at..at, comments);
    (place, lines.join(&format!("{newline}{}", " ".repeat(key_column))))
}

/// Returns the edit that removes the line of a member.
fn removed_line(
    text: &str,
    key: &YamlNode,
    value: &YamlNode,
) -> Result<(Range<usize>, String), &'static str> {
    let end = line_end(text, value.place.end);
    let rest = text.get(value.place.end..end).unwrap_or_default();
    if !is_first_on_line(text, key.place.start) || value.has_marks() {
        return Err("its `format` stands on the line of the `-`, or is not plain text");
    }
    if !rest.trim().is_empty() {
        // The comment keeps the line.
        return Ok((key.place.start..end, rest.trim_start().to_owned()));
    }
    // Only spaces stand before the key, so that its column is a number of bytes.
    let start = key.place.start - column(text, key.place.start);
    let after = text.get(end..).unwrap_or_default();
    let newline = ["\r\n", "\n"].into_iter().find(|newline| after.starts_with(newline));
    Ok((start..end + newline.map_or(0, str::len), String::new()))
}

fn is_first_on_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.chars().rev().take_while(|c| *c != '\n').all(|c| c == ' ')
}
