//! Extractors of callers: the type of a handler's parameter says which right the caller must have
//! (`docs/semantics.md`, section 6).

use std::iter;
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
use portcullis_model::decision::Via;
use portcullis_model::service_key::Permission;
use portcullis_operations::key_holders;
use portcullis_operations::recorded_checks::{LoggedRequest, RecordedRequest};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_traces::{caller_is_known, verification};
use tokio::time::Instant;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::SecurityRequirement;

use crate::credential::{Credential, not_for_operators};
use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;
use crate::query::{Query, QueryParameters, QueryReader, refuse_unknown};
use crate::request_context::RequestContext;
use crate::request_id::{ID_LENGTH, RequestId};
use crate::{limits, managed_domain, recipient};

/// The answer to a service key on the routes that manage service keys, which are all routes of a [`TenantManager`].
const NO_KEYS_BY_KEY: &str = "this route needs a bearer token, not a key; the command `portcullis keys` manages \
    service keys, too";

/// The answer to a service key that names a domain in the header.
const KEY_TENANT: &str = "a service key has its own tenant alone: leave the header out";

/// A caller with the right `R` to ask about decisions: a member of a tenant, or a service key with the permissions of `R`.
#[derive(Debug)]
pub struct Requester<R> {
    caller: CheckCaller,
    /// The client's address, if addresses have a rate of checks.
    address: Option<IpAddr>,
    /// The id of the request, if decisions are recorded.
    request_id: Option<RequestId>,
    place: Option<RequestPlace>,
    right: PhantomData<R>,
}

/// A caller who may request decisions.
pub type CheckRequester = Requester<AccessEvaluate>;

/// A caller who may search. The use case refuses members who may not ask about the subject.
pub type SearchRequester<R = AccessSearch> = Requester<R>;

impl<R> Deref for Requester<R> {
    type Target = CheckCaller;

    fn deref(&self) -> &CheckCaller {
        &self.caller
    }
}

impl<R> Requester<R> {
    /// Returns the request as records of its checks name it, with memory for the text of its id.
    pub fn recorded<'r>(&'r self, via: Via, id: &'r mut [u8; ID_LENGTH]) -> RecordedRequest<'r> {
        let own = self.request_id.as_ref();
        let log = own.map(|own| LoggedRequest { id: own.encode(id), began: Instant::now() });
        RecordedRequest { via, caller: &self.caller, log }
    }

    /// Counts the items of a batch for the rates of checks. The request itself counted as the first.
    pub fn count_items(&self, app: &App, items: usize) -> Result<(), ApiError> {
        let more = u32::try_from(items.saturating_sub(1)).unwrap_or(u32::MAX);
        let of_caller = (self.caller.tenant(), self.caller.actor());
        limits::count_more(app, of_caller, self.address, more)
    }

    /// Gives the place of the request back, before an answer that goes on.
    pub fn leave_place(&mut self) {
        self.place = None;
    }

    /// Counts the candidates that a search looked at for the rates of checks.
    pub fn count_candidates(&self, app: &App, candidates: usize) {
        let of_caller = (self.caller.tenant(), self.caller.actor());
        limits::count_candidates(app, of_caller, self.address, candidates);
    }
}

impl<R: Right> FromRequestParts<App> for Requester<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let request = RequestContext::find(&parts.extensions)?;
        let (caller, place) = admitted(parts, app, request).await?;
        managed_domain::refuse(
            parts,
            "the body names the domain, as `domain`, or as `context.domain` on AuthZEN routes",
        )?;
        must_have::<R>(&caller)?;
        refuse_unknown(parts)?;
        let address = limits::counted_address(app, request);
        let request_id = app.recorder.is_some().then(|| request.id.clone());
        Ok(Self { caller, address, request_id, place: Some(place), right: PhantomData })
    }
}

impl<R: Right> HandlerParameter for Requester<R> {
    fn describe(operation: &mut Operation) {
        by_token_or_key(operation, R::KEYS);
    }
}

/// Verifies a caller who asks about decisions, and takes a place. Requests without the right count for their rates, too.
async fn admitted(
    parts: &Parts,
    app: &App,
    request: &RequestContext,
) -> Result<(CheckCaller, RequestPlace), ApiError> {
    let caller = match Credential::from_parts(&app.mode, parts)? {
        Credential::Bearer(token) => {
            CheckCaller::Member(verified_token(app, request, token).await?)
        }
        Credential::ServiceKey(key) => CheckCaller::Key(verified_key(app, request, key).await?),
        Credential::AdminKey(_) => return Err(not_for_operators().into()),
    };
    let place = limits::admit(app, request, caller.tenant(), caller.actor()).await?;
    Ok((caller, place))
}

/// Refuses a service key without the permissions of `R`.
fn must_have<R: Right>(caller: &CheckCaller) -> Result<(), AuthError> {
    match caller {
        CheckCaller::Member(_) => Ok(()),
        CheckCaller::Key(key) => R::PERMISSIONS.iter().try_for_each(|one| key.must_have(*one)),
    }
}

/// A caller who may read recorded decisions: a member of a tenant those about itself, a manager those of the domain that the
/// request names, or of its own, and a service key those of its tenant.
#[derive(Debug)]
pub struct DecisionReader {
    caller: CheckCaller,
    _place: RequestPlace,
}

impl Deref for DecisionReader {
    type Target = CheckCaller;

    fn deref(&self) -> &CheckCaller {
        &self.caller
    }
}

impl FromRequestParts<App> for DecisionReader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let request = RequestContext::find(&parts.extensions)?;
        let (caller, place) = admitted(parts, app, request).await?;
        let caller = in_named_domain(parts, app, caller)?;
        must_have::<DecisionsRead>(&caller)?;
        refuse_unknown(parts)?;
        Ok(Self { caller, _place: place })
    }
}

impl HandlerParameter for DecisionReader {
    fn describe(operation: &mut Operation) {
        by_token_or_key(operation, DecisionsRead::KEYS);
    }
}

/// Returns the caller in the domain that the request names, or in its own.
fn in_named_domain(parts: &Parts, app: &App, caller: CheckCaller) -> Result<CheckCaller, ApiError> {
    let holder = match &caller {
        CheckCaller::Member(holder) => holder,
        CheckCaller::Key(_) => {
            managed_domain::refuse(parts, KEY_TENANT)?;
            return Ok(caller);
        }
    };
    let Some(domain) = managed_domain::named(&app.mode, parts)? else { return Ok(caller) };
    let holder = holder.in_domain(domain)?;
    app.closed_tenants.must_be_open(holder.tenant())?;
    Ok(CheckCaller::Member(holder))
}

/// A manager with a token, on a route that does not accept service keys.
#[derive(Debug)]
pub struct TenantManager {
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
    async fn verified(parts: &Parts, app: &App) -> Result<Self, ApiError> {
        let request = RequestContext::find(&parts.extensions)?;
        let token = match Credential::from_parts(&app.mode, parts)? {
            Credential::Bearer(token) => token,
            Credential::ServiceKey(_) => return Err(credential_refused(NO_KEYS_BY_KEY).into()),
            Credential::AdminKey(_) => {
                return Err(credential_refused("this route needs a bearer token, not a key").into());
            }
        };
        let holder = verified_token(app, request, token).await?;
        let place = limits::admit(app, request, holder.tenant(), &holder.identity.subject).await?;
        begin_write(parts)?;
        let domain = managed_domain::named(&app.mode, parts)?;
        let manager = holder.to_manager(domain, &app.manager_roles)?;
        // The tenant of the token is open; the tenant of a named domain may be closed.
        app.closed_tenants.must_be_open(manager.tenant())?;
        Ok(Self { manager: sent_with(manager, request), place })
    }
}

fn credential_refused(what: &str) -> AuthError {
    AuthError::CredentialRefused(what.to_owned())
}

impl FromRequestParts<App> for TenantManager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let manager = Self::verified(parts, app).await?;
        refuse_unknown(parts)?;
        Ok(manager)
    }
}

impl HandlerParameter for TenantManager {
    fn describe(operation: &mut Operation) {
        operation.security = Some(vec![scheme("bearer", &[])]);
    }
}

/// A manager with a token, or a service key with the permission of `R`.
#[derive(Debug)]
pub struct Allowed<R> {
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
pub trait Right: Send {
    /// The permissions that a service key needs.
    const PERMISSIONS: &'static [Permission];

    /// The permissions of each kind of service key that the right lets in, as the API document names them.
    const KEYS: &'static [&'static [Permission]] = &[Self::PERMISSIONS];

    /// Refuses a manager without the permissions that it needs for a request with this query.
    fn check(manager: &Manager, _: &Uri) -> Result<(), AuthError> {
        Self::PERMISSIONS.iter().try_for_each(|one| manager.must_have(*one))
    }
}

macro_rules! rights {
    ($($name:ident),*) => {$(
        #[derive(Debug)]
        pub enum $name {}

        impl Right for $name {
            const PERMISSIONS: &'static [Permission] = &[Permission::$name];
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
    RelationsRead,
    RelationsWrite,
    AuditRead,
    DecisionsRead,
    DecisionsWrite,
    AccessEvaluate,
    AccessSearch
);

/// The right to search, and to see the conditions of policies.
#[derive(Debug)]
pub enum ConditionSearch {}

impl Right for ConditionSearch {
    const PERMISSIONS: &'static [Permission] =
        &[Permission::AccessSearch, Permission::PoliciesRead];
}

/// The right to decide recorded decisions again.
#[derive(Debug)]
pub enum ReplayRun {}

impl Right for ReplayRun {
    const PERMISSIONS: &'static [Permission] =
        &[Permission::DecisionsRead, Permission::PoliciesRead];
}

/// The right to send a bundle: some permission to write, or to read for a dry run. Which ones it needs is known when it is
/// read.
#[derive(Debug)]
pub enum BundleSend {}

impl Right for BundleSend {
    const PERMISSIONS: &'static [Permission] = &[Permission::PoliciesWrite];

    const KEYS: &'static [&'static [Permission]] = &[
        Self::PERMISSIONS,
        &[Permission::ResourcesWrite],
        &[Permission::ResolversWrite],
        &[Permission::WebhooksWrite],
    ];

    fn check(manager: &Manager, uri: &Uri) -> Result<(), AuthError> {
        let (policies, kinds) = match Query::read(uri) {
            Ok(DryRun(true)) => (Permission::PoliciesRead, BundleRead::PERMISSIONS.to_vec()),
            _ => (Permission::PoliciesWrite, Self::KEYS.concat()),
        };
        if kinds.iter().any(|one| manager.must_have(*one).is_ok()) {
            return Ok(());
        }
        manager.must_have(policies)
    }
}

/// The right to restore a revision: to write policies, or to read them for a dry run. Whatever else the restoration changes
/// needs its own right.
#[derive(Debug)]
pub enum Restoration {}

impl Right for Restoration {
    const PERMISSIONS: &'static [Permission] = &[Permission::PoliciesWrite];

    fn check(manager: &Manager, uri: &Uri) -> Result<(), AuthError> {
        manager.must_have(match Query::read(uri) {
            Ok(DryRun(true)) => Permission::PoliciesRead,
            _ => Permission::PoliciesWrite,
        })
    }
}

/// The right to read the whole content of a tenant.
#[derive(Debug)]
pub enum BundleRead {}

impl Right for BundleRead {
    const PERMISSIONS: &'static [Permission] = &[
        Permission::PoliciesRead,
        Permission::ResourcesRead,
        Permission::ResolversRead,
        Permission::WebhooksRead,
    ];
}

/// Whether a bundle is only planned.
#[derive(Clone, Copy, Debug)]
pub struct DryRun(pub bool);

impl QueryParameters for DryRun {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        query.flag("dry_run", "Whether only the plan is made").map(Self)
    }
}

impl<R: Right> FromRequestParts<App> for Allowed<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let TenantManager { manager, place } = match Credential::from_parts(&app.mode, parts)? {
            Credential::ServiceKey(key) => {
                let request = RequestContext::find(&parts.extensions)?;
                let key = verified_key(app, request, key).await?;
                managed_domain::refuse(parts, KEY_TENANT)?;
                let place = limits::admit(app, request, key.tenant(), key.actor()).await?;
                begin_write(parts)?;
                TenantManager { manager: sent_with(key.manager(), request), place }
            }
            Credential::AdminKey(_) => return Err(not_for_operators().into()),
            Credential::Bearer(_) => TenantManager::verified(parts, app).await?,
        };
        // After the place, so that requests without the right count for their rates, too.
        R::check(&manager, &parts.uri)?;
        refuse_unknown(parts)?;
        Ok(Self { manager, _place: place, right: PhantomData })
    }
}

impl<R: Right> HandlerParameter for Allowed<R> {
    fn describe(operation: &mut Operation) {
        by_token_or_key(operation, R::KEYS);
    }
}

/// Describes a route for a token, or for a service key with the permissions of one of `keys`.
fn by_token_or_key(operation: &mut Operation, keys: &[&[Permission]]) {
    let keys = keys.iter().map(|permissions| scheme("serviceKey", permissions));
    operation.security = Some(iter::once(scheme("bearer", &[])).chain(keys).collect());
}

/// Returns a credential that serves, as the API document names it.
fn scheme(name: &str, permissions: &[Permission]) -> SecurityRequirement {
    SecurityRequirement::new(name, permissions.iter().map(|one| one.into_str()))
}

/// Verifies a token.
async fn verified_token(
    app: &App,
    request: &RequestContext,
    token: &str,
) -> Result<Arc<TokenHolder>, ApiError> {
    limits::refuse_if_full(app, request)?;
    let now = app.clock.now();
    let verified = verification("token", app.token_holder(token)).await;
    verified.map_err(|error| limits::failed(app, request, RefusedCredential::Token, now, error))
}

/// Verifies a service key, from memory if it is there.
async fn verified_key(
    app: &App,
    request: &RequestContext,
    key: &str,
) -> Result<Arc<VerifiedKey>, ApiError> {
    limits::refuse_if_full(app, request)?;
    let now = app.clock.now();
    let refuse = |error| limits::failed(app, request, RefusedCredential::ServiceKey, now, error);
    // The text has a checksum: a mistyped key costs no lookup.
    let presented = parse_key(key).map_err(refuse)?;
    if let Some(verified) = key_holders::verify_cached(app, &presented, now) {
        let verified = verified.map_err(refuse)?;
        // `verification` says so of a key that is looked up.
        caller_is_known();
        return Ok(verified);
    }
    let lookup = limits::lookup(app, request, (RefusedCredential::ServiceKey, key), now)?;
    let verified = verification("service key", key_holders::verify(app, &presented, now)).await;
    drop(lookup);
    let verified = verified.map_err(refuse)?;
    // From now on even an address beyond its limit may look this key up.
    app.limits.failures.proved(key);
    Ok(verified)
}

/// Begins a request that may write, unless its method is safe.
fn begin_write(parts: &Parts) -> Result<(), ApiError> {
    if parts.method.is_safe() {
        return Ok(());
    }
    recipient::begin_write().map_err(|Spent| OperationError::no_room_for_answer().into())
}

/// Returns a manager with the request that it sent, for its audit records.
fn sent_with(manager: Manager, request: &RequestContext) -> Manager {
    let RequestContext { address, id, deadline, .. } = request;
    manager.with_request(*address, Some(id.text()), deadline.instant())
}

/// The operator, with an admin key.
#[derive(Debug)]
pub struct Admin {
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
        let request = RequestContext::find(&parts.extensions)?;
        let sent = match Credential::from_parts(&app.mode, parts)? {
            Credential::AdminKey(key) | Credential::Bearer(key) => key,
            // A service key counts as no admin key, and as a failed authentication.
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
                let error = credential_refused(
                    "this route needs the admin key, in the header `X-Admin-Api-Key`",
                );
                return Err(limits::failed(app, request, RefusedCredential::AdminKey, now, error));
            }
        };
        caller_is_known();
        // The header belongs to tenants of `selfhost` mode.
        managed_domain::named(&app.mode, parts)?;
        let origin = origin.with_request(request.address, Some(request.id.text()));
        // The operator has an account of its own, so that no tenant pays for its answers.
        recipient::charge_to(MemoryAccount::for_tenant(""));
        let place = limits::admit_operator(app, now).await?;
        begin_write(parts)?;
        Ok(Self { origin, _place: place })
    }
}

impl HandlerParameter for Admin {
    fn describe(operation: &mut Operation) {
        operation.security = Some(vec![scheme("adminKey", &[]), scheme("adminBearer", &[])]);
    }
}
