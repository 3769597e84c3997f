//! Attacks by reports: a matrix whose counts multiply, and permissions by large plans.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cost::{Figure, cpu, memory};
use crate::plans::p99;
use crate::support::tenant::condition;
use crate::support::{MANAGER, Provider, Request, Server, Settings, Tenant};

/// The clients of the noisy tenant.
const CLIENTS: usize = 4;
/// The policies for every resource, of which each plan has a copy, because each resource has its own policy.
const LARGE_POLICIES: usize = 40;
/// The values of the list of such a policy.
const VALUES: usize = 5_000;
/// The resources of the noisy tenant. Their plans take some gigabytes together.
const RESOURCES: usize = 200;
const BAR_OF_OTHERS: Duration = Duration::from_millis(50);
/// The time in which a server that does nothing uses no processor.
const WINDOW: Duration = Duration::from_millis(100);

/// A body of 267 KB that names 200,000,000 cells.
pub(crate) fn multiplied_counts() -> Vec<Figure> {
    let server = Settings::new(Provider::shared()).start();
    let [quiet, noisy] = tenants(&server);
    let names = |count: usize, name: &str| -> Vec<String> {
        (0..count).map(|number| format!("{name}{number}")).collect()
    };
    let body = json!({
        "roles": names(200, "role-"), "actions": names(1_000, "act-"),
        "resources": names(1_000, &format!("doc:{}", "r".repeat(235))),
    });
    let token = noisy.token("boss", &[MANAGER]);
    let ask = || Request::new("POST /api/v1/matrix").token(&token).json(&body);
    let (before, _) = memory(&server);
    let began = Instant::now();
    ask().send(server.address).refused(400, "VALIDATION_ERROR");
    let answered = began.elapsed();
    let others = beside(&server, &quiet, CLIENTS, ask);
    let (_, most) = memory(&server);
    vec![
        Figure::time("the answer 400", answered, Duration::from_millis(250)),
        Figure::mib("memory, more than before", most - before, 64.0),
        Figure::time("a check of another tenant, p99", others, BAR_OF_OTHERS),
    ]
}

/// A manager asks for the permissions on, and the matrix of, 200 resources with large plans.
pub(crate) fn large_plans() -> Vec<Figure> {
    let settings = Settings::new(Provider::shared()).set("PLAN_CACHE_BYTES", "32MiB");
    let server = settings.start();
    let [quiet, noisy] = tenants(&server);
    for number in 0..LARGE_POLICIES {
        let values: Vec<String> =
            (0..VALUES).map(|value| format!("value-{number}-{value}")).collect();
        let tree = condition("user.department", "in", json!(values));
        noisy.policy(&format!("large {number}"), "*", "allow", 1, &tree);
    }
    let own = condition("user.level", "gte", 1);
    let mut names = Vec::new();
    for number in 0..RESOURCES {
        let name = format!("doc-{number}:read");
        noisy.policy("own", &name, "allow", 1, &own);
        names.push(json!({"name": name}));
    }
    noisy.manage("POST /api/v1/resources/list", &json!(names)).is(200);
    let token = noisy.token("boss", &[MANAGER]);
    let permissions = || report(&token, "POST /api/v1/permissions", &json!({"subject": "alice"}));
    let matrix = || report(&token, "POST /api/v1/matrix", &json!({"roles": ["clerk"]}));
    p99(&quiet);
    let (before, _) = memory(&server);
    let by_permissions = beside(&server, &quiet, CLIENTS, permissions);
    let by_matrix = beside(&server, &quiet, CLIENTS, matrix);
    let (_, most) = memory(&server);
    vec![
        Figure::mib("memory, more than before", most - before, 352.0),
        Figure::time("a check beside permissions, p99", by_permissions, BAR_OF_OTHERS),
        Figure::time("a check beside a matrix, p99", by_matrix, BAR_OF_OTHERS),
        Figure::time(
            "work after the client left",
            work_after(&server, permissions),
            Duration::from_secs(2),
        ),
    ]
}

fn tenants(server: &Server) -> [Tenant<'_>; 2] {
    let [quiet, noisy] =
        ["quiet", "noisy"].map(|name| Tenant::with_provider(server, Provider::shared(), name));
    quiet.rule("alice", "*", "read", "allow");
    p99(&quiet);
    [quiet, noisy]
}

fn report(token: &str, route: &str, body: &Value) -> Request {
    Request::new(route).token(token).json(body)
}

/// Returns the 99th percentile of checks of `quiet` while `clients` send `request` again and again.
pub(crate) fn beside(
    server: &Server,
    quiet: &Tenant<'_>,
    clients: usize,
    request: impl Fn() -> Request + Sync,
) -> Duration {
    during(server, clients, request, || p99(quiet))
}

/// Measures while `clients` send `request` again and again.
pub(crate) fn during<T>(
    server: &Server,
    clients: usize,
    request: impl Fn() -> Request + Sync,
    measure: impl FnOnce() -> T,
) -> T {
    let (done, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    sent.fetch_add(1, Ordering::Relaxed);
                    let _ = request().try_send(server.address);
                }
            });
        }
        while sent.load(Ordering::Relaxed) < clients {
            std::thread::sleep(Duration::from_millis(5));
        }
        let measured = measure();
        done.store(true, Ordering::Relaxed);
        measured
    })
}

/// Returns how long the server works after a client sent `request` and left.
fn work_after(server: &Server, request: impl Fn() -> Request) -> Duration {
    let connection = request().open(server.address);
    std::thread::sleep(WINDOW);
    drop(connection);
    idle_after(server, Instant::now())
}

/// Returns how long the server works after the instant `left`.
pub(crate) fn idle_after(server: &Server, left: Instant) -> Duration {
    loop {
        let before = cpu(server);
        std::thread::sleep(WINDOW);
        if cpu(server).saturating_sub(before) < WINDOW / 10 {
            return left.elapsed().saturating_sub(WINDOW);
        }
    }
}
