//! Bundles as JSON.

use portcullis_engine::json;
use portcullis_engine::types::PropertyType;

use super::*;

/// Reads a bundle of the tenant `acme`.
fn read(text: &str) -> Result<BundleDocument, Vec<String>> {
    let json = json::parse(text.as_bytes()).expect("JSON");
    let (mut problems, egress) = (Problems::default(), EgressRules::default());
    let context = DocumentContext { domain: "acme", egress: &egress };
    let read = BundleDocument::field(context).read(&json, &Place::root(), &mut problems);
    problems
        .finish(read)
        .map_err(|invalid| invalid.problems().iter().map(|problem| problem.path.clone()).collect())
}

#[test]
fn every_kind_is_read() {
    let text = r#"{
        "types": [{"type": "wiki", "properties": {"locked": {"type": "boolean"}}}],
        "resources": [{"name": "wiki:read", "defaultRoles": ["reader"]}],
        "rules": [{"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"}],
        "roles": [{"name": "head", "includes": ["reader"]}],
        "conditions": [{"name": "adult", "when": "user.age >= 18"}],
        "policies": [
            {"name": "a", "resource": "*", "effect": "deny", "priority": 1, "when": "user.a == hr.b"},
            {"name": "b", "resource": "*", "effect": "deny", "priority": 1,
             "rule_data": {"type": "CONDITION", "attribute": "user.a", "operator": "exists"}}
        ],
        "resolvers": [{"namespace": "hr", "secrets": {"t": null},
            "endpoints": {"d": {"url": "https://hr.example.com/", "headers": {"authorization": "${t}"}}},
            "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "module": "dGVzdA=="}],
        "webhooks": [{"url": "https://hook.example/", "events": ["access.denied"], "secret": null}],
        "settings": {"max_deletes": 5},
        "cases": [{"name": "c", "as": "ann", "check": {"subject": "ann", "resource": "wiki:read",
            "action": "read"}, "resolved": {"hr": {"b": 1}}, "expect": {"decision": "allow", "rule": "x"}}],
        "users": [{"sub": "ann", "roles": []}]
    }"#;
    let bundle = read(text).expect("sound");
    assert!(ObjectKind::owned().all(|kind| bundle.has(kind)));
    assert!(bundle.has_settings_or_cases());
    let types = bundle.types.expect("types");
    assert_eq!(types[0].properties["locked"].kind.kind, PropertyType::Boolean);
    let rules = bundle.rules.expect("rules");
    assert_eq!(rules[0].tuple.to_string(), "ann, acme, wiki:*, read");
    let policies = bundle.policies.expect("policies");
    assert_eq!(policies.iter().map(|sent| sent.has_when).collect::<Vec<_>>(), [true, false]);
    let resolvers = bundle.resolvers.expect("resolvers");
    assert_eq!(resolvers[0].module.as_deref(), Some(b"test".as_slice()));
    assert!(resolvers[0].update().secrets.is_none(), "the stored secrets stay");
    assert_eq!(bundle.users.expect("users")[0].text, r#"{"sub":"ann","roles":[]}"#);
    let cases = bundle.cases.expect("cases");
    assert!(cases[0].value.resolved.namespaces.contains("hr"));
    assert!(cases[0].text.starts_with(r#"{"name":"c","#), "{}", cases[0].text);
}

#[test]
fn an_absent_kind_is_none_and_an_empty_one_is_not() {
    let bundle = read(r#"{"rules": [], "policies": null}"#).expect("sound");
    let has: Vec<bool> = ObjectKind::owned().map(|kind| bundle.has(kind)).collect();
    assert_eq!(has, [false, true, false, false, false, false, false, false]);
    assert!(!bundle.has_settings_or_cases());
}

#[test]
fn all_faults_are_named_at_once() {
    let text = r#"{
        "resources": [{"name": "wiki"}, {"name": "a:b"}, {"name": "a:b"}],
        "rules": [{"sub": "a", "obj": "wiki:*", "act": "read"}],
        "policies": [{"name": "a", "resource": "*", "effect": "deny", "priority": 1}],
        "resolvers": [
            {"namespace": "hr", "secrets": {"a": null, "b": "x"}, "sha256": "0", "module": "?"},
            {"namespace": "geo", "module": "dGVzdA==",
             "sha256": "0f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
        ],
        "webhooks": [{"url": "http://hook.example/", "events": []}],
        "settings": {"max_deletes": 200},
        "cases": [{"name": "c", "as": "ann", "check": {}, "expect": {}}],
        "polices": []
    }"#;
    let paths = read(text).expect_err("faults");
    for path in [
        "/resources/0/name",
        "/rules/0",
        "/policies/0",
        "/resolvers/0/secrets",
        "/resolvers/0/sha256",
        "/resolvers/0/module",
        "/resolvers/1/module",
        "/webhooks/0/url",
        "/webhooks/0/events",
        "/settings/max_deletes",
        "/cases/0/as",
        "/cases/0/check",
        "",
    ] {
        assert!(paths.iter().any(|known| known == path), "{path}: {paths:?}");
    }
    let twice = r#"{"resources": [{"name": "a:b"}, {"name": "a:b"}]}"#;
    assert_eq!(read(twice).expect_err("a fault"), ["/resources/1"]);
}
