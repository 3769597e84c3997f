//! Entities of the directory (`docs/semantics.md`, section 12).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, DryRun, EntitiesRead, EntitiesWrite};
use portcullis_http::error::ApiError;
use portcullis_http::etag::{IfMatch, NoPrecondition, WriteCondition};
use portcullis_http::handler_parameters::add;
use portcullis_http::paging::PageQuery;
use portcullis_http::parameters::parameter;
use portcullis_http::path::{PathSegments, Segments};
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_http::respond::{entities_header, stored, tagged, written_to_directory};
use portcullis_model::entity::{
    EntitiesBody, EntityBody, EntityPatch, EntityRecord, MAX_ID, MAX_TYPE, SyncBody,
    WrittenEntities,
};
use portcullis_model::input::DeclaredBody;
use portcullis_model::schema;
use portcullis_operations::entities;
use portcullis_operations::written::Stored;
use portcullis_runtime::app::App;
use serde::Deserialize;
use utoipa::openapi::path::{Operation, ParameterIn};

use crate::openapi::{Conflict, PreconditionFailed, QuotaExceeded};

/// Inserts entities, or replaces those of the same types and ids.
///
/// All or none are written. An entity that is as it was sent stays as it is. With `dry_run` the call counts what it would do.
#[utoipa::path(
    put, path = "/api/v1/entities", tag = "Entities", operation_id = "putEntities", request_body = EntitiesBody,
    responses(
        (status = 200, description = "What changed", body = WrittenEntities, headers(("X-Entities-Revision"))),
        QuotaExceeded,
    ),
)]
pub(super) async fn write(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    _: NoPrecondition,
    Query(DryRun(dry_run)): Query<DryRun>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    // Before anything is waited for: beside the threads of other requests. The body charges what was read of it.
    let entities = EntitiesBody::parse(&body.parse()?)?;
    let written = if dry_run {
        entities::dry_run(&app, &caller, &entities).await?
    } else {
        entities::write(&app, &caller, &entities).await?
    };
    Ok(written_to_directory(written.entities_revision, written))
}

/// Replaces all entities of a source, in one call or in several.
///
/// The first call has no `sync` and gets one, which the next calls name. The call with `finish` deletes the entities of the
/// source that the sync did not name. Until then nothing is deleted.
#[utoipa::path(
    post, path = "/api/v1/entities/sync", tag = "Entities", operation_id = "syncEntities", request_body = SyncBody,
    responses(
        (status = 200, description = "What changed", body = WrittenEntities, headers(("X-Entities-Revision"))),
        Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn sync(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let part = SyncBody::parse(&body.parse()?)?;
    let written = entities::sync(&app, &caller, &part).await?;
    Ok(written_to_directory(written.entities_revision, written))
}

/// Lists the tenant's entities, in the order of types and ids.
#[utoipa::path(
    get, path = "/api/v1/entities", tag = "Entities", operation_id = "listEntities",
    responses((status = 200, description = "A page", body = [EntityRecord], headers(("Link"), ("X-Entities-Revision")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<EntitiesRead>,
    Query(Filter(kind)): Query<Filter>,
    Query(page): Query<PageQuery<String>>,
) -> Result<Response, ApiError> {
    let page = page.in_list("entities", caller.tenant(), &format!("{kind:?}"))?;
    // No type has a colon.
    let after = page.after().split_once(':').unwrap_or_default();
    let (listed, revision) =
        entities::list(&app, &caller, kind.as_deref(), after, page.limit()).await?;
    let answer = page.respond(listed, |entity| format!("{}:{}", entity.kind, entity.id));
    Ok((entities_header(Some(revision)), answer).into_response())
}

/// The query parameter of [`list`] beside the parameters of pages.
pub(super) struct Filter(Option<String>);

impl QueryParameters for Filter {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        query.text("type", "Only entities of this type, character by character").map(Self)
    }
}

/// The type and the id of an entity in a path.
#[derive(Debug, Deserialize)]
pub(super) struct EntityPath {
    r#type: String,
    id: String,
}

impl EntityPath {
    /// Returns the type and id, or the 404 that any unknown entity gets.
    fn known(&self) -> Result<(&str, &str), ApiError> {
        // No stored text is empty or has a zero byte, which PostgreSQL refuses.
        let mut texts = [&self.r#type, &self.id].into_iter();
        match texts.all(|text| !text.is_empty() && !text.contains('\0')) {
            true => Ok((&self.r#type, &self.id)),
            false => Err(ApiError::not_found("entity")),
        }
    }
}

impl PathSegments for EntityPath {
    fn describe(operation: &mut Operation) {
        let segments =
            [("type", MAX_TYPE, "The type of the entity"), ("id", MAX_ID, "The id of the entity")];
        let segments = segments
            .map(|(name, max, about)| parameter(ParameterIn::Path, name, schema::text(max), about));
        add(operation, segments);
    }
}

/// Shows an entity.
#[utoipa::path(
    get, path = "/api/v1/entities/{type}/{id}", tag = "Entities", operation_id = "getEntity",
    responses((status = 200, description = "The entity", body = EntityRecord, headers(("ETag"), ("X-Entities-Revision")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<EntitiesRead>,
    Segments(path): Segments<EntityPath>,
) -> Result<Response, ApiError> {
    let (kind, id) = path.known()?;
    let (record, revision) = entities::get(&app, &caller, kind, id).await?;
    Ok((entities_header(Some(revision)), tagged(record)).into_response())
}

/// Inserts an entity, or replaces it as a whole.
///
/// Type and id may be left out of the body; else they are those of the path. An entity that is as it was sent stays as it is.
#[utoipa::path(
    put, path = "/api/v1/entities/{type}/{id}", tag = "Entities", operation_id = "putEntity", request_body = EntityBody,
    responses(
        (status = 200, description = "The entity", body = EntityRecord, headers(("ETag"), ("X-Entities-Revision"))),
        (status = 201, description = "The entity, which is new", body = EntityRecord, headers(("ETag"), ("X-Entities-Revision"))),
        PreconditionFailed, QuotaExceeded,
    ),
)]
pub(super) async fn put(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    Segments(path): Segments<EntityPath>,
    WriteCondition(precondition): WriteCondition,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let body = EntityBody::parse(&body.parse()?, path.known()?)?;
    Ok(written(entities::put(&app, &caller, &precondition, &body).await?))
}

/// Changes a part of an entity.
///
/// Changes at the same time lose nothing: each is made to the entity that the one before left.
#[utoipa::path(
    patch, path = "/api/v1/entities/{type}/{id}", tag = "Entities", operation_id = "patchEntity",
    request_body = EntityPatch,
    responses(
        (status = 200, description = "The entity", body = EntityRecord, headers(("ETag"), ("X-Entities-Revision"))),
        PreconditionFailed, QuotaExceeded,
    ),
)]
pub(super) async fn patch(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    Segments(path): Segments<EntityPath>,
    WriteCondition(precondition): WriteCondition,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let path = path.known()?;
    let change = EntityPatch::parse(&body.parse()?, path)?;
    Ok(written(entities::patch(&app, &caller, path, &precondition, &change).await?))
}

fn written((entity, revision): (Stored<EntityRecord>, u64)) -> Response {
    (entities_header(Some(revision)), stored(entity)).into_response()
}

/// Deletes an entity.
#[utoipa::path(
    delete, path = "/api/v1/entities/{type}/{id}", tag = "Entities", operation_id = "deleteEntity",
    responses((status = 204, description = "It is gone", headers(("X-Entities-Revision"))), PreconditionFailed),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    Segments(path): Segments<EntityPath>,
    IfMatch(precondition): IfMatch,
) -> Result<Response, ApiError> {
    let revision = entities::delete(&app, &caller, path.known()?, &precondition).await?;
    Ok((StatusCode::NO_CONTENT, entities_header(Some(revision)), ()).into_response())
}
