//! Audit records (`docs/semantics.md`, section 6.11).

use axum::extract::State;
use axum::response::Response;
use http::Uri;
use portcullis_model::audit::{AuditAction, AuditFilter, AuditRecord};
use portcullis_model::{Timestamp, schema};
use portcullis_operations::audit;
use portcullis_runtime::app::App;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::callers::{Admin, Allowed, AuditRead};
use crate::error::ApiError;
use crate::paging::{self, Requested};
use crate::parameters::{parameter, query, text_filter};

/// Lists the audit records of the tenant, newest first.
#[utoipa::path(
    get, path = "/api/v1/audit", tag = "Audit", operation_id = "listAuditRecords",
    security(("bearer" = []), ("serviceKey" = ["audit:read"])), params(Filter, Requested),
    responses((status = 200, description = "A page", body = [AuditRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<AuditRead>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let filter = filter(&uri)?;
    let page = paging::requested(&uri, "audit", caller.tenant(), &format!("{filter:?}"))?;
    let records = audit::list(&app, &caller, &filter, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Lists the audit records of all tenants and of the operator, newest first.
#[utoipa::path(
    get, path = "/admin/audit", tag = "Audit", operation_id = "listAllAuditRecords",
    security(("adminKey" = []), ("adminBearer" = [])), params(TenantFilter, Filter, Requested),
    responses((status = 200, description = "A page", body = [AuditRecord], headers(("Link")))),
)]
pub(super) async fn list_all(
    State(app): State<App>,
    _: Admin,
    uri: Uri,
) -> Result<Response, ApiError> {
    let filter = filter(&uri)?;
    let mut tenant = None;
    for (name, value) in query(&uri) {
        if name == "tenant" {
            tenant = Some(text_filter("tenant", &value)?);
        }
    }
    let page = paging::requested(&uri, "all-audit", "", &format!("{tenant:?} {filter:?}"))?;
    let records = audit::list_all(&app.store, tenant.as_deref(), &filter, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// The query parameters of [`filter`].
struct Filter;

impl IntoParams for Filter {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let actor = "Only records of this actor, character by character";
        let record =
            "Only records about the record with this id, or about the role or entity of this name";
        let (from, to) = ("Only records from this instant on", "Only records before this instant");
        vec![
            parameter(ParameterIn::Query, "action", action_schema(), "Only records of this action"),
            parameter(ParameterIn::Query, "actor", schema::string(), actor),
            parameter(ParameterIn::Query, "record", schema::string(), record),
            parameter(ParameterIn::Query, "from", schema::instant(), from),
            parameter(ParameterIn::Query, "to", schema::instant(), to),
        ]
    }
}

/// The query parameter of the operator alone.
struct TenantFilter;

impl IntoParams for TenantFilter {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let tenant = "Only records of the tenant with this id; empty: only those of no tenant";
        vec![parameter(ParameterIn::Query, "tenant", schema::string(), tenant)]
    }
}

fn action_schema() -> schema::AnySchema {
    <AuditAction as utoipa::PartialSchema>::schema()
}

/// Reads the filter of a list.
fn filter(uri: &Uri) -> Result<AuditFilter, ApiError> {
    let mut filter = AuditFilter::default();
    for (name, value) in query(uri) {
        match &*name {
            "action" => filter.action = Some(action_filter(&value)?),
            "actor" => filter.actor = Some(text_filter("actor", &value)?),
            "record" => filter.record = Some(text_filter("record", &value)?),
            "from" => filter.from = Some(instant_filter("from", &value)?),
            "to" => filter.to = Some(instant_filter("to", &value)?),
            _ => {}
        }
    }
    Ok(filter)
}

fn action_filter(value: &str) -> Result<AuditAction, ApiError> {
    value.parse().map_err(|_| {
        ApiError::bad_request(
            "the query parameter `action` must be the action of an audit record, such as `policy.updated`",
        )
    })
}

fn instant_filter(name: &str, value: &str) -> Result<Timestamp, ApiError> {
    Timestamp::parse(value).ok_or_else(|| {
        ApiError::bad_request(format!(
            "the query parameter `{name}` must be an RFC 3339 instant, such as `2026-05-16T09:30:00Z`; a `+` in it is \
             sent as `%2B`"
        ))
    })
}
