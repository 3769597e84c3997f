//! RBAC rules (`docs/semantics.md`, section 3.3).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, PoliciesRead, PoliciesWrite};
use portcullis_http::error::ApiError;
use portcullis_http::force::Force;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::RecordId;
use portcullis_http::query::{Query, QueryParameters, QueryReader, query};
use portcullis_http::respond::{created, deleted, revision_header};
use portcullis_http::text_answer::Json;
use portcullis_model::rule::{NewRule, RuleName, RuleRecord, RuleUpdate};
use portcullis_model::rule_filter::RuleFilter;
use portcullis_model::warning::Warning;
use portcullis_model::{document, schema};
use portcullis_operations::rules;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::{Conflict, Deleted, NotFound, QuotaExceeded};

/// A written rule, and the warnings about it.
#[derive(Serialize, ToSchema)]
struct WrittenRule {
    #[serde(flatten)]
    record: RuleRecord,
    /// Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// Creates a rule.
#[utoipa::path(
    post, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "createRule", request_body = NewRule,
    responses(
        (status = 201, description = "The record", body = WrittenRule,
            headers(("Location"), ("X-Policy-Revision"))),
        Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn create(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let rule = NewRule::parse(&body.parse()?, caller.domain())?;
    let written = rules::create(&app, &caller, rule).await?;
    let location = format!("/api/v1/resources/policies?id={}", written.record.id);
    let answer = WrittenRule { record: written.record, warnings: written.warnings };
    Ok(created(written.revision, &location, answer))
}

/// Lists the tenant's rules, or shows one.
///
/// With `id` the answer is that rule, and no other parameter may come with it.
#[utoipa::path(
    get, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "findRules",
    responses(
        (status = 200, description = "A page, or the rule", body = FoundRules, headers(("Link"))),
        NotFound,
    ),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Allowed<PoliciesRead>,
    Query(RuleQuery(filter)): Query<RuleQuery>,
    Query(OnlyRule(id)): Query<OnlyRule>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    if let Some(id) = id {
        return Ok(Json(rules::get(&app, &caller, id.known("rule")?).await?).into_response());
    }
    let page = page.in_list("all-rules", caller.tenant(), &format!("{filter:?}"))?;
    let records = rules::list(&app, &caller, &filter, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// The answer of [`list`], as the document describes it.
struct FoundRules;

document!(FoundRules, naming RuleRecord => {
    schema::one_of([
        schema::list(schema::named::<RuleRecord>()).into(),
        schema::named::<RuleRecord>(),
    ])
});

/// The rules that a list shows.
pub(super) struct RuleQuery(RuleFilter);

impl QueryParameters for RuleQuery {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let mut text = |name: &str| {
            query.text(name, &format!("Only rules with this `{name}`, character by character"))
        };
        let (sub, obj, act, dom) = (text("sub")?, text("obj")?, text("act")?, text("dom")?);
        let effect = query.effect("Only rules of this effect")?;
        Ok(Self(RuleFilter { sub, dom, obj, act, effect }))
    }
}

/// The one rule that a list shows.
pub(super) struct OnlyRule(Option<RecordId>);

impl QueryParameters for OnlyRule {
    fn declare(reader: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let id = rule_id(reader, "The one rule with this id")?;
        if id.is_some() && query(&reader.uri()).nth(1).is_some() {
            let what =
                "the query parameter `id` names one rule; send it without any other parameter";
            return Err(ApiError::bad_request(what));
        }
        Ok(Self(id))
    }
}

/// Declares the id of a rule.
fn rule_id(query: &mut QueryReader<'_>, about: &str) -> Result<Option<RecordId>, ApiError> {
    query.optional("id", about, schema::id, |text| Some(RecordId::from_text(text)), "be an id")
}

/// Updates a rule.
///
/// With an `id`, every other field changes that rule; without, the tuple names the rule and `effect`
/// changes. The rule is explicit from then on, even if a default role made it.
#[utoipa::path(
    put, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "updateRule",
    request_body = RuleUpdate,
    responses(
        (status = 200, description = "The record", body = WrittenRule, headers(("X-Policy-Revision"))),
        NotFound, Conflict, QuotaExceeded,
    ),
)]
pub(super) async fn update(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    Query(Force(force)): Query<Force>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let update = RuleUpdate::parse(&body.parse()?, caller.domain())?;
    let written = rules::update(&app, &caller, &update, force).await?;
    let answer = WrittenRule { record: written.record, warnings: written.warnings };
    Ok((revision_header(written.revision), Json(answer)).into_response())
}

/// Deletes a rule.
///
/// The body names it, or `?id=` for clients that cannot send one: exactly one of the two.
#[utoipa::path(
    delete, path = "/api/v1/resources/policies", tag = "RBAC rules", operation_id = "deleteRule",
    request_body(content = RuleName, description = "An `id`, or a tuple"),
    responses(Deleted, NotFound, Conflict),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<PoliciesWrite>,
    Query(ById(id)): Query<ById>,
    Query(Force(force)): Query<Force>,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let name = named(id, &body, caller.domain())?;
    Ok(deleted(rules::delete(&app, &caller, &name, force).await?))
}

/// The rule that the query names.
pub(super) struct ById(Option<RecordId>);

impl QueryParameters for ById {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        rule_id(query, "The rule, if there is no body").map(Self)
    }
}

/// Returns the name of the rule that a request deletes: from the query or from the body.
fn named(id: Option<RecordId>, body: &JsonBody, domain: &str) -> Result<RuleName, ApiError> {
    let Some(id) = id else { return Ok(RuleName::parse(&body.parse()?, domain)?) };
    if !body.is_empty() {
        let what = "the rule is given twice; send either `?id=` or a body";
        return Err(ApiError::bad_request(what));
    }
    id.known("rule").map(RuleName::Id)
}
