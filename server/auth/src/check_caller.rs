//! The callers that may request decisions (`docs/semantics.md`, sections 2.2 and 6.2).

use std::sync::Arc;

use portcullis_engine::Caller;
use portcullis_model::service_key::Permission;

use crate::callers::TokenHolder;
use crate::error::AuthError;
use crate::verified_key::VerifiedKey;

/// A caller who may request decisions.
#[derive(Debug)]
pub enum CheckCaller {
    /// A member of a tenant.
    Member(Arc<TokenHolder>),
    /// The holder of a service key with the permission `access:evaluate`.
    Key(Arc<VerifiedKey>),
}

impl CheckCaller {
    /// Returns the tenant of the credential.
    pub fn tenant(&self) -> &str {
        match self {
            Self::Member(holder) => holder.tenant(),
            Self::Key(key) => key.tenant(),
        }
    }

    /// Returns the subject of a legacy check that names none; `None` for a key, which is not a subject.
    pub fn subject(&self) -> Option<&str> {
        self.for_check().map(|caller| caller.subject)
    }

    /// Returns the part of the caller that decisions read; `None` for a key, which has no claims and no roles.
    pub fn for_check(&self) -> Option<Caller<'_>> {
        match self {
            Self::Member(holder) => Some(holder.identity.caller()),
            Self::Key(_) => None,
        }
    }

    /// Returns the domain of a check whose body names `domain`.
    ///
    /// # Errors
    /// The caller is a key with another domain, or a key without one and the body names none.
    pub fn domain_of<'d>(&'d self, domain: Option<&'d str>) -> Result<&'d str, AuthError> {
        match self {
            Self::Member(holder) => Ok(domain.unwrap_or(&holder.identity.domain)),
            Self::Key(key) => key.domain_of(domain),
        }
    }

    /// Returns the tenant of a check in `domain`, which [`CheckCaller::domain_of`] returned.
    ///
    /// # Errors
    /// The domain is another tenant's, and the caller does not administer it.
    pub fn tenant_of<'d>(&'d self, domain: &'d str) -> Result<&'d str, AuthError> {
        match self {
            Self::Member(holder) => holder.tenant_of(domain),
            Self::Key(key) => Ok(key.tenant()),
        }
    }

    /// Refuses a caller who may not see explanations of checks in `domain`: a member who does not manage it, or a key
    /// without `policies:read`.
    pub fn may_explain(
        &self,
        domain: Option<&str>,
        manager_roles: &[String],
    ) -> Result<(), AuthError> {
        match self {
            Self::Member(holder) => holder.must_manage(domain, manager_roles),
            Self::Key(key) => key.must_have(Permission::PoliciesRead),
        }
    }

    /// Refuses a caller who may not assume tuples in checks in `domain`: a member who does not manage it, who would vouch for
    /// itself, or a key without `relations:assume`.
    ///
    /// # Errors
    /// [`AuthError::AccessDenied`]
    pub fn may_assume(
        &self,
        domain: Option<&str>,
        manager_roles: &[String],
    ) -> Result<(), AuthError> {
        match self {
            Self::Member(holder) => holder.must_manage(domain, manager_roles).map_err(|_| {
                let who = "tuples in `relations` are for managers, and for service keys with `relations:assume`";
                AuthError::AccessDenied(who.to_owned())
            }),
            Self::Key(key) => key.must_have(Permission::RelationsAssume),
        }
    }

    /// Refuses a caller who may not plan in `domain`. Returns whether the plan shows conditions: without them a key that
    /// searches needs no `policies:read` for the SQL, which tells no more than a search.
    ///
    /// # Errors
    /// [`AuthError::AccessDenied`]
    pub fn may_plan(
        &self,
        domain: Option<&str>,
        manager_roles: &[String],
        is_sql_wanted: bool,
    ) -> Result<bool, AuthError> {
        match (self, self.may_explain(domain, manager_roles)) {
            (_, Ok(())) => Ok(true),
            (Self::Key(_), Err(_)) if is_sql_wanted => Ok(false),
            (_, Err(refused)) => Err(refused),
        }
    }

    /// Refuses a caller who may not search in `domain`, or ask about another subject: a member who does not manage it,
    /// unless `subject` is its own. A key has proved its permission.
    ///
    /// # Errors
    /// [`AuthError::AccessDenied`]
    pub fn may_search(
        &self,
        subject: Option<&str>,
        domain: Option<&str>,
        manager_roles: &[String],
    ) -> Result<(), AuthError> {
        match self {
            Self::Member(holder) if subject == Some(&*holder.identity.subject) => Ok(()),
            Self::Member(holder) => holder.must_manage(domain, manager_roles),
            Self::Key(_) => Ok(()),
        }
    }

    /// Returns the caller as cursors and rates name it: the `sub` of a token, or `key:<id>`.
    pub fn actor(&self) -> &str {
        match self {
            Self::Member(holder) => &holder.identity.subject,
            Self::Key(key) => key.actor(),
        }
    }
}
