//! Single claims of a token (`docs/semantics.md`, section 6.5).

use portcullis_engine::json::Json;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::request::claimed_roles;
use portcullis_model::provider::RolesFormat;

use crate::error::{AuthError, refused};

/// Longest subject and domain, in characters, as in checks and rules (`docs/semantics.md`, sections 2.1 and 6.5).
const MAX_NAME: usize = 256;

/// Returns the message about a claim that is missing.
pub(super) fn missing(claim: &str) -> String {
    format!("the claim `{claim}` is missing, empty or of the wrong type")
}

/// Returns a claim, which must be a non-empty string without control characters.
pub(super) fn text_claim<'c>(claims: &'c Json<'_>, name: &str) -> Result<&'c str, AuthError> {
    let text = claims.claim(name).and_then(Json::as_str);
    match text {
        Some(text) if !text.is_empty() && !text.contains(char::is_control) => Ok(text),
        _ => refused(missing(name)),
    }
}

/// Returns a text claim that is used in checks and rules, and therefore has their greatest length.
pub(super) fn short_claim<'c>(claims: &'c Json<'_>, name: &str) -> Result<&'c str, AuthError> {
    let text = text_claim(claims, name)?;
    if text.chars().count() > MAX_NAME {
        return refused(missing(name));
    }
    Ok(text)
}

/// Returns the domain claim. `*` is refused: in rules and in the admin-domain claim it stands for every domain, and no
/// caller belongs to every domain.
pub(super) fn one_domain<'c>(claims: &'c Json<'_>, name: &str) -> Result<&'c str, AuthError> {
    match short_claim(claims, name)? {
        WILDCARD => refused(format!("the claim `{name}` is `*`, which is not a domain")),
        domain => Ok(domain),
    }
}

/// Returns the roles of a claim in this form; `None` if it is empty or of another type. A claim that the form says nothing
/// about is read as a list.
pub(super) fn roles_of(claim: &Json<'_>, format: RolesFormat) -> Option<Vec<String>> {
    match (format, claim) {
        (RolesFormat::Words, Json::String(text)) => {
            let words = text.split(|c: char| c.is_whitespace() || c == ',');
            let words: Vec<String> =
                words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
            (!words.is_empty()).then_some(words)
        }
        (RolesFormat::Keys, Json::Object(members)) => {
            let granted = members
                .iter()
                .filter(|(_, value)| !matches!(value, Json::Null | Json::Bool(false)));
            Some(granted.map(|(name, _)| name.clone().into_owned()).collect())
        }
        _ => claimed_roles(claim),
    }
}

/// Refuses a token that is not for the audience `expected`.
pub(super) fn check_audience(claims: &Json<'_>, expected: &str) -> Result<(), AuthError> {
    let audiences = match claims.get("aud") {
        Some(text @ Json::String(_)) => std::slice::from_ref(text),
        Some(Json::Array(items)) => items,
        _ => return refused(missing("aud")),
    };
    if audiences.iter().any(|audience| audience.as_str() == Some(expected)) {
        return Ok(());
    }
    refused("the claim `aud` does not name this service")
}
