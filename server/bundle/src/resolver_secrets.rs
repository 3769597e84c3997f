//! The secrets in the manifests of a tenant folder: references to variables, and those that the service keeps.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_engine::Json;
use portcullis_engine::json::Member;
use portcullis_model::folder_webhook::SecretReference;

/// Returns the secrets of a manifest that refer to variables.
pub(super) fn references(manifest: &Json<'_>) -> BTreeMap<String, SecretReference> {
    let secrets = manifest.get("secrets").and_then(Json::as_object).unwrap_or_default();
    let references = secrets.iter().filter_map(|(name, value)| {
        Some((name.to_string(), SecretReference::parse(value.as_str()?)?))
    });
    references.collect()
}

/// Puts an empty text in the place of each secret that is `null`, and returns the names of these secrets.
pub(super) fn keep_secrets(manifest: &mut [Member<'_>]) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    for (_, value) in manifest.iter_mut().filter(|(name, _)| name == "secrets") {
        let Json::Object(secrets) = value else { continue };
        for (name, value) in secrets.iter_mut().filter(|(_, value)| *value == Json::Null) {
            *value = Json::String("".into());
            kept.insert(name.to_string());
        }
    }
    kept
}
