//! A request of somebody who is not signed in.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Uri};
use portcullis_http::error::ApiError;
use portcullis_http::query::fault_of;
use portcullis_http::request_context::RequestContext;
use portcullis_http::session_caller::admit_stranger;
use portcullis_limits::RequestPlace;
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
    _place: RequestPlace,
}

impl Stranger {
    /// Returns the request as soon as it has a place. The error is the answer.
    pub(crate) fn of(
        app: App,
        request: &Request,
    ) -> impl Future<Output = Result<Self, Box<Response>>> + Send + use<> {
        let address = Address::of(&app);
        let (headers, uri) = (request.headers().clone(), request.uri().clone());
        let context = RequestContext::find(request.extensions()).cloned();
        async move {
            let context = context.map_err(|error| Box::new(error.into_response()))?;
            let frame = Frame::stranger(&app, &address, &headers);
            let place = admit_stranger(&app, &context).await;
            let place = place.map_err(|error| Box::new(problem::page(&frame, &context, &error)))?;
            Ok(Self { app, address, frame, context, headers, uri, _place: place })
        }
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
