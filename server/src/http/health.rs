//! Health probes: no credential, no tenant.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use http::StatusCode;
use portcullis_engine::{Check, CheckBody, Effect, Plan, ResourcePattern, Rule, RuleTuple, json};
use serde::Serialize;
use serde_json::json;

use crate::app::App;

/// How long the database may take for a round trip.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

/// The process serves requests. Nothing else is looked at.
pub(super) async fn live() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

#[derive(Serialize)]
struct Readiness {
    status: &'static str,
    checks: Checks,
}

#[derive(Serialize)]
struct Checks {
    database: &'static str,
    casbin: &'static str,
}

/// The database answers, and the decision engine decides.
pub(super) async fn ready(State(app): State<App>) -> Response {
    let ping = tokio::spawn(async move { app.store.ping().await });
    let database = matches!(tokio::time::timeout(DATABASE_TIMEOUT, ping).await, Ok(Ok(Ok(()))));
    let engine = decides();
    let word = |good| if good { "ok" } else { "unavailable" };
    let checks = Checks { database: word(database), casbin: word(engine) };
    if database && engine {
        return Json(Readiness { status: "ok", checks }).into_response();
    }
    let body = Json(Readiness { status: "degraded", checks });
    (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
}

/// The engine's built-in check: one rule that allows, one request that it allows.
fn decides() -> bool {
    let rule = Rule {
        id: uuid::Uuid::nil(),
        tuple: RuleTuple {
            sub: "probe".to_owned(),
            dom: "*".to_owned(),
            obj: ResourcePattern::Any,
            act: "read".to_owned(),
        },
        effect: Effect::Allow,
    };
    let plan = Plan::compile("probe:read", 0, &[rule], []);
    let request = br#"{"subject": "probe", "resource": "probe:read", "action": "read"}"#;
    let Ok(request) = json::parse(request) else { return false };
    CheckBody::parse(&request).is_ok_and(|body| {
        let check = Check::new(body, "probe", None, DateTime::UNIX_EPOCH);
        plan.evaluate(&check).effect() == Effect::Allow
    })
}
