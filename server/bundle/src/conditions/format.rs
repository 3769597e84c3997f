//! Writes the expressions of a file in their canonical form.

use std::ops::Range;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Format, expression};

use super::meaning;
use super::scalar::{ScalarPlace, written};
use crate::error::BundleError;
use crate::files::syntax;
use crate::yaml_document::{
    YamlContent, YamlDocument, YamlNode, column, edited, is_block, line_end,
};
use crate::{positions, yaml};

/// Returns the text of a file of policies or named conditions with each expression in its canonical form. Everything else stays
/// as it is. `file` names it in messages.
///
/// # Errors
/// The text is not YAML, or an expression cannot be read: every fault with its place.
pub fn format_conditions(file: &str, text: &str) -> Result<String, BundleError> {
    yaml::parse(text).map_err(|fault| syntax(file.to_owned(), fault))?;
    let document = YamlDocument::read(text);
    let (mut problems, mut edits) = (Problems::default(), Vec::new());
    let root = Place::root();
    if let Some(YamlNode { content: YamlContent::List(policies), .. }) = &document.root {
        for (index, policy) in policies.iter().enumerate() {
            let at = root.index(index);
            if let Some(pair) = policy.member("when") {
                edits.extend(edit(text, policy, pair, &at.key("when"), &mut problems));
            }
            let as_data = policy.member("rule_data").filter(|_| is_expression(policy));
            if let Some((_, data)) = as_data
                && let Some(pair) = data.member("expression")
            {
                // Where the policy is in braces, so is everything inside of it.
                let (at, data) =
                    (at.key("rule_data"), if in_braces(policy) { policy } else { data });
                edits.extend(edit(text, data, pair, &at.key("expression"), &mut problems));
            }
        }
    }
    problems
        .into_result()
        .map_err(|invalid| BundleError::Invalid(positions::describe(file, text, &invalid)))?;
    let result = edited(text, edits);
    if meaning::is_equal(text, &result) { Ok(result) } else { Err(meaning::changed(file)) }
}

/// Returns whether the `format` of a policy says that its `rule_data` is an expression.
fn is_expression(policy: &YamlNode) -> bool {
    let format = policy.member("format").and_then(|(_, value)| value.text());
    format == Some(Format::Expression.into_str())
}

fn in_braces(map: &YamlNode) -> bool {
    matches!(&map.content, YamlContent::Map { in_braces: true, .. })
}

/// Returns the edit that formats the expression of a member of `map`. An alias has none: its anchor has the text.
fn edit(
    text: &str,
    map: &YamlNode,
    (key, value): &(YamlNode, YamlNode),
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<(Range<usize>, String)> {
    let YamlContent::Scalar { text: expression, style } = &value.content else { return None };
    let condition = expression::parse(expression).map_err(|fault| problems.push(at, fault)).ok()?;
    let mut place = value.place.clone();
    let header = text.get(place.start..line_end(text, place.start)).unwrap_or_default();
    let rest = text.get(place.end..line_end(text, place.end)).unwrap_or_default();
    // The comment of a block is in its header, and what follows its place is the next line.
    let follows = !is_block(*style) && rest.trim_start().starts_with('#');
    let comment = if follows { rest } else { "" };
    place.end += comment.len();
    let scalar = ScalarPlace {
        style: *style,
        in_braces: in_braces(map),
        key_column: column(text, key.place.start),
        column: column(text, place.start),
        header: if is_block(*style) { header } else { "" },
        comment,
        newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
    };
    Some((place, written(&condition, &scalar)))
}
