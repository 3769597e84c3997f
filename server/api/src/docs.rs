//! The API's document, and pages to read it and try it out: Swagger UI, from assets that are part of the
//! binary.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderName;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use portcullis_http::error::ApiError;
use portcullis_http::path::Segments;
use portcullis_model::document;
use portcullis_model::schema::{self, AnySchema};
use portcullis_runtime::error::OperationError;
use serde_json::json;
use utoipa_swagger_ui::{Config, SwaggerFile};

use crate::openapi::Document;

/// The address of the document, relative to [`ASSET_FOLDER`].
const DOCUMENT: &str = "../openapi.json";
/// The folder of what the page at `/docs` loads, relative to it: a proxy may serve both below a path.
const ASSET_FOLDER: &str = "docs/";
/// The content security policy: the pages load nothing from other hosts, and no page may frame them.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; \
    frame-ancestors 'none'";

/// Describes the API.
///
/// OpenAPI 3.1, made from the handlers that this server runs.
#[utoipa::path(
    get, path = "/openapi.json", tag = "Service", operation_id = "getDocument",
    responses((status = 200, description = "This document", body = OpenApiDocument)),
)]
pub(super) async fn document(Extension(Document(text)): Extension<Document>) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Shows the documentation.
pub(super) async fn page() -> Result<Response, ApiError> {
    let mut file = asset("index.html")?;
    let html = String::from_utf8_lossy(&file.bytes)
        .replace("<head>", &format!("<head><base href=\"{ASSET_FOLDER}\">"))
        .replace("<title>Swagger UI</title>", "<title>Portcullis</title>");
    file.bytes = Cow::Owned(html.into_bytes());
    Ok(respond(file))
}

/// Serves what the documentation page loads.
pub(super) async fn file(Segments(name): Segments<String>) -> Result<Response, ApiError> {
    if !ASSETS.contains(&&*name) {
        return Err(ApiError::not_found("file"));
    }
    asset(&name).map(respond)
}

/// The files that the page loads.
const ASSETS: [&str; 7] = [
    "favicon-16x16.png",
    "favicon-32x32.png",
    "index.css",
    "swagger-initializer.js",
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "swagger-ui.css",
];

fn asset(name: &str) -> Result<SwaggerFile<'static>, ApiError> {
    // Without this setting Swagger UI sends the document to a validator on the internet.
    let config = Arc::new(Config::from(DOCUMENT).validator_url("none"));
    let file = utoipa_swagger_ui::serve(name, config);
    file.map_err(|error| OperationError::Internal(error.to_string().into()))?
        .ok_or(ApiError::not_found("file"))
}

fn respond(file: SwaggerFile<'static>) -> Response {
    let bytes = match file.bytes {
        // Shared by all answers: a client that does not read takes no memory.
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    (page_headers(file.content_type), bytes).into_response()
}

/// Returns the headers of what a browser shows.
pub(crate) fn page_headers(content_type: String) -> [(HeaderName, String); 3] {
    [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ]
}

/// The schema of an OpenAPI document, as far as the document describes itself.
struct OpenApiDocument;

document!(OpenApiDocument => open_api_document());

fn open_api_document() -> AnySchema {
    schema::record()
        .field("openapi", schema::choice(["3.1.0"]))
        .field("info", schema::typed(utoipa::openapi::Type::Object))
        .field("paths", schema::typed(utoipa::openapi::Type::Object))
        .example(json!({
            "openapi": "3.1.0",
            "info": {"title": "Portcullis", "version": env!("CARGO_PKG_VERSION")},
            "paths": {},
        }))
        .into()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_file_is_in_memory_once() {
        for name in ASSETS.into_iter().filter(|name| *name != "swagger-initializer.js") {
            let mut bodies = [(); 2].map(|()| respond(asset(name).expect("a file")).into_body());
            let mut places = Vec::new();
            for body in &mut bodies {
                let frame = body.frame().await.expect("a frame").expect("a frame");
                places.push(frame.into_data().expect("data").as_ptr());
            }
            assert_eq!(places[0], places[1], "{name}");
        }
    }

    #[tokio::test]
    async fn the_page_loads_what_is_here_and_nothing_else() {
        let body = page().await.expect("a page").into_body();
        let html = body.collect().await.expect("a body").to_bytes();
        let html = String::from_utf8(html.to_vec()).expect("text");
        assert!(html.contains("<base href=\"docs/\">") && html.contains("<title>Portcullis"));
        let loaded = html.split('"').filter(|text| {
            text.ends_with(".css") || text.ends_with(".js") || text.ends_with(".png")
        });
        let mut loaded: Vec<&str> = loaded.map(|name| name.trim_start_matches("./")).collect();
        loaded.sort_unstable();
        assert_eq!(loaded, ASSETS);
        for name in ASSETS {
            assert!(!asset(name).expect("an asset").bytes.is_empty(), "{name}");
        }
        assert!(!html.contains("//"), "nothing is loaded from elsewhere");
        assert!(!html.contains("=\"/"), "a proxy may serve the page below a path");
        let settings = asset("swagger-initializer.js").expect("a file").bytes;
        let settings = String::from_utf8_lossy(&settings).into_owned();
        assert!(settings.contains("\"../openapi.json\""), "{settings}");
    }
}
