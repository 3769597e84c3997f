//! A request of somebody who is not signed in.

use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, Uri};
use portcullis_http::error::ApiError;
use portcullis_http::query::fault_of;
use portcullis_http::request_context::RequestContext;
use portcullis_runtime::app::App;

use crate::address::Address;
use crate::frame::Frame;
use crate::next::parameter;
use crate::problem;

/// A request of somebody who is not signed in.
pub(crate) struct Stranger {
    pub(crate) app: App,
    pub(crate) address: Address,
    pub(crate) frame: Frame,
    pub(crate) context: RequestContext,
    pub(crate) headers: HeaderMap,
    uri: Uri,
}

impl Stranger {
    pub(crate) fn of(app: App, request: &Request) -> Result<Self, ApiError> {
        let address = Address::of(&app);
        let headers = request.headers().clone();
        let frame = Frame::stranger(&app, &address, &headers);
        let context = RequestContext::find(request.extensions())?.clone();
        Ok(Self { app, address, frame, context, headers, uri: request.uri().clone() })
    }

    pub(crate) fn show(&self, answer: Result<Response, ApiError>) -> Response {
        match answer {
            Ok(answer) => self.frame.finish(answer),
            Err(error) => problem::page(&self.frame, &self.context, &error),
        }
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
}
