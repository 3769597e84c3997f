//! Entities of the directory (`docs/semantics.md`, section 12).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};
use portcullis_model::entity::{
    EntitiesBody, EntityRecord, MAX_ID, MAX_TYPE, SyncBody, WrittenEntities,
};
use portcullis_model::schema;
use portcullis_operations::entities;
use portcullis_runtime::app::App;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::body::JsonBody;
use crate::callers::{Allowed, EntitiesRead, EntitiesWrite};
use crate::error::ApiError;
use crate::etag::{self, IfMatch, NoIfMatch};
use crate::openapi::{Conflict, PreconditionFailed, QuotaExceeded};
use crate::paging::{self, Requested};
use crate::parameters::{parameter, query, text_filter};
use crate::path::Segments;
use crate::text_answer::Json;

/// The path of [`write()`], whose bodies have a limit of their own.
pub(crate) const PATH: &str = "/api/v1/entities";
/// The path of [`sync`], whose bodies have a limit of their own.
pub(crate) const SYNC_PATH: &str = "/api/v1/entities/sync";
/// Largest body of [`write()`] and [`sync`], in bytes: a thousand entities with 8 KiB each.
pub(crate) const MAX_BODY: usize = 8 * 1024 * 1024;

/// Inserts entities, or replaces those of the same types and ids.
///
/// All or none are written. An entity that is as it was sent stays as it is.
#[utoipa::path(
    put, path = "/api/v1/entities", tag = "Entities", operation_id = "putEntities",
    security(("bearer" = []), ("serviceKey" = ["entities:write"])), request_body = EntitiesBody,
    responses(
        (status = 200, description = "What changed", body = WrittenEntities),
        QuotaExceeded,
    ),
)]
pub(super) async fn write(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    _: NoIfMatch,
    body: JsonBody,
) -> Result<Response, ApiError> {
    // Before anything is waited for: beside the threads of other requests. The body charges what was read of it.
    let entities = EntitiesBody::parse(&body.parse()?)?;
    let turn = entities::turn(&app, &caller).await?;
    Ok(Json(entities::write(&app, &caller, turn, &entities).await?).into_response())
}

/// Replaces all entities of a source, in one call or in several.
///
/// The first call has no `sync` and gets one, which the next calls name. The call with `finish` deletes the entities of the
/// source that the sync did not name. Until then nothing is deleted.
#[utoipa::path(
    post, path = "/api/v1/entities/sync", tag = "Entities", operation_id = "syncEntities",
    security(("bearer" = []), ("serviceKey" = ["entities:write"])), request_body = SyncBody,
    responses(
        (status = 200, description = "What changed", body = WrittenEntities),
        Conflict,
        QuotaExceeded,
    ),
)]
pub(super) async fn sync(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let part = SyncBody::parse(&body.parse()?)?;
    let turn = entities::turn(&app, &caller).await?;
    Ok(Json(entities::sync(&app, &caller, turn, &part).await?).into_response())
}

/// Lists the tenant's entities, in the order of types and ids.
#[utoipa::path(
    get, path = "/api/v1/entities", tag = "Entities", operation_id = "listEntities",
    security(("bearer" = []), ("serviceKey" = ["entities:read"])), params(Filter, Requested),
    responses((status = 200, description = "A page", body = [EntityRecord], headers(("Link")))),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<EntitiesRead>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let kind = query(&uri).find(|(name, _)| name == "type");
    let kind = kind.map(|(name, value)| text_filter(&name, &value)).transpose()?;
    let cursor_of = format!("{kind:?}");
    let page = paging::requested_by_text(&uri, "entities", caller.tenant(), &cursor_of)?;
    // No type has a colon.
    let after = page.after().split_once(':').unwrap_or_default();
    let listed = entities::list(&app, &caller, kind.as_deref(), after, page.limit()).await?;
    Ok(page.respond(listed, |entity| format!("{}:{}", entity.kind, entity.id)))
}

/// The query parameter of [`list`] beside those of pages.
struct Filter;

impl IntoParams for Filter {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let about = "Only entities of this type, character by character";
        vec![parameter(ParameterIn::Query, "type", schema::string(), about)]
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
        let is_text = |text: &str| !text.is_empty() && !text.contains('\0');
        match is_text(&self.r#type) && is_text(&self.id) {
            true => Ok((&self.r#type, &self.id)),
            false => Err(ApiError::not_found("entity")),
        }
    }
}

impl IntoParams for EntityPath {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let segment =
            |name, max, about| parameter(ParameterIn::Path, name, schema::text(max), about);
        vec![
            segment("type", MAX_TYPE, "The type of the entity"),
            segment("id", MAX_ID, "The id of the entity"),
        ]
    }
}

/// Shows an entity.
#[utoipa::path(
    get, path = "/api/v1/entities/{type}/{id}", tag = "Entities", operation_id = "getEntity",
    security(("bearer" = []), ("serviceKey" = ["entities:read"])), params(EntityPath),
    responses((status = 200, description = "The entity", body = EntityRecord, headers(("ETag")))),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<EntitiesRead>,
    Segments(path): Segments<EntityPath>,
) -> Result<Response, ApiError> {
    let (kind, id) = path.known()?;
    let record = entities::get(&app, &caller, kind, id).await?;
    Ok((etag::header(&record), Json(record)).into_response())
}

/// Deletes an entity.
#[utoipa::path(
    delete, path = "/api/v1/entities/{type}/{id}", tag = "Entities", operation_id = "deleteEntity",
    security(("bearer" = []), ("serviceKey" = ["entities:write"])), params(EntityPath, IfMatch),
    responses((status = 204, description = "It is gone"), PreconditionFailed),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<EntitiesWrite>,
    Segments(path): Segments<EntityPath>,
    IfMatch(precondition): IfMatch,
) -> Result<Response, ApiError> {
    entities::delete(&app, &caller, path.known()?, &precondition).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
