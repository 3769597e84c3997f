//! The query parameter `force` of writes that may meet a managed record (`docs/semantics.md`, section 10.5).

use axum::extract::FromRequestParts;
use http::request::Parts;
use portcullis_model::schema::boolean;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::error::ApiError;
use crate::parameters::{flag, parameter};

/// Whether a managed record is changed too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Force(pub(crate) bool);

impl<S: Send + Sync> FromRequestParts<S> for Force {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        flag(&parts.uri, "force").map(Self)
    }
}

impl IntoParams for Force {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let about = "Whether a managed record is changed too; a service key needs `policies:force`";
        vec![parameter(ParameterIn::Query, "force", boolean(), about)]
    }
}
