//! ABAC policies (`docs/semantics.md`, section 4.1).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, PoliciesRead, PoliciesWrite};
use portcullis_http::error::ApiError;
use portcullis_http::etag;
use portcullis_http::force::Terms;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::RecordId;
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_http::respond::{created, deleted, revision_header, tagged};
use portcullis_http::text_answer::Json;
use portcullis_model::policy::{NewPolicy, PolicyRecord, PolicyUpdate};
use portcullis_model::warning::Warning;
use portcullis_operations::policies::{self, PolicyFilter};
use portcullis_operations::written::Written;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::openapi::{Conflict, Deleted, PreconditionFailed, QuotaExceeded};

/// A written policy, and the warnings about it.
#[derive(Serialize, ToSchema)]
struct WrittenPolicy {
    #[serde(flatten)]
    record: PolicyRecord,
    /// Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// Creates a policy.
///
/// The condition is compiled. A condition that does not compile is refused, each fault by JSON pointer.
#[utoipa::path(
    post, path = "/api/v1/abac/policies", tag = "ABAC policies", operation_id = "createPolicy",
    request_body = NewPolicy,
    responses(
        (status = 201, description = "The record", body = WrittenPolicy,
            headers(("ETag"), ("Location"), ("X-Policy-Revision"))),
        QuotaExceeded,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let written = policies::create(&app, &caller, move || {
        Ok::<_, ApiError>(NewPolicy::parse(&body.parse()?)?)
    });
    let Written { record, revision, warnings } = written.await?;
    let location = format!("/api/v1/abac/policies/{}", record.id);
    let tag = etag::header(&record);
    let answer = WrittenPolicy { record, warnings };
    Ok((tag, created(revision, &location, answer)).into_response())
}

/// Lists the tenant's policies.
#[utoipa::path(
    get, path = "/api/v1/abac/policies", tag = "ABAC policies", operation_id = "listPolicies",
    responses((status = 200, description = "A page", body = [PolicyRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Query(PolicyQuery(filter)): Query<PolicyQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let cursor_of = format!("{filter:?}");
    let page = page.in_list("policies", caller.tenant(), &cursor_of)?;
    let records = policies::list(&app, &caller, &filter, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// The policies that a list shows.
pub(super) struct PolicyQuery(PolicyFilter);

impl QueryParameters for PolicyQuery {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let resource = "Only policies with this `resource`, character by character";
        Ok(Self(PolicyFilter {
            resource: query.text("resource", resource)?,
            effect: query.effect("Only policies of this effect")?,
            name_part: query.text("q", "Only policies whose name has this text, in any case")?,
        }))
    }
}

/// Shows a policy.
#[utoipa::path(
    get, path = "/api/v1/abac/policies/{id}", tag = "ABAC policies", operation_id = "getPolicy",
    responses((status = 200, description = "The record", body = PolicyRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    id: RecordId,
) -> Result<Response, ApiError> {
    Ok(tagged(policies::get(&app, &caller, id.known("policy")?).await?))
}

/// Updates a policy.
///
/// Members that the body leaves out stay as they are. `resource` never changes.
#[utoipa::path(
    put, path = "/api/v1/abac/policies/{id}", tag = "ABAC policies", operation_id = "updatePolicy",
    request_body = PolicyUpdate,
    responses(
        (status = 200, description = "The record", body = WrittenPolicy,
            headers(("ETag"), ("X-Policy-Revision"))),
        Conflict, PreconditionFailed, QuotaExceeded,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    id: RecordId,
    Terms(terms): Terms,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let read = move || -> Result<(Uuid, PolicyUpdate), ApiError> {
        let update = PolicyUpdate::parse(&body.parse()?)?;
        Ok((id.known("policy")?, update))
    };
    let written = policies::update(&app, &caller, read, &terms).await?;
    let Written { record, revision, warnings } = written;
    let tag = etag::header(&record);
    let answer = WrittenPolicy { record, warnings };
    Ok((revision_header(revision), tag, Json(answer)).into_response())
}

/// Deletes a policy.
///
/// The record is retained, but no route returns it.
#[utoipa::path(
    delete,
    path = "/api/v1/abac/policies/{id}",
    tag = "ABAC policies",
    operation_id = "deletePolicy",
    responses(Deleted, Conflict, PreconditionFailed)
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    id: RecordId,
    Terms(terms): Terms,
) -> Result<Response, ApiError> {
    let id = id.known("policy")?;
    let revision = policies::delete(&app, &caller, id, &terms).await?;
    Ok(deleted(revision))
}
