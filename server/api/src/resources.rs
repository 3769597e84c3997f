//! The registry of resources (`docs/semantics.md`, sections 3.5 to 3.8).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, PoliciesRead, ResourcesRead, ResourcesWrite};
use portcullis_http::error::ApiError;
use portcullis_http::force::Force;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::RecordId;
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_http::respond::{created, deleted, revision_header};
use portcullis_http::text_answer::Json;
use portcullis_model::resource::{BulkRegistration, Registration, ResourceRecord};
use portcullis_model::rule::RuleRecord;
use portcullis_model::warning::Warning;
use portcullis_operations::resources;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::{Conflict, Deleted, QuotaExceeded};

/// A registered resource, and the warnings about it.
#[derive(Serialize, ToSchema)]
struct WrittenResource {
    #[serde(flatten)]
    record: ResourceRecord,
    /// Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// Registers a resource, or replaces the one of that name.
///
/// A role that is newly listed in `defaultRoles` gets an allow rule; one that is listed no longer loses it,
/// unless somebody changed that rule. A service key needs `policies:write` too if there are default roles, or were.
#[utoipa::path(
    post, path = "/api/v1/resources", tag = "Resources", operation_id = "registerResource", request_body = Registration,
    responses(
        (status = 201, description = "The new record", body = WrittenResource,
            headers(("Location"), ("X-Policy-Revision"))),
        (status = 200, description = "The record, replaced; or as it is, with a warning", body = WrittenResource,
            headers(("X-Policy-Revision"))),
        QuotaExceeded,
    ),
)]
pub(super) async fn register(
    State(app): State<App>,
    caller: Allowed<ResourcesWrite>,
    Query(Force(force)): Query<Force>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let registration = Registration::parse(&body.parse()?)?;
    let written = resources::register(&app, &caller, registration, force).await?;
    let (registered, revision) = (written.record, written.revision);
    let answer = WrittenResource { record: registered.record, warnings: written.warnings };
    if registered.is_new {
        let location = format!("/api/v1/resources/{}", answer.record.id);
        return Ok(created(revision, &location, answer));
    }
    Ok((revision_header(revision), Json(answer)).into_response())
}

/// Registers many resources, all or none.
#[utoipa::path(
    post, path = "/api/v1/resources/list", tag = "Resources", operation_id = "registerResources",
    request_body = BulkRegistration,
    responses(
        (status = 200, description = "The records, in order", body = [WrittenResource],
            headers(("X-Policy-Revision"))),
        QuotaExceeded,
    ),
)]
pub(super) async fn register_all(
    State(app): State<App>,
    caller: Allowed<ResourcesWrite>,
    Query(Force(force)): Query<Force>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let BulkRegistration(registrations) = BulkRegistration::parse(&body.parse()?)?;
    let written = resources::register_all(&app, &caller, registrations, force).await?;
    let records = written.record.into_iter();
    let answers = records.map(|one| WrittenResource { record: one.record, warnings: one.warnings });
    let answers: Vec<WrittenResource> = answers.collect();
    Ok((revision_header(written.revision), Json(answers)).into_response())
}

/// Lists the tenant's resources.
#[utoipa::path(
    get, path = "/api/v1/resources", tag = "Resources", operation_id = "listResources",
    responses((status = 200, description = "A page", body = [ResourceRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<ResourcesRead>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("resources", caller.tenant(), "")?;
    let records = resources::list(&app, &caller, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Shows a resource.
#[utoipa::path(
    get, path = "/api/v1/resources/{id}", tag = "Resources", operation_id = "getResource",
    responses((status = 200, description = "The record", body = ResourceRecord)),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<ResourcesRead>,
    id: RecordId,
) -> Result<Response, ApiError> {
    Ok(Json(resources::get(&app, &caller, id.known("resource")?).await?).into_response())
}

/// Deletes a resource, and the rules of its default roles.
///
/// With `rules=true` the explicit rules go too whose `obj` is exactly its name. Policies stay, whatever resource they
/// name. A service key needs `policies:write` too if any rule goes. More than 10,000 rules are a conflict.
#[utoipa::path(
    delete,
    path = "/api/v1/resources/{id}",
    tag = "Resources",
    operation_id = "deleteResource",
    responses(Deleted, Conflict)
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<ResourcesWrite>,
    id: RecordId,
    Query(WithRules(explicit_rules)): Query<WithRules>,
    Query(Force(force)): Query<Force>,
) -> Result<Response, ApiError> {
    let id = id.known("resource")?;
    Ok(deleted(resources::delete(&app, &caller, id, explicit_rules, force).await?))
}

/// The query parameter of [`delete`].
pub(super) struct WithRules(bool);

impl QueryParameters for WithRules {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        query.flag("rules", "Whether explicit rules go too").map(Self)
    }
}

/// Lists every rule that can match the resource, patterns included.
#[utoipa::path(
    get, path = "/api/v1/resources/{id}/policies", tag = "RBAC rules", operation_id = "listRules",
    responses((status = 200, description = "A page", body = [RuleRecord], headers(("Link")))),
)]
pub(super) async fn rules(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    id: RecordId,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let id = id.known("resource")?;
    let page = page.in_list("rules", caller.tenant(), &id.to_string())?;
    let rules = resources::list_rules(&app, &caller, id, page.fetch()).await?;
    Ok(page.respond(rules, |rule| rule.id))
}
