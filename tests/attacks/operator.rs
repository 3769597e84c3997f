//! Attacks 13 and 14: a tenant that nobody can stop, and an encryption key that nobody can drop.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cost::Figure;
use crate::support::saas::{self, Account, operate, operating};
use crate::support::{Provider, Request, Server, Settings, Tenant};

/// The longest time after which this process refuses a credential: the answer to the suspension.
const AT_ONCE: Duration = Duration::from_millis(500);
/// The longest time of a deletion of 2,000 records.
const DELETED: Duration = Duration::from_secs(10);

fn refused(server: &Server, key: &str) -> bool {
    let list = Request::new("GET /api/v1/resources").header("x-service-api-key", key);
    list.send(server.address).status != 200
}

/// The tenant has lost its only provider, and its bootstrap key is still known to somebody.
pub(crate) fn stopped_tenant() -> Vec<Figure> {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let names = (0..1_000).map(|n| json!({"name": format!("doc-{n}:read"), "defaultRoles": ["r"]}));
    let bulk = json!(names.collect::<Vec<_>>());
    account.tenant(&server).manage("POST /api/v1/resources/list", &bulk).is(200);
    let began = Instant::now();
    let tenant = format!("/admin/tenants/{}", account.id);
    operate(&server, format!("POST {tenant}/suspend"), &json!({})).is(200);
    assert!(refused(&server, &account.bootstrap_key), "a suspended tenant is refused");
    let suspended = began.elapsed();
    let began = Instant::now();
    operating(format!("DELETE {tenant}")).send(server.address).is(202);
    crate::support::eventually("the tenant is gone", || {
        operating(format!("GET {tenant}")).send(server.address).status == 404
    });
    vec![
        Figure::time("from the suspension to the first refusal", suspended, AT_ONCE),
        Figure::time("deletion of 2,000 records", began.elapsed(), DELETED),
    ]
}

/// An old key encrypts the secrets of webhooks.
pub(crate) fn old_encryption_key() -> Vec<Figure> {
    const OLD: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    const NEW: &str = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";
    let settings = Settings::new(Provider::shared()).set("ENCRYPTION_KEY", OLD);
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let webhook = json!({
        "url": "https://h.example/", "events": ["access.denied"], "secret": "0123456789abcdef",
    });
    for _ in 0..20 {
        tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    }
    let both = settings.set("ENCRYPTION_KEY", format!("{NEW},{OLD}"));
    let report = both.run(&["secrets", "reencrypt"]).out;
    let left = report.lines().filter(|line| line.contains("still needed")).count();
    vec![Figure::count("old keys that secrets still need", left, 0)]
}
