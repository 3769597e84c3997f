//! Tuples of the directory (`docs/semantics.md`, section 12.11).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, DryRun, RelationsRead, RelationsWrite};
use portcullis_http::error::ApiError;
use portcullis_http::paging::PageQuery;
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_http::respond::{entities_header, written_to_directory};
use portcullis_model::entity::WrittenEntities;
use portcullis_model::input::DeclaredBody;
use portcullis_model::relation::{
    DeletedRelations, ObjectName, RelationsBody, RelationsSyncBody, TupleRecord, TupleSelection,
    WrittenRelations,
};
use portcullis_model::schema;
use portcullis_operations::tuples::{self, TuplesWrite};
use portcullis_runtime::app::App;

use crate::openapi::{Conflict, QuotaExceeded};

/// Writes and deletes tuples.
///
/// All or none are written. A repeat changes nothing. With `dry_run` the call tells what it would do.
#[utoipa::path(
    post, path = "/api/v1/relations", tag = "Relations", operation_id = "writeRelations", request_body = RelationsBody,
    responses(
        (status = 200, description = "What changed", body = WrittenRelations, headers(("X-Entities-Revision"))),
        QuotaExceeded,
    ),
)]
pub(super) async fn write(
    State(app): State<App>,
    caller: Allowed<RelationsWrite>,
    Query(Details(with_details)): Query<Details>,
    Query(DryRun(dry_run)): Query<DryRun>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    // Before anything is waited for, as with entities.
    let body = RelationsBody::parse(&body.parse()?)?;
    let how = TuplesWrite { with_details, dry_run };
    let written = tuples::write(&app, &caller, &body, how).await?;
    Ok(written_to_directory(written.entities_revision, written))
}

/// The query parameter of [`write()`].
pub(super) struct Details(bool);

impl QueryParameters for Details {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        query.flag("details", "Whether the answer has each tuple with what was done").map(Self)
    }
}

/// Replaces all tuples of a source, in one call or in several.
///
/// The first call has no `sync` and gets one, which the next calls name. The call with `finish` deletes the tuples of the
/// source that the sync did not name. With `dry_run`, one call that begins and finishes a sync counts what it would do.
#[utoipa::path(
    post, path = "/api/v1/relations/sync", tag = "Relations", operation_id = "syncRelations",
    request_body = RelationsSyncBody,
    responses(
        (status = 200, description = "What changed", body = WrittenEntities, headers(("X-Entities-Revision"))),
        Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn sync(
    State(app): State<App>,
    caller: Allowed<RelationsWrite>,
    Query(DryRun(dry_run)): Query<DryRun>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let part = RelationsSyncBody::parse(&body.parse()?)?;
    let written = tuples::sync(&app, &caller, &part, dry_run).await?;
    Ok(written_to_directory(written.entities_revision, written))
}

/// Lists the tenant's tuples, in the order of objects.
#[utoipa::path(
    get, path = "/api/v1/relations", tag = "Relations", operation_id = "listRelations",
    responses((status = 200, description = "A page", body = [TupleRecord], headers(("Link"), ("X-Entities-Revision")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<RelationsRead>,
    Query(Selection(selection)): Query<Selection>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let page = page.in_list("relations", caller.tenant(), &format!("{selection:?}"))?;
    let (listed, revision) =
        tuples::list(&app, &caller, &selection, page.after(), page.limit()).await?;
    let answer = page.respond(listed, |tuple| tuple.place.clone());
    Ok((entities_header(Some(revision)), answer).into_response())
}

/// Deletes the tuples that fit at least one query parameter, at most 10,000.
#[utoipa::path(
    delete, path = "/api/v1/relations", tag = "Relations", operation_id = "deleteRelations",
    responses((status = 200, description = "What is gone", body = DeletedRelations, headers(("X-Entities-Revision")))),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<RelationsWrite>,
    Query(Selection(selection)): Query<Selection>,
) -> Result<Response, ApiError> {
    if selection == TupleSelection::default() {
        let what =
            "name at least one of `object`, `object_type`, `relation`, `subject` and `source`";
        return Err(ApiError::bad_request(what));
    }
    let deleted = tuples::delete(&app, &caller, &selection).await?;
    Ok(written_to_directory(deleted.entities_revision, deleted))
}

/// The query parameters that select tuples.
pub(super) struct Selection(TupleSelection);

impl QueryParameters for Selection {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let expected = "be `<type>:<id>`";
        let about = "Only tuples of this object, `<type>:<id>`";
        let object =
            query.optional("object", about, schema::string, ObjectName::parse, expected)?;
        let object_type = query.text("object_type", "Only tuples of objects of this type")?;
        let relation = query.text("relation", "Only tuples of relations with this name")?;
        let about = "Only tuples of this subject, `<type>:<id>`, with any relation of the subject";
        let subject =
            query.optional("subject", about, schema::string, ObjectName::parse, expected)?;
        let source = query.text("source", "Only tuples that this job wrote last")?;
        Ok(Self(TupleSelection { object, object_type, relation, subject, source }))
    }
}
