//! Roles that include other roles (`docs/semantics.md`, section 12.8).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::rbac::MAX_SUBJECT;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, PoliciesRead, PoliciesWrite};
use portcullis_http::error::ApiError;
use portcullis_http::force::{Terms, WriteTerms};
use portcullis_http::paging::PageQuery;
use portcullis_http::parameters::parameter;
use portcullis_http::path::{NamedRecord, RecordName};
use portcullis_http::query::Query;
use portcullis_http::respond::{deleted, revision_header, stored, tagged};
use portcullis_model::input::DeclaredBody;
use portcullis_model::role::{RoleBody, RoleRecord, is_role};
use portcullis_model::schema;
use portcullis_operations::roles;
use portcullis_runtime::app::App;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::openapi::{Conflict, Deleted, PreconditionFailed};

/// A role that a path names.
pub(super) struct Role;

impl NamedRecord for Role {
    const WHAT: &'static str = "role";

    fn is_name(text: &str) -> bool {
        is_role(text)
    }

    fn parameter() -> Parameter {
        let name = schema::text(MAX_SUBJECT);
        parameter(ParameterIn::Path, "name", name, "The name of the role")
    }
}

/// Makes a role include others, in place of those that it included before.
///
/// Holders of the role have the included roles too, and those that these include. A role cannot include itself.
#[utoipa::path(
    put, path = "/api/v1/roles/{name}", tag = "Roles", operation_id = "putRole", request_body = RoleBody,
    responses(
        (status = 200, description = "The role", body = RoleRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        (status = 201, description = "The role, which included no other before", body = RoleRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        Conflict, PreconditionFailed,
    ),
)]
pub(super) async fn put(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<Role>,
    WriteTerms(terms): WriteTerms,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = name.known()?;
    let body = RoleBody::parse(&body.parse()?)?;
    let written = roles::put(&app, &caller, name, &terms, body).await?;
    Ok((revision_header(written.revision), stored(written.record)).into_response())
}

/// Lists the tenant's roles that include others, in the order of names.
#[utoipa::path(
    get, path = "/api/v1/roles", tag = "Roles", operation_id = "listRoles",
    responses((status = 200, description = "A page", body = [RoleRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let page = page.in_list("roles", caller.tenant(), "")?;
    let listed = roles::list(&app, &caller, page.after(), page.limit()).await?;
    Ok(page.respond(listed, |role| role.name.clone()))
}

/// Shows a role that includes others.
#[utoipa::path(
    get, path = "/api/v1/roles/{name}", tag = "Roles", operation_id = "getRole",
    responses((status = 200, description = "The role", body = RoleRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    name: RecordName<Role>,
) -> Result<Response, ApiError> {
    Ok(tagged(roles::get(&app, &caller, name.known()?).await?))
}

/// Makes a role include no other any more.
#[utoipa::path(
    delete,
    path = "/api/v1/roles/{name}",
    tag = "Roles",
    operation_id = "deleteRole",
    responses(Deleted, Conflict, PreconditionFailed)
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<Role>,
    Terms(terms): Terms,
) -> Result<Response, ApiError> {
    let revision = roles::delete(&app, &caller, name.known()?, &terms).await?;
    Ok(deleted(revision))
}
