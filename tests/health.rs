//! `GET /healthz/live` and `GET /healthz/ready`.

use serde_json::json;

use crate::support::{Request, Server};

#[test]
fn probes_need_no_credential_and_show_their_state() {
    let server = Server::shared();
    let live = Request::new("GET /healthz/live").send(server.address).is(200);
    live.has(&json!({"status": "ok"}));
    let ready = Request::new("GET /healthz/ready").send(server.address).is(200);
    ready.has(&json!({"status": "ok", "checks": {"database": "ok", "casbin": "ok"}}));
}

#[test]
fn a_credential_on_a_probe_is_not_looked_at() {
    let server = Server::shared();
    for path in ["/healthz/live", "/healthz/ready", "/healthz/ready?verbose=1"] {
        let request = Request::new(format!("GET {path}")).token("nonsense");
        request.header("x-service-api-key", "nonsense").send(server.address).is(200);
    }
}
