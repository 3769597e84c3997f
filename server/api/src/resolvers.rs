//! Attribute resolvers (`docs/semantics.md`, section 5.11).

mod change;
mod try_out;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue};
use portcullis_http::callers::{Allowed, ResolversRead, ResolversWrite};
use portcullis_http::error::ApiError;
use portcullis_http::etag;
use portcullis_http::force::Terms;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::RecordId;
use portcullis_http::query::Query;
use portcullis_http::respond::{created, deleted, revision_header};
use portcullis_http::text_answer::Json;
use portcullis_http::upload::{ChangeUpload, NewUpload, Upload};
use portcullis_model::resolver::{Manifest, ManifestUpdate, ResolverRecord};
use portcullis_operations::resolvers::{self, FoundResolver};
use portcullis_runtime::app::App;

use crate::openapi::{Conflict, Deleted, PreconditionFailed, QuotaExceeded};
use change::ChangeBody;
pub(super) use try_out::*;

/// Says when other replicas load a resolver.
const REPLICAS_LOAD: HeaderName = HeaderName::from_static("x-replicas-load");
/// They load it when a check first needs it.
const ON_FIRST_USE: HeaderValue = HeaderValue::from_static("on-first-use");

/// Creates a resolver.
///
/// The module is compiled, its imports and exports are checked, and it describes itself: what cannot work is refused.
#[utoipa::path(
    post, path = "/api/v1/resolvers", tag = "Resolvers", operation_id = "createResolver",
    request_body(content = NewUpload, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "The record", body = ResolverRecord,
            headers(("ETag"), ("Location"), ("X-Policy-Revision"), ("X-Replicas-Load"))),
        Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<ResolversWrite>,
    upload: Upload,
) -> Result<Response, ApiError> {
    let ready_by = upload.deadline().instant();
    let parts = upload.read(&app.uploads, caller.tenant()).await?;
    let (module, manifest) = parts.complete(|json| Manifest::parse(json, &app.egress.rules))?;
    let written = resolvers::create(&app, &caller, &manifest, module, ready_by).await?;
    let (stored, revision) = (written.record, written.revision);
    let location = format!("/api/v1/resolvers/{}", stored.id);
    // Of what is stored: the status in the record differs between processes.
    let tag = etag::header(&stored);
    let record = app.resolvers.record(stored);
    Ok((replicas_load(&app), tag, created(revision, &location, record)).into_response())
}

/// Returns the header that says when other replicas load the written resolver; none where there is one process.
fn replicas_load(app: &App) -> Option<[(HeaderName, HeaderValue); 1]> {
    app.store.may_have_replicas().then_some([(REPLICAS_LOAD, ON_FIRST_USE)])
}

/// Lists the tenant's resolvers, and those that the operator installed.
#[utoipa::path(
    get, path = "/api/v1/resolvers", tag = "Resolvers", operation_id = "listResolvers",
    responses((status = 200, description = "A page", body = [ResolverRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<ResolversRead>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("resolvers", caller.tenant(), "")?;
    let records = resolvers::list(&app, &caller, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Shows a resolver.
#[utoipa::path(
    get, path = "/api/v1/resolvers/{id}", tag = "Resolvers", operation_id = "getResolver",
    responses((status = 200, description = "The record", body = ResolverRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<ResolversRead>,
    id: RecordId,
) -> Result<Response, ApiError> {
    let found = resolvers::show(&app, &caller, id.known("resolver")?).await?;
    Ok(match found {
        FoundResolver::Operator(record) => Json(record).into_response(),
        FoundResolver::Own(stored) => {
            let tag = etag::header(&stored);
            (tag, Json(app.resolvers.record(*stored))).into_response()
        }
    })
}

/// Updates a resolver.
///
/// Members that the body leaves out stay; `secrets`, like every other member, is replaced as a whole. A new module takes the
/// place of the old one at once, and calls in flight finish on the old one. What enabled policies read must stay.
#[utoipa::path(
    put, path = "/api/v1/resolvers/{id}", tag = "Resolvers", operation_id = "updateResolver",
    request_body(content(
        (ManifestUpdate = "application/json"),
        (ChangeUpload = "multipart/form-data"),
    )),
    responses(
        (status = 200, description = "The record", body = ResolverRecord,
            headers(("ETag"), ("X-Policy-Revision"), ("X-Replicas-Load"))),
        Conflict, PreconditionFailed, QuotaExceeded,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<ResolversWrite>,
    id: RecordId,
    Terms(terms): Terms,
    body: ChangeBody,
) -> Result<Response, ApiError> {
    let ready_by = body.deadline().instant();
    let change = body.read(&app, caller.tenant()).await?;
    let id = id.known("resolver")?;
    let written = resolvers::update(&app, &caller, id, &terms, &change, ready_by).await?;
    let (stored, revision) = (written.record, written.revision);
    let tag = etag::header(&stored);
    let record = app.resolvers.record(stored);
    Ok((replicas_load(&app), revision_header(revision), tag, Json(record)).into_response())
}

/// Deletes a resolver, and its module.
///
/// Not while an enabled policy reads its namespace: `details.policy_ids` names those that do.
#[utoipa::path(
    delete,
    path = "/api/v1/resolvers/{id}",
    tag = "Resolvers",
    operation_id = "deleteResolver",
    responses(Deleted, Conflict, PreconditionFailed)
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<ResolversWrite>,
    id: RecordId,
    Terms(terms): Terms,
) -> Result<Response, ApiError> {
    let id = id.known("resolver")?;
    Ok(deleted(resolvers::delete(&app, &caller, id, &terms).await?))
}
