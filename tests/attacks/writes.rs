//! Attacks 21 and 22: writes of one tenant that are many, large or expensive to judge, to delay the writes of others and to
//! use memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    let server = Settings::new(Provider::shared()).start();
    let attacker = Tenant::with_provider(&server, Provider::shared(), "bulky");
    let other = Tenant::with_provider(&server, Provider::shared(), "other");
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

/// The policies and the cases of a tenant whose applies take seconds to judge.
const POLICIES: usize = 2_000;
const CASES: usize = 1_000;
/// Entities of a source, and of one call.
const ENTITIES: usize = 10_000;
const ENTITIES_OF_CALL: usize = 1_000;

/// Makes applies that are expensive to judge and full syncs of entities, and measures the writes of another tenant meanwhile.
/// A 503 for one of them fails the attack.
pub(crate) fn judged() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let attacker = Tenant::with_provider(&server, Provider::shared(), "judged");
    let other = Tenant::with_provider(&server, Provider::shared(), "other");
    other.rule("first", "doc:read", "read", "allow");
    let during = |attack: &(dyn Fn() + Sync)| {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writes = scope.spawn(|| slowest_write(&other, &is_over));
            attack();
            is_over.store(true, Ordering::Relaxed);
            writes.join().expect("every write of the other tenant is a 201")
        })
    };
    let apply = |priority: usize, more: &Value| {
        let mut body = json!({"owner": "git:a", "bundle": content(priority)});
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("one"));
        attacker.manage("POST /api/v1/apply", &body).is(200);
    };
    let cases = during(&|| (1..4).for_each(|priority| apply(priority, &json!({}))));
    let impact = during(&|| (4..6).for_each(|priority| apply(priority, &json!({"impact": true}))));
    let entities = during(&|| sync_all(&attacker));
    vec![
        Figure::time("another tenant's slowest write, with cases", cases, BOUND),
        Figure::time("another tenant's slowest write, with impact", impact, BOUND),
        Figure::time("another tenant's slowest write, with entities", entities, BOUND),
    ]
}

/// Policies with this priority, and cases on all of them.
fn content(priority: usize) -> Value {
    let policy = |number: usize| {
        json!({"name": format!("p{number}"), "resource": format!("doc-{}:*", number % 100),
            "effect": "deny", "priority": priority, "when": format!("(user.level == {number}) ?? false")})
    };
    let case = |number: usize| {
        let check = json!({"subject": "eve", "resource": format!("doc-{}:read", number % 100), "action": "read"});
        json!({"name": format!("case {number}"), "check": check,
            "expect": {"decision": "deny", "rule": "default-deny"}})
    };
    let policies: Vec<Value> = (0..POLICIES).map(policy).collect();
    json!({"policies": policies, "cases": (0..CASES).map(case).collect::<Vec<_>>()})
}

/// Writes 10,000 entities by a full sync, and deletes them by an empty one.
fn sync_all(tenant: &Tenant<'_>) {
    let entity = |number: usize| {
        json!({"type": "user", "id": format!("user-{number}"), "roles": [format!("role-{}", number % 50)],
            "properties": {"ward": format!("ward-{number}"), "about": "x".repeat(500)}})
    };
    let mut sync = Value::Null;
    for begin in (0..ENTITIES).step_by(ENTITIES_OF_CALL) {
        let entities: Vec<Value> = (begin..begin + ENTITIES_OF_CALL).map(entity).collect();
        let is_last = begin + ENTITIES_OF_CALL == ENTITIES;
        let mut body = json!({"source": "hr", "entities": entities, "finish": is_last});
        if !sync.is_null() {
            body["sync"] = sync;
        }
        sync = tenant.manage("POST /api/v1/entities/sync", &body).is(200).json()["sync"].take();
    }
    let empty = json!({"source": "hr", "finish": true, "allow_deletes": true});
    let deleted = tenant.manage("POST /api/v1/entities/sync", &empty).is(200).json();
    assert_eq!(deleted["deleted"], ENTITIES);
}

/// Writes again and again until `is_over`, and returns the longest time of a write.
fn slowest_write(tenant: &Tenant<'_>, is_over: &AtomicBool) -> Duration {
    /// Rules that were written: each has a subject that no other has.
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let mut slowest = Duration::ZERO;
    while !is_over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        tenant.rule(&format!("role-{number}"), "doc:read", "read", "allow");
        slowest = slowest.max(begun.elapsed());
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
