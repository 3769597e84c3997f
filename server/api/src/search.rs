//! Searches: which resources, which subjects, which actions (`docs/semantics.md`, section 13).

mod answers;
mod asked;
mod stream;

use axum::extract::State;
use axum::response::Response;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::SearchRequester;
use portcullis_http::error::ApiError;
use portcullis_http::live_credential::LiveCredential;
use portcullis_model::search::{ActionSearchBody, ResourceSearchRequest, SubjectSearchRequest};
use portcullis_runtime::app::App;

use crate::checks::MinRevision;
use crate::line_stream::WantsLines;
use crate::openapi::{Conflict, NotFound};
use answers::{ActionSearchAnswer, EntitySearchAnswer};
pub(crate) use asked::{ACTIONS_PATH, RESOURCES_PATH, SUBJECTS_PATH};
use asked::{AskedSearch, Wanted};

/// Finds the resources of a type for which a subject may do something.
///
/// Candidates are those of the request, or the entities of the directory. A page ends when it is full or after a second,
/// with a cursor. A member may ask about its own subject, without `user` and `resource` among the attributes of a search of
/// the directory; a manager about any.
///
/// `fields` leaves out of the results what does not name them. With `Accept: application/x-ndjson` each result is a line, a
/// conditional one with `"conditional": true`, and the last line has `complete`, `policy_revision` and `entities_revision`. An
/// answer without it broke off.
#[utoipa::path(
    post, path = RESOURCES_PATH, tag = "Decisions", operation_id = "searchResources", request_body = ResourceSearchRequest,
    responses(
        (status = 200, description = "A page; with `Accept: application/x-ndjson` all pages, as lines", headers(("X-Policy-Revision"), ("X-Entities-Revision")), content(
            (EntitySearchAnswer<'_> = "application/json"), (String = "application/x-ndjson"),
        )),
        Conflict, NotFound,
    ),
)]
pub(super) async fn resources(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    WantsLines(lines): WantsLines,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let asked = AskedSearch { app, caller, body, wanted: Wanted::Resources, at_least };
    answer(asked, lines).await
}

/// Finds the subjects of a type who may do something.
///
/// Only managers and service keys may ask. `everybody` says whether subjects whom the tenant does not know may do it, too.
///
/// `fields` leaves out of the results what does not name them. With `Accept: application/x-ndjson` each result is a line, a
/// conditional one with `"conditional": true`, and the last line has `complete`, `policy_revision` and `entities_revision`. An
/// answer without it broke off.
#[utoipa::path(
    post, path = SUBJECTS_PATH, tag = "Decisions", operation_id = "searchSubjects", request_body = SubjectSearchRequest,
    responses(
        (status = 200, description = "A page; with `Accept: application/x-ndjson` all pages, as lines", headers(("X-Policy-Revision"), ("X-Entities-Revision")), content(
            (EntitySearchAnswer<'_> = "application/json"), (String = "application/x-ndjson"),
        )),
        Conflict, NotFound,
    ),
)]
pub(super) async fn subjects(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    WantsLines(lines): WantsLines,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let asked = AskedSearch { app, caller, body, wanted: Wanted::Subjects, at_least };
    answer(asked, lines).await
}

/// Finds what a subject may do with one resource.
///
/// Actions are the verbs of the type that registered resources, rules and policies name. A member may ask about its own
/// subject, a manager about any.
///
/// `fields` leaves out of the results what does not name them. With `Accept: application/x-ndjson` each result is a line, a
/// conditional one with `"conditional": true`, and the last line has `complete`, `policy_revision` and `entities_revision`. An
/// answer without it broke off.
#[utoipa::path(
    post, path = ACTIONS_PATH, tag = "Decisions", operation_id = "searchActions", request_body = ActionSearchBody<'_>,
    responses(
        (status = 200, description = "A page; with `Accept: application/x-ndjson` all pages, as lines", headers(("X-Policy-Revision"), ("X-Entities-Revision")), content(
            (ActionSearchAnswer = "application/json"), (String = "application/x-ndjson"),
        )),
        Conflict, NotFound,
    ),
)]
pub(super) async fn actions(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    WantsLines(lines): WantsLines,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let asked = AskedSearch { app, caller, body, wanted: Wanted::Actions, at_least };
    answer(asked, lines).await
}

/// Answers with a page, or with all of them in lines if `lines` has the credential of a client that wants it so.
///
/// # Errors
/// The errors of the first page.
async fn answer(asked: AskedSearch, lines: Option<LiveCredential>) -> Result<Response, ApiError> {
    match lines {
        Some(credential) => stream::answer(asked, credential).await,
        None => asked.answer().await,
    }
}
