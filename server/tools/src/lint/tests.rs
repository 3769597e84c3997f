//! Whole runs: the output and the exit code.

mod attributes;
mod documented;
mod domains;
mod silenced;

use std::fs;
use std::path::{Path, PathBuf};

use strum::VariantArray;

use super::*;

/// Exit status, standard output without the folder, and standard error.
type Ran = (ExitCode, String, String);

fn lint(folder: &Path, change: impl FnOnce(&mut LintArguments)) -> Ran {
    let mut arguments = LintArguments { dirs: vec![folder.to_owned()], ..LintArguments::default() };
    change(&mut arguments);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(&arguments, &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let out = text(out).replace(&format!("{}/", folder.display()), "");
    (status, out, text(err))
}

/// Writes a tenant folder in which nothing is wrong, and these files over it.
fn tenant(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = [
        ("tenant.yaml", "tenant: acme\nusers:\n- {sub: ann, roles: [reader]}\n"),
        ("resources.yaml", "- {name: wiki:read, defaultRoles: [reader]}\n"),
        ("rules.yaml", "[]\n"),
        ("policies.yaml", "[]\n"),
        ("cases.yaml", "[]\n"),
    ];
    for (name, text) in sound.iter().chain(files) {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

/// Writes a policy on `wiki:read`.
fn policy(name: &str, effect: &str, priority: i32, when: &str) -> String {
    format!(
        "- name: {name}\n  resource: wiki:read\n  effect: {effect}\n  priority: {priority}\n  when: '{when}'\n"
    )
}

/// Returns place and code of each finding of policies, apart from notes.
fn codes_of_policies(policies: &[String]) -> Vec<String> {
    let folder = tenant(&[("policies.yaml", &policies.concat())]);
    let (_, out, err) = lint(folder.path(), |_| {});
    assert_eq!(err, "");
    let findings = out.lines().filter(|line| !line.starts_with(' ') && line.contains(".yaml:"));
    let findings = findings.filter(|line| !line.contains(" note "));
    findings.map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn findings_have_place_severity_code_and_advice() {
    let never = policy("never", "allow", 1, r#"user.a == "x" && user.a == "y""#);
    let folder = tenant(&[
        ("policies.yaml", &never),
        ("rules.yaml", "- {sub: ann, obj: wikki:read, act: read, effect: allow}\n"),
    ]);
    let (status, out, err) = lint(folder.path(), |_| {});
    let expected = "\
policies.yaml:1:3: error CONTRADICTION: policy `never` never applies: no check makes its condition true
    correct the condition, or delete the policy
policies.yaml:1:3: note NO_CASE: no case expects policy `never` to decide
    add a case that it decides
rules.yaml:1:19: warning UNREGISTERED: no registered resource matches `wikki:read`
    register it, or correct the name
1 error, 1 warning, 1 note in 1 folder
";
    assert_eq!((status, &*out, &*err), (ExitCode::FAILURE, expected, ""));
}

#[test]
fn a_role_that_is_included_and_gives_nothing_is_found() {
    let roles =
        "- {name: editor, includes: [reader]}\n- {name: head, includes: [editor, raeder]}\n";
    let of_editors = policy("p", "allow", 1, r#"request.roles contains "editor""#);
    let folder = tenant(&[("roles.yaml", roles), ("policies.yaml", &of_editors)]);
    let (_, out, _) = lint(folder.path(), |arguments| arguments.allow = vec![LintCode::NoCase]);
    let expected = "\
roles.yaml:2:26: warning UNKNOWN_ROLE: the role `head` includes the role `raeder`, which no rule, resource, policy, user or case has
    write `reader`, or give the role something by a rule
0 errors, 1 warning, 0 notes in 1 folder
";
    assert_eq!(out, expected);
}

#[test]
fn a_condition_that_no_policy_uses_is_found() {
    let conditions = "- {name: used, when: condition.inner}\n- {name: inner, when: user.team == \"a\"}\n\
        - {name: unused, when: condition.inner}\n";
    let of_team = policy("p", "allow", 1, "condition.used");
    let folder = tenant(&[("conditions.yaml", conditions), ("policies.yaml", &of_team)]);
    let (_, out, _) = lint(folder.path(), |arguments| arguments.allow = vec![LintCode::NoCase]);
    let expected = "\
conditions.yaml:3:3: warning UNUSED_CONDITION: no policy uses the condition `unused`
    delete the condition, or use it in a policy
0 errors, 1 warning, 0 notes in 1 folder
";
    assert_eq!(out, expected);
}

#[test]
fn json_has_the_same() {
    let folder =
        tenant(&[("rules.yaml", "- {sub: ann, obj: wikki:read, act: read, effect: allow}\n")]);
    let (status, out, _) = lint(folder.path(), |arguments| arguments.format = LintFormat::Json);
    let expected = r#"{"findings":[{"code":"UNREGISTERED","severity":"warning","file":"rules.yaml","line":1,"column":19,"message":"no registered resource matches `wikki:read`","advice":"register it, or correct the name"}],"counts":{"errors":0,"warnings":1,"notes":0}}"#;
    assert_eq!((status, out.trim_end()), (ExitCode::SUCCESS, expected));
}

#[test]
fn annotations_of_github_are_escaped() {
    let never = policy("100%", "allow", 1, "user.a in []");
    let folder = tenant(&[("policies.yaml", &never)]);
    let (status, out, _) = lint(folder.path(), |arguments| {
        arguments.format = LintFormat::Github;
        arguments.allow = vec![LintCode::NoCase];
    });
    let expected = "::error file=policies.yaml,line=1,col=3,title=CONTRADICTION::policy `100%25` never applies: no check \
                    makes its condition true; correct the condition, or delete the policy\n";
    assert_eq!((status, &*out), (ExitCode::FAILURE, expected));
}

#[test]
fn exit_codes_say_what_fails() {
    let warning =
        tenant(&[("rules.yaml", "- {sub: ann, obj: wikki:read, act: read, effect: allow}\n")]);
    let deny = |arguments: &mut LintArguments| arguments.deny_warnings = true;
    assert_eq!(lint(warning.path(), |_| {}).0, ExitCode::SUCCESS);
    assert_eq!(lint(warning.path(), deny).0, ExitCode::FAILURE);
    let allowed = |arguments: &mut LintArguments| {
        arguments.deny_warnings = true;
        arguments.allow = vec![LintCode::Unregistered];
    };
    let clean = (
        ExitCode::SUCCESS,
        "0 errors, 0 warnings, 0 notes in 1 folder\n".to_owned(),
        String::new(),
    );
    assert_eq!(lint(warning.path(), allowed), clean);
    assert_eq!(lint(tenant(&[]).path(), deny), clean);
    let broken = tenant(&[("rules.yaml", "- {sub: ann}\n")]);
    let (status, out, err) = lint(broken.path(), |_| {});
    assert_eq!((status, &*out), (ExitCode::from(exit::REFUSED), ""));
    assert!(err.contains("/rules.yaml:1:3: "), "{err}");
}

#[test]
fn codes_are_read_by_their_names() {
    for code in LintCode::VARIANTS.iter().copied() {
        assert_eq!(code.into_str().parse(), Ok(code));
    }
    let unknown = "OUTRANKD".parse::<LintCode>().expect_err("unknown");
    assert!(
        unknown.starts_with("expected `ACTION_NOT_VERB`, `ALLOWS_WITHOUT`, `BAD_SILENCER`, "),
        "{unknown}"
    );
}

#[test]
fn policies_that_never_decide() {
    let allow = |name, priority, when| policy(name, "allow", priority, when);
    let deny = |name, priority, when| policy(name, "deny", priority, when);
    for (policies, expected) in [
        // The one with the higher priority comes first, wherever it stands.
        (
            [allow("a", 1, "user.x == 1"), allow("b", 2, "user.x in [1, 2]")],
            &["policies.yaml:1:3 warning REDUNDANT_POLICY"][..],
        ),
        ([allow("a", 2, "user.x == 1"), allow("b", 1, "user.x in [1, 2]")], &[]),
        // At equal priority a deny comes first, then the first of the file.
        (
            [allow("a", 1, "user.x == 1"), deny("b", 1, "(user.x == 1) ?? true")],
            &["policies.yaml:1:3 error OUTRANKED"],
        ),
        (
            [allow("a", 1, "user.x == 1"), allow("b", 1, "user.x == 1")],
            &["policies.yaml:6:3 warning REDUNDANT_POLICY"],
        ),
        // The allow leaves undetermined checks to the deny.
        ([allow("a", 2, "user.x == 1"), deny("b", 1, "(user.x == 1) ?? false")], &[]),
        (
            [allow("a", 2, "exists(user.x)"), deny("b", 1, "(user.x == 1) ?? false")],
            &["policies.yaml:6:3 error OUTRANKED"],
        ),
        // What needs different literals is not compared at all, and implies nothing.
        ([allow("a", 2, "user.x == 1"), allow("b", 1, "user.x == 2")], &[]),
        (
            [allow("a", 2, "user.x == 1"), allow("b", 1, "user.x >= 1 && user.x <= 1")],
            &["policies.yaml:6:3 warning REDUNDANT_POLICY"],
        ),
    ] {
        assert_eq!(codes_of_policies(&policies), expected, "{policies:?}");
    }
}

#[test]
fn policies_that_are_not_enabled_are_not_judged() {
    let policies = [policy("a", "allow", 1, "user.x in []"), policy("b", "deny", 1, "user.x == 1")];
    assert_eq!(codes_of_policies(&policies).len(), 2);
    let disabled = policies.map(|policy| policy + "  enabled: false\n");
    assert_eq!(codes_of_policies(&disabled), [""; 0]);
}

#[test]
fn a_rule_that_denies_beats_an_allow() {
    let policies = [
        policy("of-agency", "allow", 9, r#"request.roles contains "agency" && user.x == 1"#),
        policy("others", "allow", 9, "user.x == 2"),
        policy("denying", "deny", 9, r#"(request.roles contains "agency") ?? true"#),
    ];
    let folder = tenant(&[
        ("policies.yaml", &policies.concat()),
        ("rules.yaml", "- {sub: agency, dom: '*', obj: wiki:*, act: '*', effect: deny}\n"),
    ]);
    let (_, out, _) = lint(folder.path(), |arguments| arguments.allow = vec![LintCode::NoCase]);
    let expected = "\
policies.yaml:1:3: error OUTRANKED: policy `of-agency` never decides: the rule `agency, *, wiki:*, *` denies whenever it \
         applies, and no allow beats a rule that denies
    delete the policy, or narrow the rule
";
    assert!(out.starts_with(expected), "{out}");
    assert!(out.ends_with("1 error, 0 warnings, 0 notes in 1 folder\n"), "{out}");
}

#[test]
fn work_beyond_the_bounds_is_left_out_and_counted() {
    // None of them implies another one, and none names a literal that tells it apart.
    let policies: String = (0..150)
        .map(|n| policy(&format!("p{n}"), "allow", n, &format!("exists(user.a{n})")))
        .collect();
    let folder = tenant(&[("policies.yaml", &policies)]);
    let (status, out, _) =
        lint(folder.path(), |arguments| arguments.allow = vec![LintCode::NoCase]);
    // The policies from the 102nd on have 1, 2, … 49 predecessors too many.
    let expected = "policies.yaml:1:1: note NOT_JUDGED: 1225 questions about policies are left out: they exceed the bounds \
                    of this command\n";
    assert!(out.starts_with(expected), "{out}");
    assert_eq!(status, ExitCode::SUCCESS);
}

#[test]
fn the_samples_are_clean() {
    let samples: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../policies"].iter().collect();
    let (status, out, err) = lint(&samples, |arguments| arguments.deny_warnings = true);
    assert_eq!(
        (status, &*out, &*err),
        (ExitCode::SUCCESS, "0 errors, 0 warnings, 0 notes in 6 folders\n", "")
    );
}

#[test]
fn an_allow_that_an_absence_opens_is_found() {
    for (effect, when, is_found) in [
        ("allow", "!exists(user.blocked)", true),
        ("allow", "user.a == 1 && !exists(resource.x)", true),
        ("allow", "!(exists(context.a) && user.b == 1)", true),
        ("allow", "exists(user.a)", false),
        ("allow", "!(!exists(user.a))", false),
        ("allow", "!exists(token.act)", false),
        ("deny", "!exists(user.a)", false),
    ] {
        let found = codes_of_policies(&[policy("p", effect, 1, when)]);
        let has_it = found.iter().any(|finding| finding.ends_with("ALLOWS_WITHOUT"));
        assert_eq!(has_it, is_found, "{effect} {when}: {found:?}");
    }
    let types = "- {type: user, properties: {blocked: {type: boolean, from: directory}}}\n";
    let blocked = policy("p", "allow", 1, "!exists(user.blocked)");
    let folder = tenant(&[("types.yaml", types), ("policies.yaml", &blocked)]);
    let (_, out, err) = lint(folder.path(), |_| {});
    assert!(!out.contains("ALLOWS_WITHOUT") && err.is_empty(), "{out}{err}");
}

#[test]
fn the_length_of_a_list_is_found() {
    for (when, expected) in [
        ("user.teams.length > 0", true),
        ("user.length > 0", false),
        ("user.teams contains \"a\"", false),
    ] {
        let found = codes_of_policies(&[policy("p", "allow", 1, when)]);
        assert_eq!(
            found.iter().any(|one| one.ends_with("NO_LENGTH")),
            expected,
            "{when}: {found:?}"
        );
    }
}

#[test]
fn a_pattern_that_misses_a_registered_resource_is_found() {
    let resources = "- {name: wiki:read}\n- {name: wiki:read:draft}\n- {name: doc:sign}\n";
    let rule = |obj: &str, act: &str| {
        format!("- {{sub: ann, obj: '{obj}', act: '{act}', effect: allow}}\n")
    };
    for (rules, expected) in [
        (
            rule("wiki:*", "*"),
            "MISSED_RESOURCE: `wiki:*` does not match the registered `wiki:read:draft`",
        ),
        (rule("wiki:*", "*") + &rule("wiki:read:*", "draft"), ""),
        (rule("wiki:*", "*") + &rule("wiki:read:draft", "draft"), ""),
        (rule("*", "*"), ""),
        (rule("doc:*", "*"), ""),
        (
            rule("doc:*", "read"),
            "UNREGISTERED: no registered resource of `doc:*` has the verb `read`",
        ),
        (rule("doc:*", "sign"), ""),
        (rule("doc:sign", "read"), ""),
    ] {
        let folder = tenant(&[("resources.yaml", resources), ("rules.yaml", &rules)]);
        let (_, out, _) = lint(folder.path(), |_| {});
        let found = ["MISSED_RESOURCE", "UNREGISTERED"].iter().any(|code| out.contains(code));
        assert!(out.contains(expected) && found != expected.is_empty(), "{rules}: {out}");
    }
}

#[test]
fn a_case_with_a_decision_alone_counts_for_the_policy_that_decides_it() {
    let case = "- {name: c, check: {subject: ann, resource: 'wiki:read', action: read, attributes: {user: {a: 1}}}, \
                expect: {decision: allow}}\n";
    let folder =
        tenant(&[("policies.yaml", &policy("p", "allow", 1, "user.a == 1")), ("cases.yaml", case)]);
    let (_, out, err) = lint(folder.path(), |_| {});
    assert!(!out.contains("NO_CASE") && err.is_empty(), "{out}{err}");
}
