//! `POST /api/v1/resolvers/{id}/test`: the answers of a resolver to a sample check.

use std::collections::BTreeMap;

use axum::extract::State;
use portcullis_engine::{CheckBody, Invalid, Json as Value};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, ResolversWrite};
use portcullis_http::error::ApiError;
use portcullis_http::path::RecordId;
use portcullis_http::text_answer::Json;
use portcullis_model::schema::{self, AnySchema};
use portcullis_operations::try_out::{TryOutResult, try_out};
use portcullis_resolver_host::{AnsweredAttribute, CallOutcome, Level, LogLine};
use portcullis_resolvers::{LoadFailure, json};
use portcullis_runtime::app::App;
use serde::Serialize;
use utoipa::ToSchema;

use portcullis_model::check::CheckRequest;
use portcullis_model::document;
use portcullis_model::fields::{list, string};
use portcullis_model::input::{self, Field, Members, field};

/// Tries a resolver out.
///
/// It is called for a check that is made up, whatever is cached, whatever its breaker says, and also when it is
/// disabled. Nothing is decided by what it answers. A call that failed is a 200 with `error`.
#[utoipa::path(
    post, path = "/api/v1/resolvers/{id}/test", tag = "Resolvers", operation_id = "testResolver", request_body = TryOut,
    responses((status = 200, description = "What came of the call", body = TriedOut)),
)]
pub(crate) async fn test(
    State(app): State<App>,
    caller: Allowed<ResolversWrite>,
    id: RecordId,
    body: JsonBody,
) -> Result<Json<TriedOut>, ApiError> {
    let body = body.parse()?;
    let TryOut { check, attributes } = TryOut::parse(&body)?;
    let id = id.known("resolver")?;
    let tried = try_out(&app, &caller, id, check, attributes).await?;
    Ok(Json(match tried {
        TryOutResult::Called { outcome, wanted } => TriedOut::new(outcome, &wanted),
        TryOutResult::NotLoaded(failure) => TriedOut::failed(&failure),
    }))
}

/// The body of a test.
struct TryOut<'j> {
    check: CheckBody<'j>,
    attributes: Option<Vec<String>>,
}

impl<'j> TryOut<'j> {
    fn parse(json: &'j Value<'j>) -> Result<Self, Invalid> {
        input::parse(json, Self::declare)
    }

    fn declare(members: &mut Members<'j, '_>) -> Option<Self> {
        let attributes = list(string())
            .about("Their names, without the namespace; all that the module declares when absent");
        let check = members.required("check", check());
        let attributes = members.optional("attributes", attributes);
        Some(Self { check: check?, attributes })
    }
}

/// The body of a check, which the engine reads.
fn check<'j>() -> impl Field<'j, Value = CheckBody<'j>> {
    field(CheckBody::read, schema::named::<CheckRequest>)
}

document!(TryOut<'_> as "ResolverTest", naming CheckRequest => {
    input::describe(TryOut::declare).example(serde_json::json!({
        "check": {"subject": "ann", "resource": "chart:read", "action": "read"},
        "attributes": ["department"],
    }))
});

/// The result of a test.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResolverTestResult, examples(json!({
    "values": {"department": "obstetrics"},
    "absent": [],
    "unanswered": [],
    "error": null,
    "log": [{"level": "info", "message": "1 entry for ann"}],
    "log_dropped": 0,
    "elapsed_us": 1830,
    "memory_bytes": 1179648,
})))]
pub(crate) struct TriedOut {
    /// The values by the attribute's name.
    #[schema(schema_with = values)]
    values: BTreeMap<String, Value<'static>>,
    /// The attributes that do not exist, as the resolver says.
    absent: Vec<String>,
    /// The attributes that the resolver did not answer; they are undetermined.
    unanswered: Vec<String>,
    /// The reason why there is no answer.
    #[schema(required)]
    error: Option<String>,
    log: Vec<Line>,
    /// Lines beyond those that are kept.
    log_dropped: u64,
    /// Wall time of the call.
    elapsed_us: u64,
    /// The most linear memory that the module had.
    memory_bytes: u64,
}

/// A line of the log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResolverLogLine)]
struct Line {
    #[schema(schema_with = level)]
    level: &'static str,
    message: String,
}

impl TriedOut {
    fn new(outcome: CallOutcome, wanted: &[Box<str>]) -> Self {
        let CallOutcome { result, log, elapsed, memory_bytes } = outcome;
        let mut tried = Self {
            log: log.lines.into_iter().map(line).collect(),
            log_dropped: log.dropped,
            elapsed_us: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
            memory_bytes: memory_bytes as u64,
            ..Self::nothing()
        };
        match result {
            Ok(answers) => {
                let unanswered = wanted
                    .iter()
                    .filter(|name| !answers.iter().any(|answer| *answer.name == ***name));
                tried.unanswered = unanswered.map(|name| (**name).to_owned()).collect();
                for AnsweredAttribute { name, value, .. } in answers {
                    match value {
                        Some(value) => drop(tried.values.insert(name, json(value))),
                        None => tried.absent.push(name),
                    }
                }
            }
            Err(error) => tried.error = Some(error.to_string()),
        }
        tried
    }

    /// The resolver could not be called.
    fn failed(why: &LoadFailure) -> Self {
        Self { error: Some(format!("could not be loaded: {why}")), ..Self::nothing() }
    }

    fn nothing() -> Self {
        Self {
            values: BTreeMap::new(),
            absent: Vec::new(),
            unanswered: Vec::new(),
            error: None,
            log: Vec::new(),
            log_dropped: 0,
            elapsed_us: 0,
            memory_bytes: 0,
        }
    }
}

fn line(LogLine { level, text }: LogLine) -> Line {
    Line { level: level.as_str(), message: text }
}

fn level() -> utoipa::openapi::schema::ObjectBuilder {
    schema::choice(Level::ALL.map(Level::as_str))
}

fn values() -> AnySchema {
    use utoipa::openapi::schema::{AdditionalProperties, Type};
    let any = AdditionalProperties::FreeForm(true);
    schema::typed(Type::Object).additional_properties(Some(any)).into()
}
