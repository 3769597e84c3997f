//! The folder of every answer passes its own cases, and no file is overwritten.

use std::collections::HashSet;
use std::io::Cursor;

use portcullis_bundle::Bundle;
use portcullis_config::Variables;
use portcullis_test_schemas::JudgingSchema;

use super::*;
use crate::policy_test::failed_cases;

fn arguments(dir: &Path, [tenant, resource, roles]: [Option<&str>; 3]) -> InitArguments {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let (tenant, resource, roles) = (owned(tenant), owned(resource), owned(roles));
    InitArguments { dir: dir.to_owned(), tenant, resource, roles }
}

/// Runs the command, and returns its output or its error.
fn init(dir: &Path, flags: [Option<&str>; 3], typed: Option<&str>) -> Result<String, String> {
    let mut out = Vec::new();
    let mut typed = typed.map(Cursor::new);
    let questions = typed.as_mut().map(|typed| typed as &mut dyn BufRead);
    run(&arguments(dir, flags), questions, &mut out).map_err(|error| format!("{error:#}"))?;
    Ok(String::from_utf8(out).expect("text"))
}

#[tokio::test]
async fn every_first_tenant_passes_its_cases_and_each_rule_decides_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, flags) in [
        ("plain", [None, None, None]),
        ("single", [Some("t.1"), Some("door:open"), Some("guard")]),
        ("wide", [None, Some("a:b,c,d,e"), Some("r1,r2,r3,r4,r5,r6,r7,r8")]),
        ("2fast", [None, Some("no:on,off"), Some("yes,y")]),
    ] {
        let dir = folder.path().join("deeper").join(name);
        let told = init(&dir, flags, None).expect("written");
        assert!(told.contains("portcullis dev "), "{told}");
        let bundle = Bundle::read_folder(&dir).unwrap_or_else(|error| panic!("{name}: {error}"));
        let variables = Variables::load(None).expect("variables").only(&[]);
        let failed = failed_cases(&dir, &bundle, &variables).await.expect("they run");
        assert_eq!(failed, [], "{name}");
        let named: HashSet<String> = bundle.rulebook.named().map(|(_, name)| name).collect();
        let expected = bundle.cases.iter().map(|case| case.expected.rule.clone());
        let silent: Vec<_> = named.difference(&expected.collect()).cloned().collect();
        assert_eq!(silent, [""; 0], "{name}");
        assert!(bundle.demos().count() >= 3, "{name}");
    }
}

#[test]
fn a_folder_whose_name_is_no_id_is_quoted_and_the_id_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, tenant, word, is_explained) in [
        ("Acme Inc", None, "Acme Inc'", true),
        ("Bob's", Some("bob"), r"Bob'\''s'", false),
        ("shop", None, "shop", false),
    ] {
        let dir = folder.path().join(name);
        let told = init(&dir, [tenant, None, None], None).expect("written");
        assert!(told.contains(&format!("{word}   # runs the cases")), "{told}");
        let why = "is `acme`, because the name of the folder cannot be an id (expected 1 to 63";
        assert_eq!(told.contains(why), is_explained, "{told}");
    }
}

#[test]
fn answers_come_from_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("shop");
    let told = init(&dir, [None, None, None], Some("\n7\norder: read, cancel\nclerk, guest\n"));
    let told = told.expect("written");
    assert!(told.contains("The id of the tenant [shop]: "), "{told}");
    assert!(told.contains("  expected a name, `:` and verbs, such as "), "{told}");
    let bundle = Bundle::read_folder(&dir).expect("sound");
    let resources = bundle.resources.iter().map(|one| (&*one.name, one.default_roles.len()));
    let resources: Vec<_> = resources.collect();
    assert_eq!(bundle.tenant, "shop");
    assert_eq!(resources, [("order:read", 2), ("order:cancel", 1)]);
    for typed in ["", "a\nb:c\n", "1\n2\n3\n"] {
        let other = folder.path().join("other");
        assert!(init(&other, [None, None, None], Some(typed)).is_err(), "{typed:?}");
        assert!(!other.exists(), "{typed:?}");
    }
}

#[test]
fn arguments_that_cannot_be_used_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("acme");
    for (flags, expected) in [
        ([Some("a b"), None, None], "--tenant: expected 1 to 63 letters"),
        ([Some("true"), None, None], "--tenant: expected 1 to 63 letters"),
        ([None, Some("document"), None], "--resource: expected a name, `:` and verbs"),
        ([None, Some("d:read,read"), None], "--resource: expected each name once, but `read`"),
        ([None, Some("d:"), None], "--resource: expected 1 to 63 letters"),
        ([None, None, Some("admin")], "--roles: expected other roles than `admin`"),
        ([None, None, Some("a,b,c,d,e,f,g,h,i")], "--roles: expected at most 8 names"),
    ] {
        let error = init(&dir, flags, None).expect_err("refused");
        assert!(error.starts_with(expected), "{error}");
        assert!(!dir.exists());
    }
}

#[test]
fn each_file_names_its_schema_which_accepts_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("acme");
    init(&dir, [None, None, None], None).expect("written");
    for file in files::NAMES {
        let text = fs::read_to_string(dir.join(file)).expect("readable");
        let line = text.lines().next().expect("a line");
        let schema = line.strip_prefix("# yaml-language-server: $schema=").expect(line);
        let schema = fs::read_to_string(dir.join(schema)).expect("readable");
        let schema = JudgingSchema::new(&serde_json::from_str(&schema).expect("JSON"));
        let content = serde_saphyr::from_str(&text).expect("YAML");
        assert_eq!(schema.faults(&content), [""; 0], "{file}");
    }
}

#[test]
fn no_file_is_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("rules.yaml"), "mine").expect("writable");
    let error = init(folder.path(), [None, None, None], None).expect_err("refused");
    assert!(error.contains("already has `rules.yaml`: nothing is written"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    assert_eq!(fs::read_to_string(folder.path().join("rules.yaml")).expect("readable"), "mine");
}
