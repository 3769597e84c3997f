//! Replays: recorded decisions, decided again by the rules of their time and by a candidate.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::process::{Finished, finish, portcullis};
use crate::support::{
    MANAGER, NO_ID, Provider, Request, Server, Settings, Tenant, eventually, eventually_some,
};

const REPLAYS: &str = "POST /api/v1/replays";

fn start() -> Server {
    Settings::new(Provider::shared()).recording().start()
}

fn tenant_of(server: &Server) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), "acme")
}

fn bundle(policies: &Value) -> Value {
    json!({"candidate": {"bundle": {"policies": policies}}})
}

/// A policy in a bundle.
fn policy(name: &str, effect: &str, priority: i64, when: &str) -> Value {
    json!({"name": name, "resource": "chart:read", "effect": effect, "priority": priority, "when": when})
}

/// Checks that `subject` reads a chart with these attributes.
fn check(tenant: &Tenant<'_>, subject: &str, attributes: &Value) -> String {
    let body = json!({"subject": subject, "resource": "chart:read", "action": "read", "attributes": attributes});
    tenant.check(&body).is(200).header("x-decision-id").expect("recorded").to_owned()
}

/// Waits until the tenant has this number of records.
fn recorded(tenant: &Tenant<'_>, count: usize) {
    eventually(&format!("{count} records"), || {
        let records = tenant.get("/api/v1/decisions?limit=1000").is(200).json();
        records.as_array().is_some_and(|records| records.len() == count)
    });
}

/// Returns the report of a replay, once it is complete, without its id.
fn replayed(tenant: &Tenant<'_>, body: &Value) -> Value {
    let begun = tenant.manage(REPLAYS, body).is(202);
    let path = begun.header("location").expect("a location").to_owned();
    assert_eq!(path, format!("/api/v1/replays/{}", begun.clone().id()));
    let mut report = eventually_some("the replay is complete", || {
        let report = tenant.get(&path).is(200).json();
        assert_eq!(report.get("error"), None, "{report}");
        (report["complete"] == true).then_some(report)
    });
    report.as_object_mut().expect("an object").remove("id");
    report
}

/// Returns the counts of a report, in the order of the document.
fn counts(report: &Value) -> [u64; 8] {
    [
        "replayed",
        "reproduced",
        "unchanged",
        "allow_to_deny",
        "deny_to_allow",
        "rule_changed",
        "not_replayable",
        "undetermined_new",
    ]
    .map(|name| report[name].as_u64().unwrap_or_else(|| panic!("{name} of {report}")))
}

#[test]
fn a_replay_shows_what_a_candidate_would_have_decided_otherwise() {
    let server = start();
    let tenant = tenant_of(&server);
    let own = policy("own-chart", "allow", 0, "user.ward == resource.ward");
    let live = json!({"owner": "test", "bundle": {"policies": [own]}});
    tenant.manage("POST /api/v1/apply", &live).is(200);
    tenant.rule("auditor", "chart:read", "read", "allow");
    let chart = |ward: &str, vip: bool| json!({"user": {"ward": "er"}, "resource": {"ward": ward, "vip": vip}});
    let first = check(&tenant, "ann", &chart("er", true));
    let second = check(&tenant, "ann", &chart("er", true));
    check(&tenant, "bob", &chart("er", false));
    let denied = check(&tenant, "bob", &chart("icu", false));
    let claimed = Request::new("POST /api/v1/check").token(&tenant.token("eve", &["auditor"]));
    let own_check = json!({
        "subject": "eve", "resource": "chart:read", "action": "read", "attributes": {"resource": {"vip": false}},
    });
    tenant.send(&claimed.json(&own_check)).is(200);
    recorded(&tenant, 5);
    let vip = policy("vip-record", "deny", 10, "resource.vip == true");
    let report = replayed(&tenant, &bundle(&json!([own, vip])));
    assert_eq!(counts(&report), [5, 5, 3, 2, 0, 0, 0, 0], "{report}");
    let expected = json!([{
        "change": "allow_to_deny", "resource": "chart:read", "before": "own-chart", "after": "vip-record", "count": 2,
        "subjects": 1, "samples": [second, first],
    }]);
    assert_eq!(report["groups"], expected);
    let draft = json!({"bundle": {"policies": [own, vip]}});
    tenant.manage("PUT /api/v1/drafts/vips", &draft).is(201);
    let by_draft = replayed(&tenant, &json!({"candidate": {"draft": "vips"}}));
    assert_eq!(by_draft, report);
    // Another policy allows, and what was denied is allowed.
    let any = policy("any-ward", "allow", 5, "user.ward != ''");
    let report = replayed(&tenant, &bundle(&json!([any])));
    assert_eq!(counts(&report), [5, 5, 4, 0, 1, 3, 0, 0], "{report}");
    assert_eq!(report["groups"][0]["samples"], json!([denied]));
    assert_eq!(report["groups"][0]["before"], "default-deny");
    let filtered = |filter: Value| {
        let mut body = bundle(&json!([any]));
        body["filter"] = filter;
        counts(&replayed(&tenant, &body))[0]
    };
    assert_eq!(filtered(json!({"subject": "ann"})), 2);
    assert_eq!(filtered(json!({"decision": "deny"})), 1);
    let mut body = bundle(&json!([any]));
    body["to"] = json!("2020-01-01T00:00:00Z");
    assert_eq!(counts(&replayed(&tenant, &body)), [0; 8]);
}

#[test]
fn the_rules_of_their_time_reproduce_decisions() {
    let server = start();
    let tenant = tenant_of(&server);
    let apply = |policies: Value| {
        let bundle = json!({"owner": "test", "bundle": {"policies": policies}});
        tenant.manage("POST /api/v1/apply", &bundle).is(200).revision()
    };
    let old = policy("old", "allow", 0, "user.level >= 3");
    let revision = apply(json!([old]));
    check(&tenant, "ann", &json!({"user": {"level": 4}}));
    check(&tenant, "bob", &json!({"user": {"level": 1}}));
    apply(json!([policy("new", "allow", 0, "user.level >= 5")]));
    check(&tenant, "ann", &json!({"user": {"level": 4}}));
    recorded(&tenant, 3);
    let report = replayed(&tenant, &json!({"candidate": {"revision": revision}}));
    assert_eq!(counts(&report), [3, 3, 2, 0, 1, 0, 0, 0], "{report}");
}

#[test]
fn a_record_without_an_input_is_not_decided_again() {
    let server = start();
    let tenant = tenant_of(&server);
    let bundle_of = |treatment: &str| {
        let attributes = json!({"user.pin": treatment});
        let policies = json!([policy("pin", "allow", 0, "user.pin == 1")]);
        json!({"owner": "test", "bundle": {"settings": {"decision_log": {"attributes": attributes}}, "policies": policies}})
    };
    for (n, treatment) in ["hash", "drop", "reads"].into_iter().enumerate() {
        tenant.manage("POST /api/v1/apply", &bundle_of(treatment)).is(200);
        check(&tenant, &format!("u{n}"), &json!({"user": {"pin": 1, "level": 2}}));
    }
    recorded(&tenant, 3);
    let candidate = bundle(&json!([policy("pin", "allow", 0, "user.level == 2")]));
    let report = replayed(&tenant, &candidate);
    assert_eq!(counts(&report), [3, 1, 1, 0, 0, 0, 2, 0], "{report}");
}

#[test]
fn a_replay_without_the_recorded_attributes_is_undetermined() {
    let server = start();
    let tenant = tenant_of(&server);
    let known = json!({"entities": [{"type": "user", "id": "ann", "properties": {"level": 4}, "roles": ["nurse"]}]});
    tenant.manage("PUT /api/v1/entities", &known).is(200);
    tenant.manage("PUT /api/v1/roles/head", &json!({"includes": ["nurse"]})).is(201);
    tenant.rule("nurse", "chart:read", "read", "allow");
    let live = json!({"owner": "test", "bundle": {"policies": [policy("young", "deny", 5, "user.level < 3")]}});
    tenant.manage("POST /api/v1/apply", &live).is(200);
    check(&tenant, "ann", &json!({}));
    check(&tenant, "bob", &json!({"user": {"level": 9, "roles": ["head"]}}));
    recorded(&tenant, 2);
    for (when, expected) in [
        ("user.level < 3", [2, 2, 2, 0, 0, 0, 0, 0]),
        ("user.level < 5", [2, 2, 1, 1, 0, 0, 0, 0]),
        // Nobody knows what the directory said of the ward, unless nothing depends on it.
        ("user.ward == 'er'", [2, 2, 0, 0, 0, 0, 0, 2]),
        ("user.ward == 'er' && user.level > 5", [2, 2, 1, 0, 0, 0, 0, 1]),
    ] {
        let policies = json!([policy("young", "deny", 5, when)]);
        let report = replayed(&tenant, &bundle(&policies));
        assert_eq!(counts(&report), expected, "{when}: {report}");
    }
    // Without the inclusion, only the nurse herself reads.
    let report = replayed(&tenant, &json!({"candidate": {"bundle": {"roles": []}}}));
    assert_eq!(counts(&report), [2, 2, 1, 1, 0, 0, 0, 0], "{report}");
}

/// The directory may have said of the ward what it says now, unless the request said that there is none.
#[test]
fn nothing_replaces_a_recorded_null() {
    let server = start();
    let tenant = tenant_of(&server);
    let known = json!({"entities": [{"type": "user", "id": "ann", "properties": {"ward": "er"}}]});
    tenant.manage("PUT /api/v1/entities", &known).is(200);
    let sent = json!({"user": {"ward": null}, "context": {"shift": null}});
    let id = check(&tenant, "ann", &sent);
    check(&tenant, "ann", &json!({}));
    recorded(&tenant, 2);
    let record = tenant.get(&format!("/api/v1/decisions/{id}?explain=true")).is(200).json();
    assert_eq!((&record["attributes"], &record["reproduced"]), (&sent, &json!(true)));
    let of_ward = bundle(&json!([policy("ward", "allow", 0, "user.ward == 'er'")]));
    let report = replayed(&tenant, &of_ward);
    assert_eq!(counts(&report), [2, 2, 1, 0, 0, 0, 0, 1], "{report}");
}

#[test]
fn a_stream_has_reports_until_the_last_one() {
    let server = start();
    let tenant = tenant_of(&server);
    for n in 0..20 {
        check(&tenant, &format!("u{n}"), &json!({}));
    }
    recorded(&tenant, 20);
    let body = bundle(&json!([policy("all", "allow", 0, "request.subject != ''")]));
    let request = tenant.managing(REPLAYS).header("accept", "text/event-stream").json(&body);
    let reply = tenant.send(&request).is(200);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let text = reply.text;
    let events = text.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).expect("JSON")).collect();
    let last = events.last().expect("an event");
    assert_eq!((&last["complete"], counts(last)), (&json!(true), [20, 20, 0, 0, 20, 0, 0, 0]));
    let id = last["id"].as_str().expect("an id");
    let path = format!("/api/v1/replays/{id}");
    eventually("it is forgotten with its stream", || tenant.get(&path).status == 404);
}

#[test]
fn bad_questions_are_refused() {
    let server = start();
    let tenant = tenant_of(&server);
    let filtered = |filter: Value| json!({"candidate": {"bundle": {}}, "filter": filter});
    for body in [
        json!({}),
        json!({"candidate": {}}),
        json!({"candidate": {"revision": 1, "bundle": {}}}),
        json!({"candidate": {"revision": "1"}}),
        json!({"candidate": {"apply": {"bundle": {}}}}),
        json!({"candidate": {"apply": {"owner": "git:a", "bundle": {}}, "bundle": {}}}),
        json!({"candidate": {"bundle": {"policies": [{"name": "x"}]}}}),
        json!({"candidate": {"bundle": {}}, "from": "yesterday"}),
        filtered(json!({"decision": "yes"})),
        filtered(json!({"color": "red"})),
    ] {
        tenant.manage(REPLAYS, &body).refused(400, "VALIDATION_ERROR");
    }
    for unknown in [json!({"revision": 999}), json!({"draft": "none"})] {
        tenant.manage(REPLAYS, &json!({"candidate": unknown})).refused(404, "NOT_FOUND");
    }
    for method in ["GET", "DELETE"] {
        let route = format!("{method} /api/v1/replays/{NO_ID}");
        tenant.send(&tenant.managing(route)).refused(404, "NOT_FOUND");
    }
    let begun = tenant.manage(REPLAYS, &json!({"candidate": {"bundle": {}}})).is(202);
    let path = format!("/api/v1/replays/{}", begun.id());
    tenant.delete(&path).is(204);
    tenant.get(&path).refused(404, "NOT_FOUND");
    let off = Settings::new(Provider::shared()).start();
    let tenant = tenant_of(&off);
    tenant.manage(REPLAYS, &json!({"candidate": {"bundle": {}}})).refused(409, "CONFLICT");
    let reader = Request::new(REPLAYS).token(&tenant.token("ann", &["user"]));
    tenant.send(&reader.json(&json!({"candidate": {"bundle": {}}}))).refused(403, "ACCESS_DENIED");
}

#[test]
fn a_recorded_decision_is_explained_from_its_record() {
    let server = start();
    let tenant = tenant_of(&server);
    let known = json!({"entities": [{"type": "user", "id": "ann", "properties": {"level": 4}}]});
    tenant.manage("PUT /api/v1/entities", &known).is(200);
    let policies = json!([policy("senior", "allow", 0, "user.level >= 3 && context.ward == 'er'")]);
    let live = json!({"owner": "test", "bundle": {"policies": policies}});
    tenant.manage("POST /api/v1/apply", &live).is(200);
    let decided = [("icu", "deny"), ("er", "allow")].map(|(ward, decision)| {
        let question = json!({"subject": "ann", "resource": "chart:read", "action": "read", "attributes": {"context": {"ward": ward}}});
        let id = check(&tenant, "ann", &question["attributes"]);
        let mut live = tenant.manage("POST /api/v1/check?explain=true", &question).is(200).json();
        // Hints are about what was asked now.
        live["explanation"].as_object_mut().expect("an explanation").remove("hints");
        (id, decision, live)
    });
    recorded(&tenant, decided.len());
    assert!(!decided[0].2["explanation"]["would_allow"].as_array().expect("a list").is_empty());
    // The record has what the directory said then.
    tenant
        .manage("PUT /api/v1/entities", &json!({"entities": [{"type": "user", "id": "ann"}]}))
        .is(200);
    for (id, decision, live) in &decided {
        let path = format!("/api/v1/decisions/{id}?explain=true");
        let explained = tenant.get(&path).is(200).json();
        assert_eq!(explained["explanation"], live["explanation"]);
        assert_eq!(
            (&explained["reproduced"], &explained["decision"]),
            (&json!(true), &json!(decision))
        );
    }
    let id = &decided[1].0;
    let path = format!("/api/v1/decisions/{id}?explain=true");
    let plain = tenant.get(&format!("/api/v1/decisions/{id}")).is(200).json();
    assert_eq!((plain.get("explanation"), plain.get("reproduced")), (None, None));
    let own = Request::new(format!("GET {path}")).token(&tenant.token("ann", &["user"]));
    tenant.send(&own).refused(403, "ACCESS_DENIED");
    let other = Request::new(format!("GET {path}")).token(&tenant.token("bob", &["user"]));
    tenant.send(&other).refused(404, "NOT_FOUND");
}

/// Returns the folder of a tenant with one policy, by which people of the ward `icu` read charts.
fn icu_folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let policies = "- {name: own, resource: 'chart:read', effect: allow, priority: 0, when: user.ward == 'icu'}\n";
    for (name, text) in [
        ("tenant.yaml", "tenant: acme\nusers: []\n"),
        ("resources.yaml", "[]\n"),
        ("rules.yaml", "[]\n"),
        ("policies.yaml", policies),
        ("cases.yaml", "[]\n"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

#[test]
fn the_command_says_what_flips_by_its_exit_code() {
    let server = start();
    let tenant = tenant_of(&server);
    let live = json!({"owner": "test", "bundle": {"policies": [policy("own", "allow", 0, "user.ward == 'er'")]}});
    tenant.manage("POST /api/v1/apply", &live).is(200);
    check(&tenant, "ann", &json!({"user": {"ward": "er"}}));
    recorded(&tenant, 1);
    let folder = icu_folder();
    let run = |arguments: &[&str]| {
        let mut command = portcullis(&["replay"]);
        command.args(arguments).args(["--url", &format!("http://{}", tenant.address)]);
        let output =
            command.env("TOKEN", tenant.token("boss", &[MANAGER])).output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let dir = folder.path().to_str().expect("UTF-8");
    let (code, out, err) = run(&[dir]);
    assert_eq!((code, &*err), (Some(0), ""), "{out}");
    assert!(out.contains("- allow_to_deny chart:read: own → default-deny"), "{out}");
    for (fail_on, expected) in
        [("deny_to_allow", 0), ("rule_changed,allow_to_deny", 1), ("denied", 2)]
    {
        let (code, out, err) = run(&[dir, "--fail-on", fail_on, "--since", "1d"]);
        assert_eq!(code, Some(expected), "{fail_on}: {out}{err}");
    }
    let (code, out, _) = run(&[dir, "--format", "json", "--until", "1d"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, counts(&report)), (Some(0), [0; 8]));
    for arguments in
        [&["--revision", "999"][..], &[], &["/nowhere"], &[dir, "--since", "yesterday"]]
    {
        assert_eq!(run(arguments).0, Some(2), "{arguments:?}");
    }
}

/// Runs `portcullis plan` with a credential.
fn plan(tenant: &Tenant<'_>, (name, credential): (&str, &str), arguments: &[&str]) -> Finished {
    let mut command = portcullis(&["plan", "--owner", "test"]);
    command.args(arguments).args(["--url", &format!("http://{}", tenant.address)]);
    command.env(name, credential);
    finish(command)
}

#[test]
fn a_plan_shows_the_recorded_decisions_that_it_changes() {
    let server = start();
    let tenant = tenant_of(&server);
    let live = json!({"owner": "test", "bundle": {"policies": [policy("own", "allow", 0, "user.ward == 'er'")]}});
    tenant.manage("POST /api/v1/apply", &live).is(200);
    // An object of nobody stays, although the folder does not have it.
    tenant.rule("auditor", "chart:read", "read", "allow");
    let flips = check(&tenant, "ann", &json!({"user": {"ward": "er"}}));
    check(&tenant, "eve", &json!({"user": {"roles": ["auditor"]}}));
    recorded(&tenant, 2);
    let folder = icu_folder();
    let dir = folder.path().to_str().expect("UTF-8");
    let token = tenant.token("boss", &[MANAGER]);
    let planned = |arguments: &[&str]| {
        let done = plan(&tenant, ("TOKEN", &token), &[&[dir], arguments].concat());
        assert_eq!((done.code, &*done.err), (Some(2), ""), "{}", done.out);
        done.out
    };
    let text = planned(&["--impact"]);
    let expected = format!(
        "recorded decisions: 2 replayed; unchanged: 1, allow to deny: 1\n  \
         - allow_to_deny chart:read: own → default-deny, 1 of 1 subjects\n      such as {flips}"
    );
    assert!(text.trim_end().ends_with(&expected), "{text}");
    let comment = planned(&["--impact", "--format", "markdown"]);
    let heading = "<details><summary>Recorded decisions: 2 replayed; unchanged: 1, allow to deny: 1</summary>";
    assert!(comment.contains(heading) && comment.contains(&flips), "{comment}");
    let json: Value =
        serde_json::from_str(&planned(&["--impact", "--format", "json"])).expect("JSON");
    assert_eq!(counts(&json["recorded"]), [2, 2, 1, 1, 0, 0, 0, 0], "{json}");
    assert_eq!(json["recorded"]["groups"][0]["samples"], json!([flips]));
    let nothing = planned(&["--impact", "--since", "0m"]);
    assert!(nothing.trim_end().ends_with("recorded decisions: 0 replayed"), "{nothing}");
    assert!(!planned(&[]).contains("recorded decisions"));
    // The same plan with every kind that the bundle names would take the rule away.
    let policies = json!([policy("own", "allow", 0, "user.ward == 'icu'")]);
    let body = json!({"candidate": {"bundle": {"rules": [], "policies": policies}}});
    assert_eq!(counts(&replayed(&tenant, &body)), [2, 2, 0, 2, 0, 0, 0, 0]);
}

#[test]
fn a_plan_without_a_record_says_why() {
    let server = start();
    let off = Settings::new(Provider::shared()).start();
    let folder = icu_folder();
    let dir = folder.path().to_str().expect("UTF-8");
    for (server, reason) in [(&server, "`decisions:read`"), (&off, "`DECISION_LOG_URL`")] {
        let tenant = tenant_of(server);
        let mut permissions = vec!["policies:read", "resources:read"];
        if reason == "`DECISION_LOG_URL`" {
            permissions.push("decisions:read");
        }
        let body = json!({"name": "pipeline", "permissions": permissions});
        let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).json();
        let key = key["key"].as_str().expect("a key");
        let done = plan(&tenant, ("SERVICE_API_KEY", key), &[dir, "--impact"]);
        assert_eq!((done.code, &*done.err), (Some(2), ""), "{}", done.out);
        let line = done.out.lines().last().expect("a line");
        assert!(
            line.starts_with("recorded decisions: not replayed: ") && line.contains(reason),
            "{}",
            done.out
        );
        let json = plan(&tenant, ("SERVICE_API_KEY", key), &[dir, "--impact", "--format", "json"]);
        let json: Value = serde_json::from_str(&json.out).expect("JSON");
        let error = json["recorded"]["error"].as_str().expect("an error");
        assert!(error.contains(reason), "{json}");
    }
}

#[test]
fn cases_from_the_log_pass_on_the_rules_that_decided() {
    let server = start();
    let tenant = tenant_of(&server);
    let own = policy("own", "allow", 0, "user.ward == resource.ward");
    tenant
        .manage("POST /api/v1/apply", &json!({"owner": "test", "bundle": {"policies": [own]}}))
        .is(200);
    tenant.rule("auditor", "chart:read", "read", "allow");
    for (subject, user, ward) in [
        ("ann", json!({"ward": "er"}), "er"),
        // The policy would allow bob if his ward were known.
        ("bob", json!({}), "icu"),
        ("eve", json!({"ward": "er", "roles": ["auditor"]}), "icu"),
        ("ann", json!({"ward": "er"}), "er"),
    ] {
        check(&tenant, subject, &json!({"user": user, "resource": {"ward": ward}}));
    }
    recorded(&tenant, 4);
    tests_its_cases(&tenant, 3, |cases| {
        assert_eq!(cases.matches("undetermined: allowed").count(), 1, "{cases}");
    });
}

/// Tests an export of the tenant with the cases from its log, of which there are `count`.
fn tests_its_cases(tenant: &Tenant<'_>, count: usize, inspect: impl FnOnce(&str)) {
    let run = |arguments: &[&str]| {
        let mut command = portcullis(arguments);
        let output =
            command.env("TOKEN", tenant.token("boss", &[MANAGER])).output().expect("it runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let url = format!("http://{}", tenant.address);
    let cases = run(&["cases", "from-log", "--cover", "--url", &url]);
    assert_eq!(cases.matches("- name:").count(), count, "{cases}");
    inspect(&cases);
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().to_str().expect("UTF-8");
    run(&["export", "--tenant-folder", dir, "--url", &url, "--tenant", &tenant.name]);
    std::fs::write(folder.path().join("cases.yaml"), &cases).expect("writable");
    let tested = run(&["test", dir]);
    assert!(tested.contains(&format!("{count} passed")), "{tested}\n{cases}");
}

#[test]
fn a_record_tells_a_relation_that_is_absent_from_one_without_an_answer() {
    let server = start();
    let tenant = tenant_of(&server);
    let relations = json!({"relations": {"owner": {"from": "[user]", "request": "owner"}}});
    tenant.manage("PUT /api/v1/types/chart", &relations).is(201);
    let own = policy("own", "deny", 1, "relation.owner == true");
    let any = policy("any", "allow", 0, "true");
    let live = json!({"owner": "test", "bundle": {"policies": [own, any]}});
    tenant.manage("POST /api/v1/apply", &live).is(200);
    // Without an id nothing is asked; the owner that is sent is not one.
    let absent = check(&tenant, "ann", &json!({}));
    let failed = check(&tenant, "ann", &json!({"resource": {"id": "c1", "owner": 1}}));
    recorded(&tenant, 2);
    let explained = |id: &str| {
        let path = format!("/api/v1/decisions/{id}?explain=true");
        tenant.get(&path).is(200).json()
    };
    for (id, value, because) in [
        (&absent, json!("absent"), "attribute `relation.owner` is missing"),
        (
            &failed,
            json!(null),
            "attribute `relation.owner` is not known: the relations had no answer",
        ),
    ] {
        let record = explained(id);
        assert_eq!(record["relations"]["owner"], value, "{record}");
        assert_eq!(record["reproduced"], true, "{record}");
        let because = json!(because);
        assert_eq!(
            record["explanation"]["policies"][0]["condition"]["because"], because,
            "{record}"
        );
    }
    let lenient = policy("own", "deny", 1, "(relation.owner == true) ?? false");
    let report = replayed(&tenant, &bundle(&json!([lenient, any])));
    assert_eq!(counts(&report), [2, 2, 1, 0, 1, 0, 0, 0], "{report}");
    assert_eq!(report["groups"][0]["samples"], json!([absent]), "{report}");
}

#[test]
fn cases_from_the_log_have_tuples_for_the_relations_of_the_subject() {
    let server = start();
    let tenant = tenant_of(&server);
    for (of, relations) in [
        ("group", json!({"member": "[user]"})),
        (
            "chart",
            json!({
                "viewer": "[user, group#member]", "owner": "[user]", "banned": "[user]",
                "can_read": "(viewer || owner) && !banned",
            }),
        ),
    ] {
        let body = json!({"relations": relations});
        tenant.manage(format!("PUT /api/v1/types/{of}"), &body).is(201);
    }
    tenant.rule("can_read@resource", "chart:read", "read", "allow");
    tenant.rule("banned@resource", "chart:read", "read", "deny");
    tenant.rule("group:board#member", "chart:list", "list", "allow");
    let nothing = json!({
        "name": "nothing", "resource": "chart:new", "effect": "allow", "priority": 1, "format": "expression",
        "rule_data": {"expression": "!exists(relation.owner)"},
    });
    tenant.manage("POST /api/v1/abac/policies", &nothing).is(201);
    let team = json!([
        {"object": "group:team", "relation": "member", "subject": "user:ann"},
        {"object": "chart:c1", "relation": "viewer", "subject": "group:team", "subject_relation": "member"},
        {"object": "chart:c1", "relation": "viewer", "subject": "user:bob"},
        {"object": "chart:c1", "relation": "banned", "subject": "user:bob"},
        {"object": "group:board", "relation": "member", "subject": "user:cleo"},
    ]);
    tenant.manage("POST /api/v1/relations", &json!({"write": team})).is(200);
    for (subject, resource) in [
        ("ann", "chart:read"),
        ("bob", "chart:read"),
        ("eve", "chart:read"),
        ("cleo", "chart:list"),
    ] {
        let body = json!({
            "subject": subject, "resource": resource, "attributes": {"resource": {"id": "c1"}},
        });
        tenant.check(&body).is(200);
    }
    tenant.check(&json!({"subject": "ann", "resource": "chart:new"})).is(200);
    recorded(&tenant, 5);
    // Ann has it by a group, which the record does not say: the case lets her see it herself.
    tests_its_cases(&tenant, 5, |cases| {
        assert!(cases.contains("user:ann") && !cases.contains("group:team"), "{cases}");
        assert!(cases.contains("relations: []"), "{cases}");
    });
}
