//! `warnings`: names that no registered resource has (`docs/semantics.md`, section 3.9).

use serde_json::{Value, json};

use super::{create, rule_with, update};
use crate::support::tenant::{always, condition};
use crate::support::{Reply, Tenant};

const POLICIES: &str = "/api/v1/abac/policies";

/// A tenant that has registered `doc:read` and `team:space:write`.
fn registered() -> Tenant<'static> {
    let tenant = Tenant::new();
    tenant.resource("doc:read");
    tenant.resource("team:space:write");
    tenant
}

/// The code and path of each warning.
#[track_caller]
fn warnings(reply: &Reply) -> Vec<(String, String)> {
    let text = |warning: &Value, name: &str| {
        warning[name].as_str().expect("a text of a warning").to_owned()
    };
    let json = reply.json();
    let Some(warnings) = json.get("warnings") else { return Vec::new() };
    let warnings = warnings.as_array().expect("a list");
    assert!(!warnings.is_empty(), "absent if there are none: {json}");
    let quoted = |warning: &Value| text(warning, "message").contains('`');
    assert!(warnings.iter().all(quoted), "{json}");
    warnings.iter().map(|warning| (text(warning, "code"), text(warning, "path"))).collect()
}

fn unregistered(paths: &[&str]) -> Vec<(String, String)> {
    paths.iter().map(|path| ("UNREGISTERED".to_owned(), (*path).to_owned())).collect()
}

#[test]
fn a_rule_is_compared_with_what_is_registered() {
    let tenant = registered();
    for (obj, act, paths) in [
        ("doc:read", "read", &[][..]),
        ("doc:*", "read", &[]),
        ("*", "*", &[]),
        ("doc:read", "*", &[]),
        ("team:space:*", "write", &[]),
        ("doc:raed", "read", &["/obj"]),
        ("docs:*", "write", &["/obj"]),
        ("team:*", "write", &["/obj"]),
        ("doc:*", "raed", &["/act"]),
        ("doc:raed", "raed", &["/obj", "/act"]),
    ] {
        let body = rule_with(&json!({"obj": obj, "act": act}));
        let created = create(&tenant, &body).is(201);
        assert_eq!(warnings(&created), unregistered(paths), "{obj} {act}");
        let again = update(&tenant, &json!({"id": created.id(), "effect": "deny"})).is(200);
        assert_eq!(warnings(&again), unregistered(paths), "{obj} {act}");
    }
}

#[test]
fn a_policy_is_compared_with_what_is_registered() {
    let tenant = registered();
    for (resource, paths) in [
        ("doc:read", &[][..]),
        ("doc:*", &[]),
        ("*", &[]),
        ("doc:raed", &["/resource"]),
        ("docs:*", &["/resource"]),
    ] {
        let body = json!({
            "name": "p", "resource": resource, "effect": "deny", "priority": 1, "rule_data": always(),
        });
        let created = tenant.manage(format!("POST {POLICIES}"), &body).is(201);
        assert_eq!(warnings(&created), unregistered(paths), "{resource}");
        let path = format!("{POLICIES}/{}", created.id());
        let updated = tenant.manage(format!("PUT {path}"), &json!({"priority": 2})).is(200);
        assert_eq!(warnings(&updated), unregistered(paths), "{resource}");
        // A warning is part of the answer, not of the record.
        let shown = tenant.get(&path).is(200);
        assert_eq!(shown.json().get("warnings"), None);
        assert_eq!(shown.header("etag"), updated.header("etag"));
    }
}

#[test]
fn a_warning_changes_nothing() {
    let tenant = registered();
    let created = create(&tenant, &rule_with(&json!({"obj": "doc:raed", "act": "raed"}))).is(201);
    assert_eq!(created.revision(), 3);
    tenant.decide("alice", "doc:raed", "raed").is("allow", &created.id());
}

#[test]
fn without_a_registry_there_is_nothing_to_compare_with() {
    let (tenant, _other) = (Tenant::new(), registered());
    let created = create(&tenant, &rule_with(&json!({"obj": "doc:raed", "act": "raed"}))).is(201);
    assert_eq!(warnings(&created), []);
    let resource = tenant.resource("doc:read");
    let body = json!({"id": created.id(), "effect": "deny"});
    assert_eq!(warnings(&update(&tenant, &body)), unregistered(&["/obj", "/act"]));
    tenant.delete(&format!("/api/v1/resources/{resource}")).is(204);
    assert_eq!(warnings(&update(&tenant, &body)), []);
}

#[test]
fn a_warning_is_short() {
    let tenant = registered();
    let long = format!("{}:v", "ä".repeat(254));
    let created = create(&tenant, &rule_with(&json!({"obj": long, "act": "ä".repeat(128)})));
    for warning in created.is(201).json()["warnings"].as_array().expect("warnings") {
        let message = warning["message"].as_str().expect("a message");
        assert!(message.len() < 400, "{message}");
    }
}

#[test]
fn a_test_that_is_never_decided_is_saved_with_a_warning() {
    let tenant = Tenant::new();
    let never = condition("request.subject", "contains_any", json!(["a"]));
    let sound = condition("request.roles", "contains_any", json!(["a"]));
    let both = json!({"type": "AND", "children": [sound, {"type": "NOT", "child": never}]});
    let named = json!({"when": never});
    let many = json!({"type": "OR", "children": vec![never; 30]});
    let text = |text: &str| json!({"expression": text});
    tenant.manage("PUT /api/v1/conditions/never", &named).is(201);
    for (format, rule_data, paths) in [
        ("json", &sound, &[][..]),
        ("json", &both, &["/rule_data/children/1/child"]),
        ("expression", &text("user.a == 1 && request.time == 5"), &["/rule_data/expression"]),
        ("expression", &text("request.subject within 'P1D'"), &[]),
        ("casbin", &json!({"matcher": "r.act < 3"}), &["/rule_data/matcher"]),
        ("expression", &text("condition.never"), &["/rule_data/expression"]),
    ] {
        let policy = json!({
            "name": "p", "resource": "doc:read", "effect": "deny", "priority": 1,
            "format": format, "rule_data": rule_data,
        });
        let created = tenant.manage(format!("POST {POLICIES}"), &policy).is(201);
        let expected: Vec<_> =
            paths.iter().map(|path| ("NEVER_DECIDED".to_owned(), (*path).to_owned())).collect();
        assert_eq!(warnings(&created), expected, "{rule_data}");
        let path = format!("PUT {POLICIES}/{}", created.id());
        let again =
            tenant.manage(path.clone(), &json!({"format": format, "rule_data": rule_data})).is(200);
        assert_eq!(warnings(&again), expected, "{rule_data}");
        // What is not sent is not judged again.
        assert_eq!(warnings(&tenant.manage(path.clone(), &json!({"priority": 2})).is(200)), []);
        // The number of warnings has a bound.
        let change = json!({"format": "json", "rule_data": many});
        assert_eq!(warnings(&tenant.manage(path, &change).is(200)).len(), 10);
    }
}

#[test]
fn an_order_of_date_times_as_texts_is_saved_with_a_warning() {
    let tenant = Tenant::new();
    let properties = json!({"note": {"type": "text"}});
    tenant.manage("PUT /api/v1/types/wiki", &json!({"properties": properties})).is(201);
    let (until, since) = ("2026-01-15T10:00:00+02:00", "2026-01-15T09:00:00Z");
    let entities = json!({"entities": [
        {"type": "user", "id": "ann", "properties": {"since": since, "name": "ann"}},
        {"type": "doc", "id": "d", "properties": {"until": until}},
    ]});
    tenant.manage("PUT /api/v1/entities", &entities).is(200);
    let text = |text: &str| json!({"expression": text});
    let named = json!({"when": "resource.until < request.time"});
    tenant.manage("PUT /api/v1/conditions/over", &named).is(201);
    let tree = json!({"type": "AND", "children": [always(), condition("resource.until", "lte", json!(until))]});
    for (resource, format, rule_data, path) in [
        ("doc:read", "expression", text("resource.until < request.time"), "/rule_data/expression"),
        ("doc:read", "json", tree, "/rule_data/children/1"),
        ("doc:read", "expression", text("user.since < resource.until"), "/rule_data/expression"),
        ("doc:read", "expression", text("user.name < resource.until"), ""),
        ("doc:read", "expression", text("!condition.over"), "/rule_data/expression"),
        (
            "doc:read",
            "expression",
            text("any(user.days, item < request.time)"),
            "/rule_data/expression",
        ),
        ("doc:read", "expression", text("resource.until before request.time"), ""),
        ("wiki:read", "expression", text("resource.note < request.time"), ""),
    ] {
        let policy = json!({
            "name": "p", "resource": resource, "effect": "deny", "priority": 1,
            "format": format, "rule_data": rule_data,
        });
        let created = tenant.manage(format!("POST {POLICIES}"), &policy).is(201);
        let expected: Vec<_> = [path]
            .into_iter()
            .filter(|path| !path.is_empty())
            .map(|path| ("DATETIMES_AS_TEXTS".to_owned(), path.to_owned()))
            .collect();
        assert_eq!(warnings(&created), expected, "{resource} {rule_data}");
        if path.is_empty() {
            tenant.delete(&format!("{POLICIES}/{}", created.id())).is(204);
            continue;
        }
        let bundle = json!({"owner": "git:x", "bundle": {"policies": [policy]}});
        let planned = tenant.manage("POST /api/v1/apply?dry_run=true", &bundle).is(200).json();
        let is_by_entities = rule_data == text("user.since < resource.until");
        let warned = planned["warnings"].as_array().map_or(0, Vec::len);
        assert_eq!(warned, usize::from(!is_by_entities), "{planned}");
    }
}
