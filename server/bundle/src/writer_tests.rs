//! Writing a folder and reading it are inverse, whatever the content is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use portcullis_engine::{Json, Number, json};
use portcullis_test_tenants::edit;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use serde_json::{Value, json as value};

use super::exported_content::ExportedContent;
use super::folder_file::FolderFile;
use super::folder_files::folder_files;
use super::yaml_writer::{ItemLayout, list_text, object_text};
use super::{Bundle, ModuleContent, SecretValues, yaml};

/// Texts that readers of YAML take for something else, and any others.
fn text() -> impl Strategy<Value = String> {
    let odd = [
        "",
        "~",
        "null",
        "True",
        "no",
        "0042",
        "1e3",
        ".5",
        "-1",
        "0x1f",
        "2026-01-15",
        "12:30",
        "- a",
        "a: b",
        "a #b",
        "#",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "|",
        ">",
        "? a",
        "a:",
        ": a",
        " a ",
        "a  b",
        "\t",
        "a\nb",
        "\na\n\n",
        "a\n  b\n",
        "{a}",
        "[a",
        "a, b",
        "'a'",
        "\"a\"",
        "\\",
        "---",
        "...",
        "<<",
        "=",
        "a\r\nb",
        "\u{85}",
        "\u{feff}a",
        "\u{2028}",
        "é",
        "😀",
        "wiki:*",
        "\u{1f}",
        "\u{7f}",
    ];
    let long = vec("[a-z(){}\"'#:&|.]{1,9}", 20..60).prop_map(|words| words.join(" "));
    let any = "[^\\x00]{0,20}";
    prop_oneof![3 => any.prop_map(|text: String| text), 2 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned), 1 => long]
}

fn tree() -> impl Strategy<Value = Json<'static>> {
    let number = any::<f64>().prop_filter_map("finite", Number::from_f64);
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|value| Json::Number(value.into())),
        any::<u64>().prop_map(|value| Json::Number(value.into())),
        number.prop_map(Json::Number),
        text().prop_map(|text| Json::String(text.into())),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let members = btree_map(text(), inner.clone(), 0..6);
        prop_oneof![
            vec(inner, 0..8).prop_map(Json::Array),
            members.prop_map(|members| Json::Object(
                members.into_iter().map(|(name, value)| (name.into(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_reads_as_it_was_written(items in vec(tree(), 0..4)) {
        for layout in [ItemLayout::Line, ItemLayout::Block] {
            let text = list_text(&items, layout);
            let read = yaml::parse(&text).map_err(|fault| TestCaseError::fail(format!("{}: {text}", fault.message)))?;
            prop_assert_eq!(read.as_array(), Some(&*items), "{}", text);
        }
        let members = [("a".into(), Json::Array(items))];
        let text = object_text(&members);
        let read = yaml::parse(&text).map_err(|fault| TestCaseError::fail(format!("{}: {text}", fault.message)))?;
        prop_assert_eq!(read.as_object(), Some(&members[..]), "{}", text);
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9-]{0,8}",
        text().prop_filter("a name", |name| !name.is_empty()
            && !name.contains('*')
            && name != "default-deny"
            && name.chars().count() <= 100),
    ]
}

fn condition() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(|text| value!({"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": text})),
        any::<i32>().prop_map(|n| value!({"type": "CONDITION", "attribute": "resource.b c", "operator": "lt", "value": n, "if_missing": true})),
        vec("[a-z]{1,8}", 1..40).prop_map(|list| value!({"type": "CONDITION", "attribute": "user.role", "operator": "in", "value": list})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..4).prop_map(|all| value!({"type": "AND", "children": all})),
            vec(inner.clone(), 1..4).prop_map(|all| value!({"type": "OR", "children": all})),
            inner.prop_map(|one| value!({"type": "NOT", "child": one})),
        ]
    })
}

/// Content in the form of an export.
fn content() -> impl Strategy<Value = Value> {
    let resources = btree_map("[a-z]{1,6}:[a-z]{1,6}", (btree_set("[a-z]{1,9}", 0..12), name()), 0..5).prop_map(|all| {
        let one = |(name, (roles, shown))| value!({"name": name, "displayName": shown, "serviceName": null, "defaultRoles": roles});
        Value::Array(all.into_iter().map(one).collect())
    });
    // The types have relations, which `@` and `#` mark.
    let subject = name().prop_map(|name| name.replace(['@', '#'], "_"));
    let rules = btree_map(subject, any::<bool>(), 0..5).prop_map(|all| {
        let one = |(sub, deny)| value!({"sub": sub, "dom": "acme", "obj": "wiki:*", "act": "*", "effect": if deny { "deny" } else { "allow" }});
        Value::Array(all.into_iter().map(one).collect())
    });
    let policies = btree_map(name(), (condition(), any::<i32>(), any::<bool>(), 0..3), 0..5).prop_map(|all| {
        let one = |(name, (condition, priority, enabled, form))| {
            let mut policy = value!({"name": name, "description": null, "resource": "*", "effect": "deny", "priority": priority, "enabled": enabled});
            let (format, rule_data) = match form {
                0 => ("json", condition),
                1 => ("casbin", value!({"matcher": "r.sub.a == \"x\""})),
                _ => ("expression", value!({"expression": "user.a==\"x\"\n  && exists(user.b)"})),
            };
            policy["format"] = format.into();
            policy["rule_data"] = rule_data;
            policy
        };
        Value::Array(all.into_iter().map(one).collect())
    });
    let webhooks = btree_set("[a-z]{1,6}", 0..3).prop_map(|all| {
        let one = |host| value!({"url": format!("https://{host}.example/"), "events": ["access.denied"], "secret": null});
        Value::Array(all.into_iter().map(one).collect())
    });
    let cases = btree_map(name(), (any::<bool>(), text()), 0..4).prop_map(|all| {
        let one = |(name, (has_user, text)): (String, (bool, String))| {
            let check = value!({"subject": "ann", "resource": "wiki:read", "action": "read", "attributes": {"user": {"a": text}}});
            let expect = value!({"decision": "deny", "rule": "default-deny"});
            let mut case = value!({"name": name, "check": check, "expect": expect});
            if has_user {
                case["as"] = "ann".into();
            }
            case
        };
        Value::Array(all.into_iter().map(one).collect())
    });
    let property = (
        prop::sample::select(vec!["text", "list<number>", "ip"]),
        prop::option::of(name()),
        any::<bool>(),
    );
    let types = btree_map("[a-z]{1,6}x", btree_map(name(), property, 0..4), 0..3).prop_map(|all| {
        let property = |(name, (kind, about, stored))| {
            let from = if stored { value!("directory") } else { Value::Null };
            (name, value!({"type": kind, "about": about, "from": from}))
        };
        let one = |(name, properties): (_, BTreeMap<String, _>)| {
            let mut properties: BTreeMap<_, _> = properties.into_iter().map(property).collect();
            // The policies read it.
            properties
                .insert("b c".to_owned(), value!({"type": "number", "about": null, "from": null}));
            let relations = value!({
                "lead": {"from": "[user]", "claim": {"name": "leads", "absent": "nobody"}},
                "member": {"from": "[user]", "claim": "groups"},
                "owner": "[user]",
                "viewer": {"from": "member || owner", "renamed_from": "reader"},
            });
            value!({"type": name, "about": null, "properties": properties, "relations": relations})
        };
        Value::Array(all.into_iter().map(one).collect())
    });
    (types, resources, rules, policies, webhooks, cases, name()).prop_map(|(types, resources, rules, policies, webhooks, cases, claim)| {
        value!({"types": types, "resources": resources, "rules": rules, "policies": policies, "webhooks": webhooks, "cases": cases,
            "users": [{"sub": "ann", "roles": [], "description": null, "claims": {format!("x{claim}"): 1}}],
            "settings": {"gates": {"cases": true}, "max_deletes": 10}})
    })
}

fn files_of(content: &str) -> Vec<FolderFile> {
    let kinds = json::parse(content.as_bytes()).expect("JSON");
    let content = ExportedContent { tenant: "acme", kinds: &kinds, descriptors: &[] };
    folder_files(&content).expect("writable")
}

fn write(files: &[FolderFile], folder: &Path) {
    for file in files {
        let path = folder.join(&file.name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, &file.text).expect("writable");
    }
}

/// Returns the items of a kind in a form that does not depend on their order, or on how a condition is written.
fn items(content: &Value, kind: &str) -> BTreeMap<String, Value> {
    let items = content[kind].as_array().cloned().unwrap_or_default();
    let named = items.into_iter().map(|mut item| {
        let text = item.to_string();
        let read = json::parse(text.as_bytes()).expect("JSON");
        if kind == "policies" && item["format"] != "casbin" {
            item["format"] = "condition".into();
            item["rule_data"] = super::canonical::policy(&read)
                .get("when")
                .expect("an expression")
                .to_string()
                .into();
        }
        if let Some(members) = item.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        let name = ["name", "sub", "url", "type"].map(|member| item[member].to_string());
        (name.concat(), item)
    });
    named.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_folder_reads_as_the_content_that_it_was_written_from(content in content()) {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files_of(&content.to_string());
        write(&files, folder.path());
        let bundle = Bundle::read_folder(folder.path());
        let bundle = bundle.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let read = bundle.content(&SecretValues::new(), &[]).to_string();
        let again: Value = serde_json::from_str(&read).expect("JSON");
        for kind in ["types", "resources", "rules", "policies", "webhooks", "cases"] {
            prop_assert_eq!(items(&content, kind), items(&again, kind), "{}", kind);
        }
        prop_assert_eq!(&content["settings"], &again["settings"]);
        let has_user = bundle.cases.iter().any(|case| case.caller.is_some());
        if has_user {
            prop_assert_eq!(&content["users"][0]["claims"], &again["users"][0]["claims"]);
            prop_assert_eq!(files, files_of(&read));
        }
    }
}

const MANIFEST: &str = r#"{"namespace": "hr", "description": "who works where", "config": {}, "secrets": {"token.1": null},
    "endpoints": {"directory": {"url": "https://hr.example/", "methods": ["GET"], "headers": {"authorization": "Bearer ${token.1}"}}},
    "allowed_hosts": [], "limits": {"timeout_ms": 100, "memory_mib": 64}, "cache_ttl_ms": null, "stale_if_error_ms": 0, "enabled": false,
    "sha256": "00ff"}"#;
const DESCRIPTOR: &str = r#"{"name": "hr", "version": "1", "sha256": "00ff", "size": 1, "imports": [],
    "attributes": [{"name": "department", "kind": "text", "default_ttl_ms": 0}], "inputs": [], "config_keys": [], "endpoints": []}"#;

fn written_resolver(folder: &Path) {
    let text = format!(
        r#"{{"resources": [], "rules": [], "policies": [], "cases": [], "resolvers": [{MANIFEST}]}}"#
    );
    let kinds = json::parse(text.as_bytes()).expect("JSON");
    let descriptor = json::parse(DESCRIPTOR.as_bytes()).expect("JSON");
    let descriptors = [("hr".to_owned(), descriptor)];
    let content = ExportedContent { tenant: "acme", kinds: &kinds, descriptors: &descriptors };
    write(&folder_files(&content).expect("writable"), folder);
}

/// Returns the resolvers of the folder as an apply sends them.
fn sent_resolvers(bundle: &Bundle, values: &SecretValues) -> Value {
    let module = ModuleContent { sha256: "00ff".to_owned(), bytes: Some("AA==".to_owned()) };
    let sent = bundle.content(values, &[module]).to_string();
    serde_json::from_str::<Value>(&sent).expect("JSON")["resolvers"].take()
}

#[test]
fn an_exported_resolver_keeps_its_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    written_resolver(folder.path());
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let mut expected: Value = serde_json::from_str(MANIFEST).expect("JSON");
    expected["module"] = "AA==".into();
    assert_eq!(sent_resolvers(&bundle, &SecretValues::new()), value!([expected]));
}

#[test]
fn a_secret_of_a_resolver_may_be_a_reference() {
    let folder = tempfile::tempdir().expect("a folder");
    written_resolver(folder.path());
    edit(folder.path(), "resolvers/hr/manifest.json", "null", r#""${env:HR_TOKEN}""#);
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let values = SecretValues::new();
    let missing: Vec<_> = bundle.missing_secrets(&values);
    let place = format!("{}/resolvers.yaml:1:3", folder.path().display());
    assert_eq!((missing[0].reference.variable(), &missing[0].place), ("HR_TOKEN", &place));
    let values = SecretValues::from([("HR_TOKEN".to_owned(), "hunter2".to_owned())]);
    assert!(bundle.missing_secrets(&values).is_empty());
    assert_eq!(sent_resolvers(&bundle, &values)[0]["secrets"], value!({"token.1": "hunter2"}));
}

#[test]
fn settings_that_have_their_default_are_left_out() {
    for (settings, expected) in [
        (
            r#"{"gates": {"cases": false, "approval": false}, "max_deletes": 20, "owners": {}}"#,
            None,
        ),
        (
            r#"{"owners": {}, "max_deletes": 0, "gates": {"cases": true, "approval": false}}"#,
            Some("gates: {cases: true, approval: false}\nmax_deletes: 0\n"),
        ),
        (r#"{"directory_wins": false, "audit_values": false}"#, Some("directory_wins: false\n")),
        (
            r#"{"audit_values": true, "directory_wins": true}"#,
            Some("directory_wins: true\naudit_values: true\n"),
        ),
        (r#"{"decision_log": {}}"#, None),
        (
            r#"{"decision_log": {"mode": "durable", "allows": 0.25}}"#,
            Some("decision_log: {mode: durable, allows: 0.25}\n"),
        ),
    ] {
        let files = files_of(&format!(r#"{{"settings": {settings}}}"#));
        let file = files.iter().find(|file| file.name == "settings.yaml");
        assert_eq!(file.map(|file| &*file.text), expected);
    }
}
