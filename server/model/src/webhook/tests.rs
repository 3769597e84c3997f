//! The bodies of webhooks, and the place that each refusal names.

use portcullis_engine::json;
use portcullis_engine::names::names;

use super::*;

const URL: &str = "https://hooks.example/portcullis";
const SECRET: &str = "sixteen letters!";

fn created(body: &serde_json::Value) -> Result<NewWebhook, Invalid> {
    let body = body.to_string();
    NewWebhook::parse(&json::parse(body.as_bytes()).expect("JSON"), &EgressRules::default())
}

fn updated(body: &serde_json::Value) -> Result<WebhookUpdate, Invalid> {
    let body = body.to_string();
    WebhookUpdate::parse(&json::parse(body.as_bytes()).expect("JSON"), &EgressRules::default())
}

fn record(body: &serde_json::Value) -> WebhookRecord {
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    created(body).expect("valid").into_record(Uuid::from_u128(1), "acme", &by).0
}

fn body() -> serde_json::Value {
    serde_json::json!({"url": URL, "events": ["access.denied"], "secret": SECRET})
}

/// [`body`] with another value of one field.
fn with(field: &str, value: impl Serialize) -> serde_json::Value {
    let mut body = body();
    body[field] = serde_json::json!(value);
    body
}

#[track_caller]
fn refused<T: fmt::Debug>(parsed: Result<T, Invalid>, path: &str, fault: &str) {
    let invalid = parsed.expect_err("must be refused");
    let problem = &invalid.problems()[0];
    assert_eq!(problem.path, path, "{invalid}");
    assert!(problem.fault.to_string().starts_with(fault), "{invalid}");
}

#[test]
fn event_types_are_those_of_the_contract() {
    assert_eq!(
        names::<EventType>().collect::<Vec<_>>(),
        [
            "resource.registered",
            "policy.rbac.changed",
            "policy.abac.created",
            "policy.abac.updated",
            "policy.abac.deleted",
            "access.denied",
            "service_api_key.created",
            "service_api_key.revoked",
            "webhook.test",
        ]
    );
}

#[test]
fn a_record_shows_everything_but_the_secret() {
    let shown = serde_json::to_value(record(&body())).expect("JSON");
    assert_eq!(
        shown,
        serde_json::json!({
            "id": "00000000-0000-0000-0000-000000000001",
            "url": URL,
            "events": ["access.denied"],
            "tenant_id": "acme",
            "created_at": "1970-01-01T00:00:01.000Z",
            "updated_at": null,
            "managed_by": null,
        })
    );
    let inputs = format!("{:?} {:?}", created(&body()), updated(&body()));
    assert!(inputs.contains(URL) && !inputs.contains(SECRET), "{inputs}");
}

#[test]
fn an_event_that_is_listed_twice_counts_once() {
    let events = ["access.denied", "webhook.test", "access.denied"];
    let webhook = created(&with("events", events)).expect("valid");
    assert_eq!(webhook.events, [EventType::AccessDenied, EventType::WebhookTest]);
}

#[test]
fn events_are_known_types() {
    let at_least_one = "expected at least one type of event";
    refused(created(&with("events", [""; 0])), "/events", at_least_one);
    refused(created(&with("events", "access.denied")), "/events", "expected an array");
    let unknown = ["access.denied", "*", "webhook.test", "ACCESS.DENIED"];
    let invalid = created(&with("events", unknown)).expect_err("must be refused");
    let paths: Vec<&str> = invalid.problems().iter().map(|problem| &*problem.path).collect();
    assert_eq!(paths, ["/events/1", "/events/3"]);
    refused(created(&with("events", [1])), "/events/0", "expected `resource.registered`, ");
}

#[test]
fn a_secret_of_standard_webhooks_is_refused_with_what_to_do() {
    let expected = "expected a secret that does not begin with `whsec_`";
    let foreign = with("secret", "whsec_c2l4dGVlbiBsZXR0ZXJz");
    refused(created(&foreign), "/secret", expected);
    let said = updated(&foreign).expect_err("must be refused").to_string();
    assert!(said.contains(expected) && said.contains("the base64 of it"), "{said}");
    assert!(!said.contains("c2l4"), "no message shows a secret: {said}");
    created(&with("secret", "sixteen letters and whsec_")).expect("only the beginning counts");
}

#[test]
fn a_secret_has_16_to_256_characters() {
    for (length, expected) in [(0, false), (15, false), (16, true), (256, true), (257, false)] {
        for character in ["s", "ß", "𝄞"] {
            let body = with("secret", character.repeat(length));
            assert_eq!(created(&body).is_ok(), expected, "{length} times {character}");
        }
    }
    let short = created(&with("secret", "hunter2"));
    let text = short.as_ref().expect_err("must be refused").to_string();
    assert!(!text.contains("hunter2"), "{text}");
    refused(short, "/secret", "expected 16 to 256 characters");
}

#[test]
fn a_url_is_one_that_the_rules_allow() {
    let public = "expected a public address";
    for (url, fault) in [
        ("", "expected 1 to 2048 characters"),
        ("hooks.example", "expected a URL: relative URL without a base"),
        ("https://", "expected a URL: empty host"),
        ("http://hooks.example/", "expected an `https` URL"),
        ("https://user@hooks.example/", "expected a URL without user info"),
        ("https://127.0.0.1/", public),
        ("https://0x7f.1/", public),
        ("https://[::1]/", public),
    ] {
        refused(created(&with("url", url)), "/url", fault);
        refused(updated(&serde_json::json!({"url": url})), "/url", fault);
    }
    let long = format!("https://hooks.example/{}", "a".repeat(2_048));
    refused(created(&with("url", long)), "/url", "expected 1 to 2048 characters");
    let written = "HTTPS://Hooks.Example:443/a b?c";
    assert_eq!(created(&with("url", written)).expect("valid").url, written, "kept as it was sent");
}

#[test]
fn a_creation_needs_all_three_fields_and_no_other() {
    for field in ["url", "events", "secret"] {
        let missing = format!("field `{field}` is missing");
        refused(created(&with(field, ())), "", &missing);
    }
    refused(created(&with("enabled", true)), "", "field `enabled` is unknown");
    let everything = created(&serde_json::json!({"url": 1, "events": [1], "secret": 1, "id": 1}));
    assert_eq!(everything.expect_err("must be refused").problems().len(), 4);
}

#[test]
fn an_update_changes_what_it_names() {
    let old = record(&body());
    let unchanged = updated(&serde_json::json!({})).expect("valid");
    assert!(unchanged.secret.is_none());
    assert_eq!(unchanged.applied_to(&old), old);
    let url = "https://other.example/";
    let moved = updated(&serde_json::json!({"url": url})).expect("valid").applied_to(&old);
    assert_eq!(moved, WebhookRecord { url: url.to_owned(), ..old.clone() });
    let events = updated(&serde_json::json!({"events": ["webhook.test"]})).expect("valid");
    assert_eq!(events.applied_to(&old).events, [EventType::WebhookTest]);
    let secret = updated(&serde_json::json!({"secret": SECRET})).expect("valid");
    assert_eq!(secret.secret.as_ref().map(Secret::as_bytes), Some(SECRET.as_bytes()));
    assert_eq!(secret.applied_to(&old), old);
}

#[test]
fn an_update_clears_nothing() {
    for field in ["url", "events", "secret"] {
        refused(updated(&serde_json::json!({field: null})), &format!("/{field}"), "expected");
    }
    refused(updated(&serde_json::json!({"events": []})), "/events", "expected at least one");
    refused(updated(&serde_json::json!({"tenant_id": "b"})), "", "field `tenant_id` is unknown");
}
