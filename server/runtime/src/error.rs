//! The error of every use case. It knows no transport: the HTTP interface gives it a status.

use std::error::Error;
use std::sync::Arc;

use portcullis_auth::AuthError;
use portcullis_bundle::CaseFailure;
use portcullis_decision_log::Lost;
use portcullis_engine::Invalid;
use portcullis_engine::json::JsonError;
use portcullis_fairness::Stopping;
use portcullis_model::quota::QuotaExcess;
use portcullis_resolver_host::{CallError, LoadError};
use portcullis_resolvers::LoadFailure;
use portcullis_storage::StoreError;
use portcullis_storage::encryption::CryptoError;
use uuid::Uuid;

use crate::entity_tables::EntitiesError;
use crate::filter_refusal::FilterRefusal;
use crate::plans::{Counted, PlanError};
use crate::write_refusal::{BrokenObjects, WriteRefusal};

/// The cause of a failure, for the log alone.
pub type Cause = Box<dyn Error + Send + Sync>;

/// The reason why a use case failed. A failed use case writes nothing.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// The content of the input is invalid.
    #[error("{0}")]
    Invalid(Invalid),
    /// The input cannot be read at all.
    #[error("{0}")]
    BadRequest(String),
    /// A part of the input is larger than this limit, in bytes.
    #[error("a part of the input has more than {0} bytes")]
    TooLarge(usize),
    /// The bearer token is refused; the text never holds the token.
    #[error("{0}")]
    TokenRefused(String),
    /// A key is refused, or this use case does not accept keys; the text never holds the key.
    #[error("{0}")]
    CredentialRefused(String),
    /// The operator suspended the tenant, or is deleting it.
    #[error("the tenant is suspended, or is being deleted")]
    TenantSuspended,
    /// The caller does not have the right.
    #[error("{0}")]
    AccessDenied(String),
    /// The tenant has no such record.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// Another record prevents the change.
    #[error("{0}")]
    Conflict(String),
    /// The policies with these ids read attributes that the change removes.
    #[error("{0}")]
    StillRead(String, Vec<Uuid>),
    /// The caller's precondition does not hold: the record has another entity tag.
    #[error("the record has another entity tag")]
    PreconditionFailed,
    /// The database lost the revision that the check demands.
    #[error("the database lost revision {at_least} of the {of}; it has {latest}")]
    RevisionLost { of: Counted, at_least: u64, latest: u64 },
    /// A dependency is down. The name is for the client, the cause for the log.
    #[error("{0} is unavailable: {1}")]
    Unavailable(&'static str, Cause),
    /// A rule of the tenant's owners forbids the write.
    #[error("{0:?}")]
    Refused(WriteRefusal),
    /// The gate `cases` of the tenant refuses the change: `count` cases would not have the expected decisions.
    /// None of them is named to a caller who may not read them.
    #[error("{count} cases do not have the expected decisions")]
    CasesFailed { named: Vec<CaseFailure>, count: usize },
    /// The gate `approval` of the tenant refuses the change.
    #[error("a second manager must approve the change")]
    ApprovalRequired,
    /// There is no plan for the rows of a list.
    #[error("{0:?}")]
    FilterRefused(FilterRefusal),
    /// The tenant would have more than a quota allows.
    #[error("{0}")]
    QuotaExceeded(QuotaExcess),
    /// The service cannot do it at the moment. The text is for the client.
    #[error("{0}")]
    NotNow(String),
    /// A fault of the service; the cause is for the log alone.
    #[error("{0}")]
    Internal(Cause),
}

impl OperationError {
    /// Returns the error without the names of stored objects, for a caller who may not read them.
    #[must_use]
    pub fn without_names(self) -> Self {
        match self {
            Self::StillRead(what, _) => Self::StillRead(what, Vec::new()),
            Self::CasesFailed { count, .. } => Self::CasesFailed { named: Vec::new(), count },
            Self::Refused(WriteRefusal::Breaks(broken)) => {
                WriteRefusal::Breaks(BrokenObjects { first: Vec::new(), ..broken }).into()
            }
            error => error,
        }
    }

    /// Returns the error of an answer for whose memory there is no room.
    pub fn no_room_for_answer() -> Self {
        let what = "answers that are not read yet take too much memory at the moment; read them, or ask for less at a \
                    time, and try again later";
        Self::NotNow(what.to_owned())
    }
}

impl From<Invalid> for OperationError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<FilterRefusal> for OperationError {
    fn from(refusal: FilterRefusal) -> Self {
        Self::FilterRefused(refusal)
    }
}

impl From<WriteRefusal> for OperationError {
    fn from(refusal: WriteRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<JsonError> for OperationError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Syntax(_) => Self::BadRequest(error.to_string()),
            JsonError::Invalid(invalid) => Self::Invalid(invalid),
        }
    }
}

impl From<CryptoError> for OperationError {
    fn from(error: CryptoError) -> Self {
        Self::Internal(error.into())
    }
}

impl From<LoadFailure> for OperationError {
    fn from(error: LoadFailure) -> Self {
        match error {
            LoadFailure::Store(error) => error.into(),
            LoadFailure::Module(LoadError::Host | LoadError::Describe(CallError::Host)) => {
                Self::Internal(error.into())
            }
            LoadFailure::Module(_) if error.is_passing() => {
                Self::Unavailable("the resolver runtime", error.into())
            }
            LoadFailure::Secrets(_) => Self::Conflict(format!(
                "{error}; send all `secrets` again, or set `enabled` to false"
            )),
            LoadFailure::Module(_) | LoadFailure::Manifest(_) => Self::Conflict(format!(
                "the stored module no longer works: {error}; send another module, or set `enabled` to false"
            )),
        }
    }
}

impl From<Stopping> for OperationError {
    fn from(_: Stopping) -> Self {
        Self::Unavailable("the service", "shutting down".into())
    }
}

impl From<StoreError> for OperationError {
    fn from(error: StoreError) -> Self {
        Self::from(Arc::new(error))
    }
}

impl From<Arc<StoreError>> for OperationError {
    fn from(error: Arc<StoreError>) -> Self {
        match &*error {
            StoreError::TenantClosed => Self::TenantSuspended,
            StoreError::Quota(excess) => Self::QuotaExceeded(excess.clone()),
            StoreError::TooManyTuples { .. } => Self::Conflict(format!(
                "{error}, and one call deletes no more: delete them with `DELETE /api/v1/relations` first"
            )),
            StoreError::Busy => {
                Self::NotNow(format!("{error}, and nothing was written; try again later"))
            }
            // A caller may name any tenant, and there is none of this name.
            StoreError::NotATenant => Self::NotFound("tenant"),
            _ if error.is_unavailable() => Self::Unavailable("the database", error.into()),
            _ => Self::Internal(error.into()),
        }
    }
}

impl From<PlanError> for OperationError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Store(error) => error.into(),
            PlanError::TooStale => Self::Unavailable("the database", error.into()),
            // Wishes and loads of the client: no fault of the service, and so no line in the log.
            PlanError::NoSuchRevision { at_least, .. } => Self::NotNow(format!(
                "rules of revision {at_least} or a later one are not available yet; try again later"
            )),
            PlanError::NoSuchEntities { at_least } => Self::NotNow(format!(
                "entities of revision {at_least} or a later one are not available yet; try again later"
            )),
            PlanError::RevisionLost { of, at_least, latest } => {
                Self::RevisionLost { of, at_least, latest }
            }
            PlanError::Entities(error) => error.into(),
            PlanError::TooManyLoads => Self::NotNow(format!("{error}; try again later")),
        }
    }
}

impl From<EntitiesError> for OperationError {
    fn from(error: EntitiesError) -> Self {
        match error {
            EntitiesError::Store(error) => error.into(),
            EntitiesError::TooStale => Self::Unavailable("the database", error.into()),
            EntitiesError::Lost(_) | EntitiesError::TooManyLoads | EntitiesError::TooLarge => {
                Self::NotNow(format!("{error}; try again later"))
            }
        }
    }
}

impl From<Lost> for OperationError {
    fn from(cause: Lost) -> Self {
        Self::NotNow(format!(
            "the decision was not recorded, and the tenant wants none without a record: {cause}; try again later"
        ))
    }
}

impl From<AuthError> for OperationError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::TokenRefused(why) => Self::TokenRefused(why),
            AuthError::CredentialRefused(why) => Self::CredentialRefused(why),
            AuthError::TenantSuspended => Self::TenantSuspended,
            AuthError::AccessDenied(why) => Self::AccessDenied(why),
            AuthError::DomainMissing => Self::Invalid(Invalid::missing(
                "domain",
                "a domain, because the service key has none: send `domain` (with AuthZEN in `context`), or create the key with \
                 a `domain`",
            )),
            AuthError::TenantsUnknown => Self::Unavailable(
                "the database",
                "the closed tenants could not be read within MAX_STALENESS".into(),
            ),
            AuthError::NoKeys(why) => {
                Self::Unavailable("the identity provider's key set", why.into())
            }
            AuthError::Store(error) => error.into(),
            AuthError::Internal(cause) => Self::Internal(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_tenant_has_is_not_found() {
        let error = OperationError::from(StoreError::NotATenant);
        assert!(matches!(error, OperationError::NotFound("tenant")), "{error:?}");
    }

    /// A report asks for the revision of its page, and a batch for the latest of its plans, also if the client asks for none.
    #[test]
    fn a_revision_that_is_not_available_is_named() {
        let error = PlanError::NoSuchRevision { at_least: 7, latest: 6 };
        let OperationError::NotNow(what) = OperationError::from(error) else { panic!("a 503") };
        assert!(what.starts_with("rules of revision 7 or a later one"), "{what}");
    }
}
