//! Permissions of a subject, and matrices of decisions (`docs/semantics.md`, section 15).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, ETAG, LINK};
use http::{HeaderValue, StatusCode};
use portcullis_engine::fields::Body;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{ConditionSearch, SearchRequester};
use portcullis_http::error::ApiError;
use portcullis_http::etag::IfNoneMatch;
use portcullis_http::paging::{PageQuery, Requested};
use portcullis_http::query::Query;
use portcullis_http::recipient::carried;
use portcullis_http::respond::entities_header;
use portcullis_http::respond::revision_header;
use portcullis_http::text_answer::Json;
use portcullis_model::matrix::MatrixRequest;
use portcullis_model::permissions::PermissionsRequest;
use portcullis_model::{document, schema};
use portcullis_operations::permissions::{PermissionPage, ResourcePermission};
use portcullis_operations::search::RequestMark;
use portcullis_operations::{matrices, permissions};
use portcullis_runtime::app::App;
use serde::Serialize;
use serde_json::json;

use super::checks::MinRevision;
use crate::openapi::{Conflict, NotFound};

pub(super) const MATRIX_PATH: &str = "/api/v1/matrix";

/// A page of permissions.
#[derive(Serialize)]
struct PermissionsAnswer {
    results: Vec<ResourcePermission>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    revision: u64,
}

/// Lists what a subject may do on each registered resource.
///
/// Without `subject` it is the caller. Attributes that the request leaves out are unknown: `depends_on` names those that
/// the decision depends on. A page has at most 200 resources, and ends after a second. The `ETag` covers everything that the
/// page depends on; it is absent if a decision depends on the present or on a resolver.
#[utoipa::path(
    post, path = "/api/v1/permissions", tag = "Decisions", operation_id = "listPermissions",
    request_body = PermissionsRequest<'_>,
    responses(
        (status = 200, description = "A page", body = PermissionsAnswerBody,
            headers(("Link"), ("ETag"), ("X-Policy-Revision"), ("X-Entities-Revision"))),
        (status = 304, description = "The page has the tag that `If-None-Match` names"),
        Conflict,
    ),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: SearchRequester,
    Query(page): Query<PageQuery>,
    MinRevision(at_least): MinRevision,
    known: IfNoneMatch,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let tenant = caller.tenant().to_owned();
    let searches = app.clone();
    let report = carried(move |awaited| async move {
        let page = page.in_list("permissions", caller.tenant(), "")?;
        let json = body.parse()?;
        let request = PermissionsRequest::parse(&json)?;
        let wanted = page.fetch();
        let found = permissions::list(&app, &caller, &request, wanted, at_least, &awaited).await?;
        Ok(permissions_answer(&page, &known, found))
    });
    searches.searches.run(&tenant, report).await
}

fn permissions_answer(page: &Requested, known: &IfNoneMatch, found: PermissionPage) -> Response {
    let tag = found.tag.as_deref().and_then(|tag| HeaderValue::from_str(tag).ok());
    // What one caller may do is no business of others.
    let private = [(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))];
    let revision = (revision_header(found.revision), entities_header(found.entities_revision));
    let tag_header = tag.map(|tag| [(ETAG, tag)]);
    if found.tag.as_deref().is_some_and(|tag| known.names(tag)) {
        // RFC 9110, 15.4.5: a 304 has the `Cache-Control` and the `ETag` of the 200.
        return (StatusCode::NOT_MODIFIED, private, revision, tag_header, ()).into_response();
    }
    let answer = PermissionsAnswer {
        complete: found.next.is_none(),
        next: found.next.map(|last| page.cursor(&last)),
        results: found.permissions,
        revision: found.revision,
    };
    let link = found.next.and_then(|last| page.link(&last)).map(|link| [(LINK, link)]);
    (private, revision, tag_header, link, Json(answer)).into_response()
}

/// Decides every cell of subjects or roles × resources × actions.
///
/// A cell is decided for every request: all attributes are unknown. `rule_id` is what decides a request without
/// attributes. A page ends after a second.
#[utoipa::path(
    post, path = MATRIX_PATH, tag = "Decisions", operation_id = "decideMatrix", request_body = MatrixRequest,
    responses(
        (status = 200, description = "A page", body = MatrixAnswerBody, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict, NotFound,
    ),
)]
pub(super) async fn matrix(
    State(app): State<App>,
    caller: SearchRequester<ConditionSearch>,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let tenant = caller.tenant().to_owned();
    let searches = app.clone();
    let report = carried(move |awaited| async move {
        let json = body.parse()?;
        let request = MatrixRequest::parse(&json)?;
        let mark =
            RequestMark::new(MATRIX_PATH, caller.tenant(), caller.actor(), &json, &["cursor"]);
        let answer = matrices::matrix(&app, &caller, request, &mark, at_least, &awaited).await?;
        let entities = entities_header(answer.entities_revision);
        Ok((revision_header(answer.revision), entities, Json(answer)).into_response())
    });
    searches.searches.run(&tenant, report).await
}

/// The answer of [`list`], as the document describes it.
struct PermissionsAnswerBody;

document!(PermissionsAnswerBody as "PermissionsAnswer", naming ResourcePermissionBody => {
    let results = schema::list(schema::named::<ResourcePermissionBody>());
    page(schema::record().field("results", results))
        .example(json!({
            "results": [{
                "resource": "chart:read", "action": "read", "decision": "depends", "depends_on": ["resource.ward"],
            }],
            "complete": true,
            "revision": 812,
        }))
});

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
    let text = schema::nullable(schema::string());
    let cell = schema::record()
        .field("subject", text.clone())
        .field("role", text.clone())
        .field("resource", schema::string())
        .field("action", schema::string())
        .field("decision", schema::choice(["allow", "deny", "conditional"]))
        .field("rule_id", text.clone())
        .field("condition", text)
        .field("policies", schema::list(schema::string()));
    let cells = schema::list(cell).description(Some("By resource, action and row"));
    page(schema::record().field("domain", schema::string()).field("cells", cells))
        .field("rules_changed", schema::boolean().description(Some("Whether the rules changed since the page before")))
        .maybe("directory", schema::choice(["present"]).description(Some("If rules of an earlier revision read the directory")))
        .example(json!({
            "domain": "acme",
            "cells": [{
                "subject": null, "role": "nurse", "resource": "chart:read", "action": "read",
                "decision": "conditional", "rule_id": null,
                "condition": "user.ward == resource.ward", "policies": ["own ward"],
            }],
            "complete": true,
            "revision": 812,
            "rules_changed": false,
        }))
});

/// Adds what every page has.
fn page(record: schema::Record) -> schema::Record {
    let complete = "Whether this is everything. If not, `next` leads on";
    let next = "The page after this one: `cursor` of the next request";
    record
        .field("complete", schema::boolean().description(Some(complete)))
        .maybe("next", schema::string().description(Some(next)))
        .field("revision", schema::integer(0, i64::MAX))
}
