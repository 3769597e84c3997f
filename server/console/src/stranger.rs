//! A request of somebody who is not signed in.

use std::collections::HashMap;

use axum::extract::{FromRequestParts, Path};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, Uri};
use portcullis_http::error::ApiError;
use portcullis_http::query::fault_of;
use portcullis_http::request_context::RequestContext;
use portcullis_http::session_caller::admit_stranger;
use portcullis_limits::RequestPlace;
use portcullis_runtime::app::App;

use crate::address::{Address, NO_TENANT};
use crate::frame::Frame;
use crate::next::parameter;
use crate::problem;

/// A request of somebody who is not signed in, or not yet known to be.
pub(crate) struct Stranger {
    pub(crate) app: App,
    pub(crate) address: Address,
    pub(crate) frame: Frame,
    pub(crate) context: RequestContext,
    pub(crate) headers: HeaderMap,
    pub(crate) uri: Uri,
    pub(crate) path: HashMap<String, String>,
    /// The place of a request for a page of strangers.
    _place: Option<RequestPlace>,
}

impl FromRequestParts<App> for Stranger {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let stranger = Self::without_place(parts, app).await;
        let stranger = stranger.map_err(IntoResponse::into_response)?;
        match admit_stranger(app, &stranger.context).await {
            Ok(place) => Ok(Self { _place: Some(place), ..stranger }),
            Err(error) => Err(problem::page(&stranger.frame, &stranger.context, &error)),
        }
    }
}

impl Stranger {
    /// Reads a request that has no place yet.
    ///
    /// # Errors
    /// It came by no listener.
    pub(crate) async fn without_place(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let address = Address::of(app);
        let context = RequestContext::find(&parts.extensions)?.clone();
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, &()).await;
        // A path that is not UTF-8 has no parameters, and so no tenant.
        let path = path.map(|Path(path)| path).unwrap_or_default();
        let frame = Frame::stranger(app, &address, &parts.headers);
        let frame = match path.get("t").filter(|tenant| *tenant != NO_TENANT) {
            Some(tenant) => frame.of_tenant(tenant),
            None => frame,
        };
        let (headers, uri) = (parts.headers.clone(), parts.uri.clone());
        Ok(Self { app: app.clone(), address, frame, context, headers, uri, path, _place: None })
    }

    /// Returns what the path has as `name`.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the parameter `name` of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        parameter(&self.uri, name)
    }

    /// Refuses a parameter that the page does not have.
    pub(crate) fn must_know(&self, known: &[&str]) -> Result<(), ApiError> {
        let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
        fault_of(&self.uri, &known).map_or(Ok(()), |fault| Err(ApiError::bad_request(fault)))
    }

    pub(crate) fn show(&self, answer: Result<Response, ApiError>) -> Response {
        match answer {
            Ok(answer) => self.frame.finish(answer),
            Err(error) => problem::page(&self.frame, &self.context, &error),
        }
    }
}
