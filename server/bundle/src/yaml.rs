//! Reads YAML as strictly as the JSON of a request body.

use portcullis_engine::Json;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, UserMessageFormatter};

/// Deepest nesting of a file: the deepest condition tree takes 66 levels of it, and an unoptimised build
/// needs some 16 KiB of stack for each.
const MAX_DEPTH: usize = 80;
/// The maximum number of values in a file: more than a million rules have.
const MAX_VALUES: usize = 20_000_000;
/// The maximum number of anchors in a file, and the maximum number of aliases.
const MAX_ANCHORS: usize = 1_000_000;
/// The maximum number of values for which the aliases of a file stand.
const MAX_ALIASED: usize = 1_000_000;
/// The maximum number of bytes of the texts in a file, as many as an export may have.
const MAX_TEXT_BYTES: usize = 256 << 20;

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
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_VALUES,
            // A list and a map have a second event, their end.
            max_events: 2 * MAX_VALUES,
            max_anchors: MAX_ANCHORS,
            max_aliases: MAX_ANCHORS,
            max_recorded_anchor_events: MAX_VALUES,
            max_recorded_anchor_bytes: MAX_TEXT_BYTES,
            max_total_scalar_bytes: MAX_TEXT_BYTES,
            max_merge_keys: MAX_ANCHORS,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_ALIASED },
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
    if let Some(message) = limit(error) {
        return YamlFault { position, message };
    }
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

/// Returns the message about a limit that the file is beyond.
fn limit(error: &Error) -> Option<String> {
    match error {
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => None,
        Error::Budget { .. } => Some(format!(
            "the file is too large: a file has at most {MAX_VALUES} values, {MAX_ANCHORS} anchors and aliases, and {} MiB of \
             texts; split the list into the files of a folder, such as `rules/a.yaml` and `rules/b.yaml`",
            MAX_TEXT_BYTES >> 20
        )),
        Error::AliasError { error, .. } => limit(error),
        Error::AliasReplayLimitExceeded { .. } => Some(format!(
            "the aliases of a file stand for at most {MAX_ALIASED} values; split the list into the files of a folder, such as \
             `cases/a.yaml` and `cases/b.yaml`, or write the values out"
        )),
        _ => None,
    }
}

/// Returns line and column of the first tab before the content of a line.
fn tab_in_indentation(text: &str) -> Option<(u64, u64)> {
    let mut lines = (1..).zip(text.lines());
    lines.find_map(|(number, line)| {
        let content = line.find(|c| c != ' ' && c != '\t')?;
        let column = line.get(..content)?.find('\t')?;
        Some((number, column as u64 + 1))
    })
}
