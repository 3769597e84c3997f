//! Proposals: applies that wait for a second manager (`docs/semantics.md`, section 10.10).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_http::callers::TenantManager;
use portcullis_http::deadline::Deadline;
use portcullis_http::error::ApiError;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::RecordId;
use portcullis_http::query::Query;
use portcullis_http::text_answer::Json;
use portcullis_model::apply::ApplyAnswer;
use portcullis_model::proposal::ProposalRecord;
use portcullis_operations::apply::{self, proposals};
use portcullis_runtime::app::App;

use crate::apply::answered;
use crate::openapi::{Conflict, QuotaExceeded};

/// Lists the tenant's proposals.
#[utoipa::path(
    get, path = "/api/v1/proposals", tag = "Policies as code", operation_id = "listProposals",
    responses((status = 200, description = "A page", body = [ProposalRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: TenantManager,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("proposals", caller.tenant(), "")?;
    let records = proposals::list(&app, &caller, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Shows a proposal.
#[utoipa::path(
    get, path = "/api/v1/proposals/{id}", tag = "Policies as code", operation_id = "getProposal",
    responses((status = 200, description = "The record", body = ProposalRecord)),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    Ok(Json(proposals::get(&app, &caller, id.known("proposal")?).await?).into_response())
}

/// Approves a proposal, and applies it.
///
/// Neither the manager who proposed it nor the one who created the service key that did may approve it.
#[utoipa::path(
    post, path = "/api/v1/proposals/{id}/approve", tag = "Policies as code", operation_id = "approveProposal",
    responses(
        (status = 200, description = "The plan, which was carried out", body = ApplyAnswer,
            headers(("X-Policy-Revision"))),
        Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn approve(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
    deadline: Deadline,
) -> Result<Response, ApiError> {
    let id = id.known("proposal")?;
    Ok(answered(apply::approve(&app, &caller, id, deadline.instant()).await?))
}

/// Rejects a proposal.
#[utoipa::path(
    post, path = "/api/v1/proposals/{id}/reject", tag = "Policies as code", operation_id = "rejectProposal",
    responses(
        (status = 200, description = "The record", body = ProposalRecord),
        Conflict,
    ),
)]
pub(super) async fn reject(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    Ok(Json(proposals::reject(&app, &caller, id.known("proposal")?).await?).into_response())
}
