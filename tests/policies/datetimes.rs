//! Orders of declared date-times (`docs/semantics.md`, section 12.9).

use serde_json::{Value, json};

use crate::support::Tenant;

const SHARES: &str = "share:read";
const DECLARE: &str = "PUT /api/v1/types/share";

fn policy(effect: &str, expression: &str, enabled: bool) -> Value {
    json!({"name": "open", "resource": SHARES, "effect": effect, "priority": 1, "enabled": enabled,
        "format": "expression", "rule_data": {"expression": expression}})
}

fn declared() -> Value {
    json!({"properties": {"expires_at": {"type": "datetime"}, "kind": {"type": "text"}}})
}

fn check(resource: &str, attributes: Value, context: Value) -> Value {
    json!({"subject": "bob", "resource": resource, "action": "read",
        "attributes": {"resource": attributes, "context": context}})
}

fn decided(tenant: &Tenant<'_>, attributes: Value) -> String {
    let body = check(SHARES, attributes, json!({}));
    tenant.check(&body).is(200).text_of("decision").to_owned()
}

/// A share that had expired stayed open, because two date-times were compared as texts: `10:00+02:00` is before `09:00Z`.
#[test]
fn an_expired_share_is_closed() {
    let tenant = Tenant::new();
    let is_open = |expires_at: &str| {
        let now = json!({"at": "2026-01-15T09:00:00Z"});
        let body = check(SHARES, json!({"expires_at": expires_at}), now);
        tenant.check(&body).is(200).text_of("decision") == "allow"
    };
    let expired = "2026-01-15T10:00:00+02:00";
    let by_texts = policy("allow", "resource.expires_at > context.at", true);
    let id = tenant.manage("POST /api/v1/abac/policies", &by_texts).is(201).id();
    assert!(is_open(expired), "nothing is declared: the order of texts");
    let at = json!({"properties": {"at": {"type": "datetime"}}});
    let refused = tenant.manage("PUT /api/v1/types/context", &at).refused(409, "CONFLICT");
    assert_eq!(refused.details()["broken"][0]["name"], "open");
    let by_instants = json!({"format": "expression", "rule_data":
        {"expression": "resource.expires_at after context.at"}});
    tenant.manage(format!("PUT /api/v1/abac/policies/{id}"), &by_instants).is(200);
    tenant.manage("PUT /api/v1/types/context", &at).is(201);
    tenant.manage(DECLARE, &declared()).is(201);
    assert!(!is_open(expired));
    assert!(is_open("2026-01-15T12:00:00+02:00"));
}

#[test]
fn a_fault_says_what_to_write() {
    let tenant = Tenant::new();
    tenant.manage(DECLARE, &declared()).is(201);
    let link =
        json!({"properties": {"share": {"type": "ref<share>"}, "made_at": {"type": "datetime"}}});
    tenant.manage("PUT /api/v1/types/link", &link).is(201);
    let late = json!({"when": "resource.expires_at < request.time"});
    tenant.manage("PUT /api/v1/conditions/late", &late).is(201);
    for (resource, expression, instead) in [
        (SHARES, "resource.expires_at > request.time", "`resource.expires_at after request.time`"),
        (
            SHARES,
            "resource.expires_at < \"2026-01-01\"",
            "`resource.expires_at before \"2026-01-01T00:00:00Z\"`",
        ),
        (
            SHARES,
            "!(resource.expires_at <= request.time)",
            "`!(resource.expires_at after request.time)`",
        ),
        (
            "*",
            "request.time >= resource.expires_at",
            "`!(request.time before resource.expires_at)`",
        ),
        (
            SHARES,
            "(resource.expires_at <= user.until) ?? false",
            "`!((resource.expires_at after user.until) ?? true)`",
        ),
        (
            "link:read",
            "resource.made_at >= resource.share.expires_at",
            "`!(resource.made_at before resource.share.expires_at)`",
        ),
        (SHARES, "condition.late", "`resource.expires_at before request.time`"),
    ] {
        let mut sent = policy("allow", expression, true);
        sent["resource"] = json!(resource);
        let refused = tenant.manage("POST /api/v1/abac/policies", &sent).invalid();
        assert!(refused.text_of("message").contains(instead), "{expression}: {}", refused.text);
    }
    for expression in ["resource.kind < \"m\"", "resource.expires_at == \"2026-01-01T00:00:00Z\""] {
        let sound = policy("allow", expression, true);
        tenant.manage("POST /api/v1/abac/policies", &sound).is(201);
    }
}

/// A stored order is undetermined, also behind a name, until the type is gone.
#[test]
fn a_stored_order_of_date_times_is_undetermined() {
    const ORDER: &str = "resource.expires_at > request.time";
    for (effect, written) in [("allow", ORDER), ("deny", ORDER), ("deny", "condition.open")] {
        let tenant = Tenant::new();
        if effect == "deny" {
            tenant.rule("bob", SHARES, "read", "allow");
        }
        tenant.manage("PUT /api/v1/conditions/open", &json!({"when": ORDER})).is(201);
        let expression = format!("resource.kind == \"link\" && {written}");
        let sent = policy(effect, &expression, true);
        let id = tenant.manage("POST /api/v1/abac/policies", &sent).is(201).id();
        let route = format!("PUT /api/v1/abac/policies/{id}");
        let link = json!({"kind": "link", "expires_at": "2000-01-01T00:00:00Z"});
        let other = if effect == "allow" { "deny" } else { "allow" };
        assert_eq!(decided(&tenant, link.clone()), other, "by the order of texts");
        let broken = tenant.manage(DECLARE, &declared()).refused(409, "CONFLICT");
        assert_eq!(broken.details()["broken"][0]["name"], "open");
        tenant.manage(&*route, &json!({"enabled": false})).is(200);
        tenant.manage(DECLARE, &declared()).is(201);
        // Neither update sends the condition.
        tenant.manage(&*route, &json!({"enabled": true})).is(200);
        tenant.manage(&*route, &json!({"priority": 2})).is(200);
        assert_eq!(decided(&tenant, link.clone()), "deny", "{effect} {written}");
        assert_eq!(decided(&tenant, json!({"kind": "file"})), other, "the rest decides as before");
        let body = check(SHARES, link.clone(), json!({}));
        let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
        let children = &explained["explanation"]["policies"][0]["condition"]["children"];
        assert_eq!(children[1]["outcome"], "undetermined");
        assert_eq!(children[1]["expression"], written);
        // Another change of types does not meet what was stored before.
        let more = json!({"properties": {"expires_at": {"type": "datetime"},
            "kind": {"type": "text"}, "size": {"type": "number"}}});
        tenant.manage(DECLARE, &more).is(200);
        tenant.delete("/api/v1/types/share").is(204);
        assert_eq!(decided(&tenant, link), other, "the type is gone");
    }
}
