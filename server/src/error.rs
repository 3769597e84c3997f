//! The errors of the API: the only error that becomes a response (semantics.md section 8).

pub(crate) mod schema;

use std::error::Error;
use std::sync::Arc;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use portcullis_engine::Invalid;
use portcullis_engine::invalid::Fault;
use portcullis_engine::json::JsonError;
use portcullis_resolver_host::{CallError, LoadError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::crypto::CryptoError;
use crate::plans::PlanError;
use crate::resolvers::LoadFailure;
use crate::storage::StoreError;

type Cause = Box<dyn Error + Send + Sync>;

/// Why a request was not served. Each variant has one status and one code.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// 400 `VALIDATION_ERROR`: the content of the body.
    Invalid(Invalid),
    /// 400 `BAD_REQUEST`: anything else that is wrong with the request.
    BadRequest(String),
    /// 401, without an error code in the challenge: no credential was sent.
    NoCredential,
    /// 401: the token was refused; the text says why and never holds the token.
    TokenRefused(String),
    /// 401: a key was refused, or is of no use here; the text never holds the key.
    CredentialRefused(String),
    /// 403: the caller may not do this.
    AccessDenied(String),
    /// 404: no such record in the caller's tenant, or no such route.
    NotFound(&'static str),
    /// 405, with the methods that the route has.
    MethodNotAllowed(Option<HeaderValue>),
    /// 409
    Conflict(String),
    /// 409: these policies read what would be gone.
    StillRead(String, Vec<Uuid>),
    /// 412: the record is not the one that `If-Match` names.
    PreconditionFailed,
    /// 413, with the limit in bytes.
    PayloadTooLarge(usize),
    /// 415, with the type that is expected.
    UnsupportedMediaType(&'static str),
    /// 503: what is down, for the client; and why, for the log.
    Unavailable(&'static str, Cause),
    /// 503: nothing was done, for a reason that passes, which the client is told.
    NotNow(String),
    /// 500: the cause is for the log alone.
    Internal(Cause),
}

impl ApiError {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Invalid(_) => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR"),
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, "BAD_REQUEST"),
            Self::NoCredential | Self::TokenRefused(_) | Self::CredentialRefused(_) => {
                (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED")
            }
            Self::AccessDenied(_) => (StatusCode::FORBIDDEN, "ACCESS_DENIED"),
            Self::NotFound(_) => (StatusCode::NOT_FOUND, "NOT_FOUND"),
            Self::MethodNotAllowed(_) => (StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED"),
            Self::Conflict(_) | Self::StillRead(..) => (StatusCode::CONFLICT, "CONFLICT"),
            Self::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "PRECONDITION_FAILED"),
            Self::PayloadTooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
            Self::UnsupportedMediaType(_) => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE")
            }
            Self::Unavailable(..) | Self::NotNow(_) => {
                (StatusCode::SERVICE_UNAVAILABLE, "DEPENDENCY_UNAVAILABLE")
            }
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"),
        }
    }

    fn body(&self) -> ErrorBody {
        let (_, code) = self.status_and_code();
        ErrorBody { error: code, message: self.message(), details: self.details() }
    }

    /// What the client is told.
    fn message(&self) -> String {
        match self {
            Self::Invalid(invalid) => invalid.to_string(),
            Self::BadRequest(message)
            | Self::TokenRefused(message)
            | Self::CredentialRefused(message)
            | Self::AccessDenied(message)
            | Self::Conflict(message)
            | Self::StillRead(message, _)
            | Self::NotNow(message) => message.clone(),
            Self::NoCredential => {
                "a credential is needed, such as `Authorization: Bearer <token>`".to_owned()
            }
            Self::NotFound(what) => format!("there is no such {what}"),
            Self::MethodNotAllowed(_) => "the route has no such method".to_owned(),
            Self::PreconditionFailed => {
                "the record has changed since: read it again, and send its `ETag`".to_owned()
            }
            Self::PayloadTooLarge(limit) => format!("the body is larger than {limit} bytes"),
            Self::UnsupportedMediaType(expected) => {
                format!("the body is of another type: send `Content-Type: {expected}`")
            }
            Self::Unavailable(what, _) => format!("{what} is unavailable; try again later"),
            Self::Internal(_) => "an internal error; the log has the details".to_owned(),
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Invalid(invalid) => invalid_details(invalid),
            Self::MethodNotAllowed(Some(allow)) => json!({"allow": allow.to_str().ok()}),
            Self::StillRead(_, policies) => json!({"policy_ids": policies}),
            _ => json!({}),
        }
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        match self {
            Self::NoCredential | Self::CredentialRefused(_) => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::TokenRefused(message) => {
                headers.insert(WWW_AUTHENTICATE, challenge(message));
            }
            Self::MethodNotAllowed(Some(allow)) => {
                headers.insert(ALLOW, allow.clone());
            }
            Self::Unavailable(..) | Self::NotNow(_) => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
    }
}

/// The challenge of RFC 6750 section 3; a description may hold neither quotes nor backslashes.
fn challenge(message: &str) -> HeaderValue {
    let plain = |c: char| matches!(c, ' '..='~') && c != '"' && c != '\\';
    let description: String = message.chars().map(|c| if plain(c) { c } else { '?' }).collect();
    let text = format!(r#"Bearer error="invalid_token", error_description="{description}""#);
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}

/// `path` is the first problem's place, `errors` has them all; the fields that are missing or unknown, and
/// the token at which an expression cannot be read, are named once more where the contract has them.
fn invalid_details(invalid: &Invalid) -> Value {
    let mut details = Map::new();
    let problems = invalid.problems();
    if let Some(first) = problems.first() {
        details.insert("path".to_owned(), json!(first.path));
    }
    let names = |pick: fn(&Fault) -> Option<&str>| {
        problems.iter().filter_map(|problem| pick(&problem.fault)).collect::<Vec<_>>()
    };
    let missing = names(|fault| match fault {
        Fault::Missing(name) => Some(name),
        _ => None,
    });
    let unknown = names(|fault| match fault {
        Fault::Unknown(name) => Some(name),
        _ => None,
    });
    if !missing.is_empty() {
        details.insert("missing_fields".to_owned(), json!(missing));
    }
    if !unknown.is_empty() {
        details.insert("unknown_fields".to_owned(), json!(unknown));
    }
    // A body holds one expression at most.
    for problem in problems {
        if let Fault::Token { token, position, .. } = &problem.fault {
            details.insert("position".to_owned(), json!(position));
            details.insert("token".to_owned(), json!(token));
        }
    }
    let errors: Vec<Value> = problems
        .iter()
        .map(|problem| json!({"path": problem.path, "message": problem.fault.to_string()}))
        .collect();
    details.insert("errors".to_owned(), json!(errors));
    Value::Object(details)
}

/// Why a response is a 500 or a 503, for the log; travels with the response as an extension.
#[derive(Clone, Debug)]
pub(crate) struct LoggedCause(pub(crate) Arc<dyn Error + Send + Sync>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, _) = self.status_and_code();
        let mut response = (status, Json(self.body())).into_response();
        self.add_headers(response.headers_mut());
        if let Self::Unavailable(_, cause) | Self::Internal(cause) = self {
            response.extensions_mut().insert(LoggedCause(Arc::from(cause)));
        }
        response
    }
}

/// The body of every error (interface.md, "Errors").
#[derive(Serialize)]
pub(crate) struct ErrorBody {
    /// The code.
    error: &'static str,
    /// For a person.
    message: String,
    /// For a program.
    details: Value,
}

/// The body of a 500: nothing but the id that finds the log line.
pub(crate) fn internal_body(request_id: &str) -> ErrorBody {
    ErrorBody { details: json!({"request_id": request_id}), ..ApiError::Internal("".into()).body() }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<JsonError> for ApiError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Syntax(_) => Self::BadRequest(error.to_string()),
            JsonError::Invalid(invalid) => Self::Invalid(invalid),
        }
    }
}

impl From<CryptoError> for ApiError {
    fn from(error: CryptoError) -> Self {
        Self::Internal(error.into())
    }
}

impl From<LoadFailure> for ApiError {
    fn from(error: LoadFailure) -> Self {
        match error {
            LoadFailure::Store(error) => error.into(),
            LoadFailure::Module(LoadError::Host | LoadError::Describe(CallError::Host)) => {
                Self::Internal(error.into())
            }
            LoadFailure::Module(_) if error.is_passing() => {
                Self::Unavailable("what runs resolvers", error.into())
            }
            LoadFailure::Secrets(_) => Self::Conflict(format!(
                "{error}: send `secrets`, all of them, or `enabled` as false"
            )),
            LoadFailure::Module(_) | LoadFailure::Manifest(_) => Self::Conflict(format!(
                "the module cannot be used any more: {error}: send another one, or `enabled` as false"
            )),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::from(Arc::new(error))
    }
}

impl From<Arc<StoreError>> for ApiError {
    fn from(error: Arc<StoreError>) -> Self {
        if error.is_unavailable() {
            Self::Unavailable("the database", error.into())
        } else {
            Self::Internal(error.into())
        }
    }
}

impl From<PlanError> for ApiError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Store(error) => error.into(),
            PlanError::TooStale => Self::Unavailable("the database", error.into()),
            PlanError::NoSuchRevision { .. } => {
                Self::Unavailable("the demanded policy revision", error.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn whoever_can_mend_a_resolver_is_told_how() {
        let answered = |failure: LoadFailure| {
            let error = ApiError::from(failure);
            (error.status_and_code().0.as_u16(), error.message())
        };
        let (status, message) = answered(CryptoError::UnknownKey.into());
        assert_eq!(status, 409);
        assert!(message.contains("send `secrets`"), "{message}");
        let (status, message) = answered(LoadError::Imports(vec!["wasi:nn".to_owned()]).into());
        assert_eq!(status, 409);
        assert!(message.contains("`wasi:nn`: send another one"), "{message}");
        for passing in [
            LoadError::Slow(Duration::from_secs(1)),
            LoadError::Describe(CallError::Busy(Duration::from_secs(1))),
        ] {
            assert_eq!(answered(passing.into()).0, 503);
        }
        assert_eq!(answered(LoadError::Host.into()).0, 500);
        assert_eq!(answered(StoreError::Corrupt { what: "resolvers.module" }.into()).0, 500);
    }
}
