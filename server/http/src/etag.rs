//! The headers of entity tags (`docs/semantics.md`, section 8.8): `ETag`, `If-Match` and `If-None-Match`.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use portcullis_model::schema;
use portcullis_operations::etag::{Precondition, entity_tag};
use serde::Serialize;
use utoipa::openapi::Type;
use utoipa::openapi::path::{Operation, ParameterIn};

use crate::error::ApiError;
use crate::handler_parameters::{HandlerParameter, add};
use crate::parameters::parameter;

/// Returns the `ETag` header of a record. It changes with every change of the record.
pub fn header(record: &impl Serialize) -> Option<[(HeaderName, HeaderValue); 1]> {
    Some([(ETAG, HeaderValue::from_str(&entity_tag(record)).ok()?)])
}

/// Reads `If-Match`, which may be sent several times and hold several tags.
fn precondition(headers: &HeaderMap) -> Precondition {
    if !headers.contains_key(IF_MATCH) {
        return Precondition::None;
    }
    let values = headers.get_all(IF_MATCH).iter();
    // A value that is not ASCII is a tag that no record has.
    let tags = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    Precondition::OneOf(tags.map(|tag| tag.trim().to_owned()).collect())
}

/// The precondition of a change.
pub struct IfMatch(pub Precondition);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(precondition(&parts.headers)))
    }
}

impl HandlerParameter for IfMatch {
    fn describe(operation: &mut Operation) {
        let about = "The `ETag` of the record as the client knows it, or several, or `*`: if the record is \
                     another by now, the answer is a 412";
        let tag = schema::typed(Type::String);
        add(operation, [parameter(ParameterIn::Header, "If-Match", tag, about)]);
    }
}

/// The precondition of a write that may create its record, or change it.
pub struct WriteCondition(pub Precondition);

impl<S: Send + Sync> FromRequestParts<S> for WriteCondition {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let tags = precondition(&parts.headers);
        let mut none = parts.headers.get_all(IF_NONE_MATCH).iter().peekable();
        if none.peek().is_none() {
            return Ok(Self(tags));
        }
        if none.any(|value| value != "*") {
            let what = "the header If-None-Match must be `*` here: the record must not exist";
            return Err(ApiError::bad_request(what));
        }
        // No record meets both conditions.
        Ok(Self(match tags {
            Precondition::None => Precondition::Absent,
            _ => Precondition::OneOf(Vec::new()),
        }))
    }
}

impl HandlerParameter for WriteCondition {
    fn describe(operation: &mut Operation) {
        IfMatch::describe(operation);
        let about = "`*`: if the record exists, the answer is a 412";
        let any = schema::choice(["*"]);
        add(operation, [parameter(ParameterIn::Header, "If-None-Match", any, about)]);
    }
}

/// The refusal of preconditions on a route that writes many records: they would guard none of them.
pub struct NoPrecondition;

impl HandlerParameter for NoPrecondition {}

impl<S: Send + Sync> FromRequestParts<S> for NoPrecondition {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        if [IF_MATCH, IF_NONE_MATCH].iter().all(|name| !parts.headers.contains_key(name)) {
            return Ok(Self);
        }
        Err(ApiError::bad_request(
            "this route writes many records and takes no `If-Match` and no `If-None-Match`, which would guard none of \
             them; leave the header out, and let one writer own the records of a `source`",
        ))
    }
}

/// The tags of answers that the client has: one of them again is a 304.
pub struct IfNoneMatch(Vec<String>);

impl IfNoneMatch {
    /// Returns whether the client has the answer with this tag. A weak comparison: `W/` does not count (RFC 9110, section
    /// 13.1.2).
    pub fn names(&self, tag: &str) -> bool {
        self.0.iter().any(|own| own == "*" || own.trim_start_matches("W/") == tag)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let values = parts.headers.get_all(IF_NONE_MATCH).iter();
        // A tag of the service has no comma.
        let tags = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
        Ok(Self(tags.map(|tag| tag.trim().to_owned()).collect()))
    }
}

impl HandlerParameter for IfNoneMatch {
    fn describe(operation: &mut Operation) {
        let about = "The `ETag` of an answer that the client has, or several: if it is the answer again, this one is a 304";
        let tag = schema::typed(Type::String);
        add(operation, [parameter(ParameterIn::Header, "If-None-Match", tag, about)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_of_every_header_counts() {
        for (values, expected) in [
            (&[][..], None),
            (&[r#""a""#], Some(&[r#""a""#][..])),
            (&[r#""a", "b""#, "*"], Some(&[r#""a""#, r#""b""#, "*"])),
            (&[""], Some(&[""])),
        ] {
            let headers = values.iter().map(|value| (IF_MATCH, HeaderValue::from_static(value)));
            let tags = match precondition(&headers.collect()) {
                Precondition::OneOf(tags) => Some(tags),
                _ => None,
            };
            let expected = expected.map(|tags| tags.iter().map(|tag| tag.to_string()).collect());
            assert_eq!(tags, expected, "{values:?}");
        }
    }
}
