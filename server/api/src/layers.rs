//! The layers around the handlers: the request id and the log line, the time limit, the size limit, and the 500 for a
//! panic.

use std::panic::AssertUnwindSafe;

use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{CONTENT_LENGTH, EXPECT, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};
use portcullis_operations::error::OperationError;
use tokio::time::Instant;

use crate::deadline::{Deadline, REQUEST_TIMEOUT};
use crate::error::{ApiError, LoggedCause, internal_body};
use crate::oversize::Oversize;
use crate::raw_body::{self, RawBody};
use crate::upload::{self, MAX_UPLOAD, UploadBody};

/// Largest request body, in bytes.
const MAX_BODY: usize = 1024 * 1024;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Gives the request its id and its time limit, answers a panic with a 500, and writes the log line.
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
    // A browser must not take JSON that quotes a request for a page or a script.
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Returns the id that the client sent if it is valid, and otherwise a new one.
fn request_id(request: &Request) -> HeaderValue {
    let sent = request.headers().get(REQUEST_ID).filter(|value| is_valid_id(value.as_bytes()));
    sent.cloned().unwrap_or_else(new_request_id)
}

fn is_valid_id(id: &[u8]) -> bool {
    (1..=128).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
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

/// Reads the body, up to the limit. The body of an upload stays unread: its handler takes it, once the credential and the
/// right of the sender are checked.
pub(super) async fn limit_body(request: Request, next: Next) -> Response {
    let is_upload = upload::is_upload(&request);
    let limit = if is_upload { MAX_UPLOAD } else { MAX_BODY };
    let (mut parts, mut body) = request.into_parts();
    let is_declared_too_large = declared_length(&parts) > limit as u64;
    if is_upload && !is_declared_too_large {
        return pass_upload(parts, body, next).await;
    }
    let read = if !is_declared_too_large {
        raw_body::read(&mut body, limit).await
    } else if parts.headers.contains_key(EXPECT) {
        // The client waits for a 100, and gets its answer without one: it never sends the body.
        RawBody::TooLarge
    } else {
        raw_body::discard(&mut body).await;
        RawBody::TooLarge
    };
    let body = match read {
        RawBody::Whole(body) => Body::from(body),
        RawBody::TooLarge => {
            parts.extensions.insert(Oversize { limit });
            Body::empty()
        }
        RawBody::Broken => {
            return ApiError::bad_request("the body ended too early").into_response();
        }
    };
    next.run(Request::from_parts(parts, body)).await
}

/// Returns the length that the request declares, or 0.
fn declared_length(parts: &Parts) -> u64 {
    let declared = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    declared.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Passes the body of an upload on, unread. If the handler did not take the body, it is discarded before the answer,
/// unless the client waits for a 100.
async fn pass_upload(mut parts: Parts, body: Body, next: Next) -> Response {
    let waits = parts.headers.contains_key(EXPECT);
    let upload = UploadBody::new(body);
    parts.extensions.insert(upload.clone());
    let answer = next.run(Request::from_parts(parts, Body::empty())).await;
    if let Some(mut body) = upload.take()
        && !waits
    {
        raw_body::discard(&mut body).await;
    }
    answer
}

/// Runs the handler to its end in its own task, even if the client disconnects. A write is therefore never cancelled
/// between its commit and its publication, or in a `begin` (transact-rs/sqlx#4385).
pub(super) async fn run_to_completion(request: Request, next: Next) -> Response {
    let failed = match tokio::spawn(next.run(request)).await {
        Ok(response) => return response,
        Err(failed) => failed,
    };
    match failed.try_into_panic() {
        // The layer `observe` answers the panic.
        Ok(panic) => std::panic::resume_unwind(panic),
        // The runtime is stopping.
        Err(_) => {
            ApiError::from(OperationError::Unavailable("the service", "shutting down".into()))
                .into_response()
        }
    }
}
