//! What surrounds the handlers: the request id and the log line, the time limit, the size limit, and
//! panics that become a 500.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::CONTENT_LENGTH;
use http::{HeaderName, HeaderValue, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::Instant;

use crate::error::{ApiError, LoggedCause, internal_body};

/// Largest request body, in bytes.
pub(crate) const MAX_BODY: usize = 1024 * 1024;
/// Longest request, from its header to its answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Gives the request its id and its time limit, turns a panic into a 500, and writes the log line.
pub(super) async fn observe(mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&request);
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let served = AssertUnwindSafe(tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)));
    let mut response = match served.catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            let cause = format!("no answer within {} s", REQUEST_TIMEOUT.as_secs());
            ApiError::Unavailable("the service", cause.into()).into_response()
        }
        Err(panic) => ApiError::Internal(panic_message(&*panic).into()).into_response(),
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

/// Reads the body, up to the limit, before anything judges the request.
pub(super) async fn limit_body(request: Request, next: Next) -> Response {
    let declared = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if declared
        .and_then(|text| text.parse().ok())
        .is_some_and(|length: u64| length > MAX_BODY as u64)
    {
        return ApiError::PayloadTooLarge(MAX_BODY).into_response();
    }
    let (parts, body) = request.into_parts();
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => next.run(Request::from_parts(parts, Body::from(body.to_bytes()))).await,
        Err(error) if error.is::<LengthLimitError>() => {
            ApiError::PayloadTooLarge(MAX_BODY).into_response()
        }
        Err(_) => ApiError::BadRequest("the body ended too early".to_owned()).into_response(),
    }
}

/// Runs the handler in a task of its own, to its end, also when the client goes away: a write is never
/// cancelled between its commit and its publication, nor in a `begin` (transact-rs/sqlx#4385).
pub(super) async fn run_to_the_end(request: Request, next: Next) -> Response {
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => ApiError::Unavailable("the service", "shutting down".into()).into_response(),
        },
    }
}
