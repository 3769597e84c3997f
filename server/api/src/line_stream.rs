//! Answers in lines, each with one JSON value (<https://github.com/ndjson/ndjson-spec>).

use axum::extract::FromRequestParts;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::openapi::path::Operation;

use portcullis_http::accept::accepts;
use portcullis_http::answer_text::AnswerText;
use portcullis_http::error::ApiError;
use portcullis_http::handler_parameters::HandlerParameter;
use portcullis_http::live_credential::LiveCredential;

const LINES: &str = "application/x-ndjson";

/// The credential of a client that wants lines, by its `Accept`; `None` for one that wants one answer.
#[derive(Debug)]
pub(crate) struct WantsLines(pub(crate) Option<LiveCredential>);

impl FromRequestParts<App> for WantsLines {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if !accepts(&parts.headers, LINES) {
            return Ok(Self(None));
        }
        LiveCredential::from_request_parts(parts, app)
            .await
            .map(|credential| Self(Some(credential)))
    }
}

impl HandlerParameter for WantsLines {
    // The answers of the route name the type.
    fn describe(_: &mut Operation) {}
}

/// Adds a line with `value`.
pub(crate) fn add_line(text: &mut AnswerText, value: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *text, value)?;
    text.push(b"\n").map_err(|error| serde_json::Error::io(error.into()))
}

/// Returns the header with the type of lines.
pub(crate) fn content_type() -> [(HeaderName, HeaderValue); 1] {
    [(CONTENT_TYPE, HeaderValue::from_static(LINES))]
}
