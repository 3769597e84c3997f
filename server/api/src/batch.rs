//! Batches: many checks by the rules of one revision (`docs/semantics.md`, section 11).

use axum::extract::State;
use axum::response::Response;
use portcullis_engine::{CheckBuffer, Effect, MatchedRuleId};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::CheckRequester;
use portcullis_http::error::ApiError;
use portcullis_http::query::{Query, QueryParameters, QueryReader};
use portcullis_http::request_id::ID_LENGTH;
use portcullis_model::check::BatchRequest;
use portcullis_model::decision::Via;
use portcullis_model::relation::AssumedTuples;
use portcullis_model::schema;
use portcullis_operations::batch_checks::{self, BatchAnswer, BatchOptions, ItemAnswer};
use portcullis_operations::batch_items::SentBatch;
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::checks::{MinRevision, respond};
use crate::openapi::Conflict;

/// The answer to an item.
#[derive(Serialize, ToSchema)]
struct ItemResult<'b> {
    /// The `id` of the item, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'b str>,
    #[schema(schema_with = schema::effect)]
    decision: Effect,
    /// The id of the policy or rule that decided, or `default-deny`.
    #[schema(value_type = String)]
    matched_rule_id: MatchedRuleId,
    reason: &'b str,
    /// The id of the record, if the decision is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_id: Option<Uuid>,
}

/// The answer to a batch. With `fields=decision` it has `allowed` alone.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({"results": [{
    "id": "a", "decision": "allow", "matched_rule_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b68",
    "reason": "ABAC policy `own-chart` allows",
}]})))]
struct BatchResults<'b> {
    /// In the order of the items, up to the one after which the batch ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ItemResult<'b>>>,
    /// Whether each item is allowed, in the order of `results`.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<Vec<bool>>,
}

/// Decides many checks by the rules of one revision.
///
/// An item takes from the body what it leaves out: each member whole. Tuples in `relations` are for managers, and for service
/// keys with `relations:assume`. With a short circuit the answer ends at the first denial, or at the first permission.
#[utoipa::path(
    post, path = "/api/v1/checks", tag = "Decisions", operation_id = "checkAll", request_body = BatchRequest,
    responses(
        (status = 200, description = "The decisions", body = BatchResults, headers(("X-Policy-Revision"), ("X-Entities-Revision"))),
        Conflict,
    ),
)]
pub(super) async fn check_all(
    State(app): State<App>,
    caller: CheckRequester,
    Query(FieldsOfItems(is_compact)): Query<FieldsOfItems>,
    MinRevision(at_least): MinRevision,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let mut buffer = CheckBuffer::default();
    let (batch, beside) = buffer.read_batch_beside(body.text()?, AssumedTuples::read_beside)?;
    let sent = SentBatch::new(&batch, beside)?;
    caller.count_items(&app, batch.count())?;
    // Held until the answer is written.
    let _items = body.charge_items(batch.count())?;
    let mut id = [0; ID_LENGTH];
    let recorded = Some(caller.recorded(Via::Batch, &mut id));
    let (semantic, with_reasons) = (batch.semantic, !is_compact);
    let options = BatchOptions { at_least, semantic, with_reasons, recorded };
    // The answers are charged until the whole is dropped.
    let answer = batch_checks::check_all(&app, &caller, &sent, options).await?;
    let BatchAnswer { revision, entities_revision, answers, .. } = &answer;
    let results = if is_compact {
        let allowed = answers.iter().map(|answer| answer.effect == Effect::Allow);
        BatchResults { results: None, allowed: Some(allowed.collect()) }
    } else {
        let results = answers.iter().enumerate();
        let results = results.map(|(index, answer)| result(batch.id(index), answer));
        BatchResults { results: Some(results.collect()), allowed: None }
    };
    Ok(respond((*revision, *entities_revision), results))
}

fn result<'b>(id: Option<&'b str>, answer: &'b ItemAnswer) -> ItemResult<'b> {
    let basis = answer.basis.as_ref();
    ItemResult {
        id,
        decision: answer.effect,
        matched_rule_id: basis.map_or(MatchedRuleId(None), |basis| basis.matched_rule_id),
        reason: basis.map_or("", |basis| &basis.reason),
        decision_id: answer.decision_id,
    }
}

/// The query parameter `fields`: whether the answer has the decisions alone.
pub(super) struct FieldsOfItems(bool);

impl QueryParameters for FieldsOfItems {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let about = "`decision`: the answer has `allowed` alone, a list of booleans";
        let (schema, read) =
            (|| schema::choice(["decision"]), |text: &str| (text == "decision").then_some(()));
        let fields = query.optional("fields", about, schema, read, "be `decision`")?;
        Ok(Self(fields.is_some()))
    }
}
