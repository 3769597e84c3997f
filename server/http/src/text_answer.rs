//! Answers with a text whose memory is charged to their recipient while it is written.

use std::fmt;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde::Serialize;

use crate::answer_text::{AnswerText, TextError};

/// The type of JSON.
pub const JSON: &str = "application/json";

/// An answer in JSON.
pub struct Json<T>(pub T);

/// The reason why an answer has no text, as an extension of the response: what is around the text may give it a status.
#[derive(Clone, Debug)]
pub enum Unwritten {
    /// The memory for answers is spent.
    NoRoom,
    Failed(Arc<serde_json::Error>),
}

impl From<serde_json::Error> for Unwritten {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(TextError::SPENT) => Self::NoRoom,
            _ => Self::Failed(Arc::new(error)),
        }
    }
}

impl IntoResponse for Unwritten {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut text = AnswerText::default();
        match serde_json::to_writer(&mut text, &self.0) {
            Ok(()) => written(JSON, text),
            Err(error) => Unwritten::from(error).into_response(),
        }
    }
}

/// Returns the answer with a text that is written.
pub fn written(content_type: &'static str, text: AnswerText) -> Response {
    let content_type = [(CONTENT_TYPE, HeaderValue::from_static(content_type))];
    (content_type, text.into_body()).into_response()
}

/// Returns an answer of the type `content_type` with the text that `write` writes. It fails only if there is no room.
pub fn text(
    content_type: &'static str,
    write: impl FnOnce(&mut AnswerText) -> fmt::Result,
) -> Response {
    let mut text = AnswerText::default();
    match write(&mut text) {
        Ok(()) => written(content_type, text),
        Err(fmt::Error) => Unwritten::NoRoom.into_response(),
    }
}
