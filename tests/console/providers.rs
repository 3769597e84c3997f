//! The clients of identity providers, which the operator registers in `saas` mode.

use serde_json::json;

use super::Console;
use crate::setup;
use crate::support::Operator;

#[test]
fn a_provider_changes_without_a_gap_and_shows_no_secret() {
    if !setup::is_saas() {
        return;
    }
    let console = Console::start();
    let (address, tenant) = (console.server.address, &console.tenant);
    let list = format!("/admin/tenants/{}/identity-providers", tenant.id);
    let before = Operator::request(format!("GET {list}")).send(address).is(200).json()[0].clone();
    assert_eq!(before["sign_in"], json!(null));
    let path = format!("{list}/{}", before["id"].as_str().expect("an id"));
    let change = |body: &serde_json::Value| {
        Operator::request(format!("PUT {path}")).json(body).send(address)
    };
    let sign_in = json!({"client_id": "console", "client_secret": "s3cret", "name": "Hospital"});
    let shown = json!({
        "client_id": "console", "scopes": "openid", "audience": null, "identity": "access_token",
        "name": "Hospital", "has_client_secret": true,
    });
    let changed = change(&json!({"sign_in": sign_in})).is(200);
    assert_eq!(changed.json()["sign_in"], shown);
    assert!(!changed.text.contains("s3cret"), "{}", changed.text);
    tenant.get("/api/v1/abac/policies").is(200);
    let kept = change(&json!({"sign_in": {"client_id": "other"}})).is(200).json();
    assert_eq!(kept["sign_in"]["has_client_secret"], true);
    let none = json!({"sign_in": {"client_id": "other", "client_secret": null}});
    assert_eq!(change(&none).is(200).json()["sign_in"]["has_client_secret"], false);
    change(&json!({"issuer_url": "https://other.example/"})).refused(400, "BAD_REQUEST");
    change(&json!({"issuer_url": before["issuer_url"], "audience": "nobody"})).is(200);
    tenant.get("/api/v1/abac/policies").is(401);
    change(&json!({"audience": null, "sign_in": null})).is(200).has(&before);
    tenant.get("/api/v1/abac/policies").is(200);
    let audit = format!("GET /admin/audit?action=provider.updated&tenant={}", tenant.id);
    let records = Operator::request(audit).send(address).is(200).json();
    assert_eq!(records.as_array().map(Vec::len), Some(5));
}
