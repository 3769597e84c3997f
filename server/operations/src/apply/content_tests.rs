//! The bytes that exports have, and that plans compare.

use portcullis_model::policy::PolicyRecord;
use portcullis_model::resolver::StoredResolver;
use portcullis_model::resource::ResourceRecord;
use portcullis_model::role::RoleRecord;
use portcullis_model::rule::RuleRecord;
use portcullis_model::types::TypeRecord;
use portcullis_model::webhook::{EventType, WebhookRecord};
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use super::applied_record::AppliedRecord;

/// The members that every record has beside its own.
const MANAGED: &str = r#""created_by": "ann", "created_at": "2026-05-16T09:30:00.000Z", "updated_by": null, "updated_at": null,
    "managed_by": null, "tenant_id": "acme", "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b61""#;

/// Returns the content of the record with these members.
fn content<R: AppliedRecord>(members: &str) -> String {
    let record = R::from_history(&format!("{{{members}, {MANAGED}}}")).expect("a record");
    serde_json::to_string(&record.content("acme")).expect("JSON")
}

#[test]
fn each_kind_is_written_without_defaults_and_in_one_order() {
    let tree = r#"{"type":"CONDITION","value":1.50,"attribute":"user.a","operator":"eq"}"#;
    let policy = |enabled: bool, format: &str, rule_data: &str| {
        content::<PolicyRecord>(&format!(
            r#""enabled": {enabled}, "format": "{format}", "rule_data": {rule_data}, "name": "p", "description": null,
            "resource": "doc:*", "effect": "deny", "priority": 1"#
        ))
    };
    let rule = |dom: &str| {
        content::<RuleRecord>(&format!(
            r#""effect": "allow", "sub": "ann", "dom": "{dom}", "obj": "doc:*", "act": "*", "origin": "explicit""#
        ))
    };
    let head = r#"{"name":"p","resource":"doc:*","effect":"deny","priority":1"#;
    for (found, expected) in [
        (
            content::<ResourceRecord>(
                r#""defaultRoles": [], "name": "a:read", "displayName": null, "serviceName": "s""#,
            ),
            r#"{"name":"a:read","serviceName":"s"}"#.to_owned(),
        ),
        (
            content::<ResourceRecord>(
                r#""defaultRoles": ["z", "a"], "serviceName": null, "displayName": "A", "name": "a:read""#,
            ),
            r#"{"name":"a:read","displayName":"A","defaultRoles":["z","a"]}"#.to_owned(),
        ),
        (rule("acme"), r#"{"sub":"ann","obj":"doc:*","act":"*","effect":"allow"}"#.to_owned()),
        (
            rule("*"),
            r#"{"sub":"ann","dom":"*","obj":"doc:*","act":"*","effect":"allow"}"#.to_owned(),
        ),
        (
            content::<RoleRecord>(r#""includes": ["z", "a"], "name": "lead""#),
            r#"{"name":"lead","includes":["z","a"]}"#.to_owned(),
        ),
        (
            content::<TypeRecord>(
                r#""relations": {"owner": "[user]"}, "properties": {}, "about": null, "type": "doc""#,
            ),
            r#"{"type":"doc","relations":{"owner":"[user]"}}"#.to_owned(),
        ),
        (policy(true, "json", tree), format!(r#"{head},"rule_data":{tree}}}"#)),
        (
            policy(false, "expression", r#"{"expression":"user.a == 1"}"#),
            format!(r#"{head},"enabled":false,"when":"user.a == 1"}}"#),
        ),
        (
            policy(true, "casbin", r#"{"matcher":"r.sub.a == 1"}"#),
            format!(r#"{head},"format":"casbin","rule_data":{{"matcher":"r.sub.a == 1"}}}}"#),
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn resolvers_and_webhooks_are_written_without_secrets() {
    let module = r#"{"name": "x", "version": "1", "sha256": "00ff", "size": 1, "imports": [], "attributes": [], "inputs": [],
        "config_keys": [], "endpoints": []}"#;
    let resolver = |rest: &str| {
        content::<StoredResolver>(&format!(
            r#""manifest": {{"namespace": "hr", "description": null, {rest}, "limits": {{"timeout_ms": 100, "memory_mib": 16}},
            "cache_ttl_ms": null}}, "module": {module}, "version": 3, "enabled": true"#
        ))
    };
    assert_eq!(
        resolver(
            r#""config": {}, "secrets": [], "endpoints": {}, "allowed_hosts": [], "stale_if_error_ms": 0"#
        ),
        r#"{"namespace":"hr","limits":{"timeout_ms":100,"memory_mib":16},"sha256":"00ff"}"#
    );
    assert_eq!(
        resolver(
            r#""config": {"b": "1", "a": "2"}, "secrets": ["t"], "endpoints": {}, "allowed_hosts": ["a.example"],
            "stale_if_error_ms": 5"#
        ),
        r#"{"namespace":"hr","config":{"a":"2","b":"1"},"secrets":{"t":null},"allowed_hosts":["a.example"],"limits":{"timeout_ms":100,"memory_mib":16},"stale_if_error_ms":5,"sha256":"00ff"}"#
    );
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    let webhook = WebhookRecord {
        id: Uuid::from_u128(1),
        url: "https://a.example/".to_owned(),
        events: vec![EventType::AccessDenied],
        tenant_id: "acme".to_owned(),
        created_by: by.actor,
        created_at: by.at,
        updated_at: None,
        managed_by: None,
    };
    assert_eq!(
        serde_json::to_string(&webhook.content("acme")).expect("JSON"),
        r#"{"url":"https://a.example/","events":["access.denied"],"secret":null}"#
    );
}
