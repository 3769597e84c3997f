//! Health probes: no credential, no tenant.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis_http::text_answer::Json;
use portcullis_model::schema;
use portcullis_operations::probe::engine_decides;
use portcullis_runtime::app::App;
use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;
use utoipa::openapi::schema::ObjectBuilder;

/// Longest round trip to the database.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

/// The answer of the liveness probe.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({"status": "ok"})))]
struct Liveness {
    #[schema(schema_with = ok)]
    status: &'static str,
}

fn ok() -> ObjectBuilder {
    schema::choice(["ok"])
}

/// Tells whether the process serves requests.
///
/// Nothing else is looked at.
#[utoipa::path(
    get, path = "/healthz/live", tag = "Service", operation_id = "isLive",
    responses((status = 200, description = "It does", body = Liveness)),
)]
pub(super) async fn live() -> Response {
    Json(Liveness { status: "ok" }).into_response()
}

/// The answer of the readiness probe.
#[derive(Serialize, ToSchema)]
struct Readiness {
    #[schema(schema_with = readiness)]
    status: &'static str,
    checks: Checks,
    /// The fault that keeps the database from being written, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

fn readiness() -> ObjectBuilder {
    schema::choice(["ok", "degraded", "stopping"])
}

/// The dependencies that the readiness probe tests.
#[derive(Serialize, ToSchema)]
struct Checks {
    #[schema(schema_with = ok_or_unavailable)]
    database: &'static str,
    /// The decision engine.
    #[schema(schema_with = ok_or_unavailable)]
    casbin: &'static str,
}

fn ok_or_unavailable() -> ObjectBuilder {
    schema::choice(["ok", "unavailable"])
}

/// Tells whether the service should get traffic: the database answers and can be written, the decision engine decides, and the
/// service is not about to stop.
#[utoipa::path(
    get, path = "/healthz/ready", tag = "Service", operation_id = "isReady",
    responses(
        (status = 200, description = "It should", body = Readiness,
            example = json!({"status": "ok", "checks": {"database": "ok", "casbin": "ok"}})),
        (status = 503, description = "It should not", body = Readiness,
            example = json!({"status": "degraded", "checks": {"database": "unavailable", "casbin": "ok"}})),
    ),
)]
pub(super) async fn ready(State(app): State<App>) -> Response {
    let is_stopping = app.stopping.load(Ordering::Relaxed);
    // In its own task, so that it also logs a failure that comes after the answer.
    let ping = tokio::spawn(async move { reaches_database(&app).await });
    let ping = tokio::time::timeout(DATABASE_TIMEOUT, ping).await;
    let (database, reason) = match ping {
        Ok(Ok(Ok(()))) => (true, None),
        Ok(Ok(Err(reason))) => (false, reason),
        Ok(Err(_)) | Err(_) => (false, None),
    };
    let engine = engine_decides();
    let checks = Checks { database: word(database), casbin: word(engine) };
    let status = match (database && engine, is_stopping) {
        (true, false) => return Json(Readiness { status: "ok", checks, reason }).into_response(),
        (true, true) => "stopping",
        (false, _) => "degraded",
    };
    (StatusCode::SERVICE_UNAVAILABLE, Json(Readiness { status, checks, reason })).into_response()
}

fn word(is_good: bool) -> &'static str {
    if is_good { "ok" } else { "unavailable" }
}

/// Makes a round trip to the database. A failure is what keeps it from being written, if that is known. At most once in ten
/// seconds the log says why one failed.
async fn reaches_database(app: &App) -> Result<(), Option<&'static str>> {
    let Err(error) = app.store.ping().await else { return Ok(()) };
    if let Some(unwritten) = app.probe_log.pass(Instant::now()) {
        tracing::warn!(%error, unwritten, "the readiness probe cannot reach the database");
    }
    Err(error.write_fault())
}
