//! The schemas of all files: they are schemas, an editor has something to show, and the files of the repository pass.

use std::collections::BTreeSet;

use portcullis_test_schemas::{JudgingSchema, faults_of_schema, mutations};
use serde_json::Value;

use super::*;
use crate::resolver_cli::faults_of_checks;

/// The samples of the repository.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies")
}

/// Returns the content of a YAML or JSON file.
fn content(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("readable");
    if file.extension().is_some_and(|ending| ending == "json") {
        return serde_json::from_str(&text).expect("JSON");
    }
    serde_saphyr::from_str(&text).expect("YAML")
}

/// Returns what the command prints.
fn printed(kind: Option<&str>, folder: Option<&Path>) -> String {
    let arguments = SchemaArguments {
        kind: kind.map(str::to_owned),
        out: folder.map(Path::to_owned),
        types: None,
    };
    let mut out = Vec::new();
    run(&arguments, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

#[test]
fn every_schema_is_one_by_the_meta_schema() {
    for schema in all() {
        assert_eq!(faults_of_schema(&schema.to_json()), [""; 0], "{}", schema.kind);
    }
    let broken = serde_json::json!({"type": "strin"});
    assert_eq!(faults_of_schema(&broken).len(), 1, "the meta-schema judges");
}

#[test]
fn references_stay_inside_and_every_definition_is_used() {
    for schema in all() {
        let whole = schema.to_json();
        let mut targets = BTreeSet::new();
        each_object(&whole, &mut |object| {
            targets.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
        });
        let defined = whole["$defs"].as_object().expect("definitions").keys();
        let defined: BTreeSet<String> = defined.map(|name| format!("#/$defs/{name}")).collect();
        assert_eq!(targets, defined, "{}", schema.kind);
    }
}

#[test]
fn an_editor_has_a_description_of_every_member() {
    for schema in all() {
        let whole = schema.to_json();
        let is_described = |member: &Value| {
            let forms = member["oneOf"].as_array().into_iter().flatten().chain([member]);
            forms.into_iter().any(|form| {
                let target = form["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
                let target = target.and_then(|pointer| whole.pointer(pointer));
                [Some(form), target].into_iter().flatten().any(|one| one["description"].is_string())
            })
        };
        each_object(&whole, &mut |object| {
            // A list of members may have one called `properties`, and one called `type`.
            let is_schema = !object.get("type").is_some_and(Value::is_object);
            let members = object.get("properties").filter(|_| is_schema).and_then(Value::as_object);
            for (name, member) in members.into_iter().flatten() {
                assert!(is_described(member), "{}: `{name}` has no description", schema.kind);
            }
        });
        for (name, definition) in whole["$defs"].as_object().expect("definitions") {
            assert!(definition["title"].is_string(), "{}: {name}", schema.kind);
        }
    }
}

/// Calls `look` with every object of `value`, apart from examples.
fn each_object(value: &Value, look: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            look(object);
            let parts = object.iter().filter(|(name, _)| *name != "examples");
            parts.for_each(|(_, value)| each_object(value, look));
        }
        Value::Array(items) => items.iter().for_each(|item| each_object(item, look)),
        _ => {}
    }
}

#[test]
fn every_file_of_the_samples_passes() {
    let mut judged = BTreeSet::new();
    let folders = ["hospital", "software-shop"].map(|tenant| samples().join(tenant));
    let resolvers = fs::read_dir(samples().join("resolvers")).expect("readable");
    let resolvers = resolvers.map(|entry| entry.expect("readable").path());
    let folders: Vec<PathBuf> = folders.into_iter().chain(resolvers).collect();
    for schema in all() {
        let judge = JudgingSchema::new(&schema.to_json());
        for file in folders.iter().map(|folder| folder.join(schema.file)) {
            if file.is_file() {
                assert_eq!(judge.faults(&content(&file)), [""; 0], "{}", file.display());
                judged.insert(schema.kind);
            }
        }
    }
    assert!(judged.len() >= 8, "{judged:?}");
}

#[test]
fn the_command_lists_prints_and_writes() {
    let listed = printed(None, None);
    for schema in all() {
        assert!(listed.contains(&format!("{:<11}{}\n", schema.kind, schema.file)), "{listed}");
    }
    let text = printed(Some("rules"), None);
    let rules: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(rules["$id"], "urn:portcullis:schema:rules");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("new/schemas");
    let told = printed(None, Some(&folder));
    let line = format!("# yaml-language-server: $schema={}/tenant.schema.json", folder.display());
    assert!(told.contains(&line), "{told}");
    assert_eq!(fs::read_dir(&folder).expect("readable").count(), all().count());
    let file = fs::read_to_string(folder.join("rules.schema.json")).expect("readable");
    assert_eq!(file, text);
}

#[test]
fn the_files_of_the_samples_name_their_schemas() {
    for tenant in ["hospital", "software-shop"] {
        for schema in SCHEMAS {
            let Ok(text) = fs::read_to_string(samples().join(tenant).join(schema.file)) else {
                continue;
            };
            let line = schema.first_line("../schemas");
            assert_eq!(text.lines().next(), Some(&*line), "{tenant}/{}", schema.file);
        }
    }
}

#[test]
fn readers_and_schema_agree_about_every_changed_file_of_checks() {
    let whole = serde_json::json!([
        {
            "name": "somebody who is listed",
            "check": {"subject": "ann", "resource": "a:b", "action": "c"},
            "responses": {"directory": {"GET people/ann": {"status": 200, "body": {"a": 1}}}},
            "now": "2026-01-15T10:00:00Z",
            "roles": ["a"],
            "wanted": ["level"],
            "expect": {"level": 3, "other": null},
        },
        {
            "name": "somebody who is not",
            "check": {"subject": "ann", "resource": "a:b", "action": "c"},
            "error": "nobody",
        },
        {
            "name": "both",
            "check": {"subject": "ann", "resource": "a:b", "action": "c"},
            "expect": {},
            "error": null,
        },
    ]);
    let judge = JudgingSchema::new(&CHECKS_SCHEMA.to_json());
    let mut refused = 0;
    for document in mutations(&whole).iter().chain([&whole]) {
        let fault = faults_of_checks(document.to_string().as_bytes());
        assert_eq!(judge.accepts(document), fault.is_empty(), "{document}\n{fault}");
        refused += usize::from(!fault.is_empty());
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn the_schemas_of_the_samples_are_those_of_this_version() {
    let folder = samples().join("schemas");
    for schema in all() {
        let file = folder.join(schema.file_name());
        let text = fs::read_to_string(&file).unwrap_or_default();
        let hint = "`cargo run -- schema --out policies/schemas` writes it";
        assert!(text == schema.to_text(), "{} is out of date: {hint}", file.display());
    }
}

#[test]
fn declared_names_are_in_the_schemas_and_exclude_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    portcullis_test_tenants::write_tenant(folder.path());
    let types = "- {type: wiki, properties: {locked: {type: boolean, about: Nobody writes}}}\n\
        - {type: user, properties: {level: {type: number}}}\n";
    fs::write(folder.path().join("types.yaml"), types).expect("writable");
    let schema = |kind: &str| -> Value {
        let types = Some(folder.path().to_owned());
        let arguments = SchemaArguments { kind: Some(kind.to_owned()), out: None, types };
        let mut out = Vec::new();
        run(&arguments, &mut out).expect("printed");
        serde_json::from_slice(&out).expect("JSON")
    };
    let cases = schema("cases");
    let attributes = &cases["$defs"]["Check"]["properties"]["attributes"]["properties"];
    let locked = &attributes["resource"]["properties"]["locked"];
    assert_eq!(locked["description"], "boolean: Nobody writes");
    assert_eq!(attributes["user"]["properties"]["level"]["description"], "number");
    assert_eq!(attributes["context"]["properties"], serde_json::json!({}));
    let policies = schema("policies");
    let (mut found, mut found_of_items) = (0, 0);
    each_object(&policies, &mut |object| {
        let attribute = object.get("properties").and_then(|all| all.get("attribute"));
        let Some(attribute) = attribute else { return };
        let examples = attribute["examples"].as_array().expect("examples");
        let of_item = usize::from(examples[0] == "item");
        let names = serde_json::json!(["user.level", "resource.locked"]);
        assert_eq!(examples[of_item..], *names.as_array().expect("a list"));
        found += 1;
        found_of_items += of_item;
    });
    assert!(found > 10 && found_of_items > 3, "{found}, {found_of_items}");
    for (schema, file) in [(cases, "cases.yaml"), (policies, "policies.yaml")] {
        assert_eq!(faults_of_schema(&schema), [""; 0]);
        let judge = JudgingSchema::new(&schema);
        let sample = content(&samples().join("hospital").join(file));
        let all = SCHEMAS.into_iter().find(|one| one.file == file).expect("a schema");
        let plain = JudgingSchema::new(&all.to_json());
        for changed in mutations(&sample).iter().take(2_000) {
            assert_eq!(judge.accepts(changed), plain.accepts(changed), "{changed}");
        }
    }
}
