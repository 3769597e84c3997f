//! `portcullis test`: the cases of tenant folders, without a server (`policies/README.md`).

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::support::process::{Finished, finish, portcullis, repository};

/// A tenant in which one rule and one policy decide.
const TENANT: [(&str, &str); 5] = [
    (
        "tenant.yaml",
        "tenant: acme\nusers:\n  - {sub: alice, roles: [editor], claims: {level: 3}}\n",
    ),
    ("resources.yaml", "- {name: doc:read, defaultRoles: [editor]}\n"),
    ("rules.yaml", "- {sub: bob, obj: doc:*, act: \"*\", effect: deny}\n"),
    (
        "policies.yaml",
        "- name: level\n  resource: doc:write\n  effect: allow\n  priority: 1\n  rule_data:\n    \
         {type: CONDITION, attribute: token.level, operator: gte, value: 3}\n",
    ),
    (
        "cases.yaml",
        "- name: an editor reads\n  as: alice\n  check: {subject: alice, resource: doc:read, action: read}\n  \
         expect: {decision: allow, rule: \"editor, acme, doc:read, read\"}\n\
         - name: a high level writes\n  as: alice\n  \
         check: {subject: alice, resource: doc:write, action: write}\n  expect: {decision: allow, rule: level}\n\
         - name: bob never reads\n  check: {subject: bob, resource: doc:read, action: read}\n  \
         expect: {decision: deny, rule: \"bob, acme, doc:*, *\"}\n",
    ),
];

/// A folder with the tenant, some of its files replaced.
fn tenant(changes: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("acme");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in TENANT.iter().chain(changes) {
        std::fs::write(folder.join(name), text).unwrap();
    }
    (directory, folder)
}

fn run(path: &Path, more: &[&str]) -> Finished {
    let mut command = portcullis(&["test"]);
    command.arg(path).args(more);
    finish(command)
}

/// A case that expects `decision` by `rule` of what the rules allow.
fn reading(decision: &str, rule: &str) -> String {
    format!(
        "- name: an editor reads\n  as: alice\n  check: {{subject: alice, resource: doc:read, action: read}}\n  \
         expect: {{decision: {decision}, rule: \"{rule}\"}}\n"
    )
}

#[test]
fn a_policy_may_be_a_casbin_matcher() {
    let policy = |matcher: &str| {
        format!(
            "- {{name: level, resource: doc:write, effect: allow, priority: 1, format: casbin, \
             rule_data: {{matcher: '{matcher}'}}}}\n"
        )
    };
    let cases = "- name: a high level writes\n  \
        check: {subject: alice, resource: doc:write, action: write, attributes: {user: {level: 3}}}\n  \
        expect: {decision: allow, rule: level}\n";
    let sound = policy("r.sub.level >= 3 && r.act == \"write\"");
    let (_directory, folder) = tenant(&[("policies.yaml", &sound), ("cases.yaml", cases)]);
    let done = run(&folder, &[]);
    assert_eq!((done.code, &*done.err), (Some(0), ""), "{}", done.out);
    let (_directory, folder) =
        tenant(&[("policies.yaml", &policy("p.sub")), ("cases.yaml", cases)]);
    let done = run(&folder, &[]);
    assert_eq!(done.code, Some(2), "{}", done.out);
    let expected = "at `/0/rule_data/matcher`: expected `r.sub`, ";
    assert!(done.err.contains(expected) && done.err.contains("`p.sub`"), "{}", done.err);
}

#[test]
fn the_sample_tenants_pass() {
    let done = run(&repository().join("policies"), &[]);
    assert_eq!((done.code, &*done.err), (Some(0), ""), "{}", done.out);
    let closing = done.out.trim_end().lines().last().unwrap();
    let passed = closing.strip_suffix(" passed, 0 failed").expect(closing);
    assert!(passed.parse::<usize>().unwrap() >= 40, "{closing}");
    for tenant in ["hospital", "software-shop"] {
        assert!(done.out.contains(&format!("tenant {tenant}")), "{}", done.out);
        let one = run(&repository().join("policies").join(tenant), &[]);
        assert_eq!(one.code, Some(0), "{}", one.out);
    }
}

#[test]
fn passing_cases_are_listed() {
    let (_directory, folder) = tenant(&[]);
    for path in [&folder, folder.parent().unwrap()] {
        let done = run(path, &[]);
        assert_eq!(done.code, Some(0), "{done:?}");
        for name in ["an editor reads", "a high level writes", "bob never reads"] {
            let line = done.out.lines().find(|line| line.ends_with(name)).unwrap();
            assert!(line.trim_start().starts_with("ok"), "{line}");
        }
        assert_eq!(done.out.trim_end().lines().last(), Some("3 passed, 0 failed"));
    }
}

#[test]
fn a_case_that_comes_out_otherwise_fails_the_run() {
    let rule = "editor, acme, doc:read, read";
    for (decision, expected_rule) in [("deny", rule), ("allow", "level"), ("deny", "default-deny")]
    {
        let (_directory, folder) = tenant(&[("cases.yaml", &reading(decision, expected_rule))]);
        let done = run(&folder, &[]);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.out.contains("FAILED  an editor reads"), "{}", done.out);
        for shown in
            [&format!("{decision} by `{expected_rule}`"), &format!("allow by `{rule}`"), "RBAC"]
        {
            assert!(done.out.contains(shown), "`{shown}` is not in {}", done.out);
        }
        assert_eq!(done.out.trim_end().lines().last(), Some("0 passed, 1 failed"));
    }
    let (_directory, folder) = tenant(&[("cases.yaml", &reading("allow", rule))]);
    assert_eq!(run(&folder, &[]).code, Some(0), "the control");
}

#[test]
fn a_changed_policy_fails_a_case() {
    let policies = TENANT[3].1.replace("gte, value: 3", "gte, value: 4");
    let (_directory, folder) = tenant(&[("policies.yaml", &policies)]);
    let done = run(&folder, &[]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(done.out.trim_end().lines().last(), Some("2 passed, 1 failed"));
}

#[test]
fn cases_can_be_chosen_by_name() {
    let (_directory, folder) = tenant(&[]);
    for (part, passed) in [("reads", "2 passed, 0 failed"), ("high level", "1 passed, 0 failed")] {
        let done = run(&folder, &["--case", part]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(done.out.trim_end().lines().last(), Some(passed));
    }
    let done = run(&folder, &["--case", "no such case"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("no such case"), "{done:?}");
}

#[test]
fn results_and_coverage_are_for_programs_too() {
    let (directory, folder) = tenant(&[]);
    let file = directory.path().join("results.xml");
    let (junit, least) = (["--junit", file.to_str().unwrap()], ["--coverage", "--min-coverage"]);
    let done = run(&folder, &[&junit[..], &least, &["90"]].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let missing = "not covered: `level`: `token.level gte 3` is never false";
    assert!(done.out.contains(missing), "{}", done.out);
    let verdict = "coverage FAILED: 4 of 5 points (80 %), at least 90 % wanted";
    assert!(done.out.contains(verdict), "{}", done.out);
    let results = std::fs::read_to_string(&file).unwrap();
    assert!(results.contains("<testsuite name=\"acme\" tests=\"3\" failures=\"0\""), "{results}");
    assert_eq!(run(&folder, &["--min-coverage", "80"]).code, Some(0));
    assert_eq!(run(&folder, &["--min-coverage", "101"]).code, Some(2));
}

#[test]
fn policies_without_a_case_are_named() {
    let (_directory, folder) =
        tenant(&[("cases.yaml", &reading("allow", "editor, acme, doc:read, read"))]);
    let done = run(&folder, &[]);
    let (_, note) = done.out.split_once("note:").unwrap();
    assert!(note.contains("`level`") && note.contains("`bob, acme, doc:*, *`"), "{note}");
    assert!(!note.contains("editor"), "{note}");
}

#[test]
fn a_case_can_name_its_instant() {
    let policies = "- name: late\n  resource: doc:read\n  effect: deny\n  priority: 1\n  rule_data:\n    \
        {type: CONDITION, attribute: request.time, operator: after, value: \"2026-06-01T00:00:00Z\"}\n";
    let late = reading("deny", "late").replace("  as:", "  now: 2026-07-01T00:00:00Z\n  as:");
    let (_directory, folder) = tenant(&[("policies.yaml", policies), ("cases.yaml", &late)]);
    let done = run(&folder, &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    // Without one it is always the same instant, in January 2026.
    let early = reading("allow", "editor, acme, doc:read, read");
    let (_directory, folder) = tenant(&[("policies.yaml", policies), ("cases.yaml", &early)]);
    assert_eq!(run(&folder, &[]).code, Some(0));
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_the_place() {
    let rule = "editor, acme, doc:read, read";
    let cases = reading("allow", rule);
    for (file, text, place) in [
        ("tenant.yaml", "tenant: acme\nusers: []\nextra: 1\n", "extra"),
        ("tenant.yaml", "tenant: \"*\"\nusers: []\n", "/tenant"),
        ("tenant.yaml", "tenant: acme\nusers: [{sub: alice, roles: 1}]\n", "/users/0/roles"),
        ("tenant.yaml", "tenant: [\n", "tenant.yaml:1:9: not valid YAML"),
        ("resources.yaml", "- {name: doc}\n", "/0/name"),
        ("resources.yaml", "{}\n", "array"),
        ("rules.yaml", "- {sub: a, obj: doc:read, act: read}\n", "effect"),
        (
            "rules.yaml",
            "- {sub: a, obj: b:c, act: d, effect: deny}\n- {sub: a, obj: b:c, act: d, effect: deny}\n",
            "/1",
        ),
        (
            "policies.yaml",
            "- {name: p, resource: a:b, effect: deny, priority: 1, rule_data: {type: AND, children: []}}\n",
            "/0/rule_data/children",
        ),
        ("cases.yaml", &cases.replace("as: alice", "as: nobody"), "/0/as"),
        ("cases.yaml", &cases.replace(rule, "no such rule"), "/0/expect/rule"),
        ("cases.yaml", &cases.replace("subject:", "subjekt:"), "subjekt"),
        ("cases.yaml", &cases.replace("action: read", "action: read, action: read"), "action"),
        ("cases.yaml", &cases.replace("allow,", "maybe,"), "/0/expect/decision"),
    ] {
        let (_directory, folder) = tenant(&[("cases.yaml", &cases), (file, text)]);
        let done = run(&folder, &[]);
        assert_eq!(done.code, Some(2), "{file}: {done:?}");
        assert!(done.err.contains(&*folder.join(file).to_string_lossy()), "{done:?}");
        assert!(done.err.contains(place), "{file}: `{place}` is not in {}", done.err);
        assert_eq!(done.out, "", "nothing was tested");
    }
}

#[test]
fn a_missing_file_is_named() {
    for (name, _) in TENANT {
        let (_directory, folder) = tenant(&[]);
        std::fs::remove_file(folder.join(name)).unwrap();
        let done = run(&folder, &[]);
        assert_eq!(done.code, Some(2), "{name}: {done:?}");
        let named = if name == "tenant.yaml" { folder.clone() } else { folder.join(name) };
        assert!(done.err.contains(&*named.to_string_lossy()), "{done:?}");
    }
    let (directory, folder) = tenant(&[("cases.yaml", "[]\n")]);
    assert_eq!(run(&folder, &[]).code, Some(2), "a tenant without a case tests nothing");
    let nowhere = directory.path().join("nowhere");
    let done = run(&nowhere, &[]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("nowhere"), "{done:?}");
    let (_directory, good) = tenant(&[]);
    let both = run(&good, &[nowhere.to_str().unwrap()]);
    assert_eq!(
        (both.code, &*both.out),
        (Some(2), ""),
        "one bad path and nothing is tested: {both:?}"
    );
}
