//! The HTTP interface: the route table, one line per route. Wire types and handlers are in one file per
//! resource.
//!
//! A handler's parameters say what it needs: who may call it (`TenantMember`, `TenantManager`), and its
//! body. axum runs them in order, and so faults are reported in the order of `docs/semantics.md`, section 8.5:
//! route, method, size, credential, right, content type, body, record. Its `#[utoipa::path]` says the same
//! to clients; `openapi.rs` makes the API's document of all of them.

mod admin;
mod body;
mod callers;
mod checks;
mod deadline;
mod docs;
pub mod error;
mod etag;
mod explain;
mod health;
mod layers;
pub mod listener;
mod metrics;
mod openapi;
mod paging;
mod policies;
mod resolvers;
mod resources;
mod rules;
mod service_keys;
mod upload;
mod webhooks;

pub use axum::Router;
use axum::extract::{FromRequestParts, Path};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json, middleware};
use http::header::{ALLOW, LOCATION};
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub use checks::answer_text;

use crate::error::ApiError;
use openapi::{Document, Table};
use portcullis_auth::Mode;
use portcullis_model::schema::{self, AnySchema};
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;

/// The whole interface.
pub fn router(app: App) -> Router {
    finish(routes(app))
}

/// Every route of the service.
pub fn routes(app: App) -> Router {
    described_routes(&app.mode).0.with_state(app)
}

/// Every route, and the document of them all, which is a route too.
fn described_routes(mode: &Mode) -> (Router<App>, Document) {
    let (routes, mut described) = table(mode).split_for_parts();
    let document_itself = OpenApiRouter::new().at("/openapi.json", routes!(docs::document));
    let (document_itself, its_description) = document_itself.split_for_parts();
    described.merge(its_description);
    let document = Document::new(described);
    (routes.merge(document_itself.layer(Extension(document.clone()))), document)
}

/// Every other route, and what its handlers say of it.
fn table(mode: &Mode) -> OpenApiRouter<App> {
    let decisions = OpenApiRouter::new()
        .at("/api/v1/check", routes!(checks::check))
        .at("/api/v1/resources/access/check", routes!(checks::legacy_check));
    let management = OpenApiRouter::new()
        .at("/api/v1/resources", routes!(resources::register, resources::list))
        .at("/api/v1/resources/list", routes!(resources::register_all))
        .at("/api/v1/resources/{id}/policies", routes!(resources::rules))
        .at("/api/v1/resources/policies", routes!(rules::create, rules::update, rules::delete))
        .at("/api/v1/abac/policies", routes!(policies::create, policies::list))
        .at(
            "/api/v1/abac/policies/{id}",
            routes!(policies::show, policies::update, policies::delete),
        )
        .at("/api/v1/service-api-keys", routes!(service_keys::create, service_keys::list))
        .at("/api/v1/service-api-keys/{id}", routes!(service_keys::revoke))
        .at("/api/v1/webhooks", routes!(webhooks::create, webhooks::list))
        .at("/api/v1/webhooks/{id}", routes!(webhooks::update, webhooks::delete))
        .at("/api/v1/webhooks/{id}/test", routes!(webhooks::test))
        .at("/api/v1/webhooks/{id}/deliveries", routes!(webhooks::deliveries))
        .at(
            "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
            routes!(webhooks::redeliver),
        )
        .at("/api/v1/resolvers", routes!(resolvers::create, resolvers::list))
        .at(
            "/api/v1/resolvers/{id}",
            routes!(resolvers::show, resolvers::update, resolvers::delete),
        )
        .at("/api/v1/resolvers/{id}/test", routes!(resolvers::test));
    let admin = OpenApiRouter::new()
        .at("/admin/tenants", routes!(admin::create_tenant, admin::list_tenants))
        .at(
            "/admin/tenants/{id}/identity-providers",
            routes!(admin::register_provider, admin::list_providers),
        )
        .at("/admin/tenants/{id}/identity-providers/{idpId}", routes!(admin::remove_provider));
    let management = match mode {
        Mode::Saas { .. } => management.merge(admin),
        Mode::Selfhost(_) => management,
    };
    let management = management.route_layer(middleware::from_fn(layers::run_to_the_end));
    let service = OpenApiRouter::new()
        .at("/healthz/live", routes!(health::live))
        .at("/healthz/ready", routes!(health::ready))
        .at("/metrics", routes!(metrics::metrics))
        .at("/docs", routes!(docs::page))
        .at("/docs/{file}", routes!(docs::file));
    decisions.merge(management).merge(service)
}

/// Adds what every route has: the answers to unknown routes and methods, and the outer layers.
pub fn finish(routes: Router) -> Router {
    routes
        .fallback(|| async { ApiError::not_found("route") })
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
pub struct RecordId(Option<Uuid>);

impl RecordId {
    /// The id, or the 404 that any unknown id gets.
    pub fn known(self, what: &'static str) -> Result<Uuid, ApiError> {
        self.0.ok_or(ApiError::not_found(what))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RecordId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(path.ok().and_then(|text| Uuid::try_parse(&text).ok())))
    }
}

impl IntoParams for RecordId {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![parameter(ParameterIn::Path, "id", schema::id(), "The record's id")]
    }
}

/// The parameters of a path. What is no UTF-8 is a path that no route has.
pub struct Segments<T>(T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Segments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(segments)| Self(segments))
            .map_err(|_| OperationError::NotFound("route").into())
    }
}

/// A parameter as the document describes it; only those of a path must be there.
fn parameter(
    place: ParameterIn,
    name: &str,
    schema: impl Into<AnySchema>,
    about: &str,
) -> Parameter {
    let required = match place {
        ParameterIn::Path => Required::True,
        _ => Required::False,
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(schema))
        .description(Some(about))
        .build()
}

/// A number as clients write one: digits alone, where Rust would also take a sign.
fn digits<N: std::str::FromStr>(text: &str) -> Option<N> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
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
