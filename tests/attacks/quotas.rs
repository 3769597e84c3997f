//! Attack 8: a tenant with very many webhooks, to make each denied check thousands of deliveries.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cost::Figure;
use crate::support::{Provider, Receiver, Settings, Tenant};

/// Webhooks that the tenant tries to have.
const WEBHOOKS: usize = 3_000;
/// The default of `QUOTA_WEBHOOKS`.
const QUOTA: usize = 50;
/// Denied checks of the tenant.
const DENIALS: usize = 100;
/// The longest write of another tenant.
const BOUND: Duration = Duration::from_secs(1);

/// Registers webhooks, causes denials, and measures the writes of another tenant meanwhile.
pub(crate) fn webhooks() -> Vec<Figure> {
    let settings = Settings::new(Provider::shared())
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8");
    let (server, receiver) = (settings.start(), Receiver::start());
    let attacker = Tenant::with_provider(&server, Provider::shared(), "many-webhooks");
    let other = Tenant::with_provider(&server, Provider::shared(), "other");
    let webhook = json!({
        "url": receiver.url("/"), "events": ["access.denied"], "secret": "a-secret-of-sixteen",
    });
    let created = (0..WEBHOOKS)
        .filter(|_| attacker.manage("POST /api/v1/webhooks", &webhook).status == 201)
        .count();
    let slowest = std::thread::scope(|scope| {
        let flood = scope.spawn(|| {
            for number in 0..DENIALS {
                attacker.decide(&number.to_string(), "doc:read", "read").is_default();
            }
        });
        let mut slowest = Duration::ZERO;
        let mut number = 0;
        while !flood.is_finished() {
            let begun = Instant::now();
            other.rule(&format!("role-{number}"), "doc:read", "read", "allow");
            slowest = slowest.max(begun.elapsed());
            number += 1;
        }
        slowest
    });
    vec![
        Figure::count("webhooks of the tenant", created, QUOTA),
        Figure::time("another tenant's slowest write", slowest, BOUND),
    ]
}
