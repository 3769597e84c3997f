//! Types of a tenant (`docs/semantics.md`, section 12.9).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_model::entity::{MAX_TYPE, is_type};
use portcullis_model::input::DeclaredBody;
use portcullis_model::schema;
use portcullis_model::types::{TypeBody, TypeRecord};
use portcullis_operations::types;
use portcullis_runtime::app::App;
use serde::Deserialize;
use utoipa::openapi::path::{Operation, ParameterIn};

use crate::body::JsonBody;
use crate::callers::{Allowed, PoliciesRead, PoliciesWrite};
use crate::error::ApiError;
use crate::force::Terms;
use crate::handler_parameters::{HandlerParameter, add};
use crate::openapi::{Conflict, PreconditionFailed};
use crate::paging::PageQuery;
use crate::parameters::parameter;
use crate::path::Segments;
use crate::query::Query;
use crate::respond::{deleted, revision_header, stored, tagged};

/// The name of a type in a path.
#[derive(Debug, Deserialize)]
pub(super) struct TypePath {
    #[serde(rename = "type")]
    kind: String,
}

impl TypePath {
    /// Returns the name, or the 404 that any unknown type gets.
    fn known(&self) -> Result<&str, ApiError> {
        if is_type(&self.kind) { Ok(&self.kind) } else { Err(ApiError::not_found("type")) }
    }
}

impl HandlerParameter for Segments<TypePath> {
    fn describe(operation: &mut Operation) {
        let name = schema::text(MAX_TYPE);
        let about = "A type of entities and resources, or `user`, `context` or `action`";
        add(operation, [parameter(ParameterIn::Path, "type", name, about)]);
    }
}

/// Declares the properties of a type, in place of those that it had before.
///
/// From then on a name that is not declared is a fault in policies, cases and entities. Stored ones that would break are a
/// 409 that lists them.
#[utoipa::path(
    put, path = "/api/v1/types/{type}", tag = "Types", operation_id = "putType", request_body = TypeBody,
    responses(
        (status = 200, description = "The type", body = TypeRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        (status = 201, description = "The type, which nobody had declared", body = TypeRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        Conflict, PreconditionFailed,
    ),
)]
pub(super) async fn put(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    Segments(path): Segments<TypePath>,
    Terms(terms): Terms,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = path.known()?;
    let declared = TypeBody::parse(&body.parse()?)?.into_type(name)?;
    let written = types::put(&app, &caller, &terms, declared).await?;
    Ok((revision_header(written.revision), stored(written.record)).into_response())
}

/// Lists the types that the tenant declares, in the order of names.
#[utoipa::path(
    get, path = "/api/v1/types", tag = "Types", operation_id = "listTypes",
    responses((status = 200, description = "A page", body = [TypeRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let page = page.in_list("types", caller.tenant(), "")?;
    let listed = types::list(&app, &caller, page.after(), page.limit()).await?;
    Ok(page.respond(listed, |declared| declared.kind.clone()))
}

/// Shows a type that the tenant declares.
#[utoipa::path(
    get, path = "/api/v1/types/{type}", tag = "Types", operation_id = "getType",
    responses((status = 200, description = "The type", body = TypeRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Segments(path): Segments<TypePath>,
) -> Result<Response, ApiError> {
    Ok(tagged(types::get(&app, &caller, path.known()?).await?))
}

/// Takes the declaration of a type back.
///
/// Any name may be used again. Where another type declares properties of resources, policies on all resources may only read
/// those: stored ones that would break are a 409 that lists them.
#[utoipa::path(
    delete, path = "/api/v1/types/{type}", tag = "Types", operation_id = "deleteType",
    responses(
        (status = 204, description = "It is gone", headers(("X-Policy-Revision"))),
        Conflict, PreconditionFailed,
    ),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    Segments(path): Segments<TypePath>,
    Terms(terms): Terms,
) -> Result<Response, ApiError> {
    let revision = types::delete(&app, &caller, path.known()?, &terms).await?;
    Ok(deleted(revision))
}
