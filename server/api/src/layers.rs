//! What surrounds the handlers: the request id and the log line, the time limit, the size limit, and
//! panics that become a 500.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http::header::{CONTENT_LENGTH, EXPECT};
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};
use http_body_util::BodyExt;
use tokio::time::Instant;

use super::deadline::Deadline;
use super::upload::{self, MAX_UPLOAD, Unread};
use crate::error::{ApiError, LoggedCause, internal_body};
use portcullis_operations::error::OperationError;

/// Largest request body, in bytes.
pub const MAX_BODY: usize = 1024 * 1024;
/// Most bytes of a body that are read to be thrown away: an upload that is somewhat too large gets its answer.
const MAX_DRAINED: usize = 2 * MAX_UPLOAD;
/// A client that sends nothing for so long waits for its answer.
const DRAIN_PAUSE: Duration = Duration::from_millis(250);
/// Longest request, from its header to its answer.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Gives the request its id and its time limit, turns a panic into a 500, and writes the log line.
pub(super) async fn observe(mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&request);
    request.headers_mut().insert(REQUEST_ID, id.clone());
    request.extensions_mut().insert(Deadline::from_now());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let served = AssertUnwindSafe(tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)));
    let mut response = match served.catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            let cause = format!("no answer within {} s", REQUEST_TIMEOUT.as_secs());
            ApiError::from(OperationError::Unavailable("the service", cause.into())).into_response()
        }
        Err(panic) => {
            ApiError::from(OperationError::Internal(panic_message(&*panic).into())).into_response()
        }
    };
    let id_text = id.to_str().unwrap_or_default();
    if let Some(LoggedCause(cause)) = response.extensions_mut().remove() {
        tracing::error!(request_id = id_text, %method, path, %cause, "request failed");
        if response.status() == StatusCode::INTERNAL_SERVER_ERROR {
            let status = response.status();
            response = (status, Json(internal_body(id_text))).into_response();
        }
    }
    let (status, millis) = (response.status().as_u16(), began.elapsed().as_secs_f64() * 1e3);
    tracing::debug!(request_id = id_text, %method, path, status, millis, "request");
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The id that the client sent, when it is a sound one, or a new one.
fn request_id(request: &Request) -> HeaderValue {
    let sound = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=128).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
    };
    let sent = request.headers().get(REQUEST_ID).filter(sound);
    sent.cloned().unwrap_or_else(new_request_id)
}

fn new_request_id() -> HeaderValue {
    #[expect(clippy::disallowed_methods, reason = "it names a log line and nothing depends on it")]
    let id = uuid::Uuid::now_v7().to_string();
    HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("-"))
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panic: {}", message.unwrap_or("no message"))
}

/// Marks a request whose body is too large. It is for the credential to be judged, or for the size to be
/// refused, once route and method are known: [`refuse_oversize`].
#[derive(Clone, Copy, Debug)]
struct Oversize {
    limit: usize,
}

/// The fault of a request whose body is too large; the first thing that every route looks at.
pub fn refuse_oversize(parts: &Parts) -> Result<(), ApiError> {
    match parts.extensions.get() {
        Some(Oversize { limit }) => Err(ApiError::PayloadTooLarge(*limit)),
        None => Ok(()),
    }
}

/// Reads the body, up to the limit. The body of an upload is left to its handler, which knows the sender.
pub(super) async fn limit_body(request: Request, next: Next) -> Response {
    let is_upload = upload::is_upload(&request);
    let limit = if is_upload { MAX_UPLOAD } else { MAX_BODY };
    let (mut parts, mut body) = request.into_parts();
    let declared = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let declared = declared.and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    let read = if declared <= limit as u64 && is_upload {
        return leave_body(parts, body, next).await;
    } else if declared <= limit as u64 {
        read_body(&mut body, limit).await
    } else if parts.headers.contains_key(EXPECT) {
        // A client that waits to be asked is not asked.
        Read::TooLarge
    } else {
        throw_away(&mut body).await
    };
    let body = match read {
        Read::Whole(body) => Body::from(body),
        Read::TooLarge => {
            parts.extensions.insert(Oversize { limit });
            Body::empty()
        }
        Read::Broken => {
            return ApiError::from(OperationError::BadRequest(
                "the body ended too early".to_owned(),
            ))
            .into_response();
        }
    };
    next.run(Request::from_parts(parts, body)).await
}

/// Leaves a body to the handler, and throws away what it did not want, unless the client waits to be asked for it.
async fn leave_body(mut parts: Parts, body: Body, next: Next) -> Response {
    let unread = Unread::new(body);
    let waits = parts.headers.contains_key(EXPECT);
    parts.extensions.insert(unread.clone());
    let answer = next.run(Request::from_parts(parts, Body::empty())).await;
    if let Some(mut body) = unread.take().filter(|_| !waits) {
        throw_away(&mut body).await;
    }
    answer
}

/// What came of reading a body.
pub(super) enum Read {
    Whole(Bytes),
    TooLarge,
    Broken,
}

/// Reads a body to its end, or to the limit.
pub(super) async fn read_body(body: &mut Body, limit: usize) -> Read {
    let mut kept = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Read::Broken };
        let Ok(data) = frame.into_data() else { continue };
        if kept.len() + data.len() > limit {
            return throw_away(body).await;
        }
        kept.extend_from_slice(&data);
    }
    Read::Whole(kept.freeze())
}

/// Reads what a client is still sending: if the connection closed on it, it would never see its answer.
pub(super) async fn throw_away(body: &mut Body) -> Read {
    let mut length = 0;
    while length < MAX_DRAINED
        && let Ok(Some(Ok(frame))) = tokio::time::timeout(DRAIN_PAUSE, body.frame()).await
    {
        length += frame.data_ref().map_or(0, Bytes::len);
    }
    Read::TooLarge
}

/// Runs the handler in a task of its own, to its end, also when the client goes away: a write is never
/// cancelled between its commit and its publication, nor in a `begin` (transact-rs/sqlx#4385).
pub(super) async fn run_to_the_end(request: Request, next: Next) -> Response {
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => {
                ApiError::from(OperationError::Unavailable("the service", "shutting down".into()))
                    .into_response()
            }
        },
    }
}
