//! Server-sent events (WHATWG HTML, section 9.2).

use axum::BoxError;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use serde::Serialize;
use utoipa::openapi::path::Operation;

use crate::accept::accepts;
use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;

const EVENT_STREAM: &str = "text/event-stream";

/// Whether the client wants a stream of events instead of one answer: its `Accept` names the type.
pub(crate) struct WantsEvents(pub(crate) bool);

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

/// Answers with a stream of events, each with the JSON text of its data.
pub(crate) fn events<T: Serialize>(of: impl Stream<Item = T> + Send + 'static) -> Response {
    let event = |data: T| {
        let json = serde_json::to_string(&data)?;
        Ok::<_, serde_json::Error>(Bytes::from(format!("data: {json}\n\n")))
    };
    from_pieces(of.map(event))
}

/// Answers with the text of events.
pub(crate) fn from_pieces<E: Into<BoxError> + 'static>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}
