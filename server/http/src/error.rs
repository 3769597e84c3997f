//! The errors of the API: the only error that becomes a response (`docs/semantics.md`, section 8.4).

mod filter_refusals;
mod refusals;
pub mod schema;

use std::error::Error;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT_ENCODING, ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use portcullis_engine::Invalid;
use portcullis_engine::excerpt::excerpt;
use portcullis_engine::invalid::Fault;
use portcullis_limits::RateRefusal;
use portcullis_operations::apply::failed_cases;
use portcullis_runtime::error::OperationError;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::rate_answer;
use crate::text_answer::{Json, Unwritten};
/// Longest message, in bytes of JSON. It may quote the request, or what a module says.
const MAX_MESSAGE: usize = 8 * 1_024;
/// Longest name of an encoding that a message quotes, in bytes.
const MAX_CODING: usize = 64;
/// Most ids of policies in `details`, so that an error has at most 64 KiB.
const MAX_POLICIES: usize = 1_000;

/// The reason why a request was not served. Each variant has one status and one code.
#[derive(Debug)]
pub enum ApiError {
    /// The use case failed.
    Operation(OperationError),
    /// 401, without an error code in the challenge: no credential was sent.
    NoCredential,
    /// 405, with the methods that the route has.
    MethodNotAllowed(Option<HeaderValue>),
    /// 413, with the limit in bytes.
    PayloadTooLarge(usize),
    /// 431, with the limit in bytes.
    HeaderTooLarge(usize),
    /// 415, with the type that is expected.
    UnsupportedMediaType(&'static str),
    /// 415, with the encoding of the body, such as `gzip`.
    EncodedBody(String),
    /// 429, with the levels of the rates.
    RateLimited(Box<RateRefusal>),
}

impl ApiError {
    /// A 400 `BAD_REQUEST` with this message.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::Operation(OperationError::BadRequest(message.into()))
    }

    /// A 404 that names the kind of the missing record.
    pub fn not_found(what: &'static str) -> Self {
        Self::Operation(OperationError::NotFound(what))
    }

    pub fn status(&self) -> StatusCode {
        self.status_and_code().0
    }

    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Operation(error) => operation_status(error),
            Self::NoCredential => (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
            Self::MethodNotAllowed(_) => (StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED"),
            Self::PayloadTooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
            Self::HeaderTooLarge(_) => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "BAD_REQUEST"),
            Self::UnsupportedMediaType(_) | Self::EncodedBody(_) => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE")
            }
            Self::RateLimited(_) => (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED"),
        }
    }

    fn body(&self) -> ErrorBody {
        let (_, code) = self.status_and_code();
        // It may quote what the client sent, however long that is.
        let message = excerpt(self.message(), MAX_MESSAGE);
        ErrorBody { error: code, message, details: self.details() }
    }

    /// The text for the client.
    pub fn message(&self) -> String {
        match self {
            Self::Operation(error) => operation_message(error),
            Self::NoCredential => {
                "a credential is needed, such as `Authorization: Bearer <token>`".to_owned()
            }
            Self::MethodNotAllowed(allow) => {
                let allow = allow.as_ref().and_then(|allow| allow.to_str().ok());
                let known = allow.map(|allow| format!("; it has {}", allow.replace(',', ", ")));
                format!("the route has no such method{}", known.unwrap_or_default())
            }
            Self::PayloadTooLarge(limit) => too_large(*limit),
            Self::HeaderTooLarge(limit) => format!(
                "the header of the request is larger than {limit} bytes: send a shorter address, fewer cookies, or a token of \
                 at most `MAX_TOKEN_BYTES`"
            ),
            Self::UnsupportedMediaType(expected) => {
                format!("the body is of another type: send `Content-Type: {expected}`")
            }
            Self::EncodedBody(coding) => format!(
                "the body has the encoding `{}`: send it as it is, without `Content-Encoding`",
                excerpt(coding, MAX_CODING)
            ),
            Self::RateLimited(refusal) => rate_answer::message(refusal),
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Operation(OperationError::Invalid(invalid)) => invalid_details(invalid),
            Self::Operation(OperationError::StillRead(_, policies)) => {
                json!({"policy_ids": policies.iter().take(MAX_POLICIES).collect::<Vec<_>>()})
            }
            Self::Operation(OperationError::CasesFailed { named, count }) => {
                failed_cases::details(named, *count)
            }
            Self::Operation(OperationError::QuotaExceeded(excess)) => {
                json!({"quota": excess.quota.into_str(), "limit": excess.limit, "used": excess.used})
            }
            Self::Operation(OperationError::Refused(refusal)) => refusals::details(refusal),
            Self::Operation(OperationError::FilterRefused(refusal)) => {
                filter_refusals::details(refusal)
            }
            Self::Operation(OperationError::RevisionLost { of, latest, .. }) => {
                json!({"of": <&str>::from(of), "revision": latest})
            }
            Self::MethodNotAllowed(Some(allow)) => json!({"allow": allow.to_str().ok()}),
            Self::RateLimited(refusal) => json!({"limit": refusal.refused.name}),
            _ => json!({}),
        }
    }

    /// Adds the headers of the answer to `headers`.
    pub fn add_headers(&self, headers: &mut HeaderMap) {
        match self {
            // RFC 9110, 15.5.2: a 401 has a challenge.
            Self::NoCredential | Self::Operation(OperationError::CredentialRefused(_)) => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Operation(OperationError::TokenRefused(message)) => {
                headers.insert(WWW_AUTHENTICATE, challenge(message));
            }
            // RFC 9110, 15.5.6: a 405 names the methods.
            Self::MethodNotAllowed(Some(allow)) => {
                headers.insert(ALLOW, allow.clone());
            }
            Self::Operation(OperationError::Unavailable(..) | OperationError::NotNow(_)) => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            // RFC 9110, 15.5.16: the answer says which encodings serve.
            Self::EncodedBody(_) => {
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            }
            Self::RateLimited(refusal) => {
                rate_answer::add_refusal(refusal, headers);
            }
            _ => {}
        }
    }
}

fn operation_status(error: &OperationError) -> (StatusCode, &'static str) {
    match error {
        OperationError::Invalid(_) => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR"),
        OperationError::BadRequest(_) => (StatusCode::BAD_REQUEST, "BAD_REQUEST"),
        OperationError::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
        OperationError::TokenRefused(_) | OperationError::CredentialRefused(_) => {
            (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED")
        }
        OperationError::TenantSuspended => (StatusCode::FORBIDDEN, "TENANT_SUSPENDED"),
        OperationError::AccessDenied(_) => (StatusCode::FORBIDDEN, "ACCESS_DENIED"),
        OperationError::NotFound(_) => (StatusCode::NOT_FOUND, "NOT_FOUND"),
        OperationError::Conflict(_) | OperationError::StillRead(..) => {
            (StatusCode::CONFLICT, "CONFLICT")
        }
        OperationError::RevisionLost { .. } => (StatusCode::CONFLICT, "REVISION_LOST"),
        OperationError::PreconditionFailed => {
            (StatusCode::PRECONDITION_FAILED, "PRECONDITION_FAILED")
        }
        OperationError::Refused(refusal) => refusals::status(refusal),
        OperationError::CasesFailed { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "CASES_FAILED"),
        OperationError::FilterRefused(refusal) => filter_refusals::status(refusal),
        OperationError::ApprovalRequired => (StatusCode::CONFLICT, "APPROVAL_REQUIRED"),
        OperationError::QuotaExceeded(_) => (StatusCode::UNPROCESSABLE_ENTITY, "QUOTA_EXCEEDED"),
        OperationError::Unavailable(..) | OperationError::NotNow(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "DEPENDENCY_UNAVAILABLE")
        }
        OperationError::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"),
    }
}

fn operation_message(error: &OperationError) -> String {
    match error {
        OperationError::Invalid(invalid) => invalid.to_string(),
        OperationError::BadRequest(message)
        | OperationError::TokenRefused(message)
        | OperationError::CredentialRefused(message)
        | OperationError::AccessDenied(message)
        | OperationError::Conflict(message)
        | OperationError::StillRead(message, _)
        | OperationError::NotNow(message) => message.clone(),
        OperationError::TooLarge(limit) => too_large(*limit),
        OperationError::TenantSuspended => {
            "the tenant is suspended; the operator of the service can resume it".to_owned()
        }
        OperationError::NotFound(what) => format!("there is no such {what}"),
        OperationError::RevisionLost { of, at_least, latest } => format!(
            "the database lost revision {at_least} of the {of}; the tenant has revision {latest}: write again what is missing, and \
             demand the revision of that write"
        ),
        OperationError::PreconditionFailed => {
            "the record has changed since, or exists already: read it again, and send its `ETag`".to_owned()
        }
        OperationError::Refused(refusal) => refusals::message(refusal),
        OperationError::FilterRefused(refusal) => filter_refusals::message(refusal),
        OperationError::CasesFailed { count, .. } => format!(
            "{count} of the tenant's cases would fail, and its gate `cases` or `cases_must_pass` of the apply refuses such a \
             change; mend the change, or change the cases first"
        ),
        OperationError::ApprovalRequired => {
            "the tenant's gate `approval` wants a second manager for this change; send it as an apply, which makes a \
             proposal"
                .to_owned()
        }
        OperationError::QuotaExceeded(excess) => {
            format!("{excess}: delete what is not needed, or ask the operator for a higher quota")
        }
        OperationError::Unavailable(what, _) => format!("{what} is unavailable; try again later"),
        OperationError::Internal(_) => "an internal error; the log has the details".to_owned(),
    }
}

fn too_large(limit: usize) -> String {
    format!("the body is larger than {limit} bytes")
}

/// Returns the challenge of RFC 6750, section 3. Its description may hold neither quotes nor backslashes.
fn challenge(message: &str) -> HeaderValue {
    let description = message.chars().map(|c| match c {
        '"' | '\\' => '?',
        ' '..='~' => c,
        _ => '?',
    });
    let description: String = description.collect();
    let text = format!(r#"Bearer error="invalid_token", error_description="{description}""#);
    // It is printable ASCII, which every header may hold.
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}

/// Returns the details of an invalid body: `path` has the place of the first problem, `errors` has the problems, and
/// `more_errors` has the number of those that were left out.
/// Missing fields, unknown fields, and the token at which an expression cannot be read have their own members
/// (`docs/rest.md`, section 1.5).
fn invalid_details(invalid: &Invalid) -> Value {
    let mut details = Map::new();
    let problems = invalid.problems();
    if let Some(first) = problems.first() {
        details.insert("path".to_owned(), json!(first.path));
    }
    let faults = problems.iter().map(|problem| &problem.fault);
    let missing = faults.clone().filter_map(|fault| match fault {
        Fault::Missing(name) => Some(name),
        _ => None,
    });
    let missing: Vec<_> = missing.collect();
    let unknown = faults.filter_map(|fault| match fault {
        Fault::Unknown { name, .. } => Some(name),
        _ => None,
    });
    let unknown: Vec<_> = unknown.collect();
    if !missing.is_empty() {
        details.insert("missing_fields".to_owned(), json!(missing));
    }
    if !unknown.is_empty() {
        details.insert("unknown_fields".to_owned(), json!(unknown));
    }
    // A body holds one expression at most; the first of its faults is the one that is mended first.
    let token = problems.iter().find_map(|problem| match &problem.fault {
        Fault::Token { token, position, .. } => Some((token, position)),
        _ => None,
    });
    if let Some((token, position)) = token {
        details.insert("position".to_owned(), json!(position));
        details.insert("token".to_owned(), json!(token));
    }
    let errors: Vec<Value> = problems
        .iter()
        .map(|problem| json!({"path": problem.path, "message": problem.fault.to_string()}))
        .collect();
    details.insert("errors".to_owned(), json!(errors));
    if invalid.left_out() > 0 {
        details.insert("more_errors".to_owned(), json!(invalid.left_out()));
    }
    Value::Object(details)
}

/// The cause of a 500 or a 503, for the log. It is an extension of the response.
#[derive(Clone, Debug)]
pub struct LoggedCause(pub Arc<dyn Error + Send + Sync>);

impl From<Unwritten> for ApiError {
    fn from(unwritten: Unwritten) -> Self {
        let error = match unwritten {
            Unwritten::NoRoom => OperationError::no_room_for_answer(),
            Unwritten::Failed(error) => OperationError::Internal(error.into()),
        };
        error.into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.body())).into_response();
        self.add_headers(response.headers_mut());
        if let Self::Operation(
            OperationError::Unavailable(_, cause) | OperationError::Internal(cause),
        ) = self
        {
            // An extension must be `Clone`, which the `Box` of an error is not.
            response.extensions_mut().insert(LoggedCause(Arc::from(cause)));
        }
        response
    }
}

/// The body of every error (`docs/rest.md`, section 1.5).
#[derive(Serialize)]
pub struct ErrorBody {
    /// The code.
    error: &'static str,
    /// For a person.
    message: String,
    /// For a program.
    details: Value,
}

/// Returns the body of a 500. It has only the request id, which leads to the log line.
pub fn internal_body(request_id: &str) -> ErrorBody {
    ErrorBody {
        details: json!({"request_id": request_id}),
        // The cause is for the log alone.
        ..ApiError::Operation(OperationError::Internal("".into())).body()
    }
}

impl<E: Into<OperationError>> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self::Operation(error.into())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use portcullis_resolver_host::{CallError, LoadError};
    use portcullis_resolvers::LoadFailure;
    use portcullis_storage::StoreError;
    use portcullis_storage::encryption::CryptoError;

    use super::*;

    #[test]
    fn a_manager_is_told_how_to_repair_a_resolver() {
        let answered = |failure: LoadFailure| {
            let error = ApiError::from(failure);
            (error.status_and_code().0.as_u16(), error.message())
        };
        let (status, message) = answered(CryptoError::UnknownKey.into());
        assert_eq!(status, 409);
        assert!(message.contains("send all `secrets` again"), "{message}");
        let (status, message) = answered(LoadError::Imports(vec!["wasi:nn".to_owned()]).into());
        assert_eq!(status, 409);
        assert!(message.contains("`wasi:nn`; send another module"), "{message}");
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
