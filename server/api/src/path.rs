//! The parameters of a path.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use portcullis_model::schema;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use uuid::Uuid;

use crate::error::ApiError;
use crate::parameters::parameter;

/// The id of a record in a path. Text that is not a UUID is an id that no record has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordId(Option<Uuid>);

impl RecordId {
    /// Returns the id, or the 404 that any unknown id gets.
    pub(crate) fn known(self, what: &'static str) -> Result<Uuid, ApiError> {
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

/// The parameters of a path. A path that is not UTF-8 gets the 404 of an unknown route.
pub(crate) struct Segments<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Segments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(segments)| Self(segments)).map_err(|_| ApiError::not_found("route"))
    }
}
