//! Reads YAML as strictly as the JSON of a request body.

use portcullis_engine::Json;
use serde_saphyr::UserMessageFormatter;

/// Deepest nesting of a file: the deepest condition tree takes 66 levels of it, and an unoptimised build
/// needs some 16 KiB of stack for each.
const MAX_DEPTH: usize = 80;

/// Parses one YAML document; the error names line and column.
pub(super) fn parse(text: &str) -> Result<Json<'_>, String> {
    // `no`, `on` and the like stay strings, as in JSON's world they would be.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| error.render_with_formatter(&UserMessageFormatter))
}
