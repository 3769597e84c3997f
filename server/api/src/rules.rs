//! RBAC rules (`docs/semantics.md`, section 3.3).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use uuid::Uuid;

use super::body::JsonBody;
use super::openapi::{Conflict, NotFound};
use super::{created, parameter, query, revision_header};
use crate::callers::{Allowed, PoliciesWrite};
use crate::error::ApiError;
use portcullis_model::rule::{NewRule, RuleName, RuleOrigin, RuleRecord, RuleUpdate};
use portcullis_model::schema;
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_storage::{Tx, rules};

const NOT_FOUND: OperationError = OperationError::NotFound("rule");

/// Creates a rule.
#[utoipa::path(
    post, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "createRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), request_body = NewRule,
    responses(
        (status = 201, description = "The record", body = RuleRecord,
            headers(("Location"), ("X-Policy-Revision"))),
        Conflict,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let rule = NewRule::parse(&body.parse()?, caller.domain())?;
    caller.may_write_domain(&rule.tuple.dom)?;
    let by = app.authored_by(caller.actor());
    let record = rule.into_record(app.ids.next(by.at), RuleOrigin::Explicit, &by);
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    if !rules::insert(&mut tx, &record).await? {
        return Err(conflict(&record));
    }
    let revision = app.commit(tx).await?;
    let location = format!("/api/v1/resources/policies?id={}", record.id);
    Ok(created(revision, &location, &record))
}

/// Updates a rule.
///
/// With an `id`, every other field changes that rule; without, the tuple names the rule and `effect`
/// changes. The rule is explicit from then on, even if a default role made it.
#[utoipa::path(
    put, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "updateRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), request_body = RuleUpdate,
    responses(
        (status = 200, description = "The record", body = RuleRecord, headers(("X-Policy-Revision"))),
        NotFound, Conflict,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = RuleUpdate::parse(&body.parse()?, caller.domain())?;
    update.domain().map_or(Ok(()), |domain| caller.may_write_domain(domain))?;
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let old = find(&mut tx, &update).await?.ok_or(NOT_FOUND)?;
    let mut new = update.applied_to(&old);
    // A default rule that somebody confirms is theirs from then on, even if nothing else changes.
    if update.says_something() {
        new.origin = RuleOrigin::Explicit;
    }
    if new.tuple != old.tuple || new.effect != old.effect || new.origin != old.origin {
        new.updated_by = Some(by.actor.clone());
        new.updated_at = Some(by.at);
        if !rules::update(&mut tx, &old, &new, &by).await? {
            return Err(conflict(&new));
        }
    }
    let revision = app.commit(tx).await?;
    Ok((revision_header(revision), Json(new)).into_response())
}

/// Deletes a rule.
///
/// The body names it, or `?id=` for clients that cannot send one: exactly one of the two.
#[utoipa::path(
    delete, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "deleteRule",
    security(("bearer" = []), ("serviceKey" = ["policies:write"])), params(ById),
    request_body(content = RuleName, description = "An `id`, or a tuple"),
    responses((status = 204, description = "It is gone", headers(("X-Policy-Revision"))), NotFound),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    uri: Uri,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = named(&uri, &body, caller.domain())?;
    if let RuleName::Tuple(tuple, _) = &name {
        caller.may_write_domain(&tuple.dom)?;
    }
    let by = app.authored_by(caller.actor());
    let mut tx = app.store.write(caller.tenant(), by.at.millis()).await?;
    let rule = match &name {
        RuleName::Id(id) => rules::find(&mut tx, *id).await?,
        RuleName::Tuple(tuple, effect) => rules::find_by_tuple(&mut tx, tuple)
            .await?
            .filter(|rule| effect.is_none_or(|effect| effect == rule.effect)),
    };
    rules::delete(&mut tx, &rule.ok_or(NOT_FOUND)?, &by).await?;
    let revision = app.commit(tx).await?;
    Ok((StatusCode::NO_CONTENT, revision_header(revision)).into_response())
}

/// The query parameter that names a rule.
struct ById;

impl IntoParams for ById {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![parameter(ParameterIn::Query, "id", schema::id(), "The rule, if there is no body")]
    }
}

/// The rule that a deletion names.
fn named(uri: &Uri, body: &JsonBody, domain: &str) -> Result<RuleName, ApiError> {
    let id = query(uri).find(|(name, _)| name == "id").map(|(_, value)| value);
    match id {
        None => Ok(RuleName::parse(&body.parse()?, domain)?),
        Some(_) if !body.is_empty() => Err(OperationError::BadRequest(
            "the rule is named twice: send either `?id=` or a body".to_owned(),
        )
        .into()),
        Some(id) => Ok(RuleName::Id(Uuid::try_parse(&id).map_err(|_| NOT_FOUND)?)),
    }
}

async fn find(tx: &mut Tx, update: &RuleUpdate) -> Result<Option<RuleRecord>, ApiError> {
    Ok(match update {
        RuleUpdate::ById { id, .. } => rules::find(tx, *id).await?,
        RuleUpdate::ByTuple(rule) => rules::find_by_tuple(tx, &rule.tuple).await?,
    })
}

fn conflict(rule: &RuleRecord) -> ApiError {
    OperationError::Conflict(format!("there is a rule `{}` already", rule.tuple)).into()
}
