//! The parameters of a path.

use std::marker::PhantomData;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use portcullis_model::schema;
use serde::de::DeserializeOwned;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use uuid::Uuid;

use crate::error::ApiError;
use crate::handler_parameters::{HandlerParameter, add};
use crate::parameters::parameter;

/// The id of a record in a path or a query. Text that is not a UUID is an id that no record has.
#[derive(Clone, Copy, Debug)]
pub struct RecordId(Option<Uuid>);

impl RecordId {
    /// Returns the id in `text`.
    pub fn from_text(text: &str) -> Self {
        Self(Uuid::try_parse(text).ok())
    }

    /// Returns the id, or the 404 that any unknown id gets.
    pub fn known(self, what: &'static str) -> Result<Uuid, ApiError> {
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

/// A kind of record that has its name in a path.
pub trait NamedRecord {
    /// The kind, as an error names it.
    const WHAT: &'static str;

    /// Returns whether a record of this kind can have the name.
    fn is_name(text: &str) -> bool;

    /// Describes the parameter of the path.
    fn parameter() -> Parameter;
}

/// The name of a record of the kind `K`, the only parameter of a path. A path that is not UTF-8 gets the 404 of an unknown
/// route.
pub struct RecordName<K>(String, PhantomData<fn() -> K>);

impl<K: NamedRecord> RecordName<K> {
    /// Returns the name, or the 404 that any unknown name gets.
    pub fn known(&self) -> Result<&str, ApiError> {
        if K::is_name(&self.0) { Ok(&self.0) } else { Err(ApiError::not_found(K::WHAT)) }
    }
}

impl<S: Send + Sync, K> FromRequestParts<S> for RecordName<K> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Segments(name) = Segments::from_request_parts(parts, state).await?;
        Ok(Self(name, PhantomData))
    }
}

impl<K: NamedRecord> HandlerParameter for RecordName<K> {
    fn describe(operation: &mut Operation) {
        add(operation, [K::parameter()]);
    }
}

/// The parameters of a path. A path that is not UTF-8 gets the 404 of an unknown route.
pub struct Segments<T>(pub T);

/// The type that the parameters of a path are read into.
pub trait PathSegments: DeserializeOwned + Send {
    /// Adds the parameters to the description of the route.
    fn describe(_: &mut Operation) {}
}

impl PathSegments for String {}
impl PathSegments for (String, String) {}

impl<T: PathSegments> HandlerParameter for Segments<T> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Segments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(segments)| Self(segments)).map_err(|_| ApiError::not_found("route"))
    }
}
