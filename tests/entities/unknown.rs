//! Subjects that the directory does not know (`docs/semantics.md`, section 12.5).

use serde_json::{Value, json};

use super::put;
use crate::support::{Request, Tenant};

fn settings(tenant: &Tenant<'_>, unknown_subjects: &str) {
    let bundle = json!({"settings": {"unknown_subjects": unknown_subjects}});
    let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
    tenant.manage("POST /api/v1/apply", &body).is(200);
}

fn check(subject: &str) -> Value {
    json!({
        "subject": subject, "resource": "chart:read",
        "attributes": {"user": {"roles": ["doctor"]}},
    })
}

/// The deleted person: who is deleted kept the roles that the caller claims.
#[test]
fn a_deleted_person_has_no_roles_if_unknown_subjects_have_none() {
    let tenant = Tenant::new();
    tenant.rule("doctor", "chart:read", "read", "allow");
    tenant.resource("chart:read");
    put(&tenant, &json!([{"type": "user", "id": "ann"}, {"type": "svc", "id": "ci"}])).is(200);
    let decisions = |subject: &str| {
        let body = check(subject);
        let checked = tenant.check(&body).is(200).text_of("decision").to_owned();
        let token = tenant.token("gateway", &["service"]);
        let batch = json!({"checks": [body]});
        let batch = Request::new("POST /api/v1/checks?fields=decision").token(&token).json(&batch);
        let allowed = &tenant.send(&batch).is(200).json()["allowed"][0];
        assert_eq!(*allowed, checked == "allow", "{subject}");
        let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200);
        assert_eq!(explained.text_of("decision"), checked, "{subject}");
        let permissions = json!({"subject": subject, "attributes": body["attributes"]});
        let permissions = tenant.manage("POST /api/v1/permissions", &permissions).is(200).json();
        assert_eq!(permissions["results"][0]["decision"], checked.as_str(), "{subject}");
        if !subject.contains(':') {
            let search = json!({"resource": "chart:read",
                "candidates": [{"id": subject, "roles": ["doctor"]}]});
            let found = tenant.manage("POST /api/v1/search/subjects", &search).is(200).json();
            let found = found["results"].as_array().unwrap().len();
            assert_eq!(found == 1, checked == "allow", "{subject}");
        }
        checked
    };
    let all = ["ann", "gone", "svc:ci", "svc:gone", "agent:7"];
    assert_eq!(all.map(decisions), ["allow"; 5]);
    settings(&tenant, "no_roles");
    assert_eq!(all.map(decisions), ["allow", "deny", "allow", "deny", "allow"]);
    tenant.delete("/api/v1/entities/user/ann").is(204);
    assert_eq!(decisions("ann"), "deny");
    // A caller's own roles go, too; its rights stay.
    let boss = tenant.token("boss", &["admin", "doctor"]);
    let own = json!({"subject": "boss", "resource": "chart:read"});
    assert_eq!(tenant.check_by(&boss, &own).is(200).text_of("decision"), "deny");
    let explained = Request::new("POST /api/v1/check?explain=true").token(&boss).json(&own);
    tenant.send(&explained).is(200);
    settings(&tenant, "claimed_roles");
    assert_eq!(all.map(decisions), ["allow"; 5]);
}

#[test]
fn an_explanation_says_that_claimed_roles_are_overridden() {
    let tenant = Tenant::new();
    let doctors = json!({"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": "doctor"});
    tenant.policy("doctors", "chart:read", "allow", 1, &doctors);
    tenant.rule("doctor", "chart:write", "write", "allow");
    put(&tenant, &json!([{"type": "user", "id": "ann"}])).is(200);
    settings(&tenant, "no_roles");
    for (subject, value, overridden) in
        [("ann", json!(["doctor"]), json!(null)), ("gone", json!([]), json!(true))]
    {
        let explained = tenant.manage("POST /api/v1/check?explain=true", &check(subject)).is(200);
        let roles = &explained.json()["explanation"]["attributes"][0];
        assert_eq!((&roles["value"], &roles["overridden"]), (&value, &overridden), "{roles}");
    }
    // No condition reads them, but a rule does.
    let by_rule = json!({"subject": "gone", "resource": "chart:write",
        "attributes": {"user": {"roles": ["doctor"]}}});
    let explained = tenant.manage("POST /api/v1/check?explain=true", &by_rule).is(200);
    let roles = json!({"attribute": "request.roles", "source": "directory", "value": [],
        "overridden": true});
    assert_eq!(explained.json()["explanation"]["attributes"], json!([roles]));
}
