//! Reads YAML as strictly as the JSON of a request body.

use portcullis_engine::Json;
use serde_saphyr::{Error, UserMessageFormatter};

/// Deepest nesting of a file: the deepest condition tree takes 66 levels of it, and an unoptimised build
/// needs some 16 KiB of stack for each.
const MAX_DEPTH: usize = 80;

/// Parts of messages of the parser, and what to do about them: plain texts may not begin or go on like this.
const HINTS: [(&str, &str); 5] = [
    ("alias", "quote a text that begins with `*`"),
    ("reference to unknown value", "quote a text that begins with `*`"),
    ("unsupported tag", "quote a text that begins with `!`"),
    ("unexpected character", "quote a text that begins with this character"),
    ("mapping values are not allowed", "quote a text that contains `: `"),
];

/// A fault of the syntax.
pub(super) struct YamlFault {
    /// Line and column from 1; absent if the fault is one of the whole text.
    pub(super) position: Option<(u64, u64)>,
    pub(super) message: String,
}

/// Parses one YAML document.
pub(super) fn parse(text: &str) -> Result<Json<'_>, YamlFault> {
    // `no`, `on` and the like stay strings, as in JSON's world they would be.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| fault(&error, text))
}

fn fault(error: &Error, text: &str) -> YamlFault {
    let position = error.location().map(|place| (place.line(), place.column()));
    let message = error.render_with_formatter(&UserMessageFormatter);
    // The message ends with the place, which the caller writes before it.
    let place = position.map(|(line, column)| format!(" at line {line}, column {column}"));
    let cut = place.as_deref().and_then(|place| message.strip_suffix(place)).map(str::to_owned);
    let message = cut.unwrap_or(message);
    // The parser stops at what the tab follows, and does not say what to do.
    if message.contains("tab")
        && let Some(tab) = tab_in_indentation(text)
    {
        return YamlFault {
            position: Some(tab),
            message: "a tab in the indentation; indent with spaces".to_owned(),
        };
    }
    let hint = HINTS.iter().find(|(part, _)| message.contains(part));
    let hint = hint.map(|(_, hint)| format!("; {hint}")).unwrap_or_default();
    YamlFault { position, message: message + &hint }
}

/// Returns line and column of the first tab before the content of a line.
fn tab_in_indentation(text: &str) -> Option<(u64, u64)> {
    let column = |line: &str| {
        let content = line.find(|c| c != ' ' && c != '\t')?;
        line.get(..content)?.find('\t')
    };
    let mut lines = (1..).zip(text.lines());
    let (line, column) = lines.find_map(|(number, line)| Some((number, column(line)?)))?;
    Some((line, column as u64 + 1))
}
