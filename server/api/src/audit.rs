//! Audit records (`docs/semantics.md`, section 6.11).

use axum::extract::State;
use axum::response::Response;
use portcullis_http::callers::{Admin, Allowed, AuditRead};
use portcullis_http::error::ApiError;
use portcullis_http::paging::PageQuery;
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_model::audit::{AuditAction, AuditFilter, AuditRecord};
use portcullis_operations::audit;
use portcullis_runtime::app::App;
use utoipa::PartialSchema;

/// Lists the audit records of the tenant, newest first.
#[utoipa::path(
    get, path = "/api/v1/audit", tag = "Audit", operation_id = "listAuditRecords",
    responses((status = 200, description = "A page", body = [AuditRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<AuditRead>,
    Query(AuditQuery(filter)): Query<AuditQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("audit", caller.tenant(), &format!("{filter:?}"))?;
    let records = audit::list(&app, &caller, &filter, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Lists the audit records of all tenants and of the operator, newest first.
#[utoipa::path(
    get, path = "/admin/audit", tag = "Audit", operation_id = "listAllAuditRecords",
    responses((status = 200, description = "A page", body = [AuditRecord], headers(("Link")))),
)]
pub(super) async fn list_all(
    State(app): State<App>,
    _: Admin,
    Query(TenantFilter(tenant)): Query<TenantFilter>,
    Query(AuditQuery(filter)): Query<AuditQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("all-audit", "", &format!("{tenant:?} {filter:?}"))?;
    let records = audit::list_all(&app.store, tenant.as_deref(), &filter, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// The audit records that a list shows.
pub(super) struct AuditQuery(AuditFilter);

impl QueryParameters for AuditQuery {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about =
            "Only records about the record with this id, or about the role or entity of this name";
        Ok(Self(AuditFilter {
            action: query.parsed(
                "action",
                "Only records of this action",
                <AuditAction as PartialSchema>::schema,
                "be the action of an audit record, such as `policy.updated`",
            )?,
            actor: query.text("actor", "Only records of this actor, character by character")?,
            record: query.text("record", about)?,
            from: query.instant("from", "Only records from this instant on")?,
            to: query.instant("to", "Only records before this instant")?,
        }))
    }
}

/// The query parameter of the operator alone.
pub(super) struct TenantFilter(Option<String>);

impl QueryParameters for TenantFilter {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about = "Only records of the tenant with this id; empty: only records without a tenant";
        query.text("tenant", about).map(Self)
    }
}
