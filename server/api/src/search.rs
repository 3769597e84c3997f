//! Searches: which resources, which subjects, which actions (`docs/semantics.md`, section 13).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::Json;
use portcullis_engine::resource::object_of;
use portcullis_engine::search::Searched;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::SearchRequester;
use portcullis_http::error::ApiError;
use portcullis_http::recipient::carried;
use portcullis_http::respond::entities_header;
use portcullis_http::respond::revision_header;
use portcullis_http::text_answer::Json as JsonAnswer;
use portcullis_model::input::DeclaredBody;
use portcullis_model::search::{
    ActionSearchBody, EntitySearchBody, ResourceSearchRequest, SubjectSearchRequest,
};
use portcullis_operations::directory;
use portcullis_operations::search::{
    ActionQuestion, Claims, ConditionalEntity, EntityQuestion, RequestMark, SearchSource,
    SearchedPage, search_actions, search_entities,
};
use portcullis_runtime::app::App;
use portcullis_runtime::min_revisions::MinRevisions;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::checks::MinRevision;
use crate::openapi::{Conflict, NotFound};

pub(crate) const RESOURCES_PATH: &str = "/api/v1/search/resources";
pub(crate) const SUBJECTS_PATH: &str = "/api/v1/search/subjects";
pub(crate) const ACTIONS_PATH: &str = "/api/v1/search/actions";

/// The members of a body that say which page is wanted.
const PAGE_MEMBERS: [&str; 2] = ["limit", "cursor"];
const CURSOR: &str = "/cursor";

/// A page of a search for entities.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "results": [{
        "type": "chart", "id": "c-17", "decision": "allow",
        "rule": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68",
    }],
    "conditional": [],
    "complete": true,
    "source": "request",
    "revision": 812,
    "rules_changed": false,
})))]
struct EntitySearchAnswer {
    /// The entities for which the request is allowed.
    results: Vec<EntityResult>,
    /// The entities on which attributes of resolvers decide. A check of one asks the resolvers.
    conditional: Vec<ConditionalResult>,
    /// In a search for the subjects that the tenant knows: the decision on any other subject of the type, who has no roles and
    /// properties. `allow`, `deny`, or `conditional` if attributes of resolvers decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    everybody: Option<&'static str>,
    #[serde(flatten)]
    end: SearchEnd,
}

/// A page of a search for actions.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "results": [{
        "resource": "chart:read", "action": "read", "decision": "allow",
        "rule": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68",
    }],
    "conditional": [],
    "complete": true,
    "revision": 812,
    "rules_changed": false,
})))]
struct ActionSearchAnswer {
    /// The actions that are allowed.
    results: Vec<ActionResult>,
    /// The actions on which attributes of resolvers decide.
    conditional: Vec<ConditionalAction>,
    #[serde(flatten)]
    end: SearchEnd,
}

#[derive(Serialize, ToSchema)]
struct EntityResult {
    r#type: String,
    id: String,
    decision: &'static str,
    /// The id of the policy or rule that allows it.
    rule: Uuid,
}

#[derive(Serialize, ToSchema)]
struct ConditionalResult {
    r#type: String,
    id: String,
    /// The attributes of resolvers that decide.
    depends_on: Vec<String>,
    /// The condition under which it is allowed, for managers and keys with `policies:read`. Absent if it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ActionResult {
    resource: String,
    action: String,
    decision: &'static str,
    /// The id of the policy or rule that allows it.
    rule: Uuid,
}

#[derive(Serialize, ToSchema)]
struct ConditionalAction {
    resource: String,
    action: String,
    /// The attributes of resolvers that decide.
    depends_on: Vec<String>,
}

/// The end of a page.
#[derive(Serialize, ToSchema)]
struct SearchEnd {
    /// Whether the search has looked at everything. If not, `next` leads on.
    complete: bool,
    /// The origin of the candidates: `request`, or `entities` for what entities and tuples know.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    /// `present` if rules of an earlier revision read the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<&'static str>,
    /// The revision of the rules that decided.
    revision: u64,
    /// Whether the rules changed since the page before.
    rules_changed: bool,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl SearchEnd {
    fn new(
        page: &mut SearchedPage,
        source: Option<SearchSource>,
        at_revision: Option<u64>,
    ) -> Self {
        let next = page.next.take();
        Self {
            directory: directory::present_beside_past(at_revision, page.entities_revision),
            complete: next.is_none(),
            source: source.map(|source| match source {
                SearchSource::Request => "request",
                SearchSource::Entities => "entities",
            }),
            revision: page.revision,
            rules_changed: page.rules_changed,
            next,
        }
    }
}

/// Finds the resources of a type for which a subject may do something.
///
/// Candidates are those of the request, or the entities of the directory. A page ends when it is full or after a second,
/// with a cursor. A member may ask about its own subject, without `user` and `resource` among the attributes of a search of
/// the directory; a manager about any.
#[utoipa::path(
    post, path = RESOURCES_PATH, tag = "Decisions", operation_id = "searchResources",
    request_body = ResourceSearchRequest,
    responses(
        (status = 200, description = "A page", body = EntitySearchAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict, NotFound,
    ),
)]
pub(super) async fn resources(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    run(app, caller, body, Searched::Resource, at_least).await
}

/// Finds the subjects of a type who may do something.
///
/// Only managers and service keys may ask. `everybody` says whether subjects whom the tenant does not know may do it, too.
#[utoipa::path(
    post, path = SUBJECTS_PATH, tag = "Decisions", operation_id = "searchSubjects", request_body = SubjectSearchRequest,
    responses(
        (status = 200, description = "A page", body = EntitySearchAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict, NotFound,
    ),
)]
pub(super) async fn subjects(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    run(app, caller, body, Searched::Subject, at_least).await
}

/// Finds what a subject may do with one resource.
///
/// Actions are the verbs of the type that registered resources, rules and policies name. A member may ask about its own
/// subject, a manager about any.
#[utoipa::path(
    post, path = ACTIONS_PATH, tag = "Decisions", operation_id = "searchActions", request_body = ActionSearchBody<'_>,
    responses(
        (status = 200, description = "A page", body = ActionSearchAnswer, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict, NotFound,
    ),
)]
pub(super) async fn actions(
    State(app): State<App>,
    caller: SearchRequester,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let tenant = caller.tenant().to_owned();
    let searches = app.clone();
    let search =
        carried(move |_| async move { action_answer(&app, &caller, &body, at_least).await });
    searches.searches.run(&tenant, search).await
}

async fn action_answer(
    app: &App,
    caller: &SearchRequester,
    body: &JsonBody,
    at_least: MinRevisions,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let body = ActionSearchBody::parse(&json)?;
    let mark = mark(ACTIONS_PATH, caller, &json);
    let question = ActionQuestion {
        subject: body.subject,
        subject_type: None,
        resource_type: body.resource_type,
        action_of: str::to_owned,
        domain: body.terms.domain,
        attributes: body.terms.attributes,
        page: body.terms.page,
        cursor_at: CURSOR,
        at_least,
        at_revision: body.terms.at_revision,
    };
    let mut page = search_actions(app, caller, &question, &mark).await?;
    let entities = entities_header(page.entities_revision);
    caller.count_candidates(app, page.looked_at);
    let resource = |action: &str| format!("{}:{action}", body.resource_type);
    let end = SearchEnd::new(&mut page, None, body.terms.at_revision);
    let results = page.found.into_iter().map(|found| ActionResult {
        resource: resource(&found.id),
        action: found.id,
        decision: "allow",
        rule: found.rule,
    });
    let conditional = page.conditional.into_iter().map(|open| ConditionalAction {
        resource: resource(&open.id),
        action: open.id,
        depends_on: open.depends_on,
    });
    let (results, conditional) = (results.collect(), conditional.collect());
    let revision = (revision_header(end.revision), entities);
    Ok((revision, JsonAnswer(ActionSearchAnswer { results, conditional, end })).into_response())
}

/// Searches for entities, on a thread that serves no requests.
async fn run(
    app: App,
    caller: SearchRequester,
    body: JsonBody,
    searched: Searched,
    at_least: MinRevisions,
) -> Result<Response, ApiError> {
    let tenant = caller.tenant().to_owned();
    let searches = app.clone();
    let search =
        carried(move |_| async move { answer(&app, &caller, &body, searched, at_least).await });
    searches.searches.run(&tenant, search).await
}

async fn answer(
    app: &App,
    caller: &SearchRequester,
    body: &JsonBody,
    searched: Searched,
    at_least: MinRevisions,
) -> Result<Response, ApiError> {
    let json = body.parse()?;
    let (route, body) = match searched {
        Searched::Resource => (RESOURCES_PATH, EntitySearchBody::parse_resources(&json)?),
        Searched::Subject => (SUBJECTS_PATH, EntitySearchBody::parse_subjects(&json)?),
    };
    let mark = mark(route, caller, &json);
    let (entity_type, subject) = match searched {
        Searched::Resource => (object_of(body.resource), body.subject),
        Searched::Subject => (body.subject, ""),
    };
    let question = EntityQuestion {
        searched,
        entity_type,
        subject,
        subject_type: None,
        resource: body.resource,
        action: body.action,
        domain: body.terms.domain,
        attributes: body.terms.attributes,
        claims: Claims::Refused,
        candidates: body.candidates,
        page: body.terms.page,
        cursor_at: CURSOR,
        at_least,
        at_revision: body.terms.at_revision,
    };
    let page = search_entities(app, caller, question, &mark).await?;
    caller.count_candidates(app, page.looked_at);
    let shows_conditions = caller.may_explain(body.terms.domain, &app.manager_roles).is_ok();
    Ok(entity_answer(entity_type, page, shows_conditions, body.terms.at_revision))
}

fn entity_answer(
    entity_type: &str,
    mut page: SearchedPage,
    shows_conditions: bool,
    at_revision: Option<u64>,
) -> Response {
    let source = page.source;
    let entities = entities_header(page.entities_revision);
    let end = SearchEnd::new(&mut page, Some(source), at_revision);
    let results = page.found.into_iter().map(|found| EntityResult {
        r#type: entity_type.to_owned(),
        id: found.id,
        decision: "allow",
        rule: found.rule,
    });
    let conditional = page.conditional.into_iter().map(|open| {
        let ConditionalEntity { id, depends_on, condition } = open;
        let condition = condition.filter(|_| shows_conditions);
        ConditionalResult { r#type: entity_type.to_owned(), id, depends_on, condition }
    });
    let (results, conditional) = (results.collect(), conditional.collect());
    let (revision, everybody) = ((revision_header(end.revision), entities), page.everybody);
    let answer = EntitySearchAnswer { results, conditional, everybody, end };
    (revision, JsonAnswer(answer)).into_response()
}

fn mark(route: &str, caller: &SearchRequester, json: &Json<'_>) -> RequestMark {
    RequestMark::new(route, caller.tenant(), caller.actor(), json, &PAGE_MEMBERS)
}
