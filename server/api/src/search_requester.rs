//! The callers that may ask who may do what.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use http::request::Parts;
use portcullis_auth::CheckCaller;
use portcullis_limits::RequestPlace;
use portcullis_model::service_key::Permission;
use portcullis_operations::app::App;

use crate::callers::check_caller;
use crate::error::ApiError;
use crate::managed_domain;
use crate::unknown_parameters::refuse_query_fault;

/// A caller who may ask who may do what: a member of a tenant, or a service key with `access:search`. The use case says
/// about whom a member may ask.
#[derive(Debug)]
pub(crate) struct SearchRequester {
    caller: CheckCaller,
    _place: RequestPlace,
}

impl Deref for SearchRequester {
    type Target = CheckCaller;

    fn deref(&self) -> &CheckCaller {
        &self.caller
    }
}

impl FromRequestParts<App> for SearchRequester {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let (caller, place) = check_caller(parts, app, Permission::AccessSearch).await?;
        managed_domain::refuse(parts, "the body names its domain, as `domain`")?;
        refuse_query_fault(parts)?;
        Ok(Self { caller, _place: place })
    }
}
