//! Comments that silence findings.

use super::super::LintCode;
use super::{lint, tenant};

/// Returns the findings about two rules, of which the second one is not registered, each as its first line.
fn findings(before_second: &str, allow: &[LintCode]) -> Vec<String> {
    let rule = |obj| format!("- {{sub: ann, obj: {obj}:read, act: read, effect: allow}}\n");
    let rules = format!("# All rules.\n{}{before_second}{}", rule("wiki"), rule("wikki"));
    let folder = tenant(&[("rules.yaml", &rules)]);
    let (_, out, _) = lint(folder.path(), |arguments| arguments.allow = allow.to_vec());
    let lines = out.lines().filter(|line| line.starts_with("rules.yaml:"));
    lines.map(str::to_owned).collect()
}

const UNREGISTERED: &str =
    "rules.yaml:4:19: warning UNREGISTERED: no registered resource matches `wikki:read`";

#[test]
fn a_comment_before_the_item_silences_its_code() {
    let unused = "warning UNUSED_SILENCER: this comment silences nothing: ";
    let bad = "error BAD_SILENCER: this comment silences nothing: ";
    for (comment, expected) in [
        ("# lint: allow UNREGISTERED it comes next month\n", vec![]),
        ("# lint: allow UNREGISTERED it comes next month\n# Who reads.\n", vec![]),
        ("# Who reads.\n#lint:  allow UNREGISTERED later\n", vec![]),
        ("# Who reads.\n", vec![UNREGISTERED.to_owned()]),
        ("", vec![UNREGISTERED.replace(":4:", ":3:")]),
        (
            "# lint: allow NO_CASE it comes next month\n",
            vec![
                format!("rules.yaml:3:1: {unused}the item after it has no `NO_CASE`"),
                UNREGISTERED.to_owned(),
            ],
        ),
        (
            "# lint: allow UNREGISTERED\n",
            vec![
                format!("rules.yaml:3:1: {bad}a reason after `UNREGISTERED` is missing"),
                UNREGISTERED.to_owned(),
            ],
        ),
        (
            "# lint: allow UNREGISTRED later\n",
            vec![
                format!("rules.yaml:3:1: {bad}there is no code `UNREGISTRED`"),
                UNREGISTERED.to_owned(),
            ],
        ),
        (
            "# lint: disable\n",
            vec![
                format!("rules.yaml:3:1: {bad}expected `# lint: allow CODE reason`"),
                UNREGISTERED.to_owned(),
            ],
        ),
        (
            "# lint: allow UNREGISTERED later\n\n",
            vec![
                format!(
                    "rules.yaml:3:1: {unused}no item follows it, which could have `UNREGISTERED`"
                ),
                UNREGISTERED.replace(":4:", ":5:"),
            ],
        ),
    ] {
        assert_eq!(findings(comment, &[]), expected, "{comment}");
    }
}

#[test]
fn an_argument_silences_a_code_everywhere() {
    assert_eq!(findings("", &[LintCode::Unregistered]), [""; 0]);
    // A comment for a code that is left out anyway is no finding.
    let comment = "# lint: allow UNREGISTERED later\n";
    assert_eq!(findings(comment, &[LintCode::Unregistered]), [""; 0]);
}
