//! Who calls: credentials become verified callers, and the type of a handler's parameter says what right
//! the caller must have (`docs/semantics.md`, sections 6.1 and 6.2).

mod keysets;
mod providers;
mod token;

use std::marker::PhantomData;
use std::ops::Deref;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::extract::FromRequestParts;
use chrono::{DateTime, Utc};
use http::header::{AUTHORIZATION, HeaderName};
use http::request::Parts;
use portcullis_engine::{Caller, Json};

use crate::app::App;
use crate::config::{Mode, OidcConfig};
use crate::egress::Client;
use crate::error::ApiError;
use crate::http::layers::refuse_oversize;
use crate::model::Timestamp;
use crate::model::service_key::{Permission, PresentedKey};
use crate::storage::service_keys;
pub(crate) use keysets::FETCH_TIMEOUT;
use keysets::{KeySource, http_fetch};
pub(crate) use providers::Providers;
use token::TokenError;
pub(crate) use token::Verifier;

const SERVICE_KEY: HeaderName = HeaderName::from_static("x-service-api-key");
const ADMIN_KEY: HeaderName = HeaderName::from_static("x-admin-api-key");
/// How far `last_used_at` may lag behind, in milliseconds: a busy key is not a write per request.
const LAST_USED_LAG: i64 = 60_000;

/// A verified token.
#[derive(Debug)]
pub(crate) struct Identity {
    /// `sub`
    pub(crate) subject: String,
    /// The domain claim.
    pub(crate) domain: String,
    /// The strings of the roles claim.
    pub(crate) roles: Vec<String>,
    /// The domains that the admin-domain claim names; `*` is every one.
    pub(crate) administers: Vec<String>,
    /// All claims.
    pub(crate) claims: Json<'static>,
}

impl Identity {
    /// The caller as decisions see it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.subject, roles: &self.roles, claims: &self.claims }
    }

    /// Whether the admin-domain claim names `domain`.
    pub(crate) fn administers(&self, domain: &str) -> bool {
        names(&self.administers, domain)
    }
}

fn names(domains: &[String], domain: &str) -> bool {
    domains.iter().any(|own| own == domain || own == "*")
}

/// Verifies bearer tokens, and knows whose tenant a token is.
#[derive(Debug)]
pub(crate) enum Authenticator {
    /// `OIDC_ENABLED=false`: there are no tokens.
    Off,
    /// One provider; a token's domain is its tenant.
    Selfhost(Verifier),
    /// A token's issuer decides its tenant.
    Saas(Providers),
}

impl Authenticator {
    /// The verifier of the one provider that `config` names; its key set is fetched in the background.
    pub(crate) fn selfhost(config: Option<&OidcConfig>) -> anyhow::Result<Self> {
        let Some(config) = config else { return Ok(Self::Off) };
        let client = Client::trusted(FETCH_TIMEOUT)?;
        let keys = KeySource::new(http_fetch(client, &config.issuer, config.jwks_uri.clone()));
        keys.refresh_in_background();
        Ok(Self::Selfhost(Verifier::new(config.clone(), keys)))
    }

    async fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<TenantMember, ApiError> {
        let verified = match self {
            Self::Off => Err(TokenError::Refused("bearer tokens are switched off".to_owned())),
            Self::Selfhost(verifier) => verifier.verify(token, now).await.map(|identity| {
                let tenant = identity.domain.clone();
                TenantMember { tenant, identity, one_tenant_per_domain: true }
            }),
            Self::Saas(providers) => {
                providers.verify(token, now).await.map(|(tenant, identity)| TenantMember {
                    tenant,
                    identity,
                    one_tenant_per_domain: false,
                })
            }
        };
        verified.map_err(|error| match error {
            TokenError::Refused(why) => ApiError::TokenRefused(why),
            TokenError::NoKeys(why) => {
                ApiError::Unavailable("the identity provider's key set", why.into())
            }
        })
    }
}

/// A caller with a token: may ask for decisions.
#[derive(Debug)]
pub(crate) struct TenantMember {
    tenant: String,
    pub(crate) identity: Identity,
    /// `selfhost` mode: a domain is a tenant.
    one_tenant_per_domain: bool,
}

impl TenantMember {
    /// The tenant of a check in `domain`. In `selfhost` mode a foreign domain is another tenant, and
    /// open only to those who administer it.
    pub(crate) fn tenant_of<'d>(&'d self, domain: &'d str) -> Result<&'d str, ApiError> {
        if !self.one_tenant_per_domain {
            return Ok(&self.tenant);
        }
        if domain == self.identity.domain || self.identity.administers(domain) {
            return Ok(domain);
        }
        Err(ApiError::AccessDenied(format!(
            "domain `{domain}` is not the token's own, and its admin-domain claim does not name it"
        )))
    }

    /// Refuses a caller who may not manage the policies of `domain`, the caller's own when absent. A manager
    /// role counts in the token's own tenant; the admin-domain claim in the domains that it names.
    pub(crate) fn must_manage(
        &self,
        domain: Option<&str>,
        manager_roles: &[String],
    ) -> Result<(), ApiError> {
        let own = &*self.identity.domain;
        let domain = domain.filter(|_| self.one_tenant_per_domain).unwrap_or(own);
        let by_role = self.identity.roles.iter().any(|role| manager_roles.contains(role));
        if (by_role && domain == own) || self.identity.administers(domain) {
            return Ok(());
        }
        Err(ApiError::AccessDenied(
            "managing needs a manager: a token with a manager role, or one whose admin-domain \
             claim names its domain"
                .to_owned(),
        ))
    }

    /// The same caller as a manager, if it is one.
    fn into_manager(self, manager_roles: &[String]) -> Result<Manager, ApiError> {
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

impl FromRequestParts<App> for TenantMember {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Credential::of(parts)? {
            Credential::Bearer(token) => app.authenticator.verify(token, app.clock.now()).await,
            Credential::ServiceKey(_) | Credential::AdminKey(_) => {
                Err(ApiError::CredentialRefused(
                    "this route needs a bearer token, not a key".to_owned(),
                ))
            }
        }
    }
}

/// A caller who may change something of a tenant.
#[derive(Debug)]
pub(crate) struct Manager {
    tenant: String,
    domain: String,
    actor: String,
    administers: Vec<String>,
    one_tenant_per_domain: bool,
    permissions: Vec<Permission>,
}

impl Manager {
    /// The tenant that is managed: always the caller's own.
    pub(crate) fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The domain that a rule without one gets.
    pub(crate) fn domain(&self) -> &str {
        &self.domain
    }

    /// Who is written down as the author: a token's `sub`, or `key:<id>`.
    pub(crate) fn actor(&self) -> &str {
        &self.actor
    }

    /// Refuses a rule in a domain that is another tenant's, unless the admin-domain claim names it;
    /// `*` is every domain of the own tenant (`docs/semantics.md`, section 3.4).
    pub(crate) fn may_write_domain(&self, domain: &str) -> Result<(), ApiError> {
        let own = !self.one_tenant_per_domain || domain == "*" || domain == self.domain;
        if own || names(&self.administers, domain) {
            return Ok(());
        }
        Err(ApiError::AccessDenied(format!(
            "domain `{domain}` belongs to another tenant, and no admin-domain claim names it"
        )))
    }

    /// Refuses a caller without `permission`. Managers with a token have them all.
    pub(crate) fn must_have(&self, permission: Permission) -> Result<(), ApiError> {
        if self.permissions.contains(&permission) {
            return Ok(());
        }
        Err(ApiError::AccessDenied(format!(
            "the service key lacks the permission `{}`",
            permission.as_str()
        )))
    }
}

/// A manager with a token, where keys are of no use.
#[derive(Debug)]
pub(crate) struct TenantManager(Manager);

impl Deref for TenantManager {
    type Target = Manager;

    fn deref(&self) -> &Manager {
        &self.0
    }
}

impl FromRequestParts<App> for TenantManager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let member = TenantMember::from_request_parts(parts, app).await?;
        member.into_manager(&app.manager_roles).map(Self)
    }
}

/// A manager with a token, or a service key that has the permission of `R`.
#[derive(Debug)]
pub(crate) struct Allowed<R> {
    manager: Manager,
    right: PhantomData<R>,
}

impl<R> Deref for Allowed<R> {
    type Target = Manager;

    fn deref(&self) -> &Manager {
        &self.manager
    }
}

/// A right that a handler's parameter names.
pub(crate) trait Right {
    /// The permission that a service key needs for it.
    const PERMISSION: Permission;
}

macro_rules! rights {
    ($($name:ident),*) => {$(
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl Right for $name {
            const PERMISSION: Permission = Permission::$name;
        }
    )*};
}

rights!(
    ResourcesRead,
    ResourcesWrite,
    PoliciesRead,
    PoliciesWrite,
    WebhooksRead,
    WebhooksWrite,
    ResolversRead,
    ResolversWrite
);

impl<R: Right> FromRequestParts<App> for Allowed<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let manager = match Credential::of(parts)? {
            Credential::ServiceKey(key) => key_holder(app, key).await?,
            _ => TenantManager::from_request_parts(parts, app).await?.0,
        };
        manager.must_have(R::PERMISSION)?;
        Ok(Self { manager, right: PhantomData })
    }
}

/// Whoever holds a service key. Unknown, expired and revoked keys answer alike. The store is asked each
/// time, so that a revocation takes effect at once.
async fn key_holder(app: &App, key: &str) -> Result<Manager, ApiError> {
    let refused =
        || ApiError::CredentialRefused("the service key is unknown, expired or revoked".to_owned());
    let presented = PresentedKey::parse(key).ok_or_else(refused)?;
    let now = Timestamp::from(app.clock.now());
    let store = app.store.clone();
    let id = presented.id;
    // In a task of its own: a client that goes away must not cancel a `begin`.
    let found = tokio::spawn(async move {
        let mut tx = store.read_all().await?;
        let found = service_keys::find_anywhere(&mut tx, id).await?;
        tx.end().await?;
        Ok::<_, crate::storage::StoreError>(found)
    });
    let found = found.await.map_err(|failed| ApiError::Internal(failed.into()))??;
    let (record, tenant, slug) = found.ok_or_else(refused)?;
    if !presented.proves(&record, now) {
        return Err(refused());
    }
    if record.last_used_at.is_none_or(|last| now.millis() - last.millis() >= LAST_USED_LAG) {
        note_use(app.clone(), tenant.clone(), id, now);
    }
    Ok(Manager {
        domain: slug.unwrap_or_else(|| tenant.clone()),
        actor: format!("key:{id}"),
        tenant,
        administers: Vec::new(),
        one_tenant_per_domain: matches!(app.mode, Mode::Selfhost(_)),
        permissions: record.permissions,
    })
}

/// Writes `last_used_at`, beside the request; a failure is not the caller's affair.
fn note_use(app: App, tenant: String, id: uuid::Uuid, now: Timestamp) {
    tokio::spawn(async move {
        let noted = async {
            let mut tx = app.store.write(&tenant, now.millis()).await?;
            service_keys::used(&mut tx, id, now).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, "cannot note the use of a service key");
        }
    });
}

/// The operator, with the admin key.
#[derive(Debug)]
pub(crate) struct Admin;

impl Admin {
    /// Who is written down as the author.
    pub(crate) const ACTOR: &str = "admin";
}

impl FromRequestParts<App> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let sent = match Credential::of(parts)? {
            Credential::AdminKey(key) | Credential::Bearer(key) => key,
            Credential::ServiceKey(_) => "",
        };
        let is_key = match &app.mode {
            Mode::Saas { admin_key } => {
                verify_slices_are_equal(sent.as_bytes(), admin_key.as_bytes()).is_ok()
            }
            Mode::Selfhost(_) => false,
        };
        if is_key {
            return Ok(Self);
        }
        Err(ApiError::CredentialRefused("this route needs the admin key".to_owned()))
    }
}

/// What a request proves itself with.
enum Credential<'h> {
    Bearer(&'h str),
    ServiceKey(&'h str),
    AdminKey(&'h str),
}

impl<'h> Credential<'h> {
    /// The one credential of a request; before it comes the size.
    fn of(parts: &'h Parts) -> Result<Self, ApiError> {
        refuse_oversize(parts)?;
        let headers = &parts.headers;
        let sent = [AUTHORIZATION, SERVICE_KEY, ADMIN_KEY]
            .into_iter()
            .flat_map(|name| headers.get_all(&name).iter().map(move |value| (name.clone(), value)))
            .collect::<Vec<_>>();
        let (name, value) = match sent.as_slice() {
            [] => return Err(ApiError::NoCredential),
            [one] => one,
            _ => {
                return Err(ApiError::BadRequest(
                    "more than one credential was sent: send exactly one".to_owned(),
                ));
            }
        };
        let text = value.to_str().unwrap_or_default();
        if *name == SERVICE_KEY {
            return Ok(Self::ServiceKey(text));
        }
        if *name == ADMIN_KEY {
            return Ok(Self::AdminKey(text));
        }
        text.split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| Self::Bearer(token.trim_start()))
            .ok_or_else(|| {
                let what = "the Authorization header is not `Bearer <token>`";
                ApiError::CredentialRefused(what.to_owned())
            })
    }
}
