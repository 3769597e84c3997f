//! Attacks whose answers, pages or log lines would be large.

use std::io::Write;
use std::net::TcpStream;

use serde_json::json;

use crate::cost::{Figure, memory};
use crate::support::client::connect;
use crate::support::resolver::{Form, RESOLVERS};
use crate::support::saas::{self, operate};
use crate::support::tenant::Tenant;
use crate::support::{MANAGER, Provider, Request, Server, Settings};

/// Attack 1: bodies with very many faults below long names.
pub(crate) fn errors() -> Vec<Figure> {
    let provider = Provider::shared();
    let server = Settings::new(provider).start();
    let tenant = Tenant::with_provider(&server, provider, "attacker");
    tenant.resource("warm:up");
    let (before, _) = memory(&server);
    let answers = faulty(&tenant).into_iter().map(|request| tenant.send(&request).is(400));
    let largest = answers.map(|answer| answer.text.len()).max().unwrap_or_default();
    let (_, peak) = memory(&server);
    vec![
        Figure::kib("the largest answer", largest, 64.0),
        Figure::mib("memory, more than before", peak - before, 64.0),
    ]
}

/// Requests whose bodies have as many faults as fit, on routes that read them in different ways.
fn faulty(tenant: &Tenant<'_>) -> Vec<Request> {
    let long = "n".repeat(280_000);
    let twice = |count: usize| vec![r#""":1"#; count].join(",");
    let duplicates = format!(r#"{{"{long}":{{{}}}}}"#, twice(100_000));
    let nested = format!("{}0{}", "[".repeat(127), "]".repeat(127));
    let deep = format!("[{}]", vec![nested; 4_000].join(","));
    let bad = r#"{"type":"CONDITION","attribute":"user.a","operator":"no","value":1}"#;
    let bad = vec![bad; 990].join(",");
    let policy = format!(
        r#"{{"name":"p","resource":"a:b","effect":"deny","priority":1,"{long}":1,
            "rule_data":{{"type":"OR","children":[{bad}]}}}}"#
    );
    let registrations = format!("[{}]", vec![r#"{"x":1,"y":2}"#; 1_000].join(","));
    let send = |route: &str, body: &str| tenant.managing(route).body("application/json", body);
    let mut requests = vec![
        send("POST /api/v1/abac/policies", &policy),
        send("POST /api/v1/resources/list", &registrations),
    ];
    for route in ["POST /api/v1/check", "POST /api/v1/abac/policies", "POST /api/v1/webhooks"] {
        requests.extend([send(route, &duplicates), send(route, &deep)]);
    }
    for manifest in [&duplicates, &deep] {
        let form = Form::default().part("manifest", manifest).part("module", "x");
        requests.push(form.on(tenant.managing(format!("POST {RESOLVERS}"))));
    }
    requests
}

/// Attack 20: a tenant's key set of 64 KiB that is wrong in many ways.
pub(crate) fn key_sets() -> Vec<Figure> {
    let server = saas::settings().start();
    let provider = Provider::new(vec![crate::support::keys::Key::p256("a")]);
    let name = "n".repeat(32_000);
    let members = vec![r#""":{}"#; 5_500].join(",");
    let key_set = format!(r#"{{"{name}":{{{members}}}}}"#);
    assert!(key_set.len() <= 64 * 1024, "a larger one is not read");
    provider.serve_key_set(&key_set);
    let body = json!({"name": "Attacker", "slug": "attacker"});
    let tenant = operate(&server, "POST /admin/tenants", &body).is(201).id();
    let (before, _) = memory(&server);
    let body = json!({"issuer_url": provider.issuer(), "jwks_uri": provider.jwks_uri()});
    let route = format!("POST /admin/tenants/{tenant}/identity-providers");
    operate(&server, route, &body).is(201);
    let token = provider.token(&provider.claims("d", "mallory", &["user"]));
    for _ in 0..100 {
        let check = json!({"subject": "a", "resource": "a:b", "action": "b"});
        Request::new("POST /api/v1/check").token(&token).json(&check).send(server.address).is(503);
    }
    provider.wait_for_fetches(3);
    let (_, peak) = memory(&server);
    vec![
        Figure::mib("memory, more than before", peak - before, 64.0),
        Figure::kib("log", server.process.err.text().len(), 64.0),
    ]
}

/// Attack 9: a list of 24 MB. Its pages are short, so that 20 clients who ask and do not read make the service keep
/// little.
pub(crate) fn pages() -> Vec<Figure> {
    let provider = Provider::shared();
    let server = Settings::new(provider).start();
    let tenant = Tenant::with_provider(&server, provider, "attacker");
    let value = "x".repeat(240_000);
    let tree =
        json!({"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": value});
    for number in 0..100 {
        tenant.policy("p", &format!("a{number}:b"), "deny", 1, &tree);
    }
    let page = tenant.get("/api/v1/abac/policies").is(200);
    let (before, _) = memory(&server);
    let token = tenant.token("boss", &[MANAGER]);
    let clients: Vec<TcpStream> = (0..20).map(|_| ask(&server, &token)).collect();
    // The answer to a later request shows that the service has worked on those before.
    tenant.get("/api/v1/abac/policies").is(200);
    let (_, peak) = memory(&server);
    drop(clients);
    vec![
        Figure::kib("a page", page.text.len(), 1_024.0),
        Figure::mib("memory for 20 clients, more than before", peak - before, 64.0),
    ]
}

/// Asks for the policies, and does not read the answer.
fn ask(server: &Server, token: &str) -> TcpStream {
    let mut stream = connect(server.address);
    let request = format!(
        "GET /api/v1/abac/policies HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("the request is sent");
    stream
}
