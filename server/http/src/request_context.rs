//! The facts about a request beside its text. They are the one extension of a request, because each one takes memory.

use std::net::IpAddr;
use std::sync::Arc;

use http::{Extensions, HeaderMap};
use portcullis_limits::Class;
use portcullis_runtime::error::OperationError;

use crate::body_budget::BodyBudget;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::lent_body::LentBody;
use crate::rate_answer::RateReport;
use crate::request_id::RequestId;
use crate::route_facts::RouteFacts;

/// The context of a request.
#[derive(Clone)]
pub struct RequestContext {
    pub id: RequestId,
    /// The address of the client; `None` if no listener received the request.
    pub address: Option<IpAddr>,
    pub deadline: Deadline,
    /// `None` until the route is known.
    pub route: Option<Arc<RouteFacts>>,
    pub(crate) body: LentBody,
    pub budget: BodyBudget,
    /// `None` if no rate is limited.
    pub(crate) rates: Option<RateReport>,
}

impl RequestContext {
    /// Returns the context of a request.
    ///
    /// # Errors
    /// The request did not pass through [`HttpService`](crate::HttpService).
    pub fn find(extensions: &Extensions) -> Result<&Self, ApiError> {
        extensions.get().ok_or_else(missing)
    }

    /// Takes the context of a request, as [`find`](Self::find) does.
    pub fn take(extensions: &mut Extensions) -> Result<Self, ApiError> {
        extensions.remove().ok_or_else(missing)
    }

    /// Returns the most bytes of a body with these headers: none until the route is known.
    pub fn max_body(&self, headers: &HeaderMap) -> usize {
        self.route.as_ref().map_or(0, |route| route.max_body.bytes(headers, &self.budget))
    }

    /// Returns the class of the request, which its route has.
    pub fn class(&self) -> Class {
        self.route.as_ref().and_then(|route| route.class).unwrap_or(Class::Checks)
    }
}

fn missing() -> ApiError {
    OperationError::Internal("the request has no context".into()).into()
}
