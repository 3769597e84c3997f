//! ABAC policies (semantics.md section 4).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};
use portcullis_engine::Effect;

use super::body::JsonBody;
use super::{RecordId, created, query, revision_header};
use crate::app::App;
use crate::auth::TenantManager;
use crate::error::ApiError;
use crate::model::policy::{Changed, NewPolicy, PolicyUpdate};
use crate::storage::policies;

const NOT_FOUND: ApiError = ApiError::NotFound("policy");

/// `POST /api/v1/abac/policies`
pub(super) async fn create(
    State(app): State<App>,
    caller: TenantManager,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let policy = NewPolicy::parse(&body.parse()?)?;
    let by = app.authored_by(caller.actor());
    let record = policy.into_record(app.ids.next(by.at), caller.tenant(), &by);
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    policies::insert(&mut tx, &record).await?;
    let revision = app.plans.commit(tx).await?;
    let location = format!("/api/v1/abac/policies/{}", record.id);
    Ok(created(revision, &location, &record))
}

/// `GET /api/v1/abac/policies`, with the filters `resource` and `effect`.
pub(super) async fn list(
    State(app): State<App>,
    caller: TenantManager,
    uri: Uri,
) -> Result<Response, ApiError> {
    let (mut resource, mut effect) = (None, None);
    for (name, value) in query(&uri) {
        match &*name {
            "resource" => resource = Some(value.into_owned()),
            "effect" => effect = Some(effect_filter(&value)?),
            _ => {}
        }
    }
    let mut tx = app.store.read(caller.tenant()).await?;
    let records = policies::list(&mut tx, resource.as_deref(), effect).await?;
    tx.end().await?;
    Ok(Json(records).into_response())
}

fn effect_filter(value: &str) -> Result<Effect, ApiError> {
    Effect::parse(value).ok_or_else(|| {
        ApiError::BadRequest("the query parameter `effect` must be `allow` or `deny`".to_owned())
    })
}

/// `GET /api/v1/abac/policies/{id}`
pub(super) async fn show(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("policy")?;
    let mut tx = app.store.read(caller.tenant()).await?;
    let record = policies::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    tx.end().await?;
    Ok(Json(record).into_response())
}

/// `PUT /api/v1/abac/policies/{id}`: what the body leaves out stays.
pub(super) async fn update(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = PolicyUpdate::parse(&body.parse()?)?;
    let id = id.known("policy")?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let mut record = policies::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    if update.apply(&mut record)? == Changed::Yes {
        record.updated_by = Some(by.actor);
        record.updated_at = Some(by.at);
        policies::update(&mut tx, &record).await?;
    }
    let revision = app.plans.commit(tx).await?;
    Ok((revision_header(revision), Json(record)).into_response())
}

/// `DELETE /api/v1/abac/policies/{id}`: the record is retained, but nobody sees it any more.
pub(super) async fn delete(
    State(app): State<App>,
    caller: TenantManager,
    id: RecordId,
) -> Result<Response, ApiError> {
    let id = id.known("policy")?;
    let now = app.clock.now().into();
    let mut tx = app.store.write(caller.tenant(), crate::model::Timestamp::millis(now)).await?;
    let record = policies::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
    policies::delete(&mut tx, &record, now).await?;
    let revision = app.plans.commit(tx).await?;
    Ok((StatusCode::NO_CONTENT, revision_header(revision)).into_response())
}
