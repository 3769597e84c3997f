//! Limits of callers: failed authentications, rates, and places (`docs/semantics.md`, section 8.12).

use std::net::IpAddr;

use chrono::{DateTime, Utc};
use http::header::{FORWARDED, HeaderName};
use http::{HeaderMap, HeaderValue};
use portcullis_auth::AuthError;
use portcullis_limits::{
    Admission, Class, KeyLookup, MemoryAccount, Moment, RateRefusal, RefusalReason,
    RefusedCredential, RequestKind, RequestPlace,
};
use portcullis_operations::search::CANDIDATES_PER_CHECK;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use tokio::time::Instant;

use crate::error::ApiError;
use crate::recipient;
use crate::request_context::RequestContext;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the address of the client of a connection with `peer`, as section 8.12 says.
pub(crate) fn client_address(app: &App, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let forwarded = texts(headers, FORWARDED);
    app.limits.proxies.client(peer, forwarded, texts(headers, X_FORWARDED_FOR))
}

/// Returns the values of a header. A value that is not text is empty.
fn texts(headers: &HeaderMap, name: HeaderName) -> impl DoubleEndedIterator<Item = &str> {
    // An empty value is a hop without an address, at which the search ends.
    headers.get_all(name).iter().map(|value: &HeaderValue| value.to_str().unwrap_or_default())
}

/// Refuses a request if too many of its class wait. It costs less than a look at the credential.
pub(crate) fn refuse_if_full(app: &App, request: &RequestContext) -> Result<(), ApiError> {
    let class = request.class();
    if app.limits.places.is_full(class) {
        return Err(no_place(app, class, RefusalReason::QueueFull));
    }
    Ok(())
}

/// Returns the permission to look up a credential of `kind`, which is `text`.
///
/// # Errors
/// The address has too many failed authentications and too many lookups.
pub(crate) fn lookup(
    app: &App,
    request: &RequestContext,
    (kind, text): (RefusedCredential, &str),
    now: DateTime<Utc>,
) -> Result<Option<KeyLookup>, ApiError> {
    let Some(address) = request.address else { return Ok(None) };
    let lookup = app.limits.failures.lookup(address, text, Moment::from_time(now));
    lookup.map(Some).map_err(|refusal| beyond_failures(app, request, kind, address, refusal))
}

/// Counts a credential that proved no caller, and returns the answer: `error`, or a 429 if the address is beyond its limit.
/// An error of another kind is not counted.
pub(crate) fn failed(
    app: &App,
    request: &RequestContext,
    kind: RefusedCredential,
    now: DateTime<Utc>,
    error: AuthError,
) -> ApiError {
    if !matches!(error, AuthError::TokenRefused(_) | AuthError::CredentialRefused(_)) {
        return error.into();
    }
    app.limits.metrics.failed(kind);
    let Some(address) = request.address else { return error.into() };
    match app.limits.failures.count(address, Moment::from_time(now)) {
        Ok(()) => error.into(),
        Err(refusal) => beyond_failures(app, request, kind, address, refusal),
    }
}

/// Returns the answer to an address beyond its limit of failed authentications, and writes the log line.
fn beyond_failures(
    app: &App,
    request: &RequestContext,
    kind: RefusedCredential,
    address: IpAddr,
    refusal: Box<RateRefusal>,
) -> ApiError {
    app.limits.metrics.refused(refusal.reason, request.class());
    if let Some(unwritten) = app.limits.failure_log.pass(Instant::now()) {
        let credential: &str = kind.into();
        tracing::warn!(%address, credential, unwritten, "too many failed authentications");
    }
    ApiError::RateLimited(refusal)
}

/// Counts a request of an authenticated caller, to whose tenant the memory of its answer is charged, and returns its place. The
/// place must live as long as the request.
///
/// # Errors
/// A rate refuses the request, or it finds no place in time.
pub(crate) async fn admit(
    app: &App,
    request: &RequestContext,
    tenant: &str,
    actor: &str,
) -> Result<RequestPlace, ApiError> {
    recipient::charge_to(MemoryAccount::for_tenant(tenant));
    let now = Moment::from_time(app.clock.now());
    count(app, request, (tenant, actor), now)?;
    find_place(app, request.class(), tenant, now).await
}

/// Returns the place of a request that no caller sends. All of them have the share of one tenant.
///
/// # Errors
/// The request finds no place in time.
pub(crate) async fn admit_stranger(
    app: &App,
    request: &RequestContext,
) -> Result<RequestPlace, ApiError> {
    find_place(app, request.class(), "", Moment::from_time(app.clock.now())).await
}

/// Returns the place of a request of the operator, whose rate is not limited.
pub(crate) async fn admit_operator(
    app: &App,
    now: DateTime<Utc>,
) -> Result<RequestPlace, ApiError> {
    find_place(app, Class::Operator, "", Moment::from_time(now)).await
}

/// Counts the candidates of a search as further checks.
pub(crate) fn count_candidates(
    app: &App,
    of_caller: (&str, &str),
    address: Option<IpAddr>,
    candidates: usize,
) {
    let more = u32::try_from(candidates / CANDIDATES_PER_CHECK).unwrap_or(u32::MAX);
    let rates = &app.limits.rates;
    if more > 0 && rates.are_limited() {
        let now = Moment::from_time(app.clock.now());
        rates.spend(RequestKind::Check, of_caller, address, now, more);
    }
}

/// Counts a request of a caller for the rates.
fn count(
    app: &App,
    request: &RequestContext,
    of_caller: (&str, &str),
    now: Moment,
) -> Result<(), ApiError> {
    let rates = &app.limits.rates;
    // There is a report only where there are rates.
    let Some(report) = &request.rates else { return Ok(()) };
    let kind = request.route.as_ref().map_or(RequestKind::Check, |route| route.kind);
    let address = rates.for_kind(kind).address.and(request.address);
    match rates.count(kind, of_caller, address, now, 1) {
        Ok(levels) => {
            report.set(levels);
            Ok(())
        }
        Err(refusal) => {
            app.limits.metrics.refused(refusal.reason, request.class());
            Err(ApiError::RateLimited(refusal))
        }
    }
}

/// Returns the address of the client, if addresses have a rate of checks.
pub(crate) fn counted_address(app: &App, request: &RequestContext) -> Option<IpAddr> {
    app.limits.rates.for_kind(RequestKind::Check).address.and(request.address)
}

/// Counts `more` checks of a caller for the rates, all or none.
pub(crate) fn count_more(
    app: &App,
    of_caller: (&str, &str),
    address: Option<IpAddr>,
    more: u32,
) -> Result<(), ApiError> {
    let rates = &app.limits.rates;
    if more == 0 || !rates.are_limited() {
        return Ok(());
    }
    let now = Moment::from_time(app.clock.now());
    let counted = rates.count(RequestKind::Check, of_caller, address, now, more);
    counted.map(drop).map_err(|refusal| {
        app.limits.metrics.refused(refusal.reason, Class::Checks);
        ApiError::RateLimited(refusal)
    })
}

/// Returns a place of `class`, at once or after a wait.
async fn find_place(
    app: &App,
    class: Class,
    tenant: &str,
    now: Moment,
) -> Result<RequestPlace, ApiError> {
    let places = &app.limits.places;
    let mut request = match places.enter(class, tenant, now) {
        Admission::Entered(place) => return Ok(place),
        Admission::Refused(reason) => return Err(no_place(app, class, reason)),
        Admission::Waiting(request) => request,
    };
    // A place that comes at the last moment is given back when `request` is dropped.
    let place = tokio::time::timeout(places.longest_wait(class), request.place()).await;
    app.limits.metrics.waited(class, Moment::from_time(app.clock.now()).since(now));
    place.map_err(|_| no_place(app, class, RefusalReason::QueueTime))
}

fn no_place(app: &App, class: Class, reason: RefusalReason) -> ApiError {
    app.limits.metrics.refused(reason, class);
    let what = "the service has too many requests, and this one did nothing; try again later";
    OperationError::NotNow(what.to_owned()).into()
}
