//! Attribute resolvers (`docs/semantics.md`, section 5.11).

mod change;
mod tryout;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri};
use portcullis_engine::Invalid;
use portcullis_resolver_host::limits::MODULE_BYTES;
use portcullis_resolver_host::{CallError, GrantError as Unfit, LoadError, Module};
use std::sync::Arc;
use uuid::Uuid;

use super::deadline::Deadline;
use super::etag::{self, IfMatch};
use super::openapi::{Conflict, PreconditionFailed};
use super::paging::{self, Requested};
use super::upload::{ChangeUpload, Incoming, NewUpload};
use super::{RecordId, created, revision_header};
use crate::callers::{Allowed, ResolversRead, ResolversWrite};
use crate::error::ApiError;
use change::Change;
use portcullis_model::resolver::{Manifest, ManifestUpdate, ResolverRecord, StoredResolver};
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_resolvers::{
    BindError, Bound, is_ours, module_record, namespaces, sealing, standing,
};
use portcullis_storage::resolvers;
pub(super) use tryout::*;

const NOT_FOUND: OperationError = OperationError::NotFound("resolver");
/// Resolvers of a tenant. Each takes memory for as long as the service runs.
const MAX_RESOLVERS: usize = 64;

/// Creates a resolver.
///
/// The module is compiled, its imports and exports are checked, and it describes itself: what cannot work is refused.
#[utoipa::path(
    post, path = "/api/v1/resolvers", tag = "Resolvers", operation_id = "createResolver",
    security(("bearer" = []), ("serviceKey" = ["resolvers:write"])),
    request_body(content = NewUpload, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "The record", body = ResolverRecord,
            headers(("ETag"), ("Location"), ("X-Policy-Revision"))),
        Conflict,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<ResolversWrite>,
    upload: Incoming,
) -> Result<Response, ApiError> {
    let deadline = upload.deadline;
    let upload = upload.read(&app.uploads, caller.tenant()).await?;
    let (module, manifest) = upload.complete(|json| Manifest::parse(json, &app.egress.rules))?;
    let admitted = admit(&app, caller.tenant(), module.clone(), deadline).await?;
    let by = app.authored_by(caller.actor());
    let (id, about) = (app.ids.next(by.at), module_record(&admitted));
    let record = StoredResolver::new(id, caller.tenant(), &manifest, about, &by);
    let stored = store(&app, &record, &manifest, &module, admitted).await;
    if stored.is_err() {
        app.resolvers.forget_module(&record.module.sha256).await;
    }
    let revision = stored?;
    let location = format!("/api/v1/resolvers/{id}");
    let tag = etag::header(&record);
    Ok((tag, created(revision, &location, shown(&app, record))).into_response())
}

/// Stores a new resolver, puts it into service, and gives the tenant's revision.
async fn store(
    app: &App,
    record: &StoredResolver,
    manifest: &Manifest,
    bytes: &[u8],
    module: Arc<Module>,
) -> Result<u64, ApiError> {
    let bound = bind(app, &record.tenant_id, module, manifest, "/manifest")?;
    let secrets = sealing::seal(&app.keys, record, &manifest.secrets)?;
    let mut tx = app.store.write(&record.tenant_id, record.created_at.millis()).await?;
    if resolvers::list(&mut tx).await?.len() >= MAX_RESOLVERS {
        let what = format!("there are {MAX_RESOLVERS} resolvers already, which is the most");
        return Err(OperationError::Conflict(what).into());
    }
    let is_free = !is_installed(app, &manifest.namespace)
        && resolvers::insert(&mut tx, record, &secrets, bytes).await?;
    if !is_free {
        return Err(taken(&manifest.namespace));
    }
    let revision = app.commit(tx).await?;
    app.resolvers.put(&record.tenant_id, record.reference(), bound);
    Ok(revision)
}

/// Lists the tenant's resolvers, and those that the operator installed.
#[utoipa::path(
    get, path = "/api/v1/resolvers", tag = "Resolvers", operation_id = "listResolvers",
    security(("bearer" = []), ("serviceKey" = ["resolvers:read"])), params(Requested),
    responses((status = 200, description = "A page", body = [ResolverRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<ResolversRead>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = paging::requested(&uri, "resolvers", caller.tenant(), "")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let own = resolvers::list(&mut tx).await?;
    tx.end().await?;
    let own = own.into_iter().map(|record| shown(&app, record));
    // The ids of the operator's come before all others.
    let all = standing::installed(&app.resolvers, caller.tenant()).into_iter().chain(own);
    let fetch = page.fetch();
    let most = usize::try_from(fetch.limit).unwrap_or(usize::MAX);
    let records = all.filter(|record| record.id > fetch.after).take(most).collect();
    Ok(page.respond(records, |record| record.id))
}

/// Shows a resolver.
#[utoipa::path(
    get, path = "/api/v1/resolvers/{id}", tag = "Resolvers", operation_id = "getResolver",
    security(("bearer" = []), ("serviceKey" = ["resolvers:read"])), params(RecordId),
    responses((status = 200, description = "The record", body = ResolverRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<ResolversRead>,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("resolver")?;
    if let Some(record) = installed(&app, caller.tenant(), id) {
        return Ok(Json(record).into_response());
    }
    let mut tx = app.store.read(caller.tenant()).await?;
    let record = resolvers::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    tx.end().await?;
    Ok((etag::header(&record), Json(shown(&app, record))).into_response())
}

/// Updates a resolver.
///
/// What the body leaves out stays; `secrets`, like every other member, is replaced as a whole. A new module takes the
/// place of the old one at once, and calls in flight finish on the old one. What enabled policies read must stay.
#[utoipa::path(
    put, path = "/api/v1/resolvers/{id}", tag = "Resolvers", operation_id = "updateResolver",
    security(("bearer" = []), ("serviceKey" = ["resolvers:write"])), params(RecordId, IfMatch),
    request_body(content(
        (ManifestUpdate = "application/json"),
        (ChangeUpload = "multipart/form-data"),
    )),
    responses(
        (status = 200, description = "The record", body = ResolverRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        Conflict,
        PreconditionFailed,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<ResolversWrite>,
    id: RecordId,
    headers: HeaderMap,
    change: Change,
) -> Result<Response, ApiError> {
    let change = change.read(&app, caller.tenant()).await?;
    let id = id.known("resolver")?;
    must_be_own(&app, caller.tenant(), id)?;
    let by = app.authored_by(caller.actor());
    let (record, revision) = change.make(&app, caller.tenant(), id, &headers, &by).await?;
    let tag = etag::header(&record);
    Ok((revision_header(revision), tag, Json(shown(&app, record))).into_response())
}

/// Deletes a resolver, and its module.
///
/// Not while an enabled policy reads its namespace: `details.policy_ids` names those that do.
#[utoipa::path(
    delete, path = "/api/v1/resolvers/{id}", tag = "Resolvers", operation_id = "deleteResolver",
    security(("bearer" = []), ("serviceKey" = ["resolvers:write"])), params(RecordId, IfMatch),
    responses(
        (status = 204, description = "It is gone", headers(("X-Policy-Revision"))),
        Conflict,
        PreconditionFailed,
    ),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<ResolversWrite>,
    id: RecordId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = id.known("resolver")?;
    must_be_own(&app, caller.tenant(), id)?;
    let now = app.clock.now().timestamp_millis();
    let mut tx = app.store.write(caller.tenant(), now).await?;
    let record = resolvers::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    etag::check(&headers, &record)?;
    let namespace = &record.manifest.namespace;
    let readers = namespaces::readers(&mut tx, namespace).await?;
    if !readers.is_empty() {
        let what = format!("enabled policies read `{namespace}`: disable or delete them first");
        return Err(OperationError::StillRead(what, readers).into());
    }
    resolvers::delete(&mut tx, id).await?;
    let revision = app.commit(tx).await?;
    app.resolvers.remove(caller.tenant(), id);
    app.resolvers.forget_module(&record.module.sha256).await;
    Ok((StatusCode::NO_CONTENT, revision_header(revision)).into_response())
}

/// Compiles a module, and has it describe itself; none of that in a transaction.
async fn admit(
    app: &App,
    tenant: &str,
    module: Bytes,
    deadline: Deadline,
) -> Result<Arc<Module>, ApiError> {
    let admitted = deadline.bound(app.resolvers.admit_module(tenant, module)).await;
    admitted.ok_or_else(still_compiling)?.map_err(not_admitted)
}

/// Nothing may be written any more: whoever waits is about to be told that it failed.
fn still_compiling() -> ApiError {
    let what = "the module is still being compiled, and nothing was written; try again later, which will be quick once \
                it is compiled";
    OperationError::NotNow(what.to_owned()).into()
}

fn not_admitted(error: Arc<LoadError>) -> ApiError {
    match &*error {
        LoadError::Slow(_) => {
            OperationError::Unavailable("the compiler of modules", error.into()).into()
        }
        LoadError::Describe(CallError::Busy(_)) => {
            OperationError::Unavailable("an instance for the module", error.into()).into()
        }
        LoadError::TooLarge(_) => ApiError::PayloadTooLarge(MODULE_BYTES),
        ours if is_ours(ours) => OperationError::Internal(error.into()).into(),
        theirs => Invalid::expected("/module", format!("a resolver, but {theirs}")).into(),
    }
}

/// Gives a module what `manifest`, which stands at the JSON pointer `at`, has for it.
fn bind(
    app: &App,
    tenant: &str,
    module: Arc<Module>,
    manifest: &Manifest,
    at: &str,
) -> Result<Bound, ApiError> {
    app.resolvers.bind(tenant, module, manifest).map_err(|error| {
        let path = match &error {
            BindError::Module(Unfit::MissingKey(_) | Unfit::UnknownKey(_)) => "/config",
            BindError::Module(Unfit::MissingEndpoint(_)) | BindError::Header(_) => "/endpoints",
            BindError::Module(Unfit::Limit(_)) => "/limits",
        };
        Invalid::expected(path, format!("what the module needs, but {error}")).under(at).into()
    })
}

/// Whether the operator has a resolver of this namespace.
fn is_installed(app: &App, namespace: &str) -> bool {
    app.resolvers.installed().iter().any(|installed| installed.namespace == namespace)
}

fn taken(namespace: &str) -> ApiError {
    OperationError::Conflict(format!("there is a resolver of the namespace `{namespace}` already"))
        .into()
}

fn shown(app: &App, record: StoredResolver) -> ResolverRecord {
    let doing = standing::of_tenant(&app.resolvers, &record);
    ResolverRecord::of_tenant(record, doing)
}

/// The operator's resolver of this id, as `tenant` sees it.
fn installed(app: &App, tenant: &str, id: Uuid) -> Option<ResolverRecord> {
    standing::installed(&app.resolvers, tenant).into_iter().find(|record| record.id == id)
}

/// Refuses to change what the operator installed; it is there for all to see.
fn must_be_own(app: &App, tenant: &str, id: Uuid) -> Result<(), ApiError> {
    match installed(app, tenant, id) {
        None => Ok(()),
        Some(_) => {
            let what = "the operator installed this resolver: it can be read, and nothing else";
            Err(OperationError::AccessDenied(what.to_owned()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_condition_of_the_host_is_no_fault_of_the_module() {
        let busy = CallError::Busy(Duration::from_secs(120));
        let (slow, late) = (Duration::from_secs(120), CallError::TimedOut(Duration::from_secs(5)));
        for (error, status) in [
            (LoadError::Describe(busy), StatusCode::SERVICE_UNAVAILABLE),
            (LoadError::Slow(slow), StatusCode::SERVICE_UNAVAILABLE),
            (LoadError::Describe(CallError::Host), StatusCode::INTERNAL_SERVER_ERROR),
            (LoadError::Host, StatusCode::INTERNAL_SERVER_ERROR),
            (LoadError::TooLarge(MODULE_BYTES + 1), StatusCode::PAYLOAD_TOO_LARGE),
            (LoadError::Describe(late), StatusCode::BAD_REQUEST),
            (LoadError::Compile("a fault".to_owned()), StatusCode::BAD_REQUEST),
        ] {
            let told = error.to_string();
            let response = not_admitted(Arc::new(error)).into_response();
            assert_eq!(response.status(), status, "{told}");
        }
    }

    #[test]
    fn whoever_has_no_more_time_is_told_to_come_again() {
        let response = still_compiling().into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(response.headers().contains_key(http::header::RETRY_AFTER));
    }
}
