//! Parameters of requests in the API document, and how numbers among them are read.

use portcullis_model::schema::AnySchema;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};

/// Describes a parameter. Only a parameter of a path is required.
pub fn parameter(
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
pub fn digits<N: std::str::FromStr>(text: &str) -> Option<N> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}
