//! The forms of one plan.

use portcullis_model::apply::PlanCounts;
use serde_json::json;

use super::answer::PlanAnswer;
use super::lines;
use crate::report::{Report, ReportArguments, ReportFormat, ShownActions};

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
                {"path": "/rule_data", "before": {"expression": "exists(user.a)"}, "after": {"matcher": "r.sub.a == 1"}},
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
            "failed": [{"case": "c", "expected": decision("deny", "old"), "actual": decision("allow", "new"), "reason": "its condition is true"}],
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

/// Returns the report about an answer.
fn report(answer: &PlanAnswer) -> Report {
    lines::report(
        Report::new("title", "heading"),
        lines::changes(&answer.changes),
        answer,
        ShownActions::All,
    )
}

#[test]
fn a_plan_is_text() {
    let expected = r#"title

+ policy `new`
~ policy `old`
    /priority: 10 → 20
    /secret: changed
- rule `a, b, c:d, e`
= resource `c:d` (adopted)
~ policy `p` (adopted from git:x)
    /when: absent → user.a == "x"
    /rule_data:
    - exists(user.a)
    + user.a == 1
= rule ````\n<img>` (released)

1 to create, 1 to update, 1 to delete, 1 to adopt, 41 unchanged
conflicts:
  policy `theirs` belongs to git:x
tests: 40 passed, 1 failed, 1 skipped
  FAILED `c`: expected deny by `old`, not allow by `new`: its condition is true
  skipped `s`: it needs the resolver `hr`
impact:
  doctor gains chart:write in er if user.ward == resource.ward
  note: there may be more
warnings:
  no registered resource (at `/bundle/rules/0/obj`)
"#;
    assert_eq!(report(&plan()).text(false), expected);
    let short = super::apply::report("git:o", &plan());
    assert!(!short.contains("+ policy") && short.contains("~ policy `old`"), "{short}");
}

#[test]
fn a_plan_is_a_comment_with_a_section_for_each_part() {
    let arguments = ReportArguments { format: ReportFormat::Markdown, all: false };
    let comment = report(&plan()).shown(arguments, String::new);
    for part in [
        "### heading\n\n` title `\n\n<details><summary>Changes (6)</summary>\n\n`````diff\n+ policy `new`\n! policy `old`\n",
        "\n-   exists(user.a)\n+   user.a == 1\n",
        "</details>\n\n1 to create, 1 to update",
        "<details><summary>Conflicts (1)</summary>\n\n```diff\n  policy `theirs` belongs to git:x\n```\n",
        "<details><summary>Tests: 40 passed, 1 failed, 1 skipped</summary>\n\n```diff\n  FAILED `c`",
        "<details><summary>Impact (1)</summary>\n\n```diff\n  doctor gains chart:write",
        "<details><summary>Warnings (1)</summary>",
    ] {
        assert!(comment.contains(part), "{part}: {comment}");
    }
}

#[test]
fn a_plan_without_anything_is_two_lines() {
    let answer = json!({"revision": 1, "fingerprint": "", "changes": [], "counts": {"create": 0, "update": 0, "delete": 0, "adopt": 0, "unchanged": 2}, "impact": null});
    let answer = serde_json::from_value(answer).expect("an answer");
    let counts = "0 to create, 0 to update, 0 to delete, 0 to adopt, 2 unchanged";
    assert_eq!(report(&answer).text(false), format!("title\n\n{counts}\n"));
}

#[test]
fn what_the_caller_may_not_read_is_counted_and_has_its_code() {
    let answer = json!({
        "revision": 1, "fingerprint": "", "changes": [], "counts": PlanCounts::default(),
        "tests": {"passed": 4, "failed_count": 2, "skipped_count": 3},
        "warnings": [{"code": "UNREGISTERED", "message": "", "path": "/bundle/rules/0/obj"}],
    });
    let answer = serde_json::from_value(answer).expect("the numbers alone");
    let text = report(&answer).text(false);
    let expected = "tests: 4 passed, 2 failed, 3 skipped\nwarnings:\n  UNREGISTERED (at `/bundle/rules/0/obj`)\n";
    assert!(text.ends_with(expected), "{text}");
}
