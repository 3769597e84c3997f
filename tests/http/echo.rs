//! The least that an HTTP service in Rust can do: axum parses the body of a check, and answers as long a text.

use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;

/// The body of a check.
#[derive(Deserialize)]
struct Body {
    subject: String,
    resource: String,
    action: String,
    attributes: Value,
}

/// An answer of the length of that to a check.
#[derive(Serialize)]
struct Answer {
    decision: &'static str,
    matched_rule_id: &'static str,
    reason: String,
}

/// Serves until the process is killed. The first line that it prints is the address.
pub(crate) fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        println!("{}", listener.local_addr().expect("an address"));
        let routes = Router::new().route("/api/v1/check", post(answer));
        axum::serve(listener, routes).await.expect("it serves");
    });
}

async fn answer(Json(body): Json<Body>) -> Json<Answer> {
    let Body { subject, resource, action, attributes } = body;
    // Uses every part, so that none is skipped.
    let decision = if attributes.is_object() { "allow" } else { "deny" };
    let reason = format!("RBAC rule `{subject}, doctor, {resource}, {action}` allows");
    Json(Answer { decision, matched_rule_id: crate::support::NO_ID, reason })
}
