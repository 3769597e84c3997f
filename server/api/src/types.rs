//! Types of a tenant (`docs/semantics.md`, section 12.9).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, PoliciesRead, PoliciesWrite};
use portcullis_http::error::ApiError;
use portcullis_http::force::{Terms, WriteTerms};
use portcullis_http::paging::PageQuery;
use portcullis_http::parameters::parameter;
use portcullis_http::path::{NamedRecord, RecordName};
use portcullis_http::query::Query;
use portcullis_http::respond::{deleted, revision_header, stored, tagged};
use portcullis_model::entity::{MAX_TYPE, is_type};
use portcullis_model::input::DeclaredBody;
use portcullis_model::schema;
use portcullis_model::types::{TypeBody, TypeRecord};
use portcullis_operations::types;
use portcullis_runtime::app::App;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::openapi::{Conflict, Deleted, PreconditionFailed};

/// A type that a path names.
pub(super) struct Type;

impl NamedRecord for Type {
    const WHAT: &'static str = "type";

    fn is_name(text: &str) -> bool {
        is_type(text)
    }

    fn parameter() -> Parameter {
        let about = "A type of entities and resources, or `user`, `context` or `action`";
        parameter(ParameterIn::Path, "type", schema::text(MAX_TYPE), about)
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
    name: RecordName<Type>,
    WriteTerms(terms): WriteTerms,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = name.known()?;
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
    name: RecordName<Type>,
) -> Result<Response, ApiError> {
    Ok(tagged(types::get(&app, &caller, name.known()?).await?))
}

/// Takes the declaration of a type back.
///
/// Any name may be used again. Where another type declares properties of resources, policies on all resources may only read
/// those: stored ones that would break are a 409 that lists them.
#[utoipa::path(
    delete,
    path = "/api/v1/types/{type}",
    tag = "Types",
    operation_id = "deleteType",
    responses(Deleted, Conflict, PreconditionFailed)
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<Type>,
    Terms(terms): Terms,
) -> Result<Response, ApiError> {
    let revision = types::delete(&app, &caller, name.known()?, &terms).await?;
    Ok(deleted(revision))
}
