//! The least that an HTTP service in Rust can do: axum parses the body of a check, and answers as long a text. On a path for
//! each algorithm it also verifies a signature.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::sync::Arc;

use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::ECHO;
use crate::child::command;
use crate::scenario::PATH;
use crate::signature::Signatures;
use crate::tokens::Algorithm;

/// A running echo, killed when it is dropped.
pub(crate) struct Echo {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let mut child = command(ECHO).stdout(Stdio::piped()).spawn().expect("the echo starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().parse().expect("an address");
        Self { child, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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
        let mut routes = Router::new().route(PATH, post(answer));
        for algorithm in [Algorithm::Rs256, Algorithm::Es256] {
            let signatures = Arc::new(Signatures::by(algorithm));
            let verified = move |body| {
                signatures.verify_next();
                answer(body)
            };
            routes = routes.route(path_with_signature(algorithm), post(verified));
        }
        axum::serve(listener, routes).await.expect("it serves");
    });
}

/// Returns the path on which the echo verifies a signature of this algorithm for each request.
pub(crate) fn path_with_signature(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Rs256 => "/rs256",
        Algorithm::Es256 => "/es256",
    }
}

async fn answer(Json(body): Json<Body>) -> Json<Answer> {
    let Body { subject, resource, action, attributes } = body;
    // Uses every part, so that none is skipped.
    let decision = if attributes.is_object() { "allow" } else { "deny" };
    let reason = format!("RBAC rule `{subject}, doctor, {resource}, {action}` allows");
    Json(Answer { decision, matched_rule_id: crate::support::NO_ID, reason })
}
