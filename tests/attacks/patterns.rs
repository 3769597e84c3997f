//! Attacks by regular expressions: many that are expensive to compile, one that is expensive to match, and a stop in the
//! middle of both.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cost::{self, Figure};
use crate::support::tenant::{always, condition};
use crate::support::{Provider, Request, Server, Settings, Tenant};

/// The text of attack 5 fills most of a body.
const LONG: usize = 1_000_000;

/// #4: policies of many patterns with large classes. Another tenant checks meanwhile.
pub(crate) fn compile() -> Vec<Figure> {
    let server = start();
    let attacker = tenant(&server, "attacker");
    let victim = tenant(&server, "victim");
    victim.policy("all", "doc:read", "allow", 1, &always());
    victim.decide("ann", "doc:read", "read");
    let (before, _) = cost::memory(&server);
    let attacking = AtomicBool::new(true);
    let (mut check, mut liveness) = (Duration::ZERO, Duration::ZERO);
    std::thread::scope(|scope| {
        let attackers: Vec<_> = (0..4)
            .map(|number| {
                let attacker = &attacker;
                scope.spawn(move || compile_as_much_as_possible(attacker, number))
            })
            .collect();
        let watched = scope.spawn(|| {
            while attacking.load(Ordering::Relaxed) {
                check = check.max(time(|| drop(victim.decide("ann", "doc:read", "read"))));
                liveness = liveness.max(time(|| {
                    Request::new("GET /healthz/live").send(server.address).is(200);
                }));
            }
        });
        for attacker in attackers {
            attacker.join().expect("the attacker goes on");
        }
        attacking.store(false, Ordering::Relaxed);
        watched.join().expect("the victim is served");
    });
    let (_, most) = cost::memory(&server);
    vec![
        Figure::time("check of another tenant", check, Duration::from_millis(100)),
        Figure::time("liveness", liveness, Duration::from_millis(100)),
        Figure::mib("memory", most - before, 128.0),
    ]
}

/// Sends policies with far too many patterns, then the largest that the service accepts, and makes it load their plan.
fn compile_as_much_as_possible(attacker: &Tenant<'_>, number: usize) {
    let policy = |patterns: usize| {
        let resource = "attack:read";
        let tree = patterns_of(number, patterns);
        json!({"name": "p", "resource": resource, "effect": "allow", "priority": 1, "rule_data": tree})
    };
    let create = |patterns| attacker.manage("POST /api/v1/abac/policies", &policy(patterns));
    create(998).is(400);
    // A quarter fewer each time, until one is accepted.
    let mut patterns = 200;
    while create(patterns).status != 201 {
        patterns -= patterns / 4;
    }
    for _ in 0..4 {
        create(patterns).is(201);
        attacker.decide("mallory", "attack:read", "read");
    }
}

/// A condition of distinct patterns, each with a large class 12 times.
fn patterns_of(attacker: usize, count: usize) -> Value {
    let pattern = |number| condition("user.a", "matches", format!("\\pL{{12}}{attacker}x{number}"));
    json!({"type": "OR", "children": (0..count).map(pattern).collect::<Vec<_>>()})
}

/// #5: one pattern that is expensive to match, and a long text.
pub(crate) fn matching() -> Vec<Figure> {
    let server = start();
    let tenant = tenant(&server, "attacker");
    let bound = Duration::from_millis(250);
    let mut figures = Vec::new();
    // The first text is too long for its pattern. The others are matched, and take as many steps as a decision may.
    for (what, pattern, length) in [
        ("CPU of a check of 1 MB by 2,000 states", "[ab]*a[ab]{2000}", LONG),
        ("CPU of a check of 4 KB by 2,000 states", "[ab]*a[ab]{2000}", 4_000),
        ("CPU of a check of 500 KB by 16 states", "[ab]*a[ab]{10}", LONG / 2),
    ] {
        let tree = condition("user.text", "matches", pattern);
        let id = tenant.policy("slow", "doc:read", "deny", 1, &tree);
        tenant.decide("ann", "doc:read", "read");
        let before = cost::cpu(&server);
        tenant.check(&check_of(length)).is(200);
        figures.push(Figure::time(what, cost::cpu(&server) - before, bound));
        tenant.delete(&format!("/api/v1/abac/policies/{id}")).is(204);
    }
    figures
}

/// #11: a stop while such checks and policies keep the service busy.
pub(crate) fn stop() -> Vec<Figure> {
    let server = start();
    let tenant = tenant(&server, "attacker");
    tenant.policy(
        "slow",
        "doc:read",
        "deny",
        1,
        &condition("user.text", "matches", "[ab]*a[ab]{10}"),
    );
    let stopping = AtomicBool::new(false);
    let address = server.address;
    let body = check_of(LONG / 2);
    let token = tenant.token("gateway", &["service"]);
    let mut time_to_stop = Duration::ZERO;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let check = Request::new("POST /api/v1/check").token(&token).json(&body);
                while !stopping.load(Ordering::Relaxed) {
                    let _ = check.try_send(address);
                }
            });
        }
        let begun = cost::cpu(&server);
        while cost::cpu(&server) < begun + Duration::from_secs(1) {
            std::thread::yield_now();
        }
        time_to_stop = time(|| assert!(server.stop().success()));
        stopping.store(true, Ordering::Relaxed);
    });
    vec![Figure::time("time from SIGTERM to the end", time_to_stop, Duration::from_secs(11))]
}

fn start() -> Server {
    Settings::new(Provider::shared()).start()
}

fn tenant(server: &Server, name: &str) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), name)
}

fn check_of(length: usize) -> Value {
    let text: String = "ab".chars().cycle().take(length).collect();
    json!({
        "subject": "ann", "resource": "doc:read", "action": "read", "attributes": {"user": {"text": text}},
    })
}

fn time(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}
