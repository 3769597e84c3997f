//! `POST /access/v1/search/…`: searches of AuthZEN (`docs/semantics.md`, section 13.7).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::action::{Action, decoded};
use portcullis_engine::search::Searched;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::SearchRequester;
use portcullis_http::error::ApiError;
use portcullis_http::recipient::carried;
use portcullis_http::respond::entities_header;
use portcullis_http::respond::revision_header;
use portcullis_http::text_answer::Json;
use portcullis_operations::search::{
    ActionQuestion, Claims, EntityQuestion, RequestMark, search_actions, search_entities,
};
use portcullis_runtime::app::App;
use portcullis_runtime::min_revisions::MinRevisions;
use serde::Serialize;
use utoipa::ToSchema;

use super::body::StandardBody;
use super::document::{ActionSearch, ResourceSearch, SubjectSearch};
use super::scope::domain_of;
use super::search_body::{SearchBody, Wanted};
use crate::checks::MinRevision;
use crate::openapi::Conflict;

pub(crate) const SUBJECTS_PATH: &str = "/access/v1/search/subject";
pub(crate) const RESOURCES_PATH: &str = "/access/v1/search/resource";
pub(crate) const ACTIONS_PATH: &str = "/access/v1/search/action";

/// The place of a token in a body.
const TOKEN: &str = "/page/token";

/// A page of a search for subjects or resources.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "page": {"next_token": "", "count": 1}, "results": [{"type": "record", "id": "record-1"}],
})))]
struct EntitiesAnswer {
    page: PageAnswer,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<SearchContext>,
    results: Vec<EntityName>,
}

/// A page of a search for actions.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({"page": {"next_token": "", "count": 1}, "results": [{"name": "read"}]})))]
struct ActionsAnswer {
    page: PageAnswer,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<SearchContext>,
    results: Vec<ActionName>,
}

#[derive(Serialize, ToSchema)]
struct PageAnswer {
    /// The token of the next page; empty after the last one.
    next_token: String,
    /// The number of results of this page.
    count: usize,
}

/// The part of a search that is not decided.
#[derive(Serialize, ToSchema)]
struct SearchContext {
    /// The ids or names on which attributes of resolvers decide. They are not among the results; an evaluation decides.
    conditional: Vec<String>,
}

#[derive(Serialize, ToSchema)]
struct EntityName {
    r#type: String,
    id: String,
}

#[derive(Serialize, ToSchema)]
struct ActionName {
    name: String,
}

impl SearchContext {
    /// Returns the context, if there is anything to say.
    fn new(conditional: Vec<String>) -> Option<Self> {
        (!conditional.is_empty()).then_some(Self { conditional })
    }
}

/// Finds the subjects of a type that may do something.
///
/// Candidates are the entities of the directory. Only managers and service keys may ask. Unknown members are ignored.
#[utoipa::path(
    post, path = SUBJECTS_PATH, tag = "Decisions", operation_id = "subjectSearch", request_body = SubjectSearch,
    responses(
        (status = 200, description = "A page", body = EntitiesAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict,
    ),
)]
pub(crate) async fn subjects(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    StandardBody(body): StandardBody,
) -> Result<Response, ApiError> {
    run(app, caller, body, Wanted::Subjects, at_least).await
}

/// Finds the resources of a type to which a subject may do something.
///
/// Candidates are the entities of the directory. A member may ask about its own subject, a manager about any. Properties that
/// a member sends with subject and resource are not used; their types are.
#[utoipa::path(
    post, path = RESOURCES_PATH, tag = "Decisions", operation_id = "resourceSearch", request_body = ResourceSearch,
    responses(
        (status = 200, description = "A page", body = EntitiesAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict,
    ),
)]
pub(crate) async fn resources(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    StandardBody(body): StandardBody,
) -> Result<Response, ApiError> {
    run(app, caller, body, Wanted::Resources, at_least).await
}

/// Finds what a subject may do with a resource.
///
/// Actions are the verbs of the type that registered resources, rules and policies name.
#[utoipa::path(
    post, path = ACTIONS_PATH, tag = "Decisions", operation_id = "actionSearch", request_body = ActionSearch,
    responses(
        (status = 200, description = "A page", body = ActionsAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict,
    ),
)]
pub(crate) async fn actions(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    StandardBody(body): StandardBody,
) -> Result<Response, ApiError> {
    run(app, caller, body, Wanted::Actions, at_least).await
}

/// Searches on a thread that serves no requests.
async fn run(
    app: App,
    caller: SearchRequester,
    body: JsonBody,
    wanted: Wanted,
    at_least: MinRevisions,
) -> Result<Response, ApiError> {
    let tenant = caller.tenant().to_owned();
    let searches = app.clone();
    let search = carried(move |_| async move {
        let json = body.parse()?;
        let body = SearchBody::parse(&json, wanted)?;
        // Called for its fault, which names the member of this body.
        domain_of(&caller, body.domain())?;
        let (route, about) = match wanted {
            Wanted::Subjects => (SUBJECTS_PATH, Some((Searched::Subject, body.subject.kind()))),
            Wanted::Resources => (RESOURCES_PATH, Some((Searched::Resource, body.resource.kind()))),
            Wanted::Actions => (ACTIONS_PATH, None),
        };
        // A cursor goes on with the same question on the same route alone; the page may be of another size.
        let mark = RequestMark::new(route, caller.tenant(), caller.actor(), &json, &["page"]);
        match about {
            Some(about) => find_entities(&app, &caller, &body, about, &mark, at_least).await,
            None => find_actions(&app, &caller, &body, &mark, at_least).await,
        }
    });
    searches.searches.run(&tenant, search).await
}

async fn find_entities(
    app: &App,
    caller: &SearchRequester,
    body: &SearchBody<'_>,
    (searched, entity_type): (Searched, &str),
    mark: &RequestMark,
    at_least: MinRevisions,
) -> Result<Response, ApiError> {
    let types = body.types();
    let question = EntityQuestion {
        searched,
        entity_type,
        subject: &body.principal,
        subject_type: Some(body.subject.kind()),
        resource: &body.resource_name,
        action: Action::Plain(body.action()),
        domain: body.domain(),
        attributes: body.attributes(),
        // Of what a member claims about subject and resource, only their types are left.
        claims: Claims::Replaced(body.attributes_with(&types)),
        candidates: None,
        page: body.page,
        cursor_at: TOKEN,
        at_least,
        at_revision: None,
    };
    let page = search_entities(app, caller, question, mark).await?;
    caller.count_candidates(app, page.looked_at);
    let conditional = page.conditional.into_iter().map(|open| open.id).collect();
    let count = page.found.len();
    let results = page.found.into_iter();
    let results = results.map(|found| EntityName { r#type: entity_type.to_owned(), id: found.id });
    let answer = EntitiesAnswer {
        page: PageAnswer { next_token: page.next.unwrap_or_default(), count },
        context: SearchContext::new(conditional),
        results: results.collect(),
    };
    let entities = entities_header(page.entities_revision);
    Ok((revision_header(page.revision), entities, Json(answer)).into_response())
}

async fn find_actions(
    app: &App,
    caller: &SearchRequester,
    body: &SearchBody<'_>,
    mark: &RequestMark,
    at_least: MinRevisions,
) -> Result<Response, ApiError> {
    let question = ActionQuestion {
        subject: &body.principal,
        subject_type: Some(body.subject.kind()),
        resource_type: &body.resource_name,
        action_of: Some(name_of),
        domain: body.domain(),
        attributes: body.attributes(),
        page: body.page,
        cursor_at: TOKEN,
        at_least,
        at_revision: None,
    };
    let page = search_actions(app, caller, &question, mark).await?;
    caller.count_candidates(app, page.looked_at);
    let conditional = page.conditional.iter().map(|open| name_of(&open.id)).collect();
    let answer = ActionsAnswer {
        page: PageAnswer { next_token: page.next.unwrap_or_default(), count: page.found.len() },
        context: SearchContext::new(conditional),
        results: page
            .found
            .into_iter()
            .map(|found| ActionName { name: name_of(&found.id) })
            .collect(),
    };
    let entities = entities_header(page.entities_revision);
    Ok((revision_header(page.revision), entities, Json(answer)).into_response())
}

/// Returns the name of the action that stands percent-encoded in a resource.
fn name_of(verb: &str) -> String {
    decoded(verb).into_owned()
}
