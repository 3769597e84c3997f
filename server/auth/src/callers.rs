//! Callers and their rights (`docs/semantics.md`, section 6).

use std::net::IpAddr;
use std::sync::Arc;

use portcullis_engine::rbac::WILDCARD;
use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::service_key::Permission;
use strum::VariantArray;
use tokio::time::Instant;

use crate::claims::Claims;
use crate::error::{AuthError, must_have};
use crate::identity::Identity;

/// A caller with a token, who may request decisions.
#[derive(Debug)]
pub struct TokenHolder {
    pub(crate) tenant: String,
    pub identity: Identity,
    /// Whether a domain is a tenant, as in `selfhost` mode.
    pub(crate) one_tenant_per_domain: bool,
}

impl TokenHolder {
    /// Returns the tenant of the token.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Returns the holder of a token that was verified before, in `tenant`.
    pub fn restored(tenant: &str, identity: Identity, one_tenant_per_domain: bool) -> Self {
        Self { tenant: tenant.to_owned(), identity, one_tenant_per_domain }
    }

    /// Returns the holder as a member of `tenant`: itself in its own, and elsewhere somebody without roles who administers it.
    /// `None` if it neither belongs to the tenant nor administers it.
    pub fn within(self: &Arc<Self>, tenant: &str) -> Option<Arc<Self>> {
        if self.tenant == tenant {
            return Some(Arc::clone(self));
        }
        let Identity { subject, claims, .. } = &self.identity;
        if !self.one_tenant_per_domain || tenant == WILDCARD || !self.identity.administers(tenant) {
            return None;
        }
        let identity = Identity {
            subject: subject.clone(),
            domain: tenant.to_owned(),
            roles: Vec::new(),
            administers: vec![tenant.to_owned()],
            claims: Claims::read(claims.text().to_vec())?,
        };
        Some(Arc::new(Self::restored(tenant, identity, true)))
    }

    /// Returns the holder as [`Self::within`] does, in `domain`, which is another tenant in `selfhost` mode.
    ///
    /// # Errors
    /// The holder neither belongs to the domain nor administers it.
    pub fn in_domain(self: &Arc<Self>, domain: &str) -> Result<Arc<Self>, AuthError> {
        self.within(domain).ok_or_else(|| not_administered(domain))
    }

    /// Returns the bytes of the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.tenant.len() + self.identity.heap_bytes()
    }

    /// Returns the tenant of a check in `domain`. In `selfhost` mode another domain is another tenant, and only a caller
    /// who administers it may check there. `*` is not a tenant, whoever names it.
    pub fn tenant_of<'d>(&'d self, domain: &'d str) -> Result<&'d str, AuthError> {
        if !self.one_tenant_per_domain {
            return Ok(&self.tenant);
        }
        let may_check = domain == self.identity.domain || self.identity.administers(domain);
        if may_check && domain != WILDCARD {
            return Ok(domain);
        }
        Err(AuthError::AccessDenied(format!(
            "expected the domain of the token or one that its admin-domain claim names, not `{domain}`"
        )))
    }

    /// Refuses a caller who may not manage the policies of `domain`, or of the caller's own domain if it is `None`. A
    /// manager role counts in the tenant of the token; the admin-domain claim counts in the domains that it names.
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
        if domain != own {
            return Err(not_administered(domain));
        }
        Err(AuthError::AccessDenied(
            "this route needs a manager: a token with a manager role, or with an admin-domain claim that names its domain"
                .to_owned(),
        ))
    }

    /// Returns this caller as a manager of `domain`, which is another tenant in `selfhost` mode, or of its own tenant if
    /// `domain` is `None`. Elsewhere a domain is not a tenant, so that it is ignored.
    ///
    /// # Errors
    /// The caller may not manage the domain, or the domain is `*`.
    pub fn to_manager(
        &self,
        domain: Option<&str>,
        manager_roles: &[String],
    ) -> Result<Manager, AuthError> {
        let domain = domain.filter(|_| self.one_tenant_per_domain);
        if domain == Some(WILDCARD) {
            return Err(AuthError::AccessDenied("`*` is not a domain to manage".to_owned()));
        }
        self.must_manage(domain, manager_roles)?;
        let identity = &self.identity;
        let (tenant, domain) = match domain {
            Some(named) => (named, named),
            None => (&*self.tenant, &*identity.domain),
        };
        Ok(Manager {
            tenant: tenant.to_owned(),
            domain: domain.to_owned(),
            origin: Origin::new(&identity.subject, CredentialKind::Token),
            one_tenant_per_domain: self.one_tenant_per_domain,
            permissions: Permission::VARIANTS.to_vec(),
            deadline: None,
        })
    }
}

fn not_administered(domain: &str) -> AuthError {
    let what = format!("expected a token whose admin-domain claim names the domain `{domain}`");
    AuthError::AccessDenied(what)
}

/// A caller who may manage a tenant: the holder of a token with the right, or of a service key.
#[derive(Debug)]
pub struct Manager {
    pub(crate) tenant: String,
    pub(crate) domain: String,
    pub(crate) origin: Origin,
    pub(crate) one_tenant_per_domain: bool,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) deadline: Option<Instant>,
}

impl Manager {
    /// The tenant that the caller manages: the caller's own, or in `selfhost` mode the domain that the request names.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The domain that a rule without one gets.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The one domain of the tenant's keys: in `selfhost` mode, where a domain is a tenant, its own. `None` if a key may
    /// have any domain.
    pub fn key_domain(&self) -> Option<&str> {
        self.one_tenant_per_domain.then_some(&*self.tenant)
    }

    /// The author of the caller's changes: the `sub` of a token, or `key:<id>`.
    pub fn actor(&self) -> &str {
        &self.origin.actor
    }

    /// The author of the caller's changes, as audit records name it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns this caller with the request that it sent, which may write until `deadline`.
    #[must_use]
    pub fn with_request(
        self,
        address: Option<IpAddr>,
        request_id: Option<String>,
        deadline: Instant,
    ) -> Self {
        let origin = self.origin.with_request(address, request_id);
        Self { origin, deadline: Some(deadline), ..self }
    }

    /// Returns this caller as somebody with a session of the console.
    #[must_use]
    pub fn in_session(self) -> Self {
        let origin = Origin { credential: CredentialKind::Session, ..self.origin };
        Self { origin, ..self }
    }

    /// Returns whether a write that begins now ends before the caller is told that its request took too long.
    pub fn is_in_time(&self) -> bool {
        self.deadline.is_none_or(|deadline| Instant::now() < deadline)
    }

    /// Returns whether a rule in `domain` can match a check of the tenant. Where a domain is a tenant, only the
    /// tenant's own domain and `*` do (`docs/semantics.md`, section 3.4).
    pub fn has_checks_in(&self, domain: &str) -> bool {
        !self.one_tenant_per_domain || domain == WILDCARD || domain == self.domain
    }

    /// Refuses a caller without `permission`. A manager with a token has every permission.
    pub fn must_have(&self, permission: Permission) -> Result<(), AuthError> {
        must_have(&self.permissions, permission)
    }
}

#[cfg(test)]
mod tests;
