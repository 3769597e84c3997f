//! The command on a folder: its output and its exit codes.

use std::path::Path;

use clap::Parser;
use portcullis_test_tenants::write_tenant;

use super::arguments::{attribute, moment};
use super::*;

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    arguments: CheckArguments,
}

/// Exit code, standard output and standard error.
type Ran = (ExitCode, String, String);

/// Runs the command on the folder with these arguments.
async fn check(folder: &Path, arguments: &[&str]) -> Result<Ran, String> {
    let folder = folder.display().to_string();
    let words = [&["check", "--dir", &folder], arguments].concat();
    let parsed = CommandLine::try_parse_from(words).map_err(|error| error.to_string())?;
    let variables = Variables::load(None).expect("variables").only(&[]);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let now = moment("2026-02-01T12:00:00Z").expect("an instant");
    let code = run(&parsed.arguments, &variables, now, &mut out, &mut err).await;
    let code = code.map_err(|error| format!("{error:#}"))?;
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ok((code, text(out), text(err)))
}

#[tokio::test]
async fn an_explanation_says_that_a_resource_is_not_registered() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let rule = "- {sub: nobody, obj: wiki:write, act: write, effect: allow}\n";
    std::fs::write(folder.path().join("rules.yaml"), rule).expect("writable");
    let nothing = "no RBAC rule and no ABAC policy allows it";
    let doubt =
        |name| format!("; the resource `{name}` is not registered, and no rule or policy names it");
    for (resource, explain, expected) in [
        ("wiki:raed", true, doubt("wiki:raed") + "; did you mean `wiki:read`?"),
        ("blog:list", true, doubt("blog:list")),
        ("wiki:raed", false, String::new()),
        // A rule names it.
        ("wiki:write", true, String::new()),
    ] {
        let explain = if explain { &["--explain"][..] } else { &[] };
        let arguments = [&["bob", "read", resource], explain].concat();
        let (_, out, _) = check(folder.path(), &arguments).await.expect("a decision");
        let reason = out.lines().find_map(|line| line.strip_prefix("reason    "));
        assert_eq!(reason, Some(&*format!("{nothing}{expected}")), "{resource}");
    }
}

#[tokio::test]
async fn a_folder_decides_and_the_exit_code_says_what() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    for (arguments, code, expected) in [
        // The subject is a user of the folder, so it has the roles of its token.
        (
            &["ann", "read", "wiki:read"][..],
            ALLOWED,
            "decision  allow\nrule      reader, acme, wiki:read, read\nreason    RBAC rule `reader, acme, wiki:read, read` allows\n",
        ),
        (&["bob", "read", "wiki:read"], DENIED, "decision  deny\nrule      default-deny\n"),
        (
            &["bob", "read", "wiki:read", "--role", "reader", "--role", "x"],
            ALLOWED,
            "decision  allow\n",
        ),
        (&["bob", "read", "wiki:read", "--role", "x,reader"], ALLOWED, "decision  allow\n"),
        // The roles of a caller belong to the caller alone.
        (&["bob", "read", "wiki:read", "--user", "ann"], DENIED, "decision  deny\n"),
        (
            &["ann", "read", "wiki:read", "--attr", "resource.locked=true"],
            DENIED,
            "decision  deny\nrule      locked\n",
        ),
        (
            &["ann", "read", "wiki:read", "--domain", "other"],
            DENIED,
            "decision  deny\nrule      default-deny\n",
        ),
    ] {
        let (got, out, err) = check(folder.path(), arguments).await.expect("a decision");
        assert!(out.starts_with(expected), "{arguments:?}: {out}{err}");
        assert_eq!(got, ExitCode::from(code), "{arguments:?}");
    }
}

#[tokio::test]
async fn attributes_of_every_kind_reach_the_condition() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    std::fs::write(folder.path().join("cases.yaml"), "[]\n").expect("writable");
    for kind in ["user", "resource", "action", "context"] {
        let policy = format!(
            "- {{name: p, resource: wiki:read, effect: deny, priority: 1, when: '({kind}.x == 1) ?? false'}}\n"
        );
        std::fs::write(folder.path().join("policies.yaml"), policy).expect("writable");
        for (value, code) in [("1", DENIED), ("2", ALLOWED)] {
            let given = format!("{kind}.x={value}");
            let arguments = ["ann", "read", "wiki:read", "--attr", &given];
            let (got, out, err) = check(folder.path(), &arguments).await.expect("a decision");
            assert_eq!(got, ExitCode::from(code), "{given}: {out}{err}");
        }
    }
}

#[tokio::test]
async fn an_explanation_shows_candidates_and_json_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let arguments = ["ann", "read", "wiki:read", "--attr", "resource.locked=true", "--explain"];
    let (_, out, _) = check(folder.path(), &arguments).await.expect("a decision");
    for line in [
        "  deny `locked`, priority 10: true, applies; it decides",
        "    true: (resource.locked == true) ?? false (it is true)",
        "  allow `reader, acme, wiki:read, read`",
        "  resource.locked = true (request)",
    ] {
        assert!(out.lines().any(|known| known == line), "`{line}` in {out}");
    }
    let arguments = [&arguments[..], &["--json"]].concat();
    let (code, out, _) = check(folder.path(), &arguments).await.expect("a decision");
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, out.lines().count()), (ExitCode::from(DENIED), 1));
    assert_eq!(answer["matched_rule"], "locked");
    assert_eq!(answer["explanation"]["policies"][0]["name"], "locked");
}

#[tokio::test]
async fn an_explanation_shows_the_path_of_a_relation() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    for (file, text) in [
        (
            "types.yaml",
            "- type: group\n  relations: {member: \"[user]\"}\n\
             - type: wiki\n  relations: {viewer: \"[user, group#member]\", owner: \"[user]\"}\n",
        ),
        (
            "relations.yaml",
            "- {object: \"wiki:w1\", relation: viewer, subject: \"group:eng\", subject_relation: member}\n\
             - {object: \"group:eng\", relation: member, subject: \"user:eve\"}\n",
        ),
        (
            "policies.yaml",
            "- name: shared\n  resource: wiki:see\n  effect: allow\n  priority: 1\n  \
             when: relation.viewer == true\n\
             - name: own\n  resource: wiki:see\n  effect: allow\n  priority: 0\n  \
             when: relation.owner == true && resource.state == \"draft\"\n",
        ),
        ("cases.yaml", "[]\n"),
    ] {
        std::fs::write(folder.path().join(file), text).expect("writable");
    }
    let arguments = ["eve", "see", "wiki:see", "--attr", "resource.id=w1", "--explain"];
    let (_, out, _) = check(folder.path(), &arguments).await.expect("a decision");
    for line in [
        "  relation.viewer = true (relations): eve → member of group eng → viewer of wiki w1",
        "  relation.owner = false (relations): no path through 1 groups and 0 ancestors",
    ] {
        assert!(out.lines().any(|known| known == line), "`{line}` in {out}");
    }
    let arguments = [&arguments[..], &["--json"]].concat();
    let (_, out, _) = check(folder.path(), &arguments).await.expect("a decision");
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    let path = &answer["explanation"]["attributes"][0]["path"];
    assert_eq!(path[0]["object"], "wiki:w1", "{answer}");
    assert_eq!(path[1]["subject"], "user:eve", "{answer}");
}

#[tokio::test]
async fn a_check_that_is_not_valid_is_no_decision() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    for (arguments, expected) in [
        (&["ann", "read", "wiki"][..], "the check is not valid: at `/resource`: expected "),
        (
            &["ann", "read", "wiki:read", "--attr", "user.a=1", "--attr", "user.a=2"],
            "`user.a` is given twice",
        ),
        (
            &["ann", "read", "wiki:read", "--role", "a", "--attr", "user.roles=[\"b\"]"],
            "`user.roles` is given twice",
        ),
        (&["ann", "read", "wiki:read", "--role", "a"], "--role has no effect: `ann` is the caller"),
        (
            &["ann", "read", "wiki:read", "--role", "a", "--user", "ann"],
            "--role has no effect: `ann` is the caller",
        ),
    ] {
        let (code, out, err) = check(folder.path(), arguments).await.expect("a refusal");
        assert!(err.contains(expected), "{err}");
        assert_eq!((code, &*out), (ExitCode::from(REFUSED), ""));
    }
    for (arguments, expected) in [
        (
            &["ann", "read", "wiki:read", "--user", "eve"][..],
            "there is no user `eve`; the users of tenant.yaml are ann",
        ),
        (&["ann", "read", "wiki:read", "--attr", "team=x"], "expected `user.<name>=<value>`"),
        (&["ann", "read", "wiki:read", "--attr", "user.team"], "expected `user.<name>=<value>`"),
        (&["ann", "read", "wiki:read", "--attr", "context.=1"], "expected `user.<name>=<value>`"),
        (
            &["ann", "read", "wiki:read", "--attr", "contex.ip=x"],
            "or `resource.`, `action.` or `context.`; did you mean `context.ip`?",
        ),
        (&["ann", "read", "wiki:read", "--now", "noon"], "expected an RFC 3339 date-time"),
        (&["ann", "read", "wiki:read", "--token", "x"], "cannot be used with"),
    ] {
        let error = check(folder.path(), arguments).await.expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
    let error = check(&folder.path().join("none"), &["a", "b", "c:d"]).await.expect_err("refused");
    assert!(error.contains("tenant.yaml"), "{error}");
}

/// A pipe whose reader has ended.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_reader_that_ends_does_not_change_the_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let path = folder.path().display().to_string();
    let variables = Variables::load(None).expect("variables").only(&[]);
    for (subject, code) in [("ann", ALLOWED), ("bob", DENIED)] {
        let words = ["check", "--dir", &path, subject, "read", "wiki:read"];
        let parsed = CommandLine::try_parse_from(words).expect("sound");
        let now = moment("2026-02-01T12:00:00Z").expect("an instant");
        let ran = run(&parsed.arguments, &variables, now, &mut Closed, &mut Vec::new()).await;
        assert_eq!(ran.expect("a decision"), ExitCode::from(code), "{subject}");
    }
}

#[test]
fn a_time_needs_a_folder_or_an_explanation() {
    let timed = ["check", "ann", "read", "wiki:read", "--now", "2026-02-01T12:00:00Z"];
    for (more, is_sound) in
        [(&[][..], false), (&["--explain"], true), (&["--dir", "."], true), (&["--json"], false)]
    {
        let parsed = CommandLine::try_parse_from([&timed[..], more].concat());
        assert_eq!(parsed.is_ok(), is_sound, "{more:?}");
    }
}

#[test]
fn a_user_needs_a_folder_and_a_url_a_scheme() {
    let asked = ["check", "ann", "read", "wiki:read"];
    for (more, expected) in [
        (["--user", "ann"], "--dir <DIR>"),
        (["--url", "127.0.0.1:1"], "such as `http://127.0.0.1:8080`"),
    ] {
        let error = CommandLine::try_parse_from([&asked[..], &more].concat()).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_value_is_json_or_else_text() {
    for (argument, expected) in [
        ("user.ward=er", r#""er""#),
        ("user.id=0042", r#""0042""#),
        ("user.id=\"42\"", r#""42""#),
        ("resource.amount=25", "25"),
        ("resource.open=true", "true"),
        ("user.groups=[\"a\",1]", r#"["a",1]"#),
        ("user.note=a=b", r#""a=b""#),
        ("user.note=", r#""""#),
        ("user.note=null", "null"),
        ("user.note=\"null\"", r#""null""#),
    ] {
        let (_, _, value) = attribute(argument).expect("sound");
        assert_eq!(value.to_string(), expected, "{argument}");
    }
}

#[tokio::test]
async fn an_explanation_shows_items_lengths_names_and_references() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let written = [
        ("cases.yaml", "[]\n"),
        ("conditions.yaml", "- {name: own, when: resource.space.owner == request.subject}\n"),
        (
            "policies.yaml",
            "- name: p\n  resource: wiki:read\n  effect: deny\n  priority: 1\n  when: any(user.g, item == \"x\") \
             || all(user.h, item == \"y\") || length(user.g) > 3 || condition.own || condition.own\n",
        ),
        (
            "types.yaml",
            "- {type: space, properties: {owner: {type: text}}}\n\
             - {type: wiki, properties: {space: {type: ref<space>}}}\n",
        ),
        ("entities.yaml", "- {type: space, id: s1, properties: {owner: eve}}\n"),
    ];
    for (name, content) in written {
        std::fs::write(folder.path().join(name), content).expect("writable");
    }
    let arguments =
        ["ann", "wiki:read", "--attr", "user.g=[\"a\"]", "--attr", "user.h=[\"y\",\"z\"]"];
    let arguments = [&arguments[..], &["--attr", "resource.space=s1", "--explain"]].concat();
    let (_, out, _) = check(folder.path(), &arguments).await.expect("a decision");
    let condition = "      false: any(user.g, item == \"x\") (it is [\"a\"])
      false: ALL, by the item \"z\"
        false: item == \"y\" (it is \"z\")
      false: length(user.g) > 3 (it is [\"a\"])
      false: NAMED own
        false: resource.space.owner == request.subject (it is \"eve\")
      false: NAMED own
";
    assert!(out.contains(condition), "{out}");
    let attribute = "\n  resource.space.owner = \"eve\" (directory, by space:s1)\n";
    assert!(out.contains(attribute), "{out}");
}

#[tokio::test]
async fn an_action_may_be_left_out_and_hints_say_what_may_be_mistaken() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let run = async |arguments: &[&str]| check(folder.path(), arguments).await.expect("a decision");
    let (_, out, _) = run(&["ann", "wiki:read"]).await;
    assert!(out.starts_with("decision  allow\n") && !out.contains("hint"), "{out}");
    let (_, out, _) = run(&["ann", "write", "wiki:read"]).await;
    let hint = "hint      the action is `write`, and the verb of `wiki:read` is `read`\n";
    assert!(out.starts_with("decision  deny\n") && out.contains(hint), "{out}");
    let (_, out, _) = run(&["ann", "write", "wiki:read", "--explain"]).await;
    assert_eq!(out.matches(hint).count(), 1, "{out}");
    // An answer without an explanation has no hints.
    let (_, out, _) = run(&["ann", "write", "wiki:read", "--json"]).await;
    assert!(!out.contains("hints"), "{out}");
    let (_, out, _) = run(&["ann", "write", "wiki:read", "--json", "--explain"]).await;
    assert!(out.contains("\"code\":\"ACTION_NOT_VERB\""), "{out}");
}

#[tokio::test]
async fn a_folder_has_the_settings_of_a_service() {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    let settings = "actions: verb\nunknown_subjects: no_roles\n";
    std::fs::write(folder.path().join("settings.yaml"), settings).expect("writable");
    let refused = check(folder.path(), &["ann", "write", "wiki:read"]).await.expect_err("a fault");
    assert!(refused.contains("`read`, the verb of the resource, not `write`"), "{refused}");
    let decision = async |arguments: &[&str]| {
        let (_, out, _) = check(folder.path(), arguments).await.expect("a decision");
        out.lines().next().unwrap_or_default().to_owned()
    };
    let claimed = ["bob", "wiki:read", "--role", "reader"];
    assert_eq!(decision(&claimed).await, "decision  deny");
    std::fs::write(folder.path().join("settings.yaml"), "actions: verb\n").expect("writable");
    assert_eq!(decision(&claimed).await, "decision  allow");
    // What the files name must fit, too.
    let rule = "- {sub: writer, obj: wiki:read, act: write, effect: deny}\n";
    std::fs::write(folder.path().join("rules.yaml"), rule).expect("writable");
    let refused = check(folder.path(), &["ann", "wiki:read"]).await.expect_err("a fault");
    assert!(refused.contains("rules.yaml") && refused.contains("`read`, the verb"), "{refused}");
}
