//! The routes and everything around them: the request id and the log line, the time limit, the limits of the body, the
//! audit records of refused credentials, and the 500 for a panic.
//!
//! This is one function and not a stack of layers: each layer of axum costs a request several allocations.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::FutureExt;
use http::header::{CONTENT_LENGTH, EXPECT, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{Method, Request, StatusCode, Uri, Version};
use portcullis_limits::MemoryAccount;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use tokio::time::Instant;
use tower::Service;

use crate::allowed_methods::method_not_allowed;
use crate::body_budget::BodyBudget;
use crate::deadline::{self, Deadline, REQUEST_TIMEOUT};
use crate::error::{ApiError, LoggedCause, internal_body};
use crate::large_bodies::beside_when_large;
use crate::lent_body::LentBody;
use crate::limits::client_address;
use crate::peer::Peer;
use crate::rate_answer::RateReport;
use crate::recipient::{ConnectionAnswers, Recipient};
use crate::request_context::RequestContext;
use crate::request_id::{REQUEST_ID, RequestId};
use crate::sent_credential::SentCredential;
use crate::text_answer::{Json, Unwritten};

/// The routes with everything around them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HttpService(Arc<ServiceContext>);

/// The routes, and what serves all of them.
#[derive(Debug)]
struct ServiceContext {
    app: App,
    bodies: BodyBudget,
    routes: Router,
}

impl HttpService {
    /// Returns the service.
    pub fn new(app: App, bodies: BodyBudget, routes: Router) -> Self {
        Self(Arc::new(ServiceContext { app, bodies, routes }))
    }

    /// Returns the answers of a connection that begins.
    pub(crate) fn answers_of_connection(&self) -> Arc<ConnectionAnswers> {
        ConnectionAnswers::new(self.0.app.limits.answers.clone())
    }

    /// Answers a request that no listener received.
    pub async fn answer<B>(self, request: Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin + Send + 'static,
    {
        self.answer_to(None, request).await
    }

    /// Answers a request of `peer`.
    pub(crate) async fn answer_to<B>(self, peer: Option<Peer>, request: Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin + Send + 'static,
    {
        let ServiceContext { app, bodies, routes } = &*self.0;
        let (mut parts, body) = request.into_parts();
        let exchange = Exchange::begin(&parts, app.clock.now());
        let span = app.traces.request(&parts.headers);
        let refusal = peer.as_ref().and_then(|peer| peer.refusal(&parts));
        let address = peer.as_ref().map(|peer| client_address(app, peer.address, &parts.headers));
        let recipient = recipient(app, peer, address);
        // Kept before the request is given away: only the answer says whether the credential was refused.
        let sent = SentCredential::find(&parts);
        let (body, rates) = (LentBody::new(body), RateReport::begin(app));
        parts.extensions.insert(RequestContext {
            id: exchange.id.clone(),
            address,
            deadline: Deadline::from_now(),
            route: None,
            body: body.clone(),
            budget: bodies.clone(),
            rates: rates.clone(),
        });
        // Routes beside the table, such as the routes of `dev`, read the body from the request.
        let request = Request::from_parts(parts, Body::new(body.clone()));
        // Pinned here: each move copies the whole state.
        let routed = route(routes.clone(), request, body, refusal);
        let routed = pin!(AssertUnwindSafe(routed).catch_unwind());
        let routed = span.around(beside_when_large(recipient.answer(routed)));
        let answer = match deadline::until(exchange.began + REQUEST_TIMEOUT, routed).await {
            Some(Ok(answer)) => method_not_allowed(with_text(answer)),
            Some(Err(panic)) => after_panic(&*panic),
            None => after_timeout(),
        };
        if answer.status() == StatusCode::UNAUTHORIZED
            && let Some(sent) = sent
        {
            let origin = sent.into_origin(&exchange.id, address);
            app.refusals.note(origin, app.clock.now().into());
        }
        span.end(&exchange.method, answer.status());
        exchange.end(answer, rates)
    }
}

/// Answers a request by its route. The handler reads the body, once the route, the credential and the right of the sender
/// are known. The part that no handler reads is discarded before the answer. A request with a `refusal` reaches no route.
async fn route(
    mut routes: Router,
    request: Request<Body>,
    body: LentBody,
    refusal: Option<ApiError>,
) -> Response {
    let (version, waits) = (request.version(), request.headers().contains_key(EXPECT));
    let answer = match refusal {
        Some(refusal) => refusal.into_response(),
        None => answered(routes.call(request).await),
    };
    // A client that waits for a 100 gets its answer without one, and never sends the body. An HTTP/2 client gets its
    // answer on a stream that ends then, whatever it still sends.
    if version != Version::HTTP_2 && (!waits || body.is_begun()) {
        body.discard().await;
    }
    answer
}

fn answered(answer: Result<Response, Infallible>) -> Response {
    match answer {
        Ok(answer) => answer,
        Err(never) => match never {},
    }
}

/// Returns the recipient of the answer to a request whose sender is not known yet: its address is charged.
fn recipient(app: &App, peer: Option<Peer>, address: Option<IpAddr>) -> Recipient {
    let account = address.map_or_else(|| MemoryAccount::for_tenant(""), MemoryAccount::for_address);
    let answers = peer
        .map_or_else(|| ConnectionAnswers::new(app.limits.answers.clone()), |peer| peer.answers);
    Recipient::new(answers, account)
}

/// Returns `answer`, or the error for which it has no text.
fn with_text(answer: Response) -> Response {
    let unwritten: Option<&Unwritten> = answer.extensions().get();
    match unwritten.cloned() {
        None => answer,
        Some(unwritten) => ApiError::from(unwritten).into_response(),
    }
}

fn after_timeout() -> Response {
    let cause = format!("no answer within {} s", REQUEST_TIMEOUT.as_secs());
    ApiError::from(OperationError::Unavailable("the service", cause.into())).into_response()
}

/// Returns the message of a panic.
pub(crate) fn message_of_panic(panic: &(dyn std::any::Any + Send)) -> &str {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

fn after_panic(panic: &(dyn std::any::Any + Send)) -> Response {
    let message = format!("panic: {}", message_of_panic(panic));
    ApiError::from(OperationError::Internal(message.into())).into_response()
}

/// Drops the body of an answer to `HEAD`, and keeps its length. The routes have done so with their own answers.
fn drop_body(answer: &mut Response) {
    let body = std::mem::take(answer.body_mut());
    // A body that has ended was dropped by its route, which has set the true length.
    if let Some(length) = body.size_hint().exact().filter(|_| !body.is_end_stream()) {
        answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// A request and its answer, for the log line.
struct Exchange {
    id: RequestId,
    method: Method,
    uri: Uri,
    began: Instant,
}

impl Exchange {
    /// Begins with a request, which gets its id.
    fn begin(parts: &Parts, now: DateTime<Utc>) -> Self {
        let id = RequestId::from_parts(parts, now);
        Self { id, method: parts.method.clone(), uri: parts.uri.clone(), began: Instant::now() }
    }

    /// Writes the log line, and completes the answer.
    fn end(self, mut answer: Response, rates: Option<RateReport>) -> Response {
        let Self { id, method, uri, began } = self;
        let path = uri.path();
        if let Some(LoggedCause(cause)) = answer.extensions_mut().remove() {
            let (request_id, sent_id) = (id.text(), id.beside());
            tracing::error!(request_id, sent_id, %method, path, %cause, "request failed");
            // A 503 keeps its body, which names what is unavailable.
            if answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
                let status = answer.status();
                answer = (status, Json(internal_body(&request_id))).into_response();
            }
        }
        if tracing::enabled!(tracing::Level::DEBUG) {
            let (status, millis) = (answer.status().as_u16(), began.elapsed().as_secs_f64() * 1e3);
            let (request_id, sent_id) = (id.text(), id.beside());
            tracing::debug!(request_id, sent_id, %method, path, status, millis, "request");
        }
        if method == Method::HEAD {
            drop_body(&mut answer);
        }
        let headers = answer.headers_mut();
        headers.insert(REQUEST_ID, id.into_header());
        // A browser must not take JSON that quotes a request for a page or a script.
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(rates) = rates {
            rates.end(headers);
        }
        answer
    }
}
