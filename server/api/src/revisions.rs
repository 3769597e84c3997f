//! The history of a tenant: its revisions, and what they changed (`docs/semantics.md`, section 16).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, DryRun, PoliciesRead, Restoration};
use portcullis_http::deadline::Deadline;
use portcullis_http::error::ApiError;
use portcullis_http::etag::IfMatch;
use portcullis_http::handler_parameters::add;
use portcullis_http::paging::{CursorKey, PageQuery, Requested};
use portcullis_http::parameters::{digits, parameter};
use portcullis_http::path::{PathSegments, RecordId, Segments};
use portcullis_http::query::Query;
use portcullis_http::text_answer::Json;
use portcullis_model::apply::ApplyAnswer;
use portcullis_model::input::DeclaredBody;
use portcullis_model::revision::{
    RecordRevision, RestoreBody, RevisionDetail, RevisionDiff, RevisionRecord,
};
use portcullis_model::schema;
use portcullis_operations::apply::{self, Replacement};
use portcullis_operations::revisions::{self, ChangesPage, Sides};
use portcullis_runtime::app::App;
use serde::Deserialize;
use utoipa::openapi::path::{Operation, ParameterIn};

use crate::apply::answered;
use crate::openapi::{Conflict, PreconditionFailed, QuotaExceeded};

/// The number of a revision in a path. Text that is not a number is a revision that no tenant has.
#[derive(Debug, Deserialize)]
pub(super) struct RevisionPath {
    n: String,
}

impl RevisionPath {
    fn known(&self) -> Result<u64, ApiError> {
        known(&self.n)
    }
}

impl PathSegments for RevisionPath {
    fn describe(operation: &mut Operation) {
        add(operation, [number("n", "The revision")]);
    }
}

/// The numbers of two revisions in a path.
#[derive(Debug, Deserialize)]
pub(super) struct DiffPath {
    a: String,
    b: String,
}

impl PathSegments for DiffPath {
    fn describe(operation: &mut Operation) {
        let about = "The revision that is compared, earlier or later";
        add(operation, [number("a", "The revision that it is compared with"), number("b", about)]);
    }
}

fn number(name: &str, about: &str) -> utoipa::openapi::path::Parameter {
    parameter(ParameterIn::Path, name, schema::integer(0, i64::MAX), about)
}

/// Returns the number, or the 404 that any unknown revision gets.
fn known(text: &str) -> Result<u64, ApiError> {
    digits(text).ok_or_else(|| ApiError::not_found("revision"))
}

/// The place of a revision in a list that begins with the newest.
#[derive(Debug)]
pub(super) struct Before(u64, [u8; 8]);

impl Default for Before {
    fn default() -> Self {
        // Before every revision there can be, so that the list begins with the newest.
        Self::new(u64::MAX)
    }
}

impl Before {
    fn new(revision: u64) -> Self {
        Self(revision, revision.to_be_bytes())
    }
}

impl CursorKey for Before {
    fn bytes(&self) -> &[u8] {
        &self.1
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self::new(u64::from_be_bytes(bytes.try_into().ok()?)))
    }
}

/// Lists the revisions of the tenant, newest first.
#[utoipa::path(
    get, path = "/api/v1/revisions", tag = "History", operation_id = "listRevisions",
    responses((status = 200, description = "A page", body = [RevisionRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Query(page): Query<PageQuery<Before>>,
) -> Result<Response, ApiError> {
    let page = page.in_list("revisions", caller.tenant(), "")?;
    let listed = revisions::list(&app, &caller, page.after().0, page.limit()).await?;
    Ok(page.respond(listed, |record| Before::new(record.revision)))
}

/// Shows a revision, and what it changed.
///
/// Changes come in pages: while `complete` is `false`, `next` is the `cursor` of the next page.
#[utoipa::path(
    get, path = "/api/v1/revisions/{n}", tag = "History", operation_id = "getRevision",
    responses((status = 200, description = "The revision", body = RevisionDetail)),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Segments(path): Segments<RevisionPath>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let revision = path.known()?;
    let page = page.in_list("revision", caller.tenant(), &path.n)?;
    let mut detail = revisions::get(&app, &caller, revision, changes(&page)).await?;
    detail.changes.next = detail.changes.next.map(|place| page.cursor(&place));
    Ok(Json(detail).into_response())
}

/// Shows what differs between two revisions.
///
/// Changes come in pages: while `complete` is `false`, `next` is the `cursor` of the next page.
#[utoipa::path(
    get, path = "/api/v1/revisions/{a}/diff/{b}", tag = "History", operation_id = "diffRevisions",
    responses((status = 200, description = "The changes from `a` to `b`", body = RevisionDiff)),
)]
pub(super) async fn diff(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Segments(DiffPath { a, b }): Segments<DiffPath>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let sides = Sides { from: known(&a)?, to: known(&b)? };
    let page = page.in_list("diff", caller.tenant(), &format!("{sides:?}"))?;
    let mut diff = revisions::diff(&app, &caller, sides, changes(&page)).await?;
    diff.changes.next = diff.changes.next.map(|place| page.cursor(&place));
    Ok(Json(diff).into_response())
}

/// Makes the content of the tenant that of an earlier revision, or plans it.
///
/// Rules, policies, resources, roles, types, manifests of resolvers, settings and cases come back with their ids, as one new
/// revision. Entities, relations, keys and secrets stay as they are. The gates of the tenant judge it as they judge an apply.
/// `If-Match` takes the present revision in quotes. The body may be left out.
#[utoipa::path(
    post, path = "/api/v1/revisions/{n}/restore", tag = "History", operation_id = "restoreRevision",
    request_body = RestoreBody,
    responses(
        (status = 200, description = "The plan, and whether it was carried out", body = ApplyAnswer,
            headers(("X-Policy-Revision"))),
        Conflict, PreconditionFailed, QuotaExceeded,
    ),
)]
pub(super) async fn restore(
    State(app): State<App>,
    caller: Allowed<Restoration>,
    Segments(path): Segments<RevisionPath>,
    IfMatch(precondition): IfMatch,
    Query(DryRun(dry_run)): Query<DryRun>,
    deadline: Deadline,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let revision = path.known()?;
    let body = match body.is_empty() {
        true => RestoreBody::default(),
        false => RestoreBody::parse(&body.parse()?)?,
    };
    let message = body.message.as_deref();
    let past = Replacement::Revision { revision, precondition: &precondition, message };
    Ok(answered(apply::replace(&app, &caller, past, dry_run, deadline.instant()).await?))
}

fn changes(page: &Requested<String>) -> ChangesPage<'_> {
    ChangesPage { after: page.after(), limit: page.limit() }
}

/// Lists the revisions that changed a policy, newest first. The policy may be deleted.
#[utoipa::path(
    get, path = "/api/v1/abac/policies/{id}/history", tag = "History", operation_id = "getPolicyHistory",
    responses((status = 200, description = "A page", body = [RecordRevision], headers(("Link")))),
)]
pub(super) async fn for_policy(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    id: RecordId,
    Query(page): Query<PageQuery<Before>>,
) -> Result<Response, ApiError> {
    let id = id.known("policy")?;
    let page = page.in_list("policy-history", caller.tenant(), &id.to_string())?;
    let listed = revisions::for_policy(&app, &caller, id, page.after().0, page.limit()).await?;
    Ok(page.respond(listed, |record| Before::new(record.revision.revision)))
}
