//! Drafts in shadow: checks are decided by them, too, and answered by the rules that decide (`docs/semantics.md`, section
//! 18.3).

use serde_json::{Value, json};

use crate::support::{Provider, Reply, Request, Server, Settings, Tenant, eventually_some};

const DRAFT: &str = "/api/v1/drafts/stricter";
const SHADOW: &str = "/api/v1/drafts/stricter/shadow";

fn policy(name: &str, effect: &str, when: &str) -> Value {
    json!({"name": name, "resource": "chart:read", "effect": effect, "priority": 0, "when": when})
}

fn put(tenant: &Tenant<'_>, bundle: &Value) -> Reply {
    tenant.manage(format!("PUT {DRAFT}"), &json!({"bundle": bundle, "shadow": true}))
}

/// A tenant whose only policy allows to read the charts of the own ward.
fn live(tenant: &Tenant<'_>) -> Value {
    let own = policy("own-chart", "allow", "user.ward == resource.ward");
    let apply = json!({"owner": "test", "bundle": {"policies": [own]}});
    tenant.manage("POST /api/v1/apply", &apply).is(200);
    own
}

fn chart(subject: &str, ward: &str, vip: bool) -> Value {
    let attributes = json!({"user": {"ward": "er"}, "resource": {"ward": ward, "vip": vip}});
    json!({"subject": subject, "resource": "chart:read", "action": "read", "attributes": attributes})
}

/// The counts of a report: checks, those allowed and denied by the draft alone, those of another rule, and those that are
/// not compared.
fn counts(report: &Value) -> [u64; 6] {
    ["checks", "allow_to_deny", "deny_to_allow", "rule_changed", "not_ready", "not_comparable"]
        .map(|name| report[name].as_u64().unwrap_or_else(|| panic!("{name} of {report}")))
}

/// Repeats a scenario, each time with a new tenant, until no check of it came before the plans of its draft: then it returns
/// `Some`.
fn until_ready(scenario: fn() -> Option<()>) {
    let done = (0..5).find_map(|_| scenario());
    done.expect("checks come before the plans of the draft again and again");
}

/// Returns the report on the checks so far; `None` if one of them came before the plans of the draft.
fn report_of_ready(tenant: &Tenant<'_>) -> Option<Value> {
    let report = tenant.get(SHADOW).is(200).json();
    (counts(&report)[4] == 0).then_some(report)
}

/// Waits until `ask` gives a report in which this number of checks was compared.
fn compared(tenant: &Tenant<'_>, checks: u64, ask: impl Fn()) -> Value {
    eventually_some("checks are compared", || {
        ask();
        let report = tenant.get(SHADOW).is(200).json();
        (report["checks"].as_u64() >= Some(checks)).then_some(report)
    })
}

#[test]
fn every_kind_of_check_is_compared_and_answered_by_the_rules_that_decide() {
    until_ready(|| {
        let tenant = Tenant::new();
        let own = live(&tenant);
        tenant.rule("ann", "chart:*", "*", "allow");
        let vip = policy("vip-record", "deny", "resource.vip == true");
        put(&tenant, &json!({"policies": [own, vip], "rules": []})).is(201);
        let token = tenant.token("gateway", &["service"]);
        let send = |route: &str, body: Value| {
            tenant.send(&Request::new(route).token(&token).json(&body)).is(200).json()
        };
        let answer = tenant.check(&chart("bob", "er", true)).is(200);
        assert_eq!(
            (answer.text_of("decision"), answer.header("x-decision-id")),
            ("allow".into(), None)
        );
        tenant.check(&chart("bob", "er", false)).is(200);
        let legacy = json!({"subject": "ann", "resource": "chart:print"});
        assert_eq!(send("POST /api/v1/resources/access/check", legacy)["allowed"], true);
        let batch = json!({"checks": [chart("bob", "er", true), chart("bob", "icu", true)]});
        let decisions = send("POST /api/v1/checks", batch);
        assert_eq!(decisions["results"][0]["decision"], "allow", "{decisions}");
        let authzen = json!({
            "subject": {"type": "user", "id": "bob", "properties": {"ward": "er"}}, "action": {"name": "read"},
            "resource": {"type": "chart", "id": "7", "properties": {"ward": "er", "vip": true}},
        });
        assert_eq!(send("POST /access/v1/evaluation", authzen)["decision"], true);
        // A question of a manager is no traffic.
        tenant.manage("POST /api/v1/check?explain=true", &chart("bob", "er", true)).is(200);
        let report = report_of_ready(&tenant)?;
        assert_eq!(counts(&report), [6, 4, 0, 1, 0, 0], "{report}");
        let flips = json!({
            "change": "allow_to_deny", "resource": "chart:read", "action": "read", "before": "own-chart",
            "after": "vip-record", "count": 3, "samples": [],
        });
        let print = json!({
            "change": "allow_to_deny", "resource": "chart:print", "action": "print",
            "before": format!("ann, {}, chart:*, *", tenant.name), "after": "default-deny", "count": 1, "samples": [],
        });
        let denied = json!({
            "change": "rule_changed", "resource": "chart:read", "action": "read", "before": "default-deny",
            "after": "vip-record", "count": 1, "samples": [],
        });
        assert_eq!(report["groups"], json!([flips, print, denied]));
        assert_eq!((&report["draft"], &report["complete"]), (&json!("stricter"), &json!(true)));
        assert_eq!(report["since"], tenant.get(DRAFT).is(200).json()["created_at"]);
        assert_eq!(report.get("error"), None);
        Some(())
    });
}

#[test]
fn a_draft_that_changes_begins_a_new_comparison() {
    let tenant = Tenant::new();
    let own = live(&tenant);
    let bundle = json!({"policies": []});
    put(&tenant, &bundle).is(201);
    let check = || {
        tenant.check(&chart("bob", "er", true)).is(200);
    };
    compared(&tenant, 1, check);
    put(&tenant, &bundle).is(200);
    let [checks, flips, ..] = counts(&tenant.get(SHADOW).is(200).json());
    assert!(checks >= 1 && checks == flips, "the same again: {flips} of {checks}");
    put(&tenant, &json!({"policies": [own]})).is(200);
    assert_eq!(counts(&tenant.get(SHADOW).is(200).json()), [0; 6]);
    assert_eq!(counts(&compared(&tenant, 1, check))[1], 0);
    // A tenant has one shadow.
    let second = json!({"bundle": {}, "shadow": true});
    let refused = tenant.manage("PUT /api/v1/drafts/other", &second).refused(409, "CONFLICT");
    assert!(refused.message().contains("`stricter` is in shadow already"), "{}", refused.text);
    tenant.manage(format!("PUT {DRAFT}"), &json!({"bundle": {}})).is(200);
    let refused = tenant.get(SHADOW).refused(409, "CONFLICT");
    assert!(refused.message().contains("is not in shadow"), "{}", refused.text);
    tenant.manage("PUT /api/v1/drafts/other", &second).is(201);
    tenant.delete("/api/v1/drafts/other").is(204);
    tenant.get("/api/v1/drafts/other/shadow").refused(404, "NOT_FOUND");
    put(&tenant, &bundle).is(200);
    tenant.check(&chart("bob", "er", true)).is(200);
    tenant.send(&tenant.managing(format!("POST {DRAFT}/publish?force=true"))).is(200);
    tenant.get(SHADOW).refused(404, "NOT_FOUND");
    assert_eq!(tenant.check(&chart("bob", "er", true)).is(200).text_of("decision"), "deny");
}

/// Sets the gates of a tenant, and returns the change as a plan shows it.
fn set_gates(tenant: &Tenant<'_>, gates: &Value) -> Value {
    let body = json!({"owner": "test", "bundle": {"settings": {"gates": gates}}});
    tenant.manage("POST /api/v1/apply", &body).is(200).json()["changes"][0]["fields"].clone()
}

fn publish(tenant: &Tenant<'_>, query: &str) -> Reply {
    tenant.send(&tenant.managing(format!("POST {DRAFT}/publish{query}")))
}

#[test]
fn a_draft_with_too_many_flips_is_not_published() {
    let tenant = Tenant::new();
    let own = live(&tenant);
    let fields = set_gates(&tenant, &json!({"shadow_flips": 0}));
    assert_eq!(fields, json!([{"path": "/gates/shadow_flips", "before": null, "after": 0}]));
    tenant.manage(format!("PUT {DRAFT}"), &json!({"bundle": {"policies": []}})).is(201);
    let refused = publish(&tenant, "").refused(409, "SHADOW_REQUIRED");
    assert!(refused.message().contains("`stricter` is not in shadow"), "{}", refused.text);
    let required = json!({"shadow_flips": 0});
    let unseen = json!({
        "required": required, "since": null, "seconds": null, "flips": null, "not_compared": null,
    });
    assert_eq!(refused.details(), unseen);

    put(&tenant, &json!({"policies": []})).is(200);
    let check = || {
        tenant.check(&chart("bob", "er", true)).is(200);
    };
    let seen = compared(&tenant, 1, check);
    let refused = publish(&tenant, "").refused(409, "SHADOW_REQUIRED");
    let details = refused.details();
    assert_eq!((&details["required"], &details["since"]), (&required, &seen["since"]));
    assert_eq!(details["flips"], seen["allow_to_deny"], "{details}");
    assert_eq!(tenant.check(&chart("bob", "er", true)).is(200).text_of("decision"), "allow");

    let vip = policy("vip-record", "deny", "resource.vip == true && resource.vip == false");
    put(&tenant, &json!({"policies": [own, vip]})).is(200);
    compared(&tenant, 1, check);
    // The policy of `live` stays as it is, so that no managed object changes.
    let done = publish(&tenant, "").is(200).json();
    assert_eq!(done["changes"][0]["name"], "vip-record", "{done}");
}

#[test]
fn a_draft_is_not_published_before_its_time_unless_it_is_forced() {
    let tenant = Tenant::new();
    set_gates(&tenant, &json!({"shadow_time": "36h"}));
    let exported = tenant.get("/api/v1/export").is(200).json();
    let gates = json!({"cases": false, "approval": false, "shadow_time": "36h"});
    assert_eq!(exported["bundle"]["settings"]["gates"], gates);
    put(&tenant, &json!({"policies": []})).is(201);
    let refused = publish(&tenant, "").refused(409, "SHADOW_REQUIRED");
    let details = refused.details();
    assert_eq!(details["required"], json!({"shadow_time": "36h"}));
    assert!(details["seconds"].as_u64().is_some_and(|seconds| seconds < 600), "{details}");
    assert!(refused.message().contains("`36h` in shadow (`shadow_time`)"), "{}", refused.text);
    // The gates from before the publication count.
    put(&tenant, &json!({"policies": [], "settings": {"gates": {}}})).is(200);
    publish(&tenant, "").refused(409, "SHADOW_REQUIRED");
    let body = json!({"name": "author", "permissions": ["policies:write"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let forced = Request::new(format!("POST {DRAFT}/publish?force=true"));
    let refused = tenant.send(&forced.header("x-service-api-key", &key));
    refused.refused(403, "ACCESS_DENIED");
    publish(&tenant, "?force=true").is(200);
}

#[test]
fn a_live_write_makes_the_draft_anew() {
    let tenant = Tenant::new();
    live(&tenant);
    put(&tenant, &json!({"policies": []})).is(201);
    let check = || {
        tenant.check(&chart("ann", "icu", false)).is(200);
    };
    let before = counts(&compared(&tenant, 1, check));
    assert_eq!(before[1..4], [0, 0, 0]);
    // The draft has no rules itself, so it has this one, too.
    tenant.rule("ann", "chart:read", "read", "allow");
    let report = compared(&tenant, before[0] + 1, check);
    assert_eq!(counts(&report)[1..4], [0, 0, 0], "{report}");
}

#[test]
fn a_draft_that_does_not_fit_any_more_says_so() {
    let tenant = Tenant::new();
    put(&tenant, &json!({"policies": [policy("own", "allow", "user.ward == 'er'")]})).is(201);
    let level = json!({"properties": {"level": {"type": "number"}}});
    tenant.manage("PUT /api/v1/types/user", &level).is(201);
    let error = eventually_some("it is said", || {
        tenant.check(&chart("ann", "icu", false)).is(200);
        let report = tenant.get(SHADOW).is(200).json();
        report.get("error").map(|error| (error.to_string(), counts(&report)))
    });
    assert!(error.0.contains("does not fit the present content"), "{error:?}");
    assert!(error.1[0] == 0 && error.1[4] > 0, "{error:?}");
}

#[test]
fn the_directory_completes_a_check_for_the_draft() {
    until_ready(|| {
        let tenant = Tenant::new();
        let ann =
            json!({"type": "user", "id": "ann", "properties": {"level": 4}, "roles": ["nurse"]});
        tenant.manage("PUT /api/v1/entities", &json!({"entities": [ann]})).is(200);
        let rule = |sub: &str| json!({"sub": sub, "obj": "chart:print", "act": "print", "effect": "allow"});
        let bundle = json!({
            "policies": [policy("senior", "allow", "user.level >= 3 && token.ward == 'er'")],
            "rules": [rule("head")], "roles": [{"name": "nurse", "includes": ["head"]}],
        });
        put(&tenant, &bundle).is(201);
        let check = |resource: &str, action: &str| {
            let token = tenant.token_with("ann", &[], &json!({"ward": "er"}));
            let body = json!({"subject": "ann", "resource": resource, "action": action});
            assert_eq!(tenant.check_by(&token, &body).is(200).text_of("decision"), "deny");
        };
        check("chart:read", "read");
        tenant.decide("ann", "chart:print", "print").is_default();
        let report = report_of_ready(&tenant)?;
        assert_eq!(counts(&report), [2, 0, 2, 0, 0, 0], "{report}");
        Some(())
    });
}

#[test]
fn the_draft_follows_references_that_the_live_rules_do_not() {
    until_ready(|| {
        let tenant = Tenant::new();
        for (of, properties) in [
            ("ward", json!({"head": {"type": "ref<user>"}})),
            ("chart", json!({"ward": {"type": "ref<ward>"}})),
        ] {
            let body = json!({"properties": properties});
            tenant.manage(format!("PUT /api/v1/types/{of}"), &body).is(201);
        }
        let entities = json!([
            {"type": "ward", "id": "er", "properties": {"head": "ann"}},
            {"type": "chart", "id": "c1", "properties": {"ward": "er"}},
        ]);
        tenant.manage("PUT /api/v1/entities", &json!({"entities": entities})).is(200);
        let head = policy("head", "allow", "resource.ward.head == request.subject");
        put(&tenant, &json!({"policies": [head]})).is(201);
        for subject in ["ann", "bob"] {
            let body = json!({"subject": subject, "resource": "chart:read", "attributes": {"resource": {"id": "c1"}}});
            assert_eq!(tenant.check(&body).is(200).text_of("decision"), "deny");
        }
        let report = report_of_ready(&tenant)?;
        assert_eq!(counts(&report), [2, 0, 1, 0, 0, 0], "{report}");
        Some(())
    });
}

/// A tenant with a chain of folders that is longer than the thread of a request walks.
fn with_a_chain(tenant: &Tenant<'_>) {
    const FOLDERS: usize = 5_500;
    let folder = json!({"relations": {"parent": "[folder]", "viewer": "[user] || parent.viewer"}});
    tenant.manage("PUT /api/v1/types/folder", &folder).is(201);
    let parent = |number| {
        let [object, subject] = [number, number + 1].map(|number| format!("folder:f{number}"));
        json!({"object": object, "relation": "parent", "subject": subject})
    };
    let tuples: Vec<_> = (0..FOLDERS).map(parent).collect();
    for tuples in tuples.chunks(1_000) {
        tenant.manage("POST /api/v1/relations", &json!({"write": tuples})).is(200);
    }
}

#[test]
fn relations_that_a_check_walked_are_known_to_the_draft() {
    until_ready(|| {
        let tenant = Tenant::new();
        with_a_chain(&tenant);
        let walk = r#"relation["folder:f0#viewer"] == true"#;
        let live =
            json!({"owner": "test", "bundle": {"policies": [policy("viewers", "allow", walk)]}});
        tenant.manage("POST /api/v1/apply", &live).is(200);
        let denying = policy("no-viewer", "allow", &walk.replace("true", "false"));
        put(&tenant, &json!({"policies": [denying]})).is(201);
        tenant.decide("ann", "chart:read", "read").is_default();
        let report = report_of_ready(&tenant)?;
        assert_eq!(counts(&report), [1, 0, 1, 0, 0, 0], "{report}");
        Some(())
    });
}

#[test]
fn a_resolver_is_not_called_for_a_draft_alone() {
    until_ready(|| {
        let tenant = Tenant::new();
        tenant.directory("hr");
        let home = policy("home", "allow", "hr.department == 'obstetrics' || user.ward == 'er'");
        put(&tenant, &json!({"policies": [home]})).is(201);
        tenant.check(&chart("ann", "er", false)).is(200);
        let abroad = json!({"subject": "ann", "resource": "chart:read", "action": "read"});
        tenant.check(&abroad).is(200);
        let report = report_of_ready(&tenant)?;
        assert_eq!(counts(&report), [1, 0, 1, 0, 0, 1], "{report}");
        Some(())
    });
}

/// A server with a record of decisions, and its tenant.
fn recording() -> (Server, Tenant<'static>) {
    let server = Settings::new(Provider::shared()).recording().start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    (server, tenant)
}

#[test]
fn a_difference_is_recorded_whatever_the_settings_leave_out() {
    until_ready(|| {
        let (_server, tenant) = recording();
        let own = live(&tenant);
        let settings = json!({"decision_log": {"allows": 0.0}});
        let apply = json!({"owner": "test", "bundle": {"policies": [own], "settings": settings}});
        tenant.manage("POST /api/v1/apply", &apply).is(200);
        let vip = policy("vip-record", "deny", "resource.vip == true");
        put(&tenant, &json!({"policies": [own, vip]})).is(201);
        tenant.check(&chart("bob", "er", false)).is(200);
        let flipped = tenant.check(&chart("bob", "er", true)).is(200);
        let id = flipped.header("x-decision-id")?.to_owned();
        let records = eventually_some("it is recorded", || {
            let records = tenant.get("/api/v1/decisions").is(200).json();
            records.as_array().is_some_and(|records| !records.is_empty()).then_some(records)
        });
        let records = records.as_array().expect("a list");
        assert_eq!((records.len(), &records[0]["id"]), (1, &json!(id)));
        assert_eq!(records[0]["shadow"], json!({"draft": "stricter", "decision": "deny"}));
        let report = report_of_ready(&tenant)?;
        assert_eq!(report["groups"][0]["samples"], json!([id]));
        assert_eq!(counts(&report), [2, 1, 0, 0, 0, 0]);
        Some(())
    });
}

#[test]
fn counts_survive_a_restart() {
    until_ready(|| {
        let settings = Settings::new(Provider::shared());
        let mut server = settings.start();
        let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
        live(&tenant);
        put(&tenant, &json!({"policies": []})).is(201);
        tenant.check(&chart("bob", "er", true)).is(200);
        let before = report_of_ready(&tenant)?;
        assert_eq!(counts(&before)[..2], [1, 1]);
        server.process.terminate();
        assert!(server.process.wait().is_some_and(|status| status.success()));
        let server = settings.start();
        let tenant = tenant.at(&server);
        assert_eq!(tenant.get(SHADOW).is(200).json(), before);
        // The comparison goes on.
        let report = compared(&tenant, 2, || {
            tenant.check(&chart("bob", "er", true)).is(200);
        });
        assert_eq!(report["groups"][0]["count"], report["checks"]);
        Some(())
    });
}
