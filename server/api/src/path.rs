//! The parameters of a path.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use portcullis_model::schema;
use serde::de::DeserializeOwned;
use utoipa::openapi::path::{Operation, ParameterIn};
use uuid::Uuid;

use crate::error::ApiError;
use crate::handler_parameters::{HandlerParameter, add};
use crate::parameters::parameter;

/// The id of a record in a path or a query. Text that is not a UUID is an id that no record has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordId(Option<Uuid>);

impl RecordId {
    /// Returns the id in `text`.
    pub(crate) fn from_text(text: &str) -> Self {
        Self(Uuid::try_parse(text).ok())
    }

    /// Returns the id, or the 404 that any unknown id gets.
    pub(crate) fn known(self, what: &'static str) -> Result<Uuid, ApiError> {
        self.0.ok_or(ApiError::not_found(what))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RecordId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Ok(path.map_or(Self(None), |text| Self::from_text(&text)))
    }
}

impl HandlerParameter for RecordId {
    fn describe(operation: &mut Operation) {
        add(operation, [parameter(ParameterIn::Path, "id", schema::id(), "The record's id")]);
    }
}

/// The parameters of a path. A path that is not UTF-8 gets the 404 of an unknown route.
pub(crate) struct Segments<T>(pub(crate) T);

impl HandlerParameter for Segments<String> {}
impl HandlerParameter for Segments<(String, String)> {}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Segments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(segments)| Self(segments)).map_err(|_| ApiError::not_found("route"))
    }
}
