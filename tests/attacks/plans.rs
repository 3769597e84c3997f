//! Attacks by loads of plans: a flood of invented resources, and a revision that never comes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cost::{Figure, memory};
use crate::support::routes::CHECKS;
use crate::support::tenant::condition;
use crate::support::{Provider, Request, Server, Settings, Tenant};

/// The policies for every resource, each of which is a part of every plan of the noisy tenant.
const POLICIES: usize = 1_000;
/// The clients of the noisy tenant.
const CLIENTS: usize = 16;
/// The measured checks of the quiet tenant: the slowest ten decide the 99th percentile.
const CHECKS_OF_OTHERS: usize = 1_000;
const CACHE_MIB: f64 = 64.0;

/// A member of a tenant with 1,000 policies for `*` asks about resources that it invents.
pub(crate) fn invented_resources() -> Vec<Figure> {
    let settings = Settings::new(Provider::shared()).set("PLAN_CACHE_BYTES", "64MiB");
    let server = settings.start();
    let [quiet, noisy] =
        ["quiet", "noisy"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    for number in 0..POLICIES {
        let tree = json!({"type": "AND", "children": [
            condition("user.department", "eq", format!("department-{}", number % 50)),
            condition("user.level", "gte", number % 10),
            condition("resource.owner", "ne", format!("owner-{number}")),
        ]});
        noisy.policy(&format!("policy {number}"), "*", "allow", 1, &tree);
    }
    quiet.rule("alice", "*", "read", "allow");
    p99(&quiet);
    let (before, _) = memory(&server);
    let (done, invented) = (AtomicBool::new(false), AtomicUsize::new(0));
    let token = noisy.token("member", &["service"]);
    let slowest = std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let number = invented.fetch_add(1, Ordering::Relaxed);
                    let _ =
                        check(&token, &format!("invented-{number}:read")).try_send(server.address);
                }
            });
        }
        while invented.load(Ordering::Relaxed) < 10 * CLIENTS {
            std::thread::sleep(Duration::from_millis(5));
        }
        let slowest = p99(&quiet);
        done.store(true, Ordering::Relaxed);
        slowest
    });
    let (_, most) = memory(&server);
    vec![
        Figure::time("a check of another tenant, p99", slowest, Duration::from_millis(20)),
        Figure::mib("memory above a plan cache of 64 MiB", most - before - CACHE_MIB, 64.0),
    ]
}

/// The most memory that 8 MiB of policies take while their plan is made beside the one before, and the policies themselves:
/// half of what one check took without a quota.
const PLAN_MIB: f64 = 512.0;

/// Returns a condition of 240 KB, of as many values as a condition may have.
pub(crate) fn large_tree(number: usize) -> Value {
    let list = |list: usize| {
        let value = |n: usize| format!("{number:03}-{list:02}-{n:07}");
        condition("user.name", "in", (0..1_000).map(value).collect::<Vec<String>>())
    };
    json!({"type": "OR", "children": (0..14).map(list).collect::<Vec<Value>>()})
}

/// A tenant writes 46 MiB of policies on `*`, and checks after each write.
pub(crate) fn large_plan() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "large");
    let (before, _) = memory(&server);
    let mut stored = 0;
    for number in 0..200 {
        let tree = large_tree(number);
        let body = json!({"name": format!("p{number}"), "resource": "*", "effect": "allow", "priority": 1,
            "rule_data": tree});
        stored += usize::from(tenant.manage("POST /api/v1/abac/policies", &body).status == 201);
        tenant.decide("ann", "doc:read", "read");
    }
    let (_, most) = memory(&server);
    vec![
        Figure::count("policies of 240 KB on `*`", stored, 35),
        Figure::mib("memory, more than before", most - before, PLAN_MIB),
    ]
}

/// A check demands a revision that never comes.
pub(crate) fn future_revision() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    tenant.rule("alice", "doc:read", "read", "allow");
    let token = tenant.token("member", &["service"]);
    let before = loads(&server);
    let demand = check(&token, "doc:read").header("x-min-policy-revision", "999999999");
    demand.send(server.address).refused(503, "DEPENDENCY_UNAVAILABLE");
    let loads = loads(&server) - before;
    let errors = server.process.err.text().lines().filter(|line| line.contains("ERROR")).count();
    vec![
        Figure::count("loads of the plan by one request", loads, 3),
        Figure::count("ERROR lines in the log", errors, 0),
    ]
}

fn check(token: &str, resource: &str) -> Request {
    let body: Value = json!({"subject": "alice", "resource": resource, "action": "read"});
    Request::new(CHECKS[0]).token(token).json(&body)
}

/// Returns the 99th percentile of the time of a tenant's checks, of 50 resources.
pub(crate) fn p99(tenant: &Tenant<'_>) -> Duration {
    let token = tenant.token("gateway", &["service"]);
    let mut times: Vec<Duration> = (0..CHECKS_OF_OTHERS)
        .map(|number| {
            let check = check(&token, &format!("doc-{}:read", number % 50));
            let began = Instant::now();
            check.send(tenant.address).is(200);
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[CHECKS_OF_OTHERS * 99 / 100]
}

fn loads(server: &Server) -> usize {
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    let line =
        metrics.lines().find_map(|line| line.strip_prefix("portcullis_plan_cache_loads_total "));
    line.and_then(|count| count.parse().ok()).expect("the metric")
}
