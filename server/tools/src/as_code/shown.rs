//! Values of the service as a terminal and a comment show them.

use std::fmt::Write;

use portcullis_engine::{Condition, expression, json};
use serde_json::Value;

/// The longest value of a field that is shown, in characters.
const MAX_VALUE: usize = 400;

/// Returns the text with an escape for each character that would move the cursor or change the direction of the text.
pub(super) fn visible(text: &str) -> String {
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

/// Returns the value of a field on one line: a condition as an expression, anything else as JSON.
pub(super) fn value(value: &Value) -> String {
    let text = visible(&condition(value).unwrap_or_else(|| value.to_string()));
    let mut chars = text.char_indices();
    match chars.nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn condition(value: &Value) -> Option<String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    value.as_object()?;
    if let Some(text) = text("expression").or_else(|| text("matcher")) {
        return Some(text);
    }
    text("type")?;
    let json = value.to_string();
    let tree = json::parse(json.as_bytes()).ok()?;
    Some(expression::print(&Condition::parse(&tree).ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_are_expressions_and_no_character_is_hidden() {
        let tree =
            json!({"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": "x"});
        for (shown, expected) in [
            (tree, "user.a == \"x\""),
            (json!({"expression": "exists(user.a)"}), "exists(user.a)"),
            (json!({"matcher": "r.sub.a == 1"}), "r.sub.a == 1"),
            (json!({"type": "OTHER"}), "{\"type\":\"OTHER\"}"),
            (json!(null), "null"),
            (json!("a\u{1b}[2J\u{202e}b"), "\"a\\u001b[2J\\u{202e}b\""),
        ] {
            assert_eq!(value(&shown), expected);
        }
        assert_eq!(value(&json!("x".repeat(1_000))).chars().count(), MAX_VALUE + 1);
        assert_eq!(visible("a\nb\u{7f}"), "a\\nb\\u{7f}");
    }
}
