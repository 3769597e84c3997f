//! Extractors of callers: the type of a handler's parameter says which right the caller must have
//! (`docs/semantics.md`, section 6).

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use http::header::{AUTHORIZATION, HeaderName};
use http::request::Parts;
use portcullis_auth::{ADMIN_ACTOR, AuthError, Manager, Mode, TokenHolder, authenticate_key};
use portcullis_limits::{RefusedCredential, RequestPlace};
use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::service_key::Permission;
use portcullis_operations::app::App;

use crate::error::ApiError;
use crate::limits;
use crate::no_credential::no_credential;
use crate::oversize::refuse_oversize;
use crate::raw_body::charge_body_to;

pub(crate) const SERVICE_KEY: HeaderName = HeaderName::from_static("x-service-api-key");
pub(crate) const ADMIN_KEY: HeaderName = HeaderName::from_static("x-admin-api-key");
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A caller with a token, who may request decisions.
#[derive(Debug)]
pub(crate) struct TenantMember {
    holder: TokenHolder,
    /// Held until the handler has its answer.
    place: RequestPlace,
}

impl Deref for TenantMember {
    type Target = TokenHolder;

    fn deref(&self) -> &TokenHolder {
        &self.holder
    }
}

impl FromRequestParts<App> for TenantMember {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Credential::of(parts)? {
            Credential::Bearer(token) => {
                limits::refuse_if_full(app, parts)?;
                let now = app.clock.now();
                let verified = app.token_holder(token).await;
                let holder = verified.map_err(|error| {
                    limits::failed(app, parts, RefusedCredential::Token, now, error)
                })?;
                charge_body_to(parts, holder.tenant());
                let subject = &holder.identity.subject;
                let place = limits::admit(app, parts, holder.tenant(), subject, now).await?;
                Ok(Self { holder, place })
            }
            Credential::ServiceKey(_) | Credential::AdminKey(_) => {
                Err(AuthError::CredentialRefused(
                    "this route needs a bearer token, not a key".to_owned(),
                )
                .into())
            }
        }
    }
}

/// A manager with a token, on a route that does not accept service keys.
#[derive(Debug)]
pub(crate) struct TenantManager {
    manager: Manager,
    place: RequestPlace,
}

impl Deref for TenantManager {
    type Target = Manager;

    fn deref(&self) -> &Manager {
        &self.manager
    }
}

impl FromRequestParts<App> for TenantManager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let TenantMember { holder, place } = TenantMember::from_request_parts(parts, app).await?;
        let manager = holder.into_manager(&app.manager_roles)?;
        Ok(Self { manager: of_request(app, parts, manager), place })
    }
}

/// A manager with a token, or a service key with the permission of `R`.
#[derive(Debug)]
pub(crate) struct Allowed<R> {
    manager: Manager,
    _place: RequestPlace,
    right: PhantomData<R>,
}

impl<R> Deref for Allowed<R> {
    type Target = Manager;

    fn deref(&self) -> &Manager {
        &self.manager
    }
}

/// The right that a handler's parameter names.
pub(crate) trait Right {
    /// The permission that a service key needs.
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
    ResolversWrite,
    AuditRead
);

impl<R: Right> FromRequestParts<App> for Allowed<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let TenantManager { manager, place } = match Credential::of(parts)? {
            Credential::ServiceKey(key) => {
                let holder = key_holder(app, parts, key).await?;
                charge_body_to(parts, holder.manager.tenant());
                holder
            }
            _ => TenantManager::from_request_parts(parts, app).await?,
        };
        manager.must_have(R::PERMISSION)?;
        Ok(Self { manager, _place: place, right: PhantomData })
    }
}

async fn key_holder(app: &App, parts: &Parts, key: &str) -> Result<TenantManager, ApiError> {
    limits::refuse_if_full(app, parts)?;
    let now = app.clock.now();
    let one_tenant_per_domain = matches!(app.mode, Mode::Selfhost(_));
    let lookup = limits::key_lookup(app, parts, key, now)?;
    let found = authenticate_key(&app.store, now.into(), key, one_tenant_per_domain).await;
    drop(lookup);
    let manager = found
        .map_err(|error| limits::failed(app, parts, RefusedCredential::ServiceKey, now, error))?;
    app.limits.failures.proved(key);
    let place = limits::admit(app, parts, manager.tenant(), manager.actor(), now).await?;
    Ok(TenantManager { manager: of_request(app, parts, manager), place })
}

/// Returns a manager with the request that it sent, for its audit records.
fn of_request(app: &App, parts: &Parts, manager: Manager) -> Manager {
    manager.with_request(limits::client_address(app, parts), request_id(parts))
}

/// Returns the id of the request, which the layer `observe` has made valid.
fn request_id(parts: &Parts) -> Option<String> {
    let id = parts.headers.get(&REQUEST_ID)?.to_str().ok()?;
    Some(id.to_owned())
}

/// The operator, with an admin key.
#[derive(Debug)]
pub(crate) struct Admin {
    origin: Origin,
    _place: RequestPlace,
}

impl Deref for Admin {
    type Target = Origin;

    fn deref(&self) -> &Origin {
        &self.origin
    }
}

impl FromRequestParts<App> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let sent = match Credential::of(parts)? {
            Credential::AdminKey(key) | Credential::Bearer(key) => key,
            Credential::ServiceKey(_) => "",
        };
        let name = match &app.mode {
            Mode::Saas { admin_keys } => admin_keys.name_of(sent),
            Mode::Selfhost(_) => None,
        };
        let now = app.clock.now();
        let origin = match name {
            Some("") => Origin::new(ADMIN_ACTOR, CredentialKind::AdminKey),
            Some(name) => Origin::new(&format!("{ADMIN_ACTOR}:{name}"), CredentialKind::AdminKey)
                .with_key(name),
            None => {
                let what =
                    "this route needs the admin key, in the header `X-Admin-Api-Key`".to_owned();
                let error = AuthError::CredentialRefused(what);
                return Err(limits::failed(app, parts, RefusedCredential::AdminKey, now, error));
            }
        };
        let address = limits::client_address(app, parts);
        let origin = origin.with_request(address, request_id(parts));
        Ok(Self { origin, _place: limits::admit_operator(app, now).await? })
    }
}

/// The credential of a request.
enum Credential<'h> {
    Bearer(&'h str),
    ServiceKey(&'h str),
    AdminKey(&'h str),
}

impl<'h> Credential<'h> {
    /// Returns the one credential of a request. A body that is too large is refused first.
    fn of(parts: &'h Parts) -> Result<Self, ApiError> {
        refuse_oversize(parts)?;
        let headers = &parts.headers;
        let sent = [AUTHORIZATION, SERVICE_KEY, ADMIN_KEY]
            .into_iter()
            .flat_map(|name| headers.get_all(&name).iter().map(move |value| (name.clone(), value)))
            .collect::<Vec<_>>();
        let (name, value) = match sent.as_slice() {
            [] => return Err(no_credential(parts)),
            [one] => one,
            _ => {
                return Err(ApiError::bad_request(
                    "more than one credential was sent: send exactly one",
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
                let what = "expected `Authorization: Bearer <token>`; a service key goes into the header \
                    `X-Service-Api-Key`";
                AuthError::CredentialRefused(what.to_owned()).into()
            })
    }
}
