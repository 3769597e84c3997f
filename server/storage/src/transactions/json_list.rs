//! Values of columns that are JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::transactions::error::StoreError;

/// Returns the JSON text of `value`: maps of strings, numbers and lists, which can always be written.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns `items` as a JSON array of strings.
pub(crate) fn to_json_list(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    serde_json::json!(items).to_string()
}

/// Reads the strings of a column that [`to_json_list`] wrote; `what` names the column in errors.
pub(crate) fn from_json_list(text: &str, what: &'static str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text).map_err(StoreError::corrupt(what))
}

/// Reads a column that may be null; `what` names it in errors.
pub(crate) fn from_json<T: DeserializeOwned>(
    text: Option<String>,
    what: &'static str,
) -> Result<Option<T>, StoreError> {
    match text {
        Some(text) => serde_json::from_str(&text).map_err(StoreError::corrupt(what)),
        None => Ok(None),
    }
}
