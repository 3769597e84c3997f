//! The record of decisions (`docs/semantics.md`, section 17).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use portcullis_engine::Effect;
use portcullis_engine::names::names;
use portcullis_model::decision::{DecisionRecord, DecisionSelection, Via};
use portcullis_model::schema;
use portcullis_operations::decisions::{self, DecidedRecord};
use portcullis_replay::Unreadable;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use serde::Serialize;

use crate::audit::instant;
use crate::callers::{DecisionsRead, Requester};
use crate::error::ApiError;
use crate::explain::{Explain, ExplanationAnswer};
use crate::openapi::Conflict;
use crate::paging::PageQuery;
use crate::path::RecordId;
use crate::query::{Query, QueryParameters, QueryReader};
use crate::text_answer::Json;

/// Lists the recorded decisions of the tenant, newest first.
///
/// A member who is no manager sees those about itself. A 409 says that the service keeps no record.
#[utoipa::path(
    get, path = "/api/v1/decisions", tag = "Decisions", operation_id = "listDecisions",
    responses((status = 200, description = "A page", body = [DecisionRecord], headers(("Link"))), Conflict),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: Requester<DecisionsRead>,
    Query(selection): Query<DecisionSelection>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("decisions", caller.tenant(), &format!("{selection:?}"))?;
    let records = decisions::list(&app, &caller, selection, page.fetch()).await?;
    Ok(page.respond(records, |record| record.id))
}

/// Returns a recorded decision.
///
/// A member who is no manager sees one about itself. With `explain=true` a manager is shown everything that was considered,
/// from the record and the rules of its revision, and whether they decide so again. A 409 says that the service keeps no
/// record, or not those rules any more.
#[utoipa::path(
    get, path = "/api/v1/decisions/{id}", tag = "Decisions", operation_id = "getDecision",
    responses((status = 200, description = "The record", body = DecisionRecord), Conflict),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Requester<DecisionsRead>,
    id: RecordId,
    Query(Explain(explain)): Query<Explain>,
) -> Result<Response, ApiError> {
    let id = id.known("decision")?;
    if !explain {
        return Ok(Json(decisions::find(&app, &caller, id).await?).into_response());
    }
    let DecidedRecord { record, side, resolvers } =
        decisions::find_decided(&app, &caller, id).await?;
    let explained = portcullis_replay::explain(&record, &side, |explanation, reproduced| {
        let explanation = ExplanationAnswer::of_record(record.revision, explanation, &resolvers);
        Json(ExplainedDecision { record: &record, reproduced, explanation }).into_response()
    });
    explained.map_err(|Unreadable| {
        OperationError::Conflict("the record cannot be read".to_owned()).into()
    })
}

/// A recorded decision with its explanation.
#[derive(Serialize)]
struct ExplainedDecision<'e> {
    #[serde(flatten)]
    record: &'e DecisionRecord,
    /// Whether the rules of its revision decide so again.
    reproduced: bool,
    explanation: ExplanationAnswer<'e>,
}

impl QueryParameters for DecisionSelection {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let rule = "Only decisions by the rule or policy with this id, or `default-deny`";
        Ok(Self {
            from: instant(query, "from", "Only decisions from this instant on")?,
            to: instant(query, "to", "Only decisions before this instant")?,
            subject: query.text("subject", "Only decisions about this subject")?,
            resource: query.text("resource", "Only decisions about this resource")?,
            action: query.text("action", "Only decisions about this action")?,
            rule: query.text("rule", rule)?,
            request_id: query.text("request_id", "Only decisions of the request with this id")?,
            decision: decision(query)?,
            via: via(query)?,
            undetermined: undetermined(query)?,
        })
    }
}

/// Returns the schema of the members of a filter, which are the query parameters of the list.
pub(crate) fn filter() -> schema::Input {
    schema::input()
        .optional("subject", schema::string())
        .optional("resource", schema::string())
        .optional("action", schema::string())
        .optional("rule", schema::string())
        .optional("request_id", schema::string())
        .optional("decision", schema::effect())
        .optional("via", schema::choice(names::<Via>()))
        .optional("undetermined", schema::boolean())
}

fn decision(query: &mut QueryReader<'_>) -> Result<Option<Effect>, ApiError> {
    let (about, read) = ("Only decisions of this effect", |text: &str| text.parse().ok());
    query.optional("decision", about, schema::effect, read, "be `allow` or `deny`")
}

fn via(query: &mut QueryReader<'_>) -> Result<Option<Via>, ApiError> {
    let words = || schema::choice(names::<Via>());
    let expected = "be `check`, `legacy`, `batch` or `authzen`";
    let about = "Only decisions of this kind of request";
    query.optional("via", about, words, |text: &str| text.parse().ok(), expected)
}

fn undetermined(query: &mut QueryReader<'_>) -> Result<Option<bool>, ApiError> {
    let about = "Only decisions with an undetermined condition, or only those without one";
    let read = |text: &str| text.parse().ok();
    query.optional("undetermined", about, schema::boolean, read, "be `true` or `false`")
}
