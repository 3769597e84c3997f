//! A small tenant folder for tests.

#![expect(clippy::expect_used, reason = "a fixture of tests fails by a panic")]

use std::fs;
use std::path::Path;

const TENANT: &str = "tenant: acme\nusers:\n- {sub: ann, roles: [reader], claims: {mfa: true}}\n";
const RESOURCES: &str = "- {name: wiki:read, defaultRoles: [reader, writer, guest]}\n";
/// The rules of the folder.
pub const RULES: &str = "- {sub: writer, obj: wiki:read, act: read, effect: deny}\n";
const POLICIES: &str = "- name: locked
  resource: wiki:*
  effect: deny
  priority: 10
  rule_data: {type: CONDITION, attribute: resource.locked, operator: eq, value: true, if_missing: false}
- name: off
  resource: wiki:read
  effect: deny
  priority: 20
  enabled: false
  rule_data: {type: CONDITION, attribute: request.subject, operator: exists}
";
const CASES: &str = "- name: a reader reads
  as: ann
  check: {subject: ann, resource: wiki:read, action: read}
  expect: {decision: allow, rule: 'reader, acme, wiki:read, read'}
- name: 'demo: nobody reads what is locked'
  now: 2026-02-01T12:00:00Z
  check: {subject: bob, resource: wiki:read, action: read, attributes: {resource: {locked: true}}}
  expect: {decision: deny, rule: locked}
";

/// Writes a small tenant folder without faults.
pub fn write_tenant(folder: &Path) {
    fs::create_dir_all(folder).expect("writable");
    for (name, text) in [
        ("tenant.yaml", TENANT),
        ("resources.yaml", RESOURCES),
        ("rules.yaml", RULES),
        ("policies.yaml", POLICIES),
        ("cases.yaml", CASES),
    ] {
        fs::write(folder.join(name), text).expect("writable");
    }
}

/// Returns the message about a tenant folder without line and column after the names of files.
#[must_use]
pub fn without_positions(message: &str) -> String {
    let is_position = |c: char| c.is_ascii_digit() || c == ':';
    let line = |line: &str| match line.split_once(".yaml:") {
        Some((file, rest)) => format!("{file}.yaml:{}", rest.trim_start_matches(is_position)),
        None => line.to_owned(),
    };
    message.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Replaces `from` in one file of a tenant folder. Panics if the file does not contain it.
pub fn edit(folder: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(file)).expect("readable");
    assert!(text.contains(from), "{file} has no `{from}`");
    fs::write(folder.join(file), text.replacen(from, to, 1)).expect("writable");
}
