//! Attack "trees": large bodies that are read into trees, to delay the requests of others.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cost::Figure;
use crate::plans::p99;
use crate::support::{MANAGER, Provider, Request, Settings, Tenant};

/// Clients that send trees.
const CLIENTS: usize = 8;
/// The 99th percentile of the checks of another tenant.
const BOUND: Duration = Duration::from_millis(100);

/// Sends the largest bodies of several routes, each of which becomes a tree, and measures the checks of another tenant.
pub(crate) fn trees() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let [attacker, other] =
        ["attacker", "other"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    other.rule("alice", "*", "read", "allow");
    p99(&other);
    let token = attacker.token("boss", &[MANAGER, "service"]);
    let requests: Vec<Request> = bodies()
        .into_iter()
        .map(|(route, body)| Request::new(route).token(&token).json(&body))
        .collect();
    let (done, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    let slowest = std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let number = sent.fetch_add(1, Ordering::Relaxed);
                    let _ = requests[number % requests.len()].try_send(server.address);
                }
            });
        }
        while sent.load(Ordering::Relaxed) < 3 * CLIENTS {
            std::thread::sleep(Duration::from_millis(5));
        }
        let slowest = p99(&other);
        done.store(true, Ordering::Relaxed);
        slowest
    });
    vec![Figure::time("a check of another tenant, p99", slowest, BOUND)]
}

/// Bodies of nearly as many bytes as their routes take. None is plain text, so that each becomes a tree.
fn bodies() -> Vec<(&'static str, Value)> {
    // A line break is an escape.
    let tags = |count: usize| -> Vec<String> { (0..count).map(|n| format!("tag\n{n}")).collect() };
    let check = |tags: Vec<String>| json!({"subject": "ann", "resource": "doc:read", "action": "read", "attributes": {"user.tags": tags}});
    let entity = |id: usize| json!({"type": "user", "id": format!("u\n{id}"), "properties": {"tags": tags(400)}});
    let evaluation = |id: usize| {
        json!({"subject": {"type": "user", "id": format!("u\n{id}"), "properties": {"tags": tags(40)}},
            "resource": {"type": "doc", "id": "1"}, "action": {"name": "read"}})
    };
    vec![
        ("POST /api/v1/check", check(tags(60_000))),
        (
            "POST /access/v1/evaluations",
            json!({"evaluations": (0..9_000).map(evaluation).collect::<Vec<_>>()}),
        ),
        ("PUT /api/v1/entities", json!({"entities": (0..1_000).map(entity).collect::<Vec<_>>()})),
        (
            "POST /api/v1/checks",
            json!({"items": (0..40).map(|_| check(tags(12_000))).collect::<Vec<_>>()}),
        ),
    ]
}
