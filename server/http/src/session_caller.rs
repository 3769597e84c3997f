//! Callers with a session of the console: what of a request counts for them as for the holder of a token.

use http::Method;
use portcullis_auth::AuthError;
use portcullis_limits::{KeyLookup, RefusedCredential, RequestPlace, Spent};
use portcullis_model::audit::Origin;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::error::ApiError;
use crate::request_context::RequestContext;
use crate::{limits, recipient};

/// Refuses a request if too many of its class wait, before its session is looked up.
///
/// # Errors
/// Too many wait.
pub fn refuse_if_full(app: &App, request: &RequestContext) -> Result<(), ApiError> {
    limits::refuse_if_full(app, request)
}

/// Returns the place of a request of somebody without a session, which must live as long as the request.
///
/// # Errors
/// It finds no place in time.
pub async fn admit_stranger(app: &App, request: &RequestContext) -> Result<RequestPlace, ApiError> {
    limits::admit_stranger(app, request).await
}

/// Returns the permission to look up the session that the cookies `cookies` may have.
///
/// # Errors
/// The address has too many failed authentications and too many lookups.
pub fn lookup(
    app: &App,
    request: &RequestContext,
    cookies: &str,
) -> Result<Option<KeyLookup>, ApiError> {
    limits::lookup(app, request, (RefusedCredential::Session, cookies), app.clock.now())
}

/// Counts a request of a person for the rates, and returns its place, which must live as long as the request. A request with
/// an unsafe method may write from now on.
///
/// # Errors
/// A rate refuses the request, it finds no place in time, or there is no memory for the answer.
pub async fn admit(
    app: &App,
    request: &RequestContext,
    method: &Method,
    (tenant, subject): (&str, &str),
) -> Result<RequestPlace, ApiError> {
    let place = limits::admit(app, request, tenant, subject).await?;
    if !method.is_safe() {
        recipient::begin_write()
            .map_err(|Spent| ApiError::from(OperationError::no_room_for_answer()))?;
    }
    Ok(place)
}

/// Counts a credential of `kind` that proved nobody for the limit of failed authentications, and returns the answer.
pub fn failed(
    app: &App,
    request: &RequestContext,
    kind: RefusedCredential,
    error: AuthError,
) -> ApiError {
    limits::failed(app, request, kind, app.clock.now(), error)
}

/// Returns `origin` with the request that it sent.
pub fn sent_with(origin: Origin, request: &RequestContext) -> Origin {
    origin.with_request(request.address, Some(request.id.text()))
}

/// Counts the candidates that a search of a person looked at for the rates of checks.
pub fn count_candidates(
    app: &App,
    request: &RequestContext,
    (tenant, subject): (&str, &str),
    candidates: usize,
) {
    limits::count_candidates(app, (tenant, subject), request.address, candidates);
}
