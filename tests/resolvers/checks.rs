//! Answers of resolvers decide, and every change of a resolver counts for the next check.

use serde_json::{Value, json};

use super::full;
use crate::support::resolver::{Form, RESOLVERS, guest};
use crate::support::tenant::Decision;
use crate::support::{Provider, Reply, Settings, Tenant, eventually};

/// Allows `read` to whoever `hr` says works in obstetrics.
pub(crate) fn only_obstetrics(tenant: &Tenant<'_>) -> String {
    let tree = json!({
        "type": "CONDITION", "attribute": "hr.department", "operator": "eq", "value": "obstetrics",
    });
    tenant.policy("obstetrics", "chart:read", "allow", 1, &tree)
}

fn decide(tenant: &Tenant<'_>, subject: &str) -> Decision {
    tenant.decide(subject, "chart:read", "read")
}

fn explain(tenant: &Tenant<'_>, subject: &str) -> Reply {
    let check = json!({"subject": subject, "resource": "chart:read", "action": "read"});
    tenant.manage("POST /api/v1/check?explain=true", &check).is(200)
}

#[test]
fn every_change_counts_for_the_next_check() {
    let tenant = Tenant::new();
    let resolver = format!("{RESOLVERS}/{}", tenant.directory("hr"));
    let policy = only_obstetrics(&tenant);
    let update = |body: &Value| tenant.manage(format!("PUT {resolver}"), body).is(200).revision();
    decide(&tenant, "ann").is("allow", &policy);
    decide(&tenant, "stranger").is("deny", "default-deny");
    for department in ["surgery", "obstetrics", "oncology"] {
        let revision = update(&json!({"config": {"department": department}}));
        let expected =
            if department == "obstetrics" { ("allow", &*policy) } else { ("deny", "default-deny") };
        let decision = decide(&tenant, "ann");
        decision.is(expected.0, expected.1);
        assert_eq!(decision.revision, revision);
    }
    update(&json!({"config": {"department": "obstetrics"}}));
    update(&json!({"enabled": false}));
    decide(&tenant, "ann").is("deny", "default-deny");
    let explained = explain(&tenant, "ann");
    assert!(explained.text.contains("resolver `hr` is disabled"), "{}", explained.text);
    update(&json!({"enabled": true}));
    decide(&tenant, "ann").is("allow", &policy);
}

#[test]
fn another_module_answers_from_the_next_check_on() {
    let tenant = Tenant::new();
    let mut manifest = full();
    manifest["namespace"] = json!("hr");
    let form = Form::new(&manifest, &guest("behaviours"));
    let created = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201).id();
    let tree = json!({
        "type": "CONDITION", "attribute": "hr.text", "operator": "eq", "value": "hello",
    });
    let policy = tenant.policy("greeted", "chart:read", "allow", 1, &tree);
    decide(&tenant, "greet").is("allow", &policy);
    let other = json!({"config": {"greeting": "good day"}});
    tenant.manage(format!("PUT {RESOLVERS}/{created}"), &other).is(200);
    decide(&tenant, "greet").is("deny", "default-deny");
}

#[test]
fn a_record_counts_what_was_asked() {
    let tenant = Tenant::new();
    let id = tenant.directory("hr");
    let policy = only_obstetrics(&tenant);
    for _ in 0..3 {
        decide(&tenant, "ann").is("allow", &policy);
    }
    let activity = &tenant.get(&format!("{RESOLVERS}/{id}")).is(200).json()["activity"];
    assert_eq!((&activity["calls"], &activity["cached"]), (&json!(1), &json!(2)));
    assert!(activity["latency_us"]["p50"].as_u64() > Some(0), "{activity}");
    assert_eq!(activity["last_error"], json!(null));
}

#[test]
fn a_check_after_a_start_waits_for_the_resolver() {
    let server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "early");
    let id = tenant.directory("hr");
    // So long may a check wait, however busy the machine is.
    let patient = json!({"limits": {"timeout_ms": 30_000}});
    tenant.manage(format!("PUT {RESOLVERS}/{id}"), &patient).is(200);
    let policy = only_obstetrics(&tenant);
    let server = server.crash_and_restart();
    let tenant = tenant.at(&server);
    if crate::setup::is_saas() {
        eventually("the issuer is known", || {
            let check = json!({"subject": "ann", "resource": "a:b", "action": "read"});
            tenant.check(&check).status == 200
        });
    }
    decide(&tenant, "ann").is("allow", &policy);
}
