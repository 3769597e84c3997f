//! Callers and their rights (`docs/semantics.md`, section 6).

use portcullis_model::service_key::Permission;

use crate::error::AuthError;
use crate::identity::{Identity, names};

/// A caller with a token: may ask for decisions.
#[derive(Debug)]
pub struct Member {
    pub(crate) tenant: String,
    pub identity: Identity,
    /// `selfhost` mode: a domain is a tenant.
    pub(crate) one_tenant_per_domain: bool,
}

impl Member {
    /// The tenant of a check in `domain`. In `selfhost` mode a foreign domain is another tenant, and
    /// open only to those who administer it.
    pub fn tenant_of<'d>(&'d self, domain: &'d str) -> Result<&'d str, AuthError> {
        if !self.one_tenant_per_domain {
            return Ok(&self.tenant);
        }
        if domain == self.identity.domain || self.identity.administers(domain) {
            return Ok(domain);
        }
        Err(AuthError::AccessDenied(format!(
            "domain `{domain}` is not the token's own, and its admin-domain claim does not name it"
        )))
    }

    /// Refuses a caller who may not manage the policies of `domain`, the caller's own when absent. A manager
    /// role counts in the token's own tenant; the admin-domain claim in the domains that it names.
    pub fn must_manage(
        &self,
        domain: Option<&str>,
        manager_roles: &[String],
    ) -> Result<(), AuthError> {
        let own = &*self.identity.domain;
        let domain = domain.filter(|_| self.one_tenant_per_domain).unwrap_or(own);
        let by_role = self.identity.roles.iter().any(|role| manager_roles.contains(role));
        if (by_role && domain == own) || self.identity.administers(domain) {
            return Ok(());
        }
        Err(AuthError::AccessDenied(
            "managing needs a manager: a token with a manager role, or one whose admin-domain \
             claim names its domain"
                .to_owned(),
        ))
    }

    /// The same caller as a manager, if it is one.
    pub fn into_manager(self, manager_roles: &[String]) -> Result<Manager, AuthError> {
        self.must_manage(None, manager_roles)?;
        let identity = self.identity;
        Ok(Manager {
            tenant: self.tenant,
            domain: identity.domain,
            actor: identity.subject,
            administers: identity.administers,
            one_tenant_per_domain: self.one_tenant_per_domain,
            permissions: Permission::ALL.to_vec(),
        })
    }
}

/// A caller who may change something of a tenant.
#[derive(Debug)]
pub struct Manager {
    pub(crate) tenant: String,
    pub(crate) domain: String,
    pub(crate) actor: String,
    pub(crate) administers: Vec<String>,
    pub(crate) one_tenant_per_domain: bool,
    pub(crate) permissions: Vec<Permission>,
}

impl Manager {
    /// The tenant that is managed: always the caller's own.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The domain that a rule without one gets.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Who is written down as the author: a token's `sub`, or `key:<id>`.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// Refuses a rule in a domain that is another tenant's, unless the admin-domain claim names it;
    /// `*` is every domain of the own tenant (`docs/semantics.md`, section 3.4).
    pub fn may_write_domain(&self, domain: &str) -> Result<(), AuthError> {
        let own = !self.one_tenant_per_domain || domain == "*" || domain == self.domain;
        if own || names(&self.administers, domain) {
            return Ok(());
        }
        Err(AuthError::AccessDenied(format!(
            "domain `{domain}` belongs to another tenant, and no admin-domain claim names it"
        )))
    }

    /// Refuses a caller without `permission`. Managers with a token have them all.
    pub fn must_have(&self, permission: Permission) -> Result<(), AuthError> {
        if self.permissions.contains(&permission) {
            return Ok(());
        }
        Err(AuthError::AccessDenied(format!(
            "the service key lacks the permission `{}`",
            permission.as_str()
        )))
    }
}
