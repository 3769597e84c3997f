//! The domains and the tenant of AuthZEN requests (`docs/semantics.md`, sections 11.6 and 11.7).

use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use portcullis_auth::{AuthError, CheckCaller};
use portcullis_engine::Invalid;
use portcullis_http::error::ApiError;
use portcullis_runtime::error::OperationError;

/// Returns the domain of a question whose context names `domain`.
///
/// # Errors
/// The caller is a key with another domain, or a key without one and the context names none.
pub(super) fn domain_of<'d>(
    caller: &'d CheckCaller,
    domain: Option<&'d str>,
) -> Result<&'d str, ApiError> {
    caller.domain_of(domain).map_err(|error| match error {
        AuthError::DomainMissing => {
            let about = "the domain of the question, because the service key has none";
            ApiError::Operation(Invalid::missing("context.domain", about).into())
        }
        error => OperationError::from(error).into(),
    })
}

/// The tenant that the evaluations of a request are about.
pub(super) struct Scope<'c> {
    caller: &'c CheckCaller,
    /// `None` if the caller may ask about no evaluation.
    tenant: Option<&'c str>,
}

impl<'c> Scope<'c> {
    /// Returns the scope of evaluations in these domains: the caller's own tenant if one of them is in it, or else the
    /// tenant of the first that the caller may ask about.
    pub(super) fn new(
        caller: &'c CheckCaller,
        domains: impl Iterator<Item = Option<&'c str>>,
    ) -> Self {
        let mut first = None;
        for tenant in domains.filter_map(|domain| tenant_of(caller, domain).ok()) {
            if tenant == caller.tenant() {
                return Self { caller, tenant: Some(tenant) };
            }
            first.get_or_insert(tenant);
        }
        Self { caller, tenant: first }
    }

    /// Returns the reason why an evaluation in `domain` is not decided; `None` if it is. One that assumes tuples comes with the
    /// roles of managers.
    pub(super) fn refusal(
        &self,
        domain: Option<&str>,
        assumes_for: Option<&[String]>,
    ) -> Option<ApiError> {
        match tenant_of(self.caller, domain) {
            Ok(tenant) if Some(tenant) == self.tenant => {
                let refused = self.caller.may_assume(domain, assumes_for?).err()?;
                Some(OperationError::from(refused).into())
            }
            Ok(_) => Some(ApiError::bad_request(
                "`context.domain` is another tenant's than the rest of the request: send it in a request of its own",
            )),
            Err(error) => Some(error),
        }
    }
}

/// The fault of a question, which is worded when the answer is written.
#[derive(Debug)]
pub(super) enum QuestionFault {
    Invalid(Invalid),
    /// The caller may not ask. Questions in one domain share it.
    Refused(Arc<ApiError>),
}

impl QuestionFault {
    /// Returns the status that the question would have as its own request.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Refused(error) => error.status(),
        }
    }
}

impl fmt::Display for QuestionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Refused(error) => f.write_str(&error.message()),
        }
    }
}

fn tenant_of<'d>(caller: &'d CheckCaller, domain: Option<&'d str>) -> Result<&'d str, ApiError> {
    let domain = domain_of(caller, domain)?;
    caller.tenant_of(domain).map_err(|error| OperationError::from(error).into())
}
