//! Parameters of queries and headers: how they are read, and how the API document describes them.

use portcullis_engine::Effect;
use portcullis_model::schema::AnySchema;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};

use crate::error::ApiError;

/// Describes a parameter. Only a parameter of a path is required.
pub(crate) fn parameter(
    place: ParameterIn,
    name: &str,
    schema: impl Into<AnySchema>,
    about: &str,
) -> Parameter {
    let required = match place {
        ParameterIn::Path => Required::True,
        _ => Required::False,
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(schema))
        .description(Some(about))
        .build()
}

/// Parses a number that consists of digits alone. Rust's own parser also accepts a sign.
pub(crate) fn digits<N: std::str::FromStr>(text: &str) -> Option<N> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// Reads a text that records are selected by.
pub(crate) fn text_filter(name: &str, value: &str) -> Result<String, ApiError> {
    // PostgreSQL refuses U+0000 in a text, SQLite does not.
    if value.contains('\0') {
        let what = format!("the query parameter `{name}` must not hold the character U+0000");
        return Err(ApiError::bad_request(what));
    }
    Ok(value.to_owned())
}

/// Reads an effect that records are selected by.
pub(crate) fn effect_filter(value: &str) -> Result<Effect, ApiError> {
    let what = "the query parameter `effect` must be `allow` or `deny`";
    value.parse().map_err(|_| ApiError::bad_request(what))
}

/// Reads the query parameter `name`, which is `true` or `false`. Absent, it is false.
pub(crate) fn flag(uri: &http::Uri, name: &str) -> Result<bool, ApiError> {
    let sent = query(uri).find(|(own, _)| own == name);
    match sent.as_ref().map(|(_, value)| &**value) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => {
            let what = format!("the query parameter `{name}` must be `true` or `false`");
            Err(ApiError::bad_request(what))
        }
    }
}

/// Returns the query parameters of a request. Unknown names are refused before
/// ([`crate::unknown_parameters`]).
pub(crate) fn query(uri: &http::Uri) -> url::form_urlencoded::Parse<'_> {
    url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}
