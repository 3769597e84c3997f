//! Extractors of callers: the type of a handler's parameter says which right the caller must have
//! (`docs/semantics.md`, section 6).

use std::marker::PhantomData;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::Uri;
use http::request::Parts;
use portcullis_auth::{AuthError, CheckCaller, Manager, Mode, TokenHolder, VerifiedKey, parse_key};
use portcullis_limits::{MemoryAccount, RefusedCredential, RequestPlace, Spent};
use portcullis_model::audit::{ADMIN_ACTOR, CredentialKind, Origin};
use portcullis_model::service_key::Permission;
use portcullis_operations::key_holders;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::credential::Credential;
use crate::error::ApiError;
use crate::parameters::flag;
use crate::raw_body::{charge_body_to, deadline_of};
use crate::request_id::RequestId;
use crate::unknown_parameters::refuse_query_fault;
use crate::{limits, managed_domain, recipient};

/// The answer to a service key on the routes that manage service keys, which are all routes of a [`TenantManager`].
const NO_KEYS_BY_KEY: &str = "this route needs a bearer token, not a key; the command `portcullis keys` manages \
    service keys, too";

/// A caller who may request decisions: a member of a tenant, or a service key with `access:evaluate`.
#[derive(Debug)]
pub(crate) struct CheckRequester {
    caller: CheckCaller,
    /// The client's address, if addresses have a rate of checks.
    address: Option<IpAddr>,
    _place: RequestPlace,
}

impl Deref for CheckRequester {
    type Target = CheckCaller;

    fn deref(&self) -> &CheckCaller {
        &self.caller
    }
}

impl CheckRequester {
    /// Counts the items of a batch for the rates of checks. The request itself counted as the first.
    pub(crate) fn count_items(&self, app: &App, items: usize) -> Result<(), ApiError> {
        let more = u32::try_from(items.saturating_sub(1)).unwrap_or(u32::MAX);
        let of_caller = (self.caller.tenant(), self.caller.actor());
        limits::count_more(app, of_caller, self.address, more)
    }

    /// Verifies the caller, before its query is judged.
    async fn verified(
        parts: &mut Parts,
        app: &App,
        permission: Permission,
    ) -> Result<Self, ApiError> {
        match Credential::of(&app.mode, parts)? {
            Credential::Bearer(token) => {
                let holder = verified_token(app, parts, token).await?;
                let subject = &holder.identity.subject;
                let place = enter(app, parts, holder.tenant(), subject).await?;
                let caller = CheckCaller::Member(holder);
                Ok(Self { caller, address: limits::counted_address(app, parts), _place: place })
            }
            Credential::ServiceKey(key) => {
                let key = verified_key(app, parts, key).await?;
                let place = enter(app, parts, key.tenant(), key.actor()).await?;
                key.must_have(permission)?;
                let caller = CheckCaller::Key(key);
                Ok(Self { caller, address: limits::counted_address(app, parts), _place: place })
            }
            Credential::AdminKey(_) => Err(AuthError::CredentialRefused(
                "this route needs a bearer token or a service key, not the admin key".to_owned(),
            )
            .into()),
        }
    }
}

impl FromRequestParts<App> for CheckRequester {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let requester = Self::verified(parts, app, Permission::AccessEvaluate).await?;
        managed_domain::refuse(parts, "a check names its domain in the body, as `domain`")?;
        refuse_query_fault(parts)?;
        Ok(requester)
    }
}

/// A caller who may search: a member of a tenant, or a service key with `access:search`. The use case refuses members who
/// may not ask about the subject.
#[derive(Debug)]
pub(crate) struct SearchRequester(CheckRequester);

impl SearchRequester {
    /// Counts the candidates that a search looked at for the rates of checks.
    pub(crate) fn count_candidates(&self, app: &App, candidates: usize) {
        let caller = &self.0.caller;
        let of_caller = (caller.tenant(), caller.actor());
        limits::count_candidates(app, of_caller, self.0.address, candidates);
    }
}

impl Deref for SearchRequester {
    type Target = CheckCaller;

    fn deref(&self) -> &CheckCaller {
        &self.0
    }
}

impl FromRequestParts<App> for SearchRequester {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let requester = CheckRequester::verified(parts, app, Permission::AccessSearch).await?;
        managed_domain::refuse(parts, "the body names its domain, as `domain`")?;
        refuse_query_fault(parts)?;
        Ok(Self(requester))
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

impl TenantManager {
    /// Verifies the caller, before its query is judged.
    async fn verified(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let refuse = |what: &str| AuthError::CredentialRefused(what.to_owned());
        let token = match Credential::of(&app.mode, parts)? {
            Credential::Bearer(token) => token,
            Credential::ServiceKey(_) => return Err(refuse(NO_KEYS_BY_KEY).into()),
            Credential::AdminKey(_) => {
                return Err(refuse("this route needs a bearer token, not a key").into());
            }
        };
        let holder = verified_token(app, parts, token).await?;
        let place = enter(app, parts, holder.tenant(), &holder.identity.subject).await?;
        begin_write(parts)?;
        let domain = managed_domain::named(&app.mode, parts)?;
        let manager = holder.to_manager(domain, &app.manager_roles)?;
        // The tenant of the token is open; that of a named domain may be closed.
        app.closed_tenants.must_be_open(manager.tenant())?;
        Ok(Self { manager: of_request(app, parts, manager), place })
    }
}

impl FromRequestParts<App> for TenantManager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let manager = Self::verified(parts, app).await?;
        refuse_query_fault(parts)?;
        Ok(manager)
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
    /// Refuses a caller without the permissions that it needs for a request with this query.
    fn check(manager: &Manager, uri: &Uri) -> Result<(), AuthError>;
}

macro_rules! rights {
    ($($name:ident),*) => {$(
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl Right for $name {
            fn check(manager: &Manager, _: &Uri) -> Result<(), AuthError> {
                manager.must_have(Permission::$name)
            }
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
    EntitiesRead,
    EntitiesWrite,
    AuditRead
);

/// The right to send a bundle: some permission to write, or to read for a dry run. Which ones it needs is known when it is
/// read.
#[derive(Debug)]
pub(crate) enum BundleSend {}

impl Right for BundleSend {
    fn check(manager: &Manager, uri: &Uri) -> Result<(), AuthError> {
        let (policies, others) = match flag(uri, "dry_run") {
            Ok(true) => (Permission::PoliciesRead, &BUNDLE_READ[1..]),
            _ => (
                Permission::PoliciesWrite,
                &[
                    Permission::ResourcesWrite,
                    Permission::ResolversWrite,
                    Permission::WebhooksWrite,
                ][..],
            ),
        };
        if others.iter().any(|one| manager.must_have(*one).is_ok()) {
            return Ok(());
        }
        manager.must_have(policies)
    }
}

/// The permissions to read the content of a tenant.
const BUNDLE_READ: [Permission; 4] = [
    Permission::PoliciesRead,
    Permission::ResourcesRead,
    Permission::ResolversRead,
    Permission::WebhooksRead,
];

/// The right to read the whole content of a tenant.
#[derive(Debug)]
pub(crate) enum BundleRead {}

impl Right for BundleRead {
    fn check(manager: &Manager, _: &Uri) -> Result<(), AuthError> {
        BUNDLE_READ.into_iter().try_for_each(|one| manager.must_have(one))
    }
}

impl<R: Right> FromRequestParts<App> for Allowed<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let TenantManager { manager, place } = match Credential::of(&app.mode, parts)? {
            Credential::ServiceKey(key) => {
                let key = verified_key(app, parts, key).await?;
                managed_domain::refuse(parts, "a service key manages its own tenant alone")?;
                let place = enter(app, parts, key.tenant(), key.actor()).await?;
                begin_write(parts)?;
                TenantManager { manager: of_request(app, parts, key.manager()), place }
            }
            _ => TenantManager::verified(parts, app).await?,
        };
        R::check(&manager, &parts.uri)?;
        refuse_query_fault(parts)?;
        Ok(Self { manager, _place: place, right: PhantomData })
    }
}

/// Verifies a token.
async fn verified_token(
    app: &App,
    parts: &Parts,
    token: &str,
) -> Result<Arc<TokenHolder>, ApiError> {
    limits::refuse_if_full(app, parts)?;
    let now = app.clock.now();
    let verified = app.token_holder(token).await;
    verified.map_err(|error| limits::failed(app, parts, RefusedCredential::Token, now, error))
}

/// Verifies a service key, from memory if it is there.
async fn verified_key(app: &App, parts: &Parts, key: &str) -> Result<Arc<VerifiedKey>, ApiError> {
    limits::refuse_if_full(app, parts)?;
    let now = app.clock.now();
    let refuse = |error| limits::failed(app, parts, RefusedCredential::ServiceKey, now, error);
    let presented = parse_key(key).map_err(refuse)?;
    if let Some(verified) = key_holders::verify_cached(app, &presented, now) {
        return verified.map_err(refuse);
    }
    let lookup = limits::key_lookup(app, parts, key, now)?;
    let verified = key_holders::verify(app, &presented, now).await;
    drop(lookup);
    let verified = verified.map_err(refuse)?;
    app.limits.failures.proved(key);
    Ok(verified)
}

/// Counts a request of a verified caller and returns its place, which the handler holds until it has its answer.
async fn enter(
    app: &App,
    parts: &mut Parts,
    tenant: &str,
    actor: &str,
) -> Result<RequestPlace, ApiError> {
    charge_to(parts, tenant);
    limits::admit(app, parts, tenant, actor, app.clock.now()).await
}

/// Charges body and answer of a request to `tenant`, which sent it. The operator is the empty text.
fn charge_to(parts: &mut Parts, tenant: &str) {
    let account = MemoryAccount::for_tenant(tenant);
    charge_body_to(parts, account);
    recipient::charge_to(account);
}

/// Begins a request that may write, unless its method is safe.
fn begin_write(parts: &Parts) -> Result<(), ApiError> {
    if parts.method.is_safe() {
        return Ok(());
    }
    recipient::begin_write().map_err(|Spent| OperationError::no_room_for_answer().into())
}

/// Returns a manager with the request that it sent, for its audit records.
fn of_request(app: &App, parts: &Parts, manager: Manager) -> Manager {
    let deadline = deadline_of(&parts.extensions).instant();
    manager.with_request(limits::client_address(app, parts), request_id(parts), deadline)
}

/// Returns the id of the request.
fn request_id(parts: &Parts) -> Option<String> {
    parts.extensions.get().map(RequestId::text)
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
        let sent = match Credential::of(&app.mode, parts)? {
            Credential::AdminKey(key) | Credential::Bearer(key) => key,
            Credential::ServiceKey(_) => "",
        };
        let name = match &app.mode {
            Mode::Saas { admin_keys } => admin_keys.name_of(sent),
            Mode::Selfhost(_) | Mode::SingleTenant { .. } => None,
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
        // The header belongs to tenants of `selfhost` mode.
        managed_domain::named(&app.mode, parts)?;
        let address = limits::client_address(app, parts);
        let origin = origin.with_request(address, request_id(parts));
        charge_to(parts, "");
        let place = limits::admit_operator(app, now).await?;
        begin_write(parts)?;
        Ok(Self { origin, _place: place })
    }
}
