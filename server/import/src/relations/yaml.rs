//! Reads YAML, and JSON as a part of it, with the lines of its values.

use serde::de::DeserializeOwned;
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::place::Place;

/// The maximum number of values in a file: some ten million tuples.
const MAX_NODES: usize = 100_000_000;
/// The maximum number of bytes of a file.
const MAX_BYTES: usize = 4 << 30;

/// Parses the text of a file.
///
/// # Errors
/// The first fault, with its place.
pub(crate) fn parse<T: DeserializeOwned>(text: &str, start: &Place) -> Result<T, String> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        // `fga` reads them, too.
        duplicate_keys: DuplicateKeyPolicy::FirstWins,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 2 * MAX_NODES,
            max_total_scalar_bytes: MAX_BYTES,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().and_then(|place| usize::try_from(place.line()).ok());
        let message = error.to_string();
        // The message ends with its place.
        let reason = message.rsplit_once(" at line ").map_or(&*message, |(reason, _)| reason);
        start.at(line.unwrap_or(1)).says(reason)
    })
}

/// Returns the place of a value in the file of `start`.
pub(crate) fn place<T>(value: &Spanned<T>, start: &Place) -> Place {
    start.at(usize::try_from(value.referenced.line()).unwrap_or(1))
}
