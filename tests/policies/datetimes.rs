//! Orders of declared date-times (`docs/semantics.md`, section 12.9).

use serde_json::{Value, json};

use crate::support::Tenant;

const SHARES: &str = "share:read";

fn policy(effect: &str, expression: &str, enabled: bool) -> Value {
    json!({"name": "open", "resource": SHARES, "effect": effect, "priority": 1, "enabled": enabled,
        "format": "expression", "rule_data": {"expression": expression}})
}

fn declare(tenant: &Tenant<'_>) {
    let properties =
        json!({"properties": {"expires_at": {"type": "datetime"}, "kind": {"type": "text"}}});
    tenant.manage("PUT /api/v1/types/share", &properties).is(201);
}

fn decided(tenant: &Tenant<'_>, attributes: Value) -> String {
    let body = json!({"subject": "bob", "resource": SHARES, "action": "read",
        "attributes": {"resource": attributes}});
    tenant.check(&body).is(200).text_of("decision").to_owned()
}

/// As texts, `2020-01-01T00:00:00+02:00` of a year with more digits, or `9`, came behind the present.
#[test]
fn an_expired_share_is_closed() {
    let tenant = Tenant::new();
    declare(&tenant);
    for (expression, instead) in [
        ("resource.expires_at > request.time", "`resource.expires_at after request.time`"),
        (
            "resource.expires_at < \"2026-01-01\"",
            "`resource.expires_at before \"2026-01-01T00:00:00Z\"`",
        ),
        ("!(resource.expires_at <= request.time)", "`!(resource.expires_at after request.time)`"),
        ("request.time >= resource.expires_at", "`!(request.time before resource.expires_at)`"),
        (
            "(resource.expires_at <= request.time) ?? false",
            "`!((resource.expires_at after request.time) ?? true)`",
        ),
    ] {
        let sent = policy("allow", expression, true);
        let refused = tenant.manage("POST /api/v1/abac/policies", &sent).invalid();
        assert!(refused.text_of("message").contains(instead), "{expression}: {}", refused.text);
    }
    let sound = policy("allow", "resource.expires_at after request.time", true);
    tenant.manage("POST /api/v1/abac/policies", &sound).is(201);
    // Two hours of an offset: the text is greater than that of an instant that is later.
    assert_eq!(decided(&tenant, json!({"expires_at": "2020-01-01T00:00:00+02:00"})), "deny");
    assert_eq!(decided(&tenant, json!({"expires_at": "9999-01-01T00:00:00Z"})), "allow");
}

/// What was stored before is undetermined, and a type is not declared over what is enabled.
#[test]
fn a_stored_order_of_date_times_is_undetermined() {
    for (effect, kept) in [("allow", "deny"), ("deny", "deny")] {
        let tenant = Tenant::new();
        if effect == "deny" {
            tenant.rule("bob", SHARES, "read", "allow");
        }
        let expression = r#"resource.kind == "link" && resource.expires_at > request.time"#;
        let id = tenant.manage("POST /api/v1/abac/policies", &policy(effect, expression, true));
        let route = format!("PUT /api/v1/abac/policies/{}", id.is(201).id());
        let link = json!({"kind": "link", "expires_at": "9999-01-01T00:00:00Z"});
        assert_eq!(decided(&tenant, link.clone()), effect);
        let declared =
            json!({"properties": {"expires_at": {"type": "datetime"}, "kind": {"type": "text"}}});
        let broken = tenant.manage("PUT /api/v1/types/share", &declared).refused(409, "CONFLICT");
        assert_eq!(broken.details()["broken"][0]["name"], "open");
        tenant.manage(&*route, &json!({"enabled": false})).is(200);
        declare(&tenant);
        // Neither the update nor one of the name sends the condition.
        tenant.manage(&*route, &json!({"enabled": true})).is(200);
        tenant.manage(&*route, &json!({"priority": 2})).is(200);
        assert_eq!(decided(&tenant, link.clone()), kept, "{effect}");
        let other = if effect == "allow" { "deny" } else { "allow" };
        assert_eq!(decided(&tenant, json!({"kind": "file"})), other, "the rest decides as before");
        let body = json!({"subject": "bob", "resource": SHARES, "action": "read",
            "attributes": {"resource": link}});
        let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
        let children = explained["explanation"]["policies"][0]["condition"]["children"].clone();
        assert_eq!(children[1]["outcome"], "undetermined");
        assert_eq!(children[1]["expression"], "resource.expires_at > request.time");
        let sound = json!({"format": "expression", "rule_data": {"expression":
            r#"resource.kind == "link" && resource.expires_at after request.time"#}});
        tenant.manage(&*route, &sound).is(200);
        assert_eq!(decided(&tenant, link), effect);
    }
}
