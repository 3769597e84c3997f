//! Pages that say what is wrong.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis_auth::AuthError;
use portcullis_http::error::ApiError;
use portcullis_http::request_context::RequestContext;

use crate::frame::Frame;

#[derive(Template)]
#[template(path = "problem.html")]
struct Problem<'p> {
    message: String,
    request_id: String,
    again: Option<&'p str>,
}

/// Returns the page about `error`, in the frame of the person.
pub(crate) fn page(frame: &Frame, context: &RequestContext, error: &ApiError) -> Response {
    with_status(frame, context, error, error.status(), None)
}

/// Returns the page about a sign-in that failed, with a link to sign in again.
pub(crate) fn of_sign_in(
    frame: &Frame,
    context: &RequestContext,
    (status, message): (StatusCode, String),
    again: &str,
) -> Response {
    let error = ApiError::bad_request(message);
    with_status(frame, context, &error, status, Some(again))
}

fn with_status(
    frame: &Frame,
    context: &RequestContext,
    error: &ApiError,
    status: StatusCode,
    again: Option<&str>,
) -> Response {
    let title = match status {
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::GONE => "The link is used up",
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "Not now",
        status if status.is_server_error() => "An error",
        _ if again.is_some() => "Nobody is signed in",
        _ => "Not possible",
    };
    // The cause of a failure is for the log alone, which the answer of the API carries.
    let cause = match error {
        ApiError::Operation(_) => error_cause(error),
        _ => None,
    };
    let request_id = context.id.text();
    let content = Problem { message: error.message(), request_id, again };
    let mut answer = match frame.show(title, &content) {
        Ok(answer) => answer,
        Err(unwritten) => return unwritten.into_response(),
    };
    *answer.status_mut() = status;
    error.add_headers(answer.headers_mut());
    if let Some(cause) = cause {
        tracing::error!(request_id = context.id.text(), cause, "a page failed");
    }
    answer
}

/// Returns the text for the log.
fn error_cause(error: &ApiError) -> Option<String> {
    use portcullis_runtime::error::OperationError::{Internal, Unavailable};
    match error {
        ApiError::Operation(Internal(cause) | Unavailable(_, cause)) => Some(cause.to_string()),
        _ => None,
    }
}

/// Returns the error of a form that another site may have sent.
pub(crate) fn foreign_form() -> ApiError {
    let what = "the form does not come from a page of this console, or its page is too old: load the page again";
    AuthError::AccessDenied(what.to_owned()).into()
}
