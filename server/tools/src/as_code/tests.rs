//! The forms of one plan.

use serde_json::json;

use super::answer::{PlanAnswer, PlanWarning, TestCounts};
use super::{lines, markdown, text};

fn plan() -> PlanAnswer {
    let decision = |decision: &str, rule: &str| json!({"decision": decision, "rule": rule});
    let answer = json!({
        "revision": 812,
        "applied": false,
        "fingerprint": "sha256:00",
        "changes": [
            {"kind": "policy", "name": "new", "action": "create", "fields": []},
            {"kind": "policy", "name": "old", "action": "update", "fields": [
                {"path": "/priority", "before": 10, "after": 20},
                {"path": "/secret", "before": null, "after": null},
            ]},
            {"kind": "rule", "name": "a, b, c:d, e", "action": "delete", "fields": []},
            {"kind": "resource", "name": "c:d", "action": "adopt", "fields": [
                {"path": "/managed_by", "before": null, "after": "git:o"},
            ]},
            {"kind": "policy", "name": "p", "action": "adopt", "fields": [
                {"path": "/when", "before": null, "after": "user.a == \"x\""},
                {"path": "/managed_by", "before": "git:x", "after": "git:o"},
            ]},
            {"kind": "rule", "name": "```\n<img>", "action": "release", "fields": []},
        ],
        "conflicts": [{"kind": "policy", "name": "theirs", "managed_by": "git:x"}],
        "counts": {"create": 1, "update": 1, "delete": 1, "adopt": 1, "unchanged": 41},
        "tests": {
            "passed": 40,
            "failed_count": 1,
            "skipped_count": 1,
            "failed": [{"case": "c", "expected": decision("deny", "old"), "actual": decision("allow", "new")}],
            "skipped": [{"case": "s", "reason": "it needs the resolver `hr`"}],
        },
        "impact": {"complete": false, "note": "there may be more", "changes": [{
            "role": "doctor", "domain": "er", "resource": "chart:write", "action": "write",
            "before": {"decision": "deny"},
            "after": {
                "decision": "depends", "condition": "user.ward == resource.ward", "policies": ["ward"],
                "more_policies": 0,
            },
        }]},
        "warnings": [{"code": "UNREGISTERED", "message": "no registered resource", "path": "/bundle/rules/0/obj"}],
    });
    serde_json::from_value(answer).expect("an answer")
}

const CHANGES: &str = "+ policy `new`
~ policy `old`
    /priority: 10 → 20
    /secret: changed
- rule `a, b, c:d, e`
= resource `c:d` (adopted)
~ policy `p` (adopted from git:x)
    /when: absent → user.a == \"x\"
= rule ````\\n<img>` (released)
";

#[test]
fn a_plan_is_text() {
    let expected = format!(
        "title

{CHANGES}
1 to create, 1 to update, 1 to delete, 1 to adopt, 41 unchanged
conflicts:
  policy `theirs` belongs to git:x
tests: 40 passed, 1 failed, 1 skipped
  FAILED `c`: expected deny by `old`, not allow by `new`
  skipped `s`: it needs the resolver `hr`
impact:
  doctor gains chart:write in er if user.ward == resource.ward
  note: there may be more
warnings:
  no registered resource (at `/bundle/rules/0/obj`)
"
    );
    assert_eq!(text::plan("title", &plan()), expected);
    let short = text::short_plan("title", &plan());
    assert!(!short.contains("+ policy") && short.contains("~ policy `old`"), "{short}");
}

#[test]
fn a_plan_without_anything_is_two_lines() {
    let answer = json!({"revision": 1, "fingerprint": "", "changes": [], "counts": {"unchanged": 2}, "impact": null});
    let answer = serde_json::from_value(answer).expect("an answer");
    let counts = "0 to create, 0 to update, 0 to delete, 0 to adopt, 2 unchanged";
    assert_eq!(text::plan("title", &answer), format!("title\n\n{counts}\n"));
    assert_eq!(markdown::plan("title", "o", &answer), format!("### title\n\n{counts}\n"));
}

#[test]
fn a_warning_that_the_caller_may_not_read_has_its_code() {
    let warning = json!([{"code": "UNREGISTERED", "message": "", "path": "/bundle/rules/0/obj"}]);
    let warnings: Vec<PlanWarning> = serde_json::from_value(warning).expect("a warning");
    assert_eq!(lines::warnings(&warnings), ["UNREGISTERED (at `/bundle/rules/0/obj`)"]);
}

#[test]
fn cases_that_the_caller_may_not_read_are_counted() {
    let tests = json!({"passed": 4, "failed_count": 2, "skipped_count": 3});
    let tests: TestCounts = serde_json::from_value(tests).expect("the numbers alone");
    assert_eq!(lines::test_counts(&tests).as_deref(), Some("4 passed, 2 failed, 3 skipped"));
    assert!(lines::tests(&tests).is_empty());
}

#[test]
fn a_comment_has_names_of_a_tenant_as_code_alone() {
    let comment = markdown::plan("title", "git:o", &plan());
    let (fence, changes) = ("`````", CHANGES.replace('~', "!"));
    let block = format!("{fence}diff\n# git:o, revision 812\n{changes}{fence}\n");
    assert!(comment.contains(&block), "{comment}");
    for part in [
        "### title\n\n1 to create, 1 to update",
        "**Conflicts**\n\n```text\npolicy `theirs` belongs to git:x\n```\n",
        "**Tests**: 40 passed, 1 failed, 1 skipped\n\n```text\nFAILED `c`",
        "**Decisions that change**\n\n```text\ndoctor gains chart:write",
        "**Warnings**\n\n```text\n",
    ] {
        assert!(comment.contains(part), "{part}: {comment}");
    }
}

#[test]
fn a_comment_is_not_larger_than_a_forge_takes() {
    let mut plan = plan();
    let one = |n: usize| json!({"kind": "rule", "name": format!("{n} {}", "x".repeat(100)), "action": "create"});
    let many = (0..2_000).map(|n| serde_json::from_value(one(n)).expect("a change"));
    plan.changes.extend(many);
    let comment = markdown::plan("title", "git:o", &plan);
    assert!(comment.len() < 65_000, "{}", comment.len());
    assert!(comment.contains(" more lines\n`````\n"), "no line says that there are more");
}
