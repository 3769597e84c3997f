//! The parts of a record that make it another one.

use serde_json::Value;

use super::kind::Loaded;

/// Returns the names of the members of the key.
fn members(loaded: Loaded) -> &'static [&'static str] {
    match loaded {
        Loaded::Relations => &["object", "relation", "subject", "subject_relation"],
        Loaded::Entities => &["type", "id"],
    }
}

/// Returns the key of a record.
pub(super) fn key(loaded: Loaded, record: &Value) -> String {
    let key: Vec<&Value> = members(loaded).iter().map(|name| &record[*name]).collect();
    // Texts and null: there is nothing that could not be written.
    serde_json::to_string(&key).unwrap_or_default()
}
