//! Stores of the shapes of OpenFGA's samples: an import asks every question of their tests.

use std::fs;

use super::*;

#[track_caller]
fn imported(name: &str) -> Imported {
    let store = Store::read(&stored(name)).unwrap_or_else(|error| panic!("{error}"));
    import(store).unwrap_or_else(|Refusal { faults, reason }| panic!("{reason}: {faults:#?}"))
}

/// Returns the name and the lines of each type.
fn types(imported: &Imported) -> String {
    let types = imported.content.types.iter().flat_map(|one| {
        let relations = one["relations"].as_object().into_iter().flatten();
        let lines = relations.map(|(name, line)| format!("  {name}: {}", line.as_str().unwrap()));
        [one["type"].as_str().unwrap().to_owned()].into_iter().chain(lines).collect::<Vec<_>>()
    });
    types.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_store_answers_as_its_tests_expect() {
    let stores = [
        "drive.fga.yaml",
        "repositories.fga.yaml",
        "helpdesk.fga.yaml",
        "payments.fga.yaml",
        "roles.fga.yaml",
        "entitlements.fga.yaml",
        "wiki.fga.yaml",
    ];
    let counts = stores.map(|name| {
        let found = imported(name);
        let notes = found.notes.iter().map(|note| note.split("stores/").last().unwrap_or(note));
        let notes: Vec<&str> = notes.collect();
        format!("{name}: {}, {}, {notes:?}", found.asked, found.content.summary())
    });
    assert_eq!(
        counts,
        [
            "drive.fga.yaml: 17, 3 types, 11 rules, 9 relations, 12 cases, []",
            "repositories.fga.yaml: 16, 3 types, 10 rules, 10 relations, 12 cases, [\"repositories.fga.yaml:58: left out: a check \
             asks about one subject, not about `team#member`\", \"repositories.fga.yaml:54: left out: a check asks about one \
             subject, not about `team:backend#member`\"]",
            "helpdesk.fga.yaml: 15, 5 types, 7 rules, 7 relations, 14 cases, []",
            "payments.fga.yaml: 21, 2 types, 10 rules, 7 relations, 12 cases, [\"payments.fga.yaml:54: left out: the cases of a \
             folder share its tuples, and this test has others\"]",
            "roles.fga.yaml: 14, 4 types, 14 rules, 14 relations, 14 cases, [\"roles.fga.yaml:67: left out: a check asks about one \
             subject, not about `employee:*`\"]",
            "entitlements.fga.yaml: 12, 3 types, 8 rules, 10 relations, 12 cases, []",
            "wiki.fga.yaml: 3, 2 types, 4 rules, 3 relations, 3 cases, []",
        ]
    );
}

#[test]
fn rewrites_become_lines() {
    let names = ["payments.fga.yaml", "entitlements.fga.yaml", "wiki.fga.yaml"];
    let all = names.map(|name| types(&imported(name)));
    assert_eq!(
        all.join("\n"),
        "account
  suspended: [user, user:*]
  owner: [user]
  admin: [user] && !suspended
  can_pay: (admin || owner) && admin && !(suspended || owner)
  can_close: owner && !suspended
card
  account: [account]
  active: [card]
  holder: [user]
  can_buy: holder && active.holder
  can_block: (holder || account.can_close) && !(can_buy && account.can_pay)
organization
  member: [user]
plan
  subscriber: [organization]
  subscriber_member: subscriber.member
feature
  blocked: [user:*, user]
  can_access: (trial || plan.subscriber_member && released) && !blocked
  plan: [plan]
  released: [user:*]
  trial: [user, organization#member]
organization
  member: [user]
  can_create_space: [user] && member
space
  organization: [organization]
  can_view: organization.member"
    );
}

#[test]
fn a_folder_has_the_questions_of_the_tests() {
    let found = imported("helpdesk.fga.yaml");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("tenant.yaml"), "tenant: acme\nusers: []\n").expect("a file");
    let files = found.content.files("help-desk", Some(folder.path())).expect("files");
    let names: Vec<_> = files.iter().filter_map(|(path, _)| path.file_name()).collect();
    // The folder keeps its own tenant.
    assert_eq!(
        names,
        [
            "types.yaml",
            "resources.yaml",
            "rules.yaml",
            "policies.yaml",
            "cases.yaml",
            "relations.yaml"
        ]
    );
    let text = |name: &str| {
        let found = files.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, text)| &**text).unwrap_or_default()
    };
    assert_eq!(
        text("types.yaml"),
        r#"- type: application

- type: employee

- type: organization
  relations: {system: "[system]", admin: "[user] || system.admin", helpdesk: "[employee]"}

- type: project
  relations:
    organization: "[organization]"
    editor: "[user] || organization.admin"
    viewer: "[user] || editor || organization.helpdesk"

- type: system
  relations: {admin: "[employee, application]"}
"#
    );
    let line = |name: &str, line: usize| text(name).lines().nth(line).unwrap_or_default();
    assert_eq!(line("resources.yaml", 5), "- {name: project:viewer}");
    assert_eq!(
        line("rules.yaml", 2),
        r#"- {sub: "editor@resource", dom: "*", obj: project:editor, act: editor, effect: allow}"#
    );
    assert_eq!(
        line("relations.yaml", 5),
        r#"- {"object":"organization:acme","relation":"helpdesk","subject":"employee:john","expires_at":"2024-01-01T01:30:00.000Z"}"#
    );
    let cases: Vec<&str> = text("cases.yaml").split("\n\n").collect();
    assert_eq!(
        cases[1],
        r#"- name: "In time: employee:john viewer project:p1"
  now: "2024-01-01T01:29:59.999Z"
  check:
    subject: employee:john
    resource: project:viewer
    action: viewer
    attributes: {resource: {id: p1}}
  expect: {decision: allow, rule: "viewer@resource, *, project:viewer, viewer"}"#
    );
    assert!(cases[9].contains("subject: peter\n") && !cases[9].contains("now:"), "{}", cases[9]);
}
