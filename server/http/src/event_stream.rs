//! Server-sent events (WHATWG HTML, section 9.2).

use axum::extract::FromRequestParts;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use utoipa::openapi::path::Operation;

use crate::accept::accepts;
use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;

/// The last piece of a stream that breaks off: a comment, which no client takes for an event.
pub const BROKEN_OFF: &str = ": the stream broke off\n\n";
const EVENT_STREAM: &str = "text/event-stream";

/// Whether the client wants a stream of events instead of one answer: its `Accept` names the type.
pub struct WantsEvents(pub bool);

impl<S: Send + Sync> FromRequestParts<S> for WantsEvents {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(accepts(&parts.headers, EVENT_STREAM)))
    }
}

impl HandlerParameter for WantsEvents {
    // The answers of the route name the type.
    fn describe(_: &mut Operation) {}
}

/// Returns the headers of a stream of events.
pub fn headers() -> [(HeaderName, HeaderValue); 2] {
    [
        (CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ]
}

/// Returns the text of an event with this data.
///
/// # Errors
/// The data has no JSON.
pub fn event(data: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(format!("data: {}\n\n", serde_json::to_string(data)?))
}
