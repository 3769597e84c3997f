//! The layers around the handlers: the request id and the log line, the time limit, the limits of the body, and the 500
//! for a panic.

use std::panic::AssertUnwindSafe;

use axum::Json;
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{EXPECT, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, StatusCode, Version};
use portcullis_operations::error::OperationError;
use tokio::time::Instant;

use crate::apply;
use crate::body_budget::{BodyBudget, MAX_UPLOAD};
use crate::deadline::{Deadline, REQUEST_TIMEOUT};
use crate::error::{ApiError, LoggedCause, internal_body};
use crate::leftover;
use crate::oversize::Oversize;
use crate::raw_body::{BodyLimits, declared_length};
use crate::upload;

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

/// Sets the limits of the body, and leaves it unread: its handler reads it, once the route, the credential and the right
/// of the sender are known. The part that no handler reads is discarded before the answer.
pub(super) async fn limit_body(
    State(budget): State<BodyBudget>,
    mut request: Request,
    next: Next,
) -> Response {
    let limit = match request.uri().path() {
        _ if upload::is_upload(&request) => MAX_UPLOAD,
        apply::PATH => budget.largest_apply(),
        _ => MAX_BODY,
    };
    request.extensions_mut().insert(BodyLimits::new(limit, budget));
    if declared_length(request.headers()).is_some_and(|length| length > limit as u64) {
        request.extensions_mut().insert(Oversize { limit });
    }
    // An HTTP/2 client gets its answer on a stream that ends then, whatever it still sends.
    if request.body().is_end_stream() || request.version() == Version::HTTP_2 {
        return next.run(request).await;
    }
    let waits = request.headers().contains_key(EXPECT);
    let (parts, body) = request.into_parts();
    let (body, leftover) = leftover::lend(body);
    let answer = next.run(Request::from_parts(parts, body)).await;
    // A client that waits for a 100 gets its answer without one, and never sends the body.
    if !waits || leftover.is_begun() {
        leftover.discard().await;
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
