//! Attack 7: a member floods a webhook with denied checks, to delay other events.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cost::Figure;
use crate::support::{Provider, Receiver, Request, Server, Settings, Tenant};

/// Denied checks of the member.
const DENIALS: usize = 27_000;
/// Connections of the member.
const CLIENTS: usize = 8;
/// The time that an event may take without any flood.
const BOUND: Duration = Duration::from_secs(2);
/// The default of `WEBHOOK_MAX_WAITING_DENIALS`.
const MAX_WAITING: usize = 10_000;

/// Floods a webhook, and measures how long a later event takes, and how many denials wait.
pub(crate) fn flood() -> Vec<Figure> {
    let settings = Settings::new(Provider::shared())
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8");
    let server = settings.start();
    let (tenant, receiver) =
        (Tenant::with_provider(&server, Provider::shared(), "flooded"), Receiver::start());
    let events = ["access.denied", "policy.rbac.changed"];
    let webhook =
        json!({"url": receiver.url("/"), "events": events, "secret": "a-secret-of-sixteen"});
    tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    deny(&server, &tenant);
    let begun = Instant::now();
    tenant.rule("reader", "doc:read", "read", "allow");
    receiver.wait_until("the later event", |all| {
        all.last().is_some_and(|one| one.kind() == "policy.rbac.changed")
            || all.iter().rev().take(1_000).any(|one| one.kind() == "policy.rbac.changed")
    });
    let delay = begun.elapsed();
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    let series = "portcullis_denials_dropped_total ";
    let dropped = metrics.lines().find_map(|line| line.strip_prefix(series)?.parse::<usize>().ok());
    let waiting = DENIALS.saturating_sub(receiver.answered() + dropped.expect("a series"));
    vec![
        Figure::time("a later event", delay, BOUND),
        Figure::count("denials that wait", waiting, MAX_WAITING),
    ]
}

/// Sends the denied checks.
fn deny(server: &Server, tenant: &Tenant<'_>) {
    let check = json!({"subject": "mallory", "resource": "doc:read", "action": "read"});
    let token = tenant.token("mallory", &["member"]);
    let request = Request::new("POST /api/v1/check").token(&token).json(&check);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                for _ in 0..DENIALS / CLIENTS {
                    request.send(server.address).is(200);
                }
            });
        }
    });
}
