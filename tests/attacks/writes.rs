//! Attack 21: very many large writes of one tenant at once, to delay the writes of others and to use memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cost::{Figure, memory};
use crate::support::{Provider, Request, Server, Settings, Tenant};

/// Bulk registrations at once.
const CALLS: usize = 200;
/// Resources of one registration: the most of one call.
const RESOURCES: usize = 1_000;
/// The longest write of another tenant.
const BOUND: Duration = Duration::from_secs(1);
/// The most additional memory, in MiB: one body of 1 MiB for each call, and one call that is parsed.
const MEMORY: f64 = 256.0;

/// Sends the bulk registrations, and measures the writes of another tenant meanwhile.
pub(crate) fn bulk() -> Vec<Figure> {
    let server = Settings::of(Provider::shared()).start();
    let attacker = Tenant::of(&server, Provider::shared(), "bulky");
    let other = Tenant::of(&server, Provider::shared(), "other");
    other.rule("first", "doc:read", "read", "allow");
    let (before, _) = memory(&server);
    let is_over = AtomicBool::new(false);
    let slowest = std::thread::scope(|scope| {
        let writes = scope.spawn(|| slowest_write(&other, &is_over));
        send_all(&server, &attacker);
        is_over.store(true, Ordering::Relaxed);
        writes.join().expect("no panic")
    });
    let (_, most) = memory(&server);
    vec![
        Figure::time("another tenant's slowest write", slowest, BOUND),
        Figure::mib("more memory", most - before, MEMORY),
    ]
}

/// Writes again and again until `is_over`, and returns the longest time of a write.
fn slowest_write(tenant: &Tenant<'_>, is_over: &AtomicBool) -> Duration {
    let mut slowest = Duration::ZERO;
    let mut number = 0;
    while !is_over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        tenant.rule(&format!("role-{number}"), "doc:read", "read", "allow");
        slowest = slowest.max(begun.elapsed());
        number += 1;
    }
    slowest
}

/// Sends every bulk registration at once. Each is answered: by a 200, or by a 503 that says when to come again.
fn send_all(server: &Server, tenant: &Tenant<'_>) {
    let request = tenant.managing("POST /api/v1/resources/list").json(&registrations());
    std::thread::scope(|scope| {
        for _ in 0..CALLS {
            scope.spawn(|| {
                let reply = send(&request, server);
                assert!(reply.0 == 200 || (reply.0 == 503 && reply.1), "{reply:?}");
            });
        }
    });
}

/// Returns the status, and whether the answer has `Retry-After`.
fn send(request: &Request, server: &Server) -> (u16, bool) {
    let reply = request.send(server.address);
    (reply.status, reply.header("retry-after").is_some())
}

/// A body of nearly 1 MiB.
fn registrations() -> Value {
    let label = "l".repeat(250);
    let registration = |number| {
        let roles = [format!("role-{number}-{}", "r".repeat(200))];
        json!({"name": format!("{}-{number}:read", "n".repeat(150)), "displayName": label,
            "serviceName": label, "defaultRoles": roles})
    };
    (0..RESOURCES).map(registration).collect()
}
