//! The record of decisions (`docs/semantics.md`, section 17).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderName;
use portcullis_engine::names::names;
use portcullis_http::callers::{Allowed, DecisionReader, DecisionsWrite};
use portcullis_http::decision_events;
use portcullis_http::decision_query::DecisionQuery;
use portcullis_http::error::ApiError;
use portcullis_http::live_credential::LiveCredential;
use portcullis_http::live_events::StreamTime;
use portcullis_http::paging::PageQuery;
use portcullis_http::path::RecordId;
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_http::text_answer::Json;
use portcullis_model::decision::{DecisionRecord, ErasedDecisions};
use portcullis_model::decision_stats::{DecisionStats, StatsDimension};
use portcullis_model::parity::Parity;
use portcullis_model::period::CountPeriod;
use portcullis_model::schema;
use portcullis_operations::decisions::{self, Reproduction};
use portcullis_operations::explained_checks::ExplainedCheck;
use portcullis_runtime::app::App;
use serde::Serialize;
use uuid::Uuid;

use crate::explain::Explain;
use crate::openapi::Conflict;

/// The number of replicas whose decisions are missing.
const MISSING_REPLICAS: HeaderName = HeaderName::from_static("x-missing-replicas");

/// Lists the recorded decisions of the tenant, newest first.
///
/// A member who is not a manager sees those about itself, with what its own credential sent. A page ends after a second of
/// search: one with few records or none may have a `Link` to the next. A 409 says that the service keeps no record.
#[utoipa::path(
    get, path = "/api/v1/decisions", tag = "Decisions", operation_id = "listDecisions",
    responses((status = 200, description = "A page", body = [DecisionRecord], headers(("Link"), ("X-Missing-Replicas"))), Conflict),
)]
pub(super) async fn list(
    State(app): State<App>,
    caller: DecisionReader,
    Query(DecisionQuery(selection)): Query<DecisionQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let page = page.in_list("decisions", caller.tenant(), &format!("{selection:?}"))?;
    let found = decisions::list(&app, &caller, selection, page.fetch()).await?;
    let missing = (found.silent > 0).then(|| [(MISSING_REPLICAS, found.silent.to_string())]);
    // A cursor is the record before the page.
    let rest = found.rest.map(|rest| Uuid::from_u128(rest.as_u128().saturating_add(1)));
    Ok((missing, page.respond_up_to(found.into, rest, |record| record.id)).into_response())
}

/// Counts recorded decisions, and those that the settings left out, in groups.
///
/// A member who is not a manager counts those about itself. What is not read within five seconds is not in the answer, whose
/// `complete` is false. A 409 says that the service keeps no record.
#[utoipa::path(
    get, path = "/api/v1/decisions/stats", tag = "Decisions", operation_id = "countDecisions",
    responses((status = 200, description = "The counts", body = DecisionStats), Conflict),
)]
pub(super) async fn stats(
    State(app): State<App>,
    caller: DecisionReader,
    Query(DecisionQuery(selection)): Query<DecisionQuery>,
    Query(by): Query<GroupBy>,
) -> Result<Json<DecisionStats>, ApiError> {
    Ok(Json(decisions::stats(&app, &caller, selection, &by.0).await?))
}

/// Counts how often checks agree with another system.
///
/// Counted are recorded checks that carried what the other system decided, as `expected`. A member who is not a manager
/// counts those about itself. What is not read within five seconds is not in the answer, whose `complete` is false. A 409
/// says that the service keeps no record.
#[utoipa::path(
    get, path = "/api/v1/parity", tag = "Decisions", operation_id = "compareDecisions",
    responses((status = 200, description = "The counts", body = Parity), Conflict),
)]
pub(super) async fn parity(
    State(app): State<App>,
    caller: DecisionReader,
    Query(DecisionQuery(selection)): Query<DecisionQuery>,
    Query(ByPeriod(period)): Query<ByPeriod>,
) -> Result<Json<Parity>, ApiError> {
    Ok(Json(decisions::parity(&app, &caller, selection, period).await?))
}

/// Streams new recorded decisions as server-sent events.
///
/// An event `decision` has a record, an event `more` the number of records that were skipped because the client was slow.
/// The stream ends after five minutes at most, when the credential is revoked or expires, and when the service stops. A 409 says
/// that the service keeps no record, a 503 that there are too many streams.
#[utoipa::path(
    get, path = "/api/v1/decisions/stream", tag = "Decisions", operation_id = "streamDecisions",
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String), Conflict),
)]
pub(super) async fn follow(
    State(app): State<App>,
    caller: DecisionReader,
    credential: LiveCredential,
    Query(DecisionQuery(selection)): Query<DecisionQuery>,
    Query(time): Query<StreamTime>,
) -> Result<Response, ApiError> {
    let records = decisions::follow(&app, &caller, selection)?;
    decision_events::answer(records, time, credential)
}

/// Erases the recorded decisions about a person.
///
/// Sealed ones and those in write-ahead files are gone when the answer comes, and with them the events of denied checks for
/// webhooks; later checks are recorded. A 409 says that the
/// service keeps no record, or that the tenant erased 10,000 persons.
#[utoipa::path(
    delete, path = "/api/v1/decisions", tag = "Decisions", operation_id = "eraseDecisions",
    responses((status = 200, description = "What is gone", body = ErasedDecisions), Conflict),
)]
pub(super) async fn erase(
    State(app): State<App>,
    caller: Allowed<DecisionsWrite>,
    Query(person): Query<Person>,
) -> Result<Json<ErasedDecisions>, ApiError> {
    let Some(subject) = person.0 else {
        return Err(ApiError::bad_request("name the person in the query parameter `subject`"));
    };
    Ok(Json(decisions::erase(&app, &caller, &subject).await?))
}

/// The query parameter of [`erase()`].
pub(super) struct Person(Option<String>);

impl QueryParameters for Person {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        query.text("subject", "The person: the `subject` of the records").map(Self)
    }
}

/// Returns a recorded decision.
///
/// A member who is not a manager sees one about itself, with what its own credential sent. With `explain=true` a manager is shown
/// everything that was considered, from the record and the rules of its revision, and whether they decide so again; `reproduced`
/// is `null` and `not_replayable` names attributes if the record lacks what they read. A 409 says that the service keeps no
/// record, or not those rules any more.
#[utoipa::path(
    get, path = "/api/v1/decisions/{id}", tag = "Decisions", operation_id = "getDecision",
    responses((status = 200, description = "The record", body = DecisionRecord), Conflict),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: DecisionReader,
    id: RecordId,
    Query(Explain(explain)): Query<Explain>,
) -> Result<Response, ApiError> {
    let id = id.known("decision")?;
    if !explain {
        return Ok(Json(decisions::find(&app, &caller, id).await?).into_response());
    }
    let decided = decisions::find_decided(&app, &caller, id).await?;
    let explained = decided.explained(|record, explanation, reproduction| {
        let (reproduced, not_replayable) = match reproduction {
            Reproduction::Reproduced(reproduced) => (Some(reproduced), Vec::new()),
            Reproduction::NotReplayable(attributes) => (None, attributes),
        };
        Json(ExplainedDecision { record, reproduced, not_replayable, explanation }).into_response()
    });
    Ok(explained?)
}

/// A recorded decision with its explanation.
#[derive(Serialize)]
struct ExplainedDecision<'e> {
    #[serde(flatten)]
    record: &'e DecisionRecord,
    /// Whether the rules of its revision decide so again; `None` if the record lacks what they read.
    reproduced: Option<bool>,
    /// The attributes that they read and the record lacks, because they are hashed or left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_replayable: Vec<String>,
    explanation: ExplainedCheck<'e>,
}

/// The members by which decisions are grouped.
#[derive(Debug)]
pub(super) struct GroupBy(Vec<StatsDimension>);

impl QueryParameters for GroupBy {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about = "The members by which decisions are grouped, with commas between them; without it all are one group";
        let expected = format!("be some of {}, each once", StatsDimension::all_names());
        let read = StatsDimension::parse_list;
        let by = query.optional("group_by", about, schema::string, read, &expected)?;
        Ok(Self(by.unwrap_or_default()))
    }
}

/// The period by which checks are compared.
#[derive(Debug)]
pub(super) struct ByPeriod(Option<CountPeriod>);

impl QueryParameters for ByPeriod {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about =
            "The period of UTC by which checks are counted; without it a row has all of them";
        let expected = "be `hour` or `day`";
        query
            .parsed("group_by", about, || schema::choice(names::<CountPeriod>()), expected)
            .map(Self)
    }
}
