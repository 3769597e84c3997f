//! The directory of people for the sample resolver `hr-directory`. It answers only requests with its token, which the
//! service has and no resolver sees.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use portcullis_bundle::embedded_resolver_file;
use serde_json::{Map, Value};
use url::Url;

/// The path of the directory below the address of the service.
pub(super) const PATH: &str = "/dev/directory/";

/// Returns the base URL of the directory.
pub(super) fn url(base_url: &str) -> anyhow::Result<Url> {
    Ok(format!("{base_url}{PATH}").parse()?)
}

/// The people, and the headers that every request must have.
struct Directory {
    people: Map<String, Value>,
    credentials: HeaderMap,
}

/// Returns the route `GET /dev/directory/people/{subject}`.
pub(super) fn routes(credentials: HeaderMap) -> anyhow::Result<Router> {
    let people = embedded_resolver_file("hr-directory/people.json").unwrap_or_default();
    let people = serde_json::from_slice(people)?;
    let directory = Arc::new(Directory { people, credentials });
    Ok(Router::new().route(&format!("{PATH}people/{{subject}}"), get(show)).with_state(directory))
}

async fn show(
    State(directory): State<Arc<Directory>>,
    Path(subject): Path<String>,
    headers: HeaderMap,
) -> Response {
    if headers.get(AUTHORIZATION) != directory.credentials.get(AUTHORIZATION) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    match directory.people.get(&subject) {
        Some(person) => Json(person).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
