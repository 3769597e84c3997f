//! Permissions of a subject, and matrices of decisions (`docs/semantics.md`, section 15).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, ETAG};
use http::{HeaderValue, StatusCode, Uri};
use portcullis_model::matrix::MatrixRequest;
use portcullis_model::permissions::{PermissionsBody, PermissionsRequest};
use portcullis_model::{document, schema};
use portcullis_operations::app::App;
use portcullis_operations::{matrices, permissions};
use serde_json::json;

use super::body::JsonBody;
use super::checks::MinRevision;
use super::paging::{self, Requested};
use super::revision_header;
use crate::callers::SearchRequester;
use crate::error::ApiError;
use crate::etag::IfNoneMatch;
use crate::openapi::Conflict;
use crate::respond::Json;

/// Lists what a subject may do on each registered resource.
///
/// Without `subject` it is the caller. Attributes that the request leaves out are unknown: `depends_on` names those that
/// the decision depends on. A page has at most 200 resources. The `ETag` covers everything that the page depends on; it
/// is absent if a decision depends on the present or on a resolver.
#[utoipa::path(
    post, path = "/api/v1/permissions", tag = "Decisions", operation_id = "listPermissions",
    security(("bearer" = []), ("serviceKey" = ["access:search"])),
    params(Requested, MinRevision, IfNoneMatch), request_body = PermissionsBody,
    responses(
        (status = 200, description = "A page", body = [ResourcePermissionBody],
            headers(("Link"), ("ETag"), ("X-Policy-Revision"))),
        (status = 304, description = "The page has the tag that `If-None-Match` names"),
        Conflict,
    ),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: SearchRequester,
    uri: Uri,
    MinRevision(at_least): MinRevision,
    known: IfNoneMatch,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let page = paging::requested(&uri, "permissions", caller.tenant(), "")?;
    let json = body.parse()?;
    let request = PermissionsRequest::parse(&json)?;
    let found = permissions::list(&app, &caller, &request, page.fetch(), at_least).await?;
    let tag = found.tag.as_deref().and_then(|tag| HeaderValue::from_str(tag).ok());
    // What one caller may do is no business of others.
    let private = [(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))];
    let revision = revision_header(found.revision);
    let tag_header = tag.map(|tag| [(ETAG, tag)]);
    if found.tag.as_deref().is_some_and(|tag| known.names(tag)) {
        return Ok((StatusCode::NOT_MODIFIED, private, revision, tag_header, ()).into_response());
    }
    let body = page.respond(found.listed, |permission| permission.id);
    Ok((private, revision, tag_header, body).into_response())
}

/// Decides every cell of subjects or roles × resources × actions.
///
/// A cell is decided for every request: all attributes are unknown. `rule_id` is what decides a request without
/// attributes.
#[utoipa::path(
    post, path = "/api/v1/matrix", tag = "Decisions", operation_id = "decideMatrix",
    security(("bearer" = []), ("serviceKey" = ["access:search", "policies:read"])),
    params(MinRevision), request_body = MatrixRequest,
    responses(
        (status = 200, description = "The cells", body = MatrixAnswerBody, headers(("X-Policy-Revision"))),
        Conflict,
    ),
)]
pub(super) async fn matrix(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let request = MatrixRequest::parse(&body.parse()?)?;
    let answer = matrices::matrix(&app, &caller, request, at_least).await?;
    Ok((revision_header(answer.revision), Json(answer)).into_response())
}

/// A permission, as the document describes it.
struct ResourcePermissionBody;

document!(ResourcePermissionBody as "ResourcePermission" => {
    schema::record()
        .field("resource", schema::string())
        .field("action", schema::string())
        .field("decision", schema::choice(["allow", "deny", "depends"]))
        .field("depends_on", schema::list(schema::string()))
        .example(json!({
            "resource": "chart:read", "action": "read", "decision": "depends", "depends_on": ["resource.ward"],
        }))
});

/// The answer of [`matrix`], as the document describes it.
struct MatrixAnswerBody;

document!(MatrixAnswerBody as "MatrixAnswer" => {
    let maybe = || schema::nullable(schema::string());
    let cell = schema::record()
        .field("subject", maybe())
        .field("role", maybe())
        .field("resource", schema::string())
        .field("action", schema::string())
        .field("decision", schema::choice(["allow", "deny", "conditional"]))
        .field("rule_id", maybe())
        .field("condition", maybe())
        .field("policies", schema::list(schema::string()));
    schema::record()
        .field("domain", schema::string())
        .field("cells", schema::list(cell).description(Some("By resource, action and row")))
        .field("revision", schema::integer(0, i64::MAX))
        .example(json!({
            "domain": "acme",
            "cells": [{
                "subject": null, "role": "nurse", "resource": "chart:read", "action": "read",
                "decision": "conditional", "rule_id": null,
                "condition": "user.ward == resource.ward", "policies": ["own ward"],
            }],
            "revision": 812,
        }))
});
