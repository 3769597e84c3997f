//! The HTTP interface: the route table, one line per route. Wire types and handlers are in one file per
//! resource.
//!
//! A handler's parameters say what it needs: who may call it (`TenantMember`, `TenantManager`), and its
//! body. axum runs them in order, and so faults are reported in the order of semantics.md section 10:
//! route, method, size, credential, right, content type, body, record.

mod body;
mod checks;
mod health;
mod layers;
mod policies;
mod resources;
mod rules;

use axum::extract::{FromRequestParts, Path};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use http::header::{ALLOW, LOCATION};
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use uuid::Uuid;

pub(crate) use checks::answer_text;

use crate::app::App;
use crate::error::ApiError;

/// The whole interface.
pub(crate) fn router(app: App) -> Router {
    finish(routes(app))
}

/// Every route of the service.
pub(crate) fn routes(app: App) -> Router {
    let decisions = Router::new()
        .route("/api/v1/check", post(checks::check))
        .route("/api/v1/resources/access/check", post(checks::legacy_check));
    let management = Router::new()
        .route("/api/v1/resources", post(resources::register).get(resources::list))
        .route("/api/v1/resources/list", post(resources::register_all))
        .route("/api/v1/resources/{id}/policies", get(resources::rules))
        .route(
            "/api/v1/resources/policies",
            post(rules::create).put(rules::update).delete(rules::delete),
        )
        .route("/api/v1/abac/policies", post(policies::create).get(policies::list))
        .route(
            "/api/v1/abac/policies/{id}",
            get(policies::show).put(policies::update).delete(policies::delete),
        )
        .route_layer(middleware::from_fn(layers::run_to_the_end));
    let probes = Router::new()
        .route("/healthz/live", get(health::live))
        .route("/healthz/ready", get(health::ready));
    decisions.merge(management).merge(probes).with_state(app)
}

/// Adds what every route has: the answers to unknown routes and methods, and the outer layers.
pub(crate) fn finish(routes: Router) -> Router {
    routes
        .fallback(|| async { ApiError::NotFound("route") })
        .layer(middleware::from_fn(layers::limit_body))
        .layer(middleware::map_response(method_not_allowed))
        .layer(middleware::from_fn(layers::observe))
}

/// axum answers a known route with an unknown method by an empty 405 that has the `Allow` header.
async fn method_not_allowed(response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    ApiError::MethodNotAllowed(response.headers().get(ALLOW).cloned()).into_response()
}

/// The id of a record in a path. What is no UUID is an id that no record has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordId(Option<Uuid>);

impl RecordId {
    /// The id, or the 404 that any unknown id gets.
    pub(crate) fn known(self, what: &'static str) -> Result<Uuid, ApiError> {
        self.0.ok_or(ApiError::NotFound(what))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RecordId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(path.ok().and_then(|text| Uuid::try_parse(&text).ok())))
    }
}

/// The query parameters of a request. Unknown ones are ignored by whoever reads them.
fn query(uri: &http::Uri) -> url::form_urlencoded::Parse<'_> {
    url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

/// The tenant's revision, on every answer to a check and every successful write.
fn revision_header(revision: u64) -> [(HeaderName, HeaderValue); 1] {
    [(HeaderName::from_static("x-policy-revision"), HeaderValue::from(revision))]
}

/// 201 with the record and where it is.
fn created(revision: u64, location: &str, record: impl Serialize) -> Response {
    let location = HeaderValue::from_str(location).map(|location| [(LOCATION, location)]).ok();
    (StatusCode::CREATED, revision_header(revision), location, Json(record)).into_response()
}
