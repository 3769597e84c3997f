//! Notifications of webhooks: events, signatures, order, retries, and the records of them.

mod denials;
mod events;
mod retries;

use serde_json::{Value, json};

use crate::support::{Provider, Receiver, Server, Settings, Tenant, eventually_some};

pub(crate) const SECRET: &str = "a-secret-between-two-friends";

/// A server that may deliver to this machine, and does not wait long before it tries again.
pub(crate) fn settings() -> Settings {
    Settings::new(Provider::shared())
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")
        .set("WEBHOOK_BACKOFF", "50ms")
}

pub(crate) fn tenant(server: &Server) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), "told")
}

/// Registers a webhook, and gives its path.
#[track_caller]
pub(crate) fn register(tenant: &Tenant<'_>, url: &str, events: &[&str]) -> String {
    let body = json!({"url": url, "events": events, "secret": SECRET});
    format!("/api/v1/webhooks/{}", tenant.manage("POST /api/v1/webhooks", &body).is(201).id())
}

/// Sends a test event, and gives its id.
#[track_caller]
pub(crate) fn test(tenant: &Tenant<'_>, webhook: &str) -> String {
    tenant.send(&tenant.managing(format!("POST {webhook}/test"))).is(202).text_of("event_id")
}

/// The attempts of a webhook, once `is_so`.
#[track_caller]
pub(crate) fn attempts(
    tenant: &Tenant<'_>,
    webhook: &str,
    is_so: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    eventually_some("the attempts are recorded", || {
        let list = tenant.get(&format!("{webhook}/deliveries")).is(200).json();
        let attempts = list.as_array().expect("an array").clone();
        is_so(&attempts).then_some(attempts)
    })
}

#[test]
fn a_test_event_arrives_signed_and_is_recorded() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    let webhook = register(&tenant, &receiver.url("/in?a=b"), &["access.denied"]);
    let id = test(&tenant, &webhook);
    let delivery = receiver.wait_for(1).remove(0);
    assert!(delivery.is_signed_with(SECRET), "{delivery:?}");
    assert_eq!(delivery.path, "/in?a=b");
    assert_eq!(delivery.header("content-type"), "application/json");
    let event = delivery.json();
    let webhook_id = webhook.rsplit('/').next();
    assert_eq!((&event["id"], &event["type"]), (&json!(id), &json!("webhook.test")));
    assert_eq!(event["tenant_id"], tenant.id);
    assert_eq!(event["data"]["webhook_id"], json!(webhook_id));
    let attempt = attempts(&tenant, &webhook, |all| all.len() == 1).remove(0);
    for (name, expected) in [
        ("event_id", json!(id)),
        ("event_type", json!("webhook.test")),
        ("retry_count", json!(0)),
        ("http_status", json!(200)),
        ("response_body", json!("heard")),
        ("error", Value::Null),
        ("state", json!("delivered")),
        ("next_attempt_at", Value::Null),
    ] {
        assert_eq!(attempt[name], expected, "{name} of {attempt}");
    }
}
