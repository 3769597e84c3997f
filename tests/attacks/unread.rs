//! Attacks by clients that ask for much and read nothing.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::cost::{Figure, memory};
use crate::support::client::connect;
use crate::support::http2::Http2;
use crate::support::tenant::condition;
use crate::support::{MANAGER, Provider, Request, Server, Settings, Tenant, eventually};

/// Routes that answer without a credential, errors included.
const OPEN: [(&str, &str); 19] = [
    ("GET", "/"),
    ("GET", "/docs"),
    ("GET", "/docs/favicon-16x16.png"),
    ("GET", "/docs/favicon-32x32.png"),
    ("GET", "/docs/index.css"),
    ("GET", "/docs/swagger-initializer.js"),
    ("GET", "/docs/swagger-ui-bundle.js"),
    ("GET", "/docs/swagger-ui-standalone-preset.js"),
    ("GET", "/docs/swagger-ui.css"),
    ("GET", "/openapi.json"),
    ("GET", "/metrics"),
    ("GET", "/healthz/live"),
    ("GET", "/healthz/ready"),
    ("GET", "/.well-known/authzen-configuration"),
    ("GET", "/.well-known/authzen-configuration/{tenant}"),
    ("GET", "/unknown"),
    ("PATCH", "/api/v1/check"),
    ("GET", "/api/v1/resources"),
    ("GET", "/api/v1/abac/policies?limit=x&unknown=y"),
];

/// Attack 22: on every route without a credential, 10 connections of HTTP/2 with 100 streams whose window is 0.
pub(crate) fn without_credential() -> Vec<Figure> {
    let settings = Settings::new(Provider::shared());
    let server = settings.set("PUBLIC_URL", "https://authz.example.com").start();
    Request::new("GET /healthz/ready").send(server.address).is(200);
    let (before, _) = memory(&server);
    let long = "t".repeat(3_000);
    let mut most = ("", 0.0);
    for (method, path) in OPEN {
        let connections = unread(&server, method, &path.replace("{tenant}", &long));
        let (now, _) = memory(&server);
        if now - before > most.1 {
            most = (path, now - before);
        }
        drop(connections);
        eventually("the connections are gone", || connections_of(&server) <= 2);
    }
    eprintln!("attack 22: most memory by `{}`", most.0);
    let (_, peak) = memory(&server);
    vec![Figure::mib("memory, more than before", peak - before, 64.0)]
}

fn unread(server: &Server, method: &str, path: &str) -> Vec<Http2> {
    let connection = |_| {
        let mut connection = Http2::connect_without_window(server.address);
        for stream in (0..100).map(|number| 2 * number + 1) {
            connection.request(stream, method, path, true).expect("a request");
        }
        for _ in 0..100 {
            connection.wait_for(|frame| frame.is_answer()).expect("an answer");
        }
        connection
    };
    (0..10).map(connection).collect()
}

fn connections_of(server: &Server) -> usize {
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("portcullis_connections "));
    line.and_then(|count| count.parse().ok()).expect("the metric")
}

/// Attack 23: 50 connections that do not read the answer to a batch with long reasons of an undetermined policy. 30 KB ask
/// for 35 MB, which is more than the share of the tenant, and 12 KB for 14 MB, of which it has some.
pub(crate) fn batches() -> Vec<Figure> {
    let checks = |count| {
        json!({
            "subject": "ann", "resource": "doc:read", "action": "read", "checks": vec![json!({}); count],
        })
    };
    let evaluations = json!({
        "subject": {"type": "user", "id": "ann"}, "action": {"name": "read"},
        "resource": {"type": "doc", "id": "1"}, "options": {"reasons": true},
        "evaluations": vec![json!({}); 4_000],
    });
    let batches = "/api/v1/checks";
    [
        unread_batches(batches, &checks(10_000), "memory, with 35 MB each", false),
        unread_batches(batches, &checks(4_000), "memory, with 14 MB each", true),
        unread_batches("/access/v1/evaluations", &evaluations, "memory, of evaluations", true),
    ]
    .into()
}

fn unread_batches(path: &str, body: &Value, what: &'static str, has_room: bool) -> Figure {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "attacker");
    let absent = |n: usize| condition(&format!("user.{}", n.to_string().repeat(1_500)), "eq", "x");
    let tree = json!({"type": "AND", "children": [absent(1), absent(2), absent(3)]});
    tenant.policy(&"p".repeat(250), "doc:read", "deny", 1, &tree);
    tenant.decide("ann", "doc:read", "read");
    let (before, _) = memory(&server);
    let token = tenant.token("gateway", &[MANAGER]);
    let body = body.to_string();
    let clients: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = connect(server.address);
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).expect("the request is sent");
            stream
        })
        .collect();
    let is_answered = |stream: &&TcpStream| {
        // The header follows when the answer is complete.
        let mut begin = [0; 12];
        stream.peek(&mut begin).expect("an answer begins");
        begin == *b"HTTP/1.1 200"
    };
    let answered = clients.iter().filter(is_answered).count();
    assert_eq!(answered > 0, has_room, "{answered} answers");
    let (_, peak) = memory(&server);
    drop(clients);
    Figure::mib(what, peak - before, 128.0)
}
