//! The files of a tenant folder: lists in several files, webhooks, settings, and references to secrets.

use std::fs;
use std::path::Path;

use portcullis_engine::{KnownEntities, OpenQuestion};
use portcullis_model::types::MAX_TYPES;
use portcullis_test_tenants::{edit, write_tenant};
use tempfile::TempDir;

use super::{Bundle, SecretValues, list_folders};

const LOCKED_TWICE: &str = "- name: locked
  resource: wiki:read
  effect: deny
  priority: 1
  when: exists(user.id)
";
const WEBHOOKS: &str = "- url: https://audit.example.com/hook
  events: [access.denied, access.denied]
  secret: ${env:HOOK_SECRET}
- {url: https://other.example.com/, events: [policy.rbac.changed]}
";
const SETTINGS: &str = "gates: {cases: true}
max_deletes: 20
owners: {'git:acme': {keys: [019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62]}}
";

fn tenant() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    fs::write(path, text).expect("writable");
}

/// Returns the message about a folder that is refused, without the folder's name.
fn refusal(folder: &Path) -> String {
    let error = Bundle::read_folder(folder).expect_err("the folder must be refused").to_string();
    error.replace(&format!("{}/", folder.display()), "")
}

#[test]
fn a_list_may_be_a_folder_of_files() {
    let folder = tenant();
    for list in list_folders() {
        let (file, into) = (format!("{list}.yaml"), folder.path().join(list));
        fs::create_dir(&into).expect("writable");
        fs::rename(folder.path().join(&file), into.join("all.yaml")).expect("movable");
    }
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let counts = [bundle.resources.len(), bundle.rules.len(), bundle.policies.len()];
    assert_eq!((counts, bundle.cases.len()), ([1, 1, 2], 2));
    assert_eq!(bundle.warnings, [""; 0]);
}

/// The limits of the reader are those of the product, and not of the library.
#[test]
fn large_lists_and_many_aliases_are_read() {
    let folder = tenant();
    let rules = (0..30_000).map(|n| {
        format!("- {{sub: u{n}, dom: \"*\", obj: \"wiki:read\", act: read, effect: allow}}\n")
    });
    write(folder.path(), "rules.yaml", &rules.collect::<String>());
    let case = |n: usize| {
        format!(
            "- name: c{n}\n  check: &check{n} {{subject: u1, resource: \"wiki:read\", action: read, attributes: *a}}\n  \
             expect: &expect{n} {{decision: allow, rule: \"u1, *, wiki:read, read\"}}\n"
        )
    };
    let first = "- name: first\n  check: {subject: u1, resource: \"wiki:read\", action: read, attributes: &a {user: {team: x}}}\n  \
        expect: {decision: allow, rule: \"u1, *, wiki:read, read\"}\n";
    let cases: String = (0..900).map(case).collect();
    write(folder.path(), "cases.yaml", &format!("{first}{cases}"));
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    assert_eq!((bundle.rules.len(), bundle.cases.len()), (30_000, 901));
    // What the aliases stand for is bounded.
    let ten = |of: &str| vec![format!("*{of}"); 10].join(", ");
    let bomb: String =
        (1..8).map(|n| format!("  a{n}: &a{n} [{}]\n", ten(&format!("a{}", n - 1)))).collect();
    write(folder.path(), "cases.yaml", &format!("- name: x\n  a0: &a0 [x, x]\n{bomb}"));
    let found = refusal(folder.path());
    assert!(
        found.contains("the aliases of a file stand for at most 1000000 values; split"),
        "{found}"
    );
}

#[test]
fn files_of_a_list_follow_one_another_by_name() {
    let folder = tenant();
    for (file, sub) in [("b", "second"), ("a", "first"), (".c", "hidden")] {
        let rule = format!("- {{sub: {sub}, obj: wiki:read, act: read, effect: allow}}\n");
        write(folder.path(), &format!("rules/{file}.yaml"), &rule);
    }
    write(folder.path(), "rules/none.yaml", "[]\n");
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let subjects: Vec<_> = bundle.rules.iter().map(|rule| &*rule.tuple.sub).collect();
    assert_eq!(subjects, ["writer", "first", "second"]);
}

#[test]
fn a_name_is_unique_in_all_files_of_a_list() {
    let folder = tenant();
    write(folder.path(), "policies/more.yaml", LOCKED_TWICE);
    let expected = "policies/more.yaml:1:3: at `/0`: expected a unique `name`, but an item of \
        `policies.yaml` also has `locked`";
    assert_eq!(refusal(folder.path()), expected);
}

#[test]
fn a_warning_names_the_file_of_a_list() {
    let folder = tenant();
    let rule = "- {sub: a, obj: blog:read, act: read, effect: allow}\n";
    write(folder.path(), "rules/a.yaml", "[]\n");
    write(folder.path(), "rules/b.yaml", rule);
    write(folder.path(), "rules/c.yml", rule);
    write(folder.path(), "rules/deep/d.yaml", rule);
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let place = format!("{}/rules/", folder.path().display());
    let warnings: Vec<_> =
        bundle.warnings.iter().map(|line| line.replacen(&place, "", 1)).collect();
    assert!(warnings[0].starts_with("b.yaml:1:17: "), "{warnings:?}");
    assert_eq!(warnings[1..], ["c.yml: this file is not read", "deep: this file is not read"]);
}

const ROLES: &str = "- {name: editor, includes: [reader]}\n- name: head\n  includes: [editor]\n";

#[test]
fn roles_of_a_folder_include_others_in_cases() {
    let folder = tenant();
    assert_eq!(Bundle::read_folder(folder.path()).expect("sound").roles, None);
    write(folder.path(), "roles.yaml", ROLES);
    edit(folder.path(), "tenant.yaml", "roles: [reader]", "roles: [head]");
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let case = &bundle.cases[0];
    let sent = case.to_check(&bundle.users, &bundle.tenant).expect("a check");
    let plan = bundle.rulebook.plan(sent.resource);
    let decision = OpenQuestion::combined(&plan, &KnownEntities::default(), sent).settle();
    assert_eq!(bundle.rulebook.name(decision.rule_id()), "reader, acme, wiki:read, read");
    let sent = bundle.content(&SecretValues::new(), &[]);
    let roles =
        r#"[{"name":"editor","includes":["reader"]},{"name":"head","includes":["editor"]}]"#;
    assert_eq!(sent.get("roles").map(ToString::to_string).as_deref(), Some(roles));
}

#[test]
fn faults_of_roles_are_named() {
    let circle = "roles.yaml:1:28: at `/0/includes`: expected no role that includes `editor`, as `head` does: a role \
        cannot include itself\nroles.yaml:3:13: at `/1/includes`: expected no role that includes `head`, as `editor` does: \
        a role cannot include itself";
    for (from, to, expected) in [
        ("[reader]", "[head]", circle),
        (
            "name: head",
            "name: editor",
            "roles.yaml:2:3: at `/1`: expected a unique `name`, but an earlier item also has `editor`\nroles.yaml:3:13: \
             at `/1/includes`: expected other roles than `editor`: a role cannot include itself",
        ),
        ("[reader]", "[]", "roles.yaml:1:28: at `/0/includes`: expected at least one role"),
        (
            "includes: [reader]",
            "include: [reader]",
            "roles.yaml:1:3: at `/0`: field `includes` is missing\nroles.yaml:1:18: at `/0`: field `include` is unknown; did you \
             mean `includes`?",
        ),
    ] {
        let folder = tenant();
        write(folder.path(), "roles.yaml", ROLES);
        edit(folder.path(), "roles.yaml", from, to);
        assert_eq!(refusal(folder.path()), expected);
    }
    let many: Vec<String> =
        (0..1_001).map(|n| format!("- {{name: r{n}, includes: [x]}}\n")).collect();
    let folder = tenant();
    write(folder.path(), "roles.yaml", &many.concat());
    assert!(refusal(folder.path()).contains("expected at most 1000 roles that include others"));
}

const TYPES: &str = "- type: wiki
  properties:
    locked: {type: boolean, about: Nobody writes}
- {type: user, about: A reader}
";

#[test]
fn types_of_a_folder_are_sent() {
    let folder = tenant();
    assert_eq!(Bundle::read_folder(folder.path()).expect("sound").types, None);
    write(folder.path(), "types.yaml", TYPES);
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let sent = bundle.content(&SecretValues::new(), &[]);
    let types = r#"[{"type":"wiki","about":null,"properties":{"locked":{"type":"boolean","about":"Nobody writes","from":null}},"relations":{}},{"type":"user","about":"A reader","properties":{},"relations":{}}]"#;
    assert_eq!(sent.get("types").map(ToString::to_string).as_deref(), Some(types));
}

#[test]
fn names_that_no_type_declares_are_faults_at_their_places() {
    let locked = "- name: lokced
  resource: wiki:read
  effect: deny
  priority: 1
  when: exists(user.id) && (resource.lokced == true) ?? false
";
    for (file, from, to, expected) in [
        (
            "policies.yaml",
            "resource.locked",
            "resource.lokced",
            "policies.yaml:5:43: at `/0/rule_data/attribute`: expected a declared property of `wiki` (did you mean \
             `resource.locked`?)",
        ),
        (
            "policies.yaml",
            "- name: off\n",
            &*format!("{locked}- name: off\n"),
            "policies.yaml:10:9: at `/1/when`: expected a declared property of `wiki` (did you mean `resource.locked`?), not \
             `resource.lokced` at position 20, near `exists(user.id) && (resource.lokced == t…`",
        ),
        (
            "policies.yaml",
            "value: true",
            "value: 'true'",
            "policies.yaml:5:43: at `/0/rule_data/attribute`: expected an attribute that `eq` compares with this value \
             (`resource.locked` is declared as `boolean`)",
        ),
        (
            "cases.yaml",
            "{locked: true}",
            "{loked: true}",
            "cases.yaml:7:91: at `/1/check/attributes/resource/loked`: expected a declared property of `wiki` (did you \
             mean `resource.locked`?)",
        ),
        (
            "types.yaml",
            "type: boolean",
            "type: bool",
            "types.yaml:3:20: at `/0/properties/locked/type`: expected `text`, `number`, `boolean`, `datetime`, `ip`, \
             `list<text>`, `list<number>` or `ref<type>`",
        ),
        (
            "types.yaml",
            "type: user",
            "type: wiki",
            "types.yaml:4:3: at `/1`: expected a unique `type`, but an earlier item also has `wiki`",
        ),
    ] {
        let folder = tenant();
        write(folder.path(), "types.yaml", TYPES);
        edit(folder.path(), file, from, to);
        assert_eq!(refusal(folder.path()), expected);
    }
    let many: Vec<String> = (0..=MAX_TYPES).map(|n| format!("- {{type: t{n}}}\n")).collect();
    let folder = tenant();
    write(folder.path(), "types.yaml", &many.concat());
    assert!(refusal(folder.path()).contains("expected at most 100 types"));
}

#[test]
fn rules_of_a_folder_name_relations_of_its_types() {
    let folder = tenant();
    write(folder.path(), "types.yaml", "- {type: wiki, relations: {viewer: '[user]'}}\n");
    let rules = |sub: &str| {
        let rule = format!("- {{sub: '{sub}', obj: 'wiki:*', act: read, effect: allow}}\n");
        write(folder.path(), "rules.yaml", &rule);
    };
    rules("viewr@resource");
    assert_eq!(
        refusal(folder.path()),
        "rules.yaml:1:9: at `/0/sub`: expected a relation of `wiki` (did you mean `viewer@resource`?)"
    );
    rules("viewer@resource");
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    assert!(bundle.rulebook.plan("wiki:read").directory_needs().relations);
    // Without relations, it is a text.
    write(folder.path(), "types.yaml", "- {type: wiki}\n");
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    assert!(!bundle.rulebook.plan("wiki:read").directory_needs().relations);
}

#[test]
fn webhooks_and_settings_are_read_if_they_are_there() {
    let folder = tenant();
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    assert!(bundle.webhooks.is_none() && bundle.written_settings.is_none());
    write(folder.path(), "webhooks.yaml", WEBHOOKS);
    write(folder.path(), "settings.yaml", SETTINGS);
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let webhooks = bundle.webhooks.expect("webhooks");
    assert_eq!(webhooks[0].events.len(), 1);
    assert_eq!(webhooks[0].secret.as_ref().map(|one| one.variable()), Some("HOOK_SECRET"));
    assert_eq!(webhooks[1].secret, None);
    assert_eq!(
        bundle.written_settings.expect("settings").to_string(),
        r#"{"gates":{"cases":true},"max_deletes":20,"owners":{"git:acme":{"keys":["019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62"]}}}"#
    );
    let place = format!("{}/webhooks.yaml:3:11", folder.path().display());
    assert_eq!(bundle.secrets.len(), 1);
    assert_eq!(bundle.secrets[0].place, place);
}

#[test]
fn faults_of_webhooks_and_settings_are_named() {
    let secret = "webhooks.yaml:3:11: at `/0/secret`: expected a reference such as `${env:HOOK_SECRET}`, because \
        files are not the place for secrets";
    for (file, from, to, expected) in [
        ("webhooks.yaml", "${env:HOOK_SECRET}", "0123456789abcdef", secret),
        ("webhooks.yaml", "HOOK_SECRET", "1HOOK", secret),
        ("webhooks.yaml", "HOOK_SECRET", "", secret),
        (
            "webhooks.yaml",
            "https://other.example.com/",
            "https://audit.example.com/hook",
            "webhooks.yaml:4:3: at `/1`: expected a unique `url`, but an earlier item also has \
             `https://audit.example.com/hook`",
        ),
        (
            "settings.yaml",
            "cases:",
            "case:",
            "settings.yaml:1:9: at `/gates`: field `case` is unknown; did you mean `cases`?",
        ),
        (
            "settings.yaml",
            "20",
            "101",
            "settings.yaml:2:14: at `/max_deletes`: expected an integer from 0 to 100, in percent",
        ),
        (
            "settings.yaml",
            "019e301f-05c0",
            "x",
            "settings.yaml:3:30: at `/owners/git:acme/keys/0`: expected a UUID",
        ),
        (
            "settings.yaml",
            "git:acme",
            "git acme",
            "settings.yaml:3:22: at `/owners/git acme`: expected a name of 1 to 256 printable characters \
             without white space",
        ),
    ] {
        let folder = tenant();
        write(folder.path(), "webhooks.yaml", WEBHOOKS);
        write(folder.path(), "settings.yaml", SETTINGS);
        edit(folder.path(), file, from, to);
        assert_eq!(refusal(folder.path()), expected);
    }
}

const CONDITIONS: &str = "- name: on_team
  about: An agent of the team
  when: user.team == resource.team
- name: senior
  when:
    type: AND
    children:
    - {type: NAMED, name: on_team}
    - {type: CONDITION, attribute: user.level, operator: gte, value: 3}
";

fn uses(condition: &str) -> String {
    format!(
        "- {{name: p, resource: \"wiki:read\", effect: allow, priority: 1, when: {condition}}}\n"
    )
}

#[test]
fn policies_use_the_conditions_of_the_folder() {
    let folder = tenant();
    write(folder.path(), "conditions.yaml", CONDITIONS);
    write(folder.path(), "policies.yaml", &uses("condition.senior || user.a == 1"));
    write(folder.path(), "cases.yaml", "[]");
    let bundle = Bundle::read_folder(folder.path()).expect("sound");
    let policy = &bundle.policies[0].rule_data;
    assert_eq!(policy.condition.tests().len(), 3, "the names stand for their conditions");
    assert_eq!(policy.json.text(), r#"{"expression":"condition.senior || user.a == 1"}"#);
    let content = bundle.content(&SecretValues::default(), &[]);
    let sent = content.get("conditions").expect("they are sent").to_string();
    assert!(
        sent.starts_with(r#"[{"name":"on_team","about":"An agent of the team","when":"user.team"#),
        "{sent}"
    );
}

#[test]
fn a_fault_of_a_name_has_its_place_in_the_files() {
    for (conditions, condition, expected) in [
        (
            CONDITIONS,
            "condition.senor",
            "policies.yaml:1:70: at `/0/when`: expected a condition that exists (did you mean `condition.senior`?)",
        ),
        (CONDITIONS, "condition.senor", "did you mean `condition.senior`?"),
        (
            "- {name: a, when: condition.b}\n- {name: b, when: condition.a}\n",
            "user.a",
            "`a` uses `b`",
        ),
        ("- {name: a, when: user.a}\n- {name: a, when: user.b}\n", "user.a", "conditions.yaml:2:"),
        (
            "- {name: 2a, when: user.a}\n",
            "user.a",
            "at `/0/name`: expected the name of a condition",
        ),
    ] {
        let folder = tenant();
        write(folder.path(), "conditions.yaml", conditions);
        write(folder.path(), "policies.yaml", &uses(condition));
        write(folder.path(), "cases.yaml", "[]");
        let refused = refusal(folder.path());
        assert!(refused.contains(expected), "{refused}");
    }
}
