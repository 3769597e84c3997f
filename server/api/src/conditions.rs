//! Named conditions (`docs/semantics.md`, section 4.11).

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
use portcullis_model::input::DeclaredBody;
use portcullis_model::named_condition::{ConditionBody, ConditionRecord, is_condition_name};
use portcullis_model::policy::condition_name;
use portcullis_operations::conditions;
use portcullis_runtime::app::App;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::openapi::{Conflict, Deleted, PreconditionFailed};

/// A condition that a path names.
pub(super) struct NamedCondition;

impl NamedRecord for NamedCondition {
    const WHAT: &'static str = "condition";

    fn is_name(text: &str) -> bool {
        is_condition_name(text)
    }

    fn parameter() -> Parameter {
        let about = "The name of the condition, a word of expressions";
        parameter(ParameterIn::Path, "name", condition_name(), about)
    }
}

/// Stores a condition, in place of the one with its name.
///
/// Expressions use it as `condition.<name>`, trees as `{"type": "NAMED", "name"}`. Each policy that uses it changes. Stored
/// policies and conditions that would break are a 409 that lists them.
#[utoipa::path(
    put, path = "/api/v1/conditions/{name}", tag = "Conditions", operation_id = "putCondition",
    request_body = ConditionBody,
    responses(
        (status = 200, description = "The condition", body = ConditionRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        (status = 201, description = "The condition, whose name was free", body = ConditionRecord,
            headers(("ETag"), ("X-Policy-Revision"))),
        Conflict, PreconditionFailed,
    ),
)]
pub(super) async fn put(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<NamedCondition>,
    WriteTerms(terms): WriteTerms,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = name.known()?.to_owned();
    let written = conditions::put(&app, &caller, &terms, move || {
        Ok::<_, ApiError>(ConditionBody::parse(&body.parse()?)?.into_condition(&name)?)
    });
    let written = written.await?;
    Ok((revision_header(written.revision), stored(written.record)).into_response())
}

/// Lists the tenant's named conditions, in the order of names.
#[utoipa::path(
    get, path = "/api/v1/conditions", tag = "Conditions", operation_id = "listConditions",
    responses((status = 200, description = "A page", body = [ConditionRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let page = page.in_list("conditions", caller.tenant(), "")?;
    let listed = conditions::list(&app, &caller, page.after(), page.limit()).await?;
    Ok(page.respond(listed, |condition| condition.name.clone()))
}

/// Shows a named condition.
#[utoipa::path(
    get, path = "/api/v1/conditions/{name}", tag = "Conditions", operation_id = "getCondition",
    responses((status = 200, description = "The condition", body = ConditionRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    name: RecordName<NamedCondition>,
) -> Result<Response, ApiError> {
    Ok(tagged(conditions::get(&app, &caller, name.known()?).await?))
}

/// Deletes a named condition.
///
/// Stored policies and conditions that use it are a 409 that lists them.
#[utoipa::path(
    delete,
    path = "/api/v1/conditions/{name}",
    tag = "Conditions",
    operation_id = "deleteCondition",
    responses(Deleted, Conflict, PreconditionFailed)
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    name: RecordName<NamedCondition>,
    Terms(terms): Terms,
) -> Result<Response, ApiError> {
    let revision = conditions::delete(&app, &caller, name.known()?, &terms).await?;
    Ok(deleted(revision))
}
