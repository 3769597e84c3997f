//! The discovery document.

use serde_json::json;

use crate::support::server::PUBLIC_URL;
use crate::support::{Provider, Request, Settings, Tenant};

const PATH: &str = "GET /.well-known/authzen-configuration";

#[test]
fn the_document_comes_from_the_setting_and_never_from_the_request() {
    let tenant = Tenant::new();
    let expected = |name: &str| {
        json!({
            "policy_decision_point": format!("{PUBLIC_URL}{name}"),
            "access_evaluation_endpoint": format!("{PUBLIC_URL}/access/v1/evaluation"),
            "access_evaluations_endpoint": format!("{PUBLIC_URL}/access/v1/evaluations"),
            "search_subject_endpoint": format!("{PUBLIC_URL}/access/v1/search/subject"),
            "search_resource_endpoint": format!("{PUBLIC_URL}/access/v1/search/resource"),
            "search_action_endpoint": format!("{PUBLIC_URL}/access/v1/search/action"),
        })
    };
    // A name that no tenant has looks like any other.
    for name in ["", "/acme", "/no-such-tenant", "/a%2Fb"] {
        let request = Request::new(format!("{PATH}{name}"));
        let poisoned = request.clone().header("x-forwarded-host", "evil.example");
        let poisoned = poisoned.header("forwarded", "host=evil.example;proto=https");
        for request in [request, poisoned] {
            let document = tenant.send(&request).is(200).json();
            for (member, value) in expected(name).as_object().expect("members") {
                assert_eq!(document[member], *value);
            }
            assert!(!document.to_string().contains("evil"), "{document}");
        }
    }
    let text = crate::support::client::raw(
        tenant.address,
        b"GET /.well-known/authzen-configuration HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    assert!(text.contains(PUBLIC_URL) && !text.contains("evil"), "{text}");
}

#[test]
fn without_the_setting_there_is_no_document() {
    let server = Settings::new(Provider::shared()).set("PUBLIC_URL", "").start();
    for name in ["", "/acme"] {
        Request::new(format!("{PATH}{name}")).send(server.address).refused(404, "NOT_FOUND");
    }
}
