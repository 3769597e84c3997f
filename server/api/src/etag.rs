//! Entity tags (RFC 9110 section 8.8.3): a client that read a record can change it only if nobody else
//! has in between.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{ETAG, IF_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::IntoParams;
use utoipa::openapi::Type;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::parameter;
use crate::error::ApiError;
use portcullis_model::schema;
use portcullis_operations::error::OperationError;

/// The `ETag` header of a record: it changes with every change of the record.
pub(super) fn header(record: &impl Serialize) -> Option<[(HeaderName, HeaderValue); 1]> {
    Some([(ETAG, HeaderValue::from_str(&of(record)).ok()?)])
}

fn of(record: &impl Serialize) -> String {
    let text = serde_json::to_vec(record).unwrap_or_default();
    format!("\"{}\"", &URL_SAFE_NO_PAD.encode(Sha256::digest(text))[..22])
}

/// Refuses a change whose `If-Match` does not name the record as it is; without the header any change
/// goes.
pub(super) fn check(headers: &HeaderMap, record: &impl Serialize) -> Result<(), ApiError> {
    let mut sent = headers.get_all(IF_MATCH).iter().peekable();
    if sent.peek().is_none() {
        return Ok(());
    }
    let own = of(record);
    let named = |value: &HeaderValue| {
        let tags = value.to_str().unwrap_or_default().split(',').map(str::trim);
        tags.into_iter().any(|tag| tag == "*" || tag == own)
    };
    if sent.any(named) {
        return Ok(());
    }
    Err(OperationError::PreconditionFailed.into())
}

/// The header that [`check`] reads.
pub(super) struct IfMatch;

impl IntoParams for IfMatch {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let about = "The `ETag` of the record as the client knows it, or several, or `*`: if the record is \
                     another by now, the answer is a 412";
        vec![parameter(ParameterIn::Header, "If-Match", schema::typed(Type::String), about)]
    }
}
