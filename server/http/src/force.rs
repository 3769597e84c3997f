//! The query parameter `force` of writes that may meet a managed record (`docs/semantics.md`, section 10.5), and the terms of
//! a change that it is a part of.

use axum::extract::FromRequestParts;
use http::request::Parts;
use portcullis_operations::ownership::ChangeTerms;
use utoipa::openapi::path::Operation;

use crate::error::ApiError;
use crate::etag::{IfMatch, WriteCondition};
use crate::handler_parameters::HandlerParameter;
use crate::query::{Query, QueryParameters, QueryReader};

/// Whether a managed record is changed too.
#[derive(Clone, Copy, Debug)]
pub struct Force(pub bool);

impl QueryParameters for Force {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about = "Whether a managed record is changed too; a service key needs `policies:force`";
        query.flag("force", about).map(Self)
    }
}

/// The terms on which a record is changed: `If-Match` and `force`.
pub struct Terms(pub ChangeTerms);

impl<S: Send + Sync> FromRequestParts<S> for Terms {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(IfMatch(precondition)) = IfMatch::from_request_parts(parts, state).await;
        let Force(force) = Query::read(&parts.uri)?;
        Ok(Self(ChangeTerms { precondition, force }))
    }
}

impl HandlerParameter for Terms {
    fn describe(operation: &mut Operation) {
        IfMatch::describe(operation);
        Query::<Force>::describe(operation);
    }
}

/// The terms on which a record is created or changed: `If-Match`, `If-None-Match` and `force`.
pub struct WriteTerms(pub ChangeTerms);

impl<S: Send + Sync> FromRequestParts<S> for WriteTerms {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let WriteCondition(precondition) = WriteCondition::from_request_parts(parts, state).await?;
        let Force(force) = Query::read(&parts.uri)?;
        Ok(Self(ChangeTerms { precondition, force }))
    }
}

impl HandlerParameter for WriteTerms {
    fn describe(operation: &mut Operation) {
        WriteCondition::describe(operation);
        Query::<Force>::describe(operation);
    }
}
