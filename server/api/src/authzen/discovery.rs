//! The discovery document of AuthZEN (`docs/semantics.md`, section 11.8).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::Uri;
use portcullis_http::authzen_paths::{CONFIGURATION_PATH, EVALUATION_PATH, EVALUATIONS_PATH};
use portcullis_http::error::ApiError;
use portcullis_http::text_answer::Json;
use portcullis_model::{document, schema};
use portcullis_runtime::app::App;
use serde_json::{Map, Value, json};

use super::search;
use crate::openapi::NotFound;

/// The longest name of a tenant in a path, in bytes. A name of 256 characters may be percent-encoded.
const MAX_NAME: usize = 3 * 4 * 256;

/// Each endpoint: its member of the document, and its path.
const ENDPOINTS: [(&str, &str); 5] = [
    ("access_evaluation_endpoint", EVALUATION_PATH),
    ("access_evaluations_endpoint", EVALUATIONS_PATH),
    ("search_subject_endpoint", search::SUBJECTS_PATH),
    ("search_resource_endpoint", search::RESOURCES_PATH),
    ("search_action_endpoint", search::ACTIONS_PATH),
];

/// Shows the endpoints of the AuthZEN API.
///
/// The addresses begin with `PUBLIC_URL`; without that setting there is no document.
#[utoipa::path(
    get, path = "/.well-known/authzen-configuration", tag = "Service", operation_id = "getAuthzenConfiguration",
    responses((status = 200, description = "The endpoints", body = Configuration), NotFound),
)]
pub(crate) async fn configuration(State(app): State<App>) -> Result<Response, ApiError> {
    answer(&app, "")
}

/// Shows the endpoints of the AuthZEN API for a tenant.
///
/// The document is the same for names that no tenant has.
#[utoipa::path(
    get, path = "/.well-known/authzen-configuration/{tenant}", tag = "Service",
    operation_id = "getAuthzenConfigurationOfTenant",
    params(("tenant" = String, Path, description = "The name of a tenant")),
    responses((status = 200, description = "The endpoints", body = Configuration), NotFound),
)]
pub(crate) async fn configuration_of_tenant(
    State(app): State<App>,
    uri: Uri,
) -> Result<Response, ApiError> {
    // As it was sent: the identifier of the document is the address from which it was found.
    let name = uri.path().strip_prefix(CONFIGURATION_PATH).unwrap_or_default();
    if name.len() > MAX_NAME {
        return Err(ApiError::not_found("AuthZEN configuration"));
    }
    answer(&app, name)
}

/// Returns the document of the decision point `PUBLIC_URL` with `name` behind it.
fn answer(app: &App, name: &str) -> Result<Response, ApiError> {
    let base = app.public_url.as_deref().ok_or_else(|| {
        ApiError::not_found("AuthZEN configuration, because the service has no `PUBLIC_URL`")
    })?;
    let mut members = Map::new();
    members.insert("policy_decision_point".to_owned(), json!(format!("{base}{name}")));
    for (member, path) in ENDPOINTS {
        members.insert(member.to_owned(), json!(format!("{base}{path}")));
    }
    Ok(Json(Value::Object(members)).into_response())
}

/// The document, as the API document describes it.
struct Configuration;

document!(Configuration as "AuthzenConfiguration" => {
    let document = schema::record().field("policy_decision_point", schema::string());
    let document =
        ENDPOINTS.iter().fold(document, |document, (name, _)| document.field(name, schema::string()));
    document.example(json!({
        "policy_decision_point": "https://authz.example.com",
        "access_evaluation_endpoint": "https://authz.example.com/access/v1/evaluation",
        "access_evaluations_endpoint": "https://authz.example.com/access/v1/evaluations",
        "search_subject_endpoint": "https://authz.example.com/access/v1/search/subject",
        "search_resource_endpoint": "https://authz.example.com/access/v1/search/resource",
        "search_action_endpoint": "https://authz.example.com/access/v1/search/action",
    }))
});
