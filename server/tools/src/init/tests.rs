//! The folder of every answer passes its own cases, and no file is overwritten.

use std::collections::HashSet;
use std::io::Cursor;

use clap::Parser;
use portcullis_bundle::{Bundle, format_conditions};
use portcullis_config::Variables;
use portcullis_test_schemas::JudgingSchema;

use super::*;
use crate::lint;
use crate::policy_test::failed_cases;

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    arguments: InitArguments,
}

/// Runs the command with these flags, and returns its output or its error.
fn init(dir: &Path, flags: &[&str], typed: Option<&str>) -> Result<String, String> {
    let dir = dir.display().to_string();
    let words = [&["init", &dir], flags].concat();
    let arguments = CommandLine::try_parse_from(words).expect("arguments").arguments;
    let mut out = Vec::new();
    let mut typed = typed.map(Cursor::new);
    let questions = typed.as_mut().map(|typed| typed as &mut dyn BufRead);
    run(&arguments, questions, &mut out).map_err(|error| format!("{error:#}"))?;
    Ok(String::from_utf8(out).expect("text"))
}

const R8: &str = "r1,r2,r3,r4,r5,r6,r7,r8";
/// Folders with the flags that make them.
const FOLDERS: [(&str, &[&str]); 8] = [
    ("plain", &[]),
    ("single", &["--tenant", "t.1", "--resource", "door:open", "--roles", "guard"]),
    ("wide", &["--resource", "a:b,c,d,e", "--roles", R8]),
    ("2fast", &["--resource", "no:on,off", "--roles", "yes,y"]),
    ("types", &["--resource", "document:read,write", "--resource", "invoice:pay"]),
    ("spaced", &["--resource", "document: read, write invoice:pay"]),
    ("domain", &["--domains", "north"]),
    ("both", &["--resource", "document:read,invoice:pay,view", "--domains", "north,south,both"]),
];

#[tokio::test]
async fn every_first_tenant_passes_its_cases_and_the_linter_and_each_rule_decides_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, flags) in FOLDERS {
        let dir = folder.path().join("deeper").join(name);
        let told = init(&dir, flags, None).expect("written");
        assert!(told.contains("portcullis dev "), "{told}");
        let bundle = Bundle::read_folder(&dir).unwrap_or_else(|error| panic!("{name}: {error}"));
        let variables = Variables::load(None).expect("variables").only(&[]);
        let failed = failed_cases(&dir, &bundle, &variables).await.expect("they run");
        assert_eq!(failed, [], "{name}");
        assert_eq!(lint::findings(name, &bundle, &[]), [], "{name}");
        let named: HashSet<String> = bundle.rulebook.named().map(|(_, name)| name).collect();
        let expected = bundle.cases.iter().filter_map(|case| case.expected.rule.clone());
        let silent: Vec<_> = named.difference(&expected.collect()).cloned().collect();
        assert_eq!(silent, [""; 0], "{name}");
        assert!(bundle.demos().count() >= 3, "{name}");
        let settings = bundle.written_settings.as_ref().map(ToString::to_string);
        let expected = r#"{"directory_wins":true,"actions":"verb","gates":{"cases":true}}"#;
        assert_eq!(settings.as_deref(), Some(expected), "{name}");
        let policies = dir.join("policies.yaml").display().to_string();
        let text = fs::read_to_string(&policies).expect("readable");
        assert_eq!(format_conditions(&policies, &text).expect("sound"), text, "{name}");
    }
}

#[test]
fn verbs_belong_to_the_type_before_them_and_each_type_is_declared() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, resource) in [
        "document:read,write,invoice:pay",
        "document:read write invoice: pay",
        "document:read,invoice:pay,document:write,",
    ]
    .into_iter()
    .enumerate()
    {
        let dir = folder.path().join(number.to_string());
        let told = init(&dir, &["--resource", resource], None).expect("written");
        assert!(
            told.contains("`document` with the verbs read, write, `invoice` with the verbs pay")
        );
        let bundle = Bundle::read_folder(&dir).expect("sound");
        let types: Vec<_> =
            bundle.types.iter().flatten().map(|it| (&*it.kind, it.properties.len())).collect();
        assert_eq!(types, [("document", 2), ("invoice", 2)]);
        let policies: Vec<_> = bundle.policies.iter().map(|policy| &*policy.name).collect();
        assert_eq!(
            policies,
            ["document-locked", "document-owner", "invoice-locked", "invoice-owner"]
        );
    }
}

#[test]
fn a_tenant_with_domains_has_the_policy_that_the_linter_proposes() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("acme");
    let told = init(&dir, &["--domains", "north,south"], None).expect("written");
    assert!(told.contains(" in the domains north, south\n"), "{told}");
    assert!(told.ends_with("write document:write --domain north\n"), "{told}");
    let policies = fs::read_to_string(dir.join("policies.yaml")).expect("readable");
    let tie = "  when: '!((resource.project == request.domain) ?? true)'\n";
    assert!(policies.contains(tie), "{policies}");
    let rules = "- {sub: editor, dom: north, obj: document:write, act: write, effect: allow}\n";
    fs::write(dir.join("rules.yaml"), rules).expect("writable");
    fs::write(dir.join("cases.yaml"), "[]\n").expect("writable");
    let codes = || {
        let bundle = Bundle::read_folder(&dir).expect("sound");
        lint::findings("", &bundle, &[]).into_iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert!(!codes().contains(&lint::LintCode::DomainNotTied));
    fs::write(
        dir.join("policies.yaml"),
        policies.replace(tie, "  when: resource.locked == true\n"),
    )
    .expect("writable");
    assert!(codes().contains(&lint::LintCode::DomainNotTied));
}

#[test]
fn a_folder_whose_name_is_no_id_is_quoted_and_the_id_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, flags, word, is_explained) in [
        ("Acme Inc", &[][..], "Acme Inc'", true),
        ("Bob's", &["--tenant", "bob"], r"Bob'\''s'", false),
        ("shop", &[], "shop", false),
    ] {
        let dir = folder.path().join(name);
        let told = init(&dir, flags, None).expect("written");
        assert!(told.contains(&format!("{word}   # runs the cases")), "{told}");
        let why = "is `acme`, because the name of the folder cannot be an id (expected 1 to 63";
        assert_eq!(told.contains(why), is_explained, "{told}");
    }
}

#[test]
fn answers_come_from_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("shop");
    let told = init(&dir, &[], Some("\n7\norder: read, cancel\nclerk, guest\n"));
    let told = told.expect("written");
    assert!(told.contains("The id of the tenant [shop]: "), "{told}");
    assert!(told.contains("  expected a type, `:` and verbs, such as "), "{told}");
    let bundle = Bundle::read_folder(&dir).expect("sound");
    let resources = bundle.resources.iter().map(|one| (&*one.name, one.default_roles.len()));
    let resources: Vec<_> = resources.collect();
    assert_eq!(bundle.tenant, "shop");
    assert_eq!(resources, [("order:read", 2), ("order:cancel", 1)]);
    for typed in ["", "a\nb:c\n", "1\n2\n3\n"] {
        let other = folder.path().join("other");
        assert!(init(&other, &[], Some(typed)).is_err(), "{typed:?}");
        assert!(!other.exists(), "{typed:?}");
    }
}

#[test]
fn arguments_that_cannot_be_used_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("acme");
    for (flags, expected) in [
        (["--tenant", "a b"], "--tenant: expected 1 to 63 letters"),
        (["--tenant", "true"], "--tenant: expected 1 to 63 letters"),
        (
            ["--resource", "document"],
            "--resource: expected a type, `:` and verbs, such as `document:read,write`, not",
        ),
        (
            ["--resource", ","],
            "--resource: expected a type, `:` and verbs, such as `document:read,write`",
        ),
        (
            ["--resource", "d:read,read"],
            "--resource: expected each name once, but `read` comes twice",
        ),
        (["--resource", "d:,e:x"], "--resource: expected a verb of `d`, such as `d:read`"),
        (["--resource", "d:a:b"], "--resource: expected 1 to 63 letters"),
        (["--resource", ":a"], "--resource: expected 1 to 63 letters"),
        (["--resource", "user:read"], "--resource: expected other types than `user`"),
        (
            ["--resource", "a:x,b:x,c:x,d:x,e:x,f:x,g:x,h:x,i:x"],
            "--resource: expected at most 8 types",
        ),
        (["--roles", "admin"], "--roles: expected other roles than `admin`"),
        (["--roles", "a,b,c,d,e,f,g,h,i"], "--roles: expected at most 8 names"),
        (["--domains", "north,*"], "--domains: expected 1 to 63 letters"),
        (
            ["--domains", "north,north"],
            "--domains: expected each name once, but `north` comes twice",
        ),
    ] {
        let error = init(&dir, &flags, None).expect_err("refused");
        assert!(error.starts_with(expected), "{error}");
        assert!(!dir.exists());
    }
}

#[test]
fn each_file_names_its_schema_which_accepts_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("acme");
    init(&dir, &["--domains", "north"], None).expect("written");
    for (file, _) in files::FILES {
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
    let error = init(folder.path(), &[], None).expect_err("refused");
    assert!(error.contains("already has `rules.yaml`: nothing is written"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    assert_eq!(fs::read_to_string(folder.path().join("rules.yaml")).expect("readable"), "mine");
}
