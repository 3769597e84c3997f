//! The answers that several handlers give.

use std::fmt;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use http::{HeaderName, HeaderValue, StatusCode};
use portcullis_operations::error::OperationError;
use serde::Serialize;

use crate::answer_text::{AnswerText, TextError};
use crate::error::ApiError;

const POLICY_REVISION: HeaderName = HeaderName::from_static("x-policy-revision");

/// An answer in JSON. Its memory is charged to its recipient while it is written.
pub(crate) struct Json<T>(pub(crate) T);

/// Marks a response whose text had no room, in the extensions: what is around it may give it another status.
#[derive(Clone)]
struct NoRoom;

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut text = AnswerText::default();
        match serde_json::to_writer(&mut text, &self.0) {
            Ok(()) => written("application/json", text),
            Err(error) => unwritten(error),
        }
    }
}

/// Returns the answer with a text that is written.
pub(crate) fn written(content_type: &'static str, text: AnswerText) -> Response {
    let content_type = [(CONTENT_TYPE, HeaderValue::from_static(content_type))];
    (content_type, text.into_body()).into_response()
}

/// Returns the answer to a request whose JSON was not written, because of `error`.
pub(crate) fn unwritten(error: serde_json::Error) -> Response {
    match error.io_error_kind() {
        Some(TextError::SPENT) => no_room(),
        _ => ApiError::from(OperationError::Internal(error.into())).into_response(),
    }
}

/// Returns an answer of the type `content_type` with the text that `write` writes. It fails only if there is no room.
pub(crate) fn text(
    content_type: &'static str,
    write: impl FnOnce(&mut AnswerText) -> fmt::Result,
) -> Response {
    let mut text = AnswerText::default();
    match write(&mut text) {
        Ok(()) => written(content_type, text),
        Err(fmt::Error) => no_room(),
    }
}

fn no_room() -> Response {
    let mut response = Response::default();
    response.extensions_mut().insert(NoRoom);
    response
}

/// Returns `response`, or a 503 if there was no room for its text.
pub(crate) fn with_room(response: Response) -> Response {
    match response.extensions().get() {
        Some(NoRoom) => ApiError::from(OperationError::no_room_for_answer()).into_response(),
        None => response,
    }
}

/// Returns the header with the tenant's revision. Every answer to a check and every successful write has it.
pub(crate) fn revision_header(revision: u64) -> [(HeaderName, HeaderValue); 1] {
    // Digits are a valid value. From the text, the value needs one allocation instead of two.
    let digits = Bytes::from(revision.to_string());
    let value = HeaderValue::from_maybe_shared(digits).unwrap_or(HeaderValue::from_static("0"));
    [(POLICY_REVISION, value)]
}

/// Answers 201 with a record that decisions depend on, and its location.
pub(crate) fn created(revision: u64, location: &str, record: impl Serialize) -> Response {
    (revision_header(revision), created_at(location, record)).into_response()
}

/// Answers 201 with a record and its location.
pub(crate) fn created_at(location: &str, record: impl Serialize) -> Response {
    let location = HeaderValue::from_str(location).map(|location| [(LOCATION, location)]).ok();
    (StatusCode::CREATED, location, Json(record)).into_response()
}

/// Answers 201 with a record that holds a new key, and its location. No cache on the way may store the answer.
pub(crate) fn created_with_key(location: &str, record: impl Serialize) -> Response {
    let no_store = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (no_store, created_at(location, record)).into_response()
}

/// Answers 204 to a deletion that raised the tenant's revision.
pub(crate) fn deleted(revision: u64) -> Response {
    (StatusCode::NO_CONTENT, revision_header(revision)).into_response()
}
