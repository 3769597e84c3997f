//! Extractors of callers: the type of a handler's parameter says which right the caller must have
//! (`docs/semantics.md`, section 6).

use std::marker::PhantomData;
use std::ops::Deref;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::extract::FromRequestParts;
use http::header::{AUTHORIZATION, HeaderName};
use http::request::Parts;
use portcullis_auth::{AuthError, Manager, Mode, TokenHolder, authenticate_key};
use portcullis_model::service_key::Permission;
use portcullis_operations::app::App;

use crate::error::ApiError;
use crate::oversize::refuse_oversize;
use crate::raw_body::charge_body_to;

const SERVICE_KEY: HeaderName = HeaderName::from_static("x-service-api-key");
const ADMIN_KEY: HeaderName = HeaderName::from_static("x-admin-api-key");

/// A caller with a token, who may request decisions.
#[derive(Debug)]
pub(crate) struct TenantMember(TokenHolder);

impl Deref for TenantMember {
    type Target = TokenHolder;

    fn deref(&self) -> &TokenHolder {
        &self.0
    }
}

impl FromRequestParts<App> for TenantMember {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Credential::of(parts)? {
            Credential::Bearer(token) => {
                let holder = app.authenticator.verify(token, app.clock.now()).await?;
                charge_body_to(parts, holder.tenant());
                Ok(Self(holder))
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
        Ok(Self(member.0.into_manager(&app.manager_roles)?))
    }
}

/// A manager with a token, or a service key with the permission of `R`.
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
    ResolversWrite
);

impl<R: Right> FromRequestParts<App> for Allowed<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let manager = match Credential::of(parts)? {
            Credential::ServiceKey(key) => {
                let holder = key_holder(app, key).await?;
                charge_body_to(parts, holder.tenant());
                holder
            }
            _ => TenantManager::from_request_parts(parts, app).await?.0,
        };
        manager.must_have(R::PERMISSION)?;
        Ok(Self { manager, right: PhantomData })
    }
}

async fn key_holder(app: &App, key: &str) -> Result<Manager, ApiError> {
    let one_tenant_per_domain = matches!(app.mode, Mode::Selfhost(_));
    let now = app.clock.now().into();
    Ok(authenticate_key(&app.store, now, key, one_tenant_per_domain).await?)
}

/// The operator, with the admin key.
#[derive(Debug)]
pub(crate) struct Admin;

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
        Err(AuthError::CredentialRefused("this route needs the admin key".to_owned()).into())
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
            [] => return Err(ApiError::NoCredential),
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
                let what = "the Authorization header is not `Bearer <token>`";
                AuthError::CredentialRefused(what.to_owned()).into()
            })
    }
}
