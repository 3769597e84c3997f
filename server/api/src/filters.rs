//! Plans of lists (`docs/semantics.md`, section 14).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::fields::Body;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::SearchRequester;
use portcullis_http::error::ApiError;
use portcullis_http::respond::entities_header;
use portcullis_http::respond::revision_header;
use portcullis_http::text_answer::Json;
use portcullis_model::document;
use portcullis_model::filter::FilterRequest;
use portcullis_model::schema::{self, Record};
use portcullis_operations::filters;
use portcullis_runtime::app::App;
use serde_json::json;
use utoipa::openapi::Type;

use super::checks::MinRevision;
use crate::openapi::Conflict;

/// Decides a request for all rows of a list, as a condition over their attributes.
///
/// The condition holds for exactly the rows that a check of each row allows. With `dialect` the answer has it in SQL. A key with
/// `access:search` and without `policies:read` needs `dialect`, and gets the SQL without conditions: `condition` is null, `known`
/// and `check` are empty.
#[utoipa::path(
    post, path = "/api/v1/plan", tag = "Decisions", operation_id = "planRows", request_body = FilterRequest<'_>,
    responses(
        (status = 200, description = "The plan", body = FilterAnswerBody, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict,
    ),
)]
pub(super) async fn plan(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let request = FilterRequest::parse(&json)?;
    let answer = filters::filter(&app, &caller, &request, at_least).await?;
    let entities = entities_header(answer.entities_revision);
    Ok((revision_header(answer.revision), entities, Json(answer)).into_response())
}

/// The answer, as the document describes it.
struct FilterAnswerBody;

fn policy() -> Record {
    schema::record().field("id", schema::id()).field("name", schema::string())
}

document!(FilterAnswerBody as "FilterAnswer" => {
    let deciding = policy()
        .field("effect", schema::effect())
        .field("text", schema::string())
        .field("condition", schema::typed(Type::Object));
    let condition = schema::record()
        .field("text", schema::nullable(schema::string()))
        .field("policies", schema::list(deciding).description(Some("The first that applies decides a row")))
        .field("otherwise", schema::effect());
    let sql = schema::record()
        .field("text", schema::string())
        .field("params", schema::list(schema::anything()));
    let inexact = policy().field("reasons", schema::list(schema::string()));
    schema::record()
        .field("kind", schema::choice(["always", "never", "conditional"]))
        .field("condition", schema::nullable(condition))
        .field("reads", schema::list(schema::string()).description(Some("Attributes of rows")))
        .field("known", schema::typed(Type::Object).description(Some("Known attributes that the condition names")))
        .field("sql", schema::nullable(sql))
        .field("exact", schema::boolean())
        .field("check", schema::list(inexact).description(Some("Why rows need a check of their own")))
        .field("revision", schema::integer(0, i64::MAX))
        .example(json!({
            "kind": "conditional",
            "condition": {
                "text": "resource.owner == \"dana\"",
                "policies": [{
                    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68", "name": "own documents", "effect": "allow",
                    "text": "resource.owner == \"dana\"",
                    "condition": {"type": "CONDITION", "attribute": "resource.owner", "operator": "eq", "value": "dana"},
                }],
                "otherwise": "deny",
            },
            "reads": ["resource.owner"], "known": {},
            "sql": {
                "text": "\"d\".\"owner_id\" = CAST($1 AS text)",
                "params": ["dana"],
            },
            "exact": true, "check": [], "revision": 812,
        }))
});
