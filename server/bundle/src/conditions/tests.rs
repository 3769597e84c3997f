//! The edits of a file, and that they change nothing but what they should.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use super::*;

const FILE: &str = "policies.yaml";

#[track_caller]
fn formatted(text: &str) -> String {
    format_conditions(FILE, text).expect(text)
}

/// Verifies the formatted text, and that it is formatted.
#[track_caller]
fn becomes(text: &str, expected: &str) {
    let result = formatted(text);
    assert_eq!(result, expected, "{text}");
    assert_eq!(formatted(&result), result);
}

#[test]
fn an_expression_keeps_its_style_and_its_surroundings() {
    for (text, expected) in [
        (
            "# a\n- when:  user.a==1   # b\n\n  name: x\n",
            "# a\n- when:  user.a == 1   # b\n\n  name: x\n",
        ),
        ("- name: x\n  when: 'user.a==1'\n", "- name: x\n  when: 'user.a == 1'\n"),
        ("- name: x\n  when: \"user.a=='b'\"\n", "- name: x\n  when: \"user.a == \\\"b\\\"\"\n"),
        (
            "- {name: x, when: user.a==1, priority: 1}\n",
            "- {name: x, when: user.a == 1, priority: 1}\n",
        ),
        ("- {name: x, when: \"user.a in[1,2]\"}\n", "- {name: x, when: \"user.a in [1, 2]\"}\n"),
        ("- when: (user.a == 'it')\n", "- when: user.a == \"it\"\n"),
        ("- when: (!exists(user.a))\n", "- when: '!exists(user.a)'\n"),
        ("- when:\n    user.a\n    == 1\n  name: x\n", "- when:\n    user.a == 1\n  name: x\n"),
        (
            "- when: |   # why\n     user.a==1\n     && user.b==1\n\n  # c\n  name: x\n",
            "- when: |   # why\n    user.a == 1 && user.b == 1\n\n  # c\n  name: x\n",
        ),
        ("- when: >2-\n    (user.a==1)\n", "- when: >-\n    user.a == 1\n"),
        ("- when: \"user.a == 'a\\nb'\"\n", "- when: \"user.a == \\\"a\\nb\\\"\"\n"),
        ("- when: |\n    user.a == 'a\n    b' # c\n", ""),
        (
            "- name: x\r\n  when: user.a==1\r\n  priority: 1\r\n",
            "- name: x\r\n  when: user.a == 1\r\n  priority: 1\r\n",
        ),
        (
            "- format: expression\n  rule_data: {expression: \"user.a==1\"}\n- format: expression\n  rule_data:\n    expression: user.a==1\n",
            "- format: expression\n  rule_data: {expression: \"user.a == 1\"}\n- format: expression\n  rule_data:\n    expression: user.a == 1\n",
        ),
        // Not an expression.
        (
            "- rule_data: {expression: \"user.a==1\"}\n",
            "- rule_data: {expression: \"user.a==1\"}\n",
        ),
        ("- when: &a user.a==1\n- when: *a\n", "- when: &a user.a == 1\n- when: *a\n"),
        ("[]\n", "[]\n"),
        ("", ""),
    ] {
        if expected.is_empty() && !text.is_empty() {
            assert!(format_conditions(FILE, text).is_err(), "{text}");
            continue;
        }
        becomes(text, expected);
    }
}

#[test]
fn a_long_expression_becomes_a_block() {
    let line = "request.roles contains \"contractor\" && !(during(request.time, \"mon-fri 08:00-18:00 Europe/Berlin\") && ip_in(user.ip, \"198.51.100.0/24\"))";
    let block = "\n    request.roles contains \"contractor\"\n    && !(\n      during(request.time, \"mon-fri 08:00-18:00 Europe/Berlin\")\n      && ip_in(user.ip, \"198.51.100.0/24\")\n    )\n";
    becomes(
        &format!("- name: x\n  when: {line} # why\n"),
        &format!("- name: x\n  when: >- # why{block}"),
    );
    becomes(&format!("- name: x\n  when: '{line}'\n"), &format!("- name: x\n  when: >-{block}"));
    becomes(
        &format!("- name: x\n  when: |-\n      {line}\n"),
        &format!("- name: x\n  when: |-{block}"),
    );
    // Inside of braces there is no block, and a single test has nothing to be broken at.
    let braces = format!("- {{name: x, when: '{line}'}}\n");
    becomes(&braces, &braces);
    let long = format!("- name: x\n  when: user.a == \"{}\"\n", "b".repeat(200));
    becomes(&long, &long);
}

#[test]
fn a_fault_has_its_place() {
    let text = "- name: x\n  when: user.a = 1\n- name: y\n  when: exists(user.b) and user.a == 1\n";
    let error = format_conditions(FILE, text).expect_err("refused").to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 2, "{error}");
    assert!(lines[0].starts_with("policies.yaml:2:9: at `/0/when`: expected"), "{error}");
    assert!(lines[1].starts_with("policies.yaml:4:9: at `/1/when`: expected `&&`"), "{error}");
    let error = format_conditions(FILE, "- when: [\n").expect_err("refused").to_string();
    assert!(error.starts_with("policies.yaml:"), "{error}");
}

#[test]
fn an_edit_that_changes_the_meaning_is_found() {
    let text = "- {name: x, when: user.a == 1}";
    assert!(meaning::is_equal(
        text,
        "- {name: x, rule_data: {type: CONDITION, attribute: user.a, operator: eq, value: 1}}"
    ));
    for other in [
        "- {name: y, when: user.a == 1}",
        "- {name: x, when: user.a == 2}",
        "- {name: x}",
        "[]",
        "- [",
    ] {
        assert!(!meaning::is_equal(text, other), "{other}");
    }
}

#[test]
fn conditions_become_expressions_and_keep_their_comments() {
    let text = "\
# head
- name: sealed
  resource: chart:*
  format: json
  rule_data:
    type: CONDITION
    attribute: resource.sealed # the mark
    operator: eq
    value: true
    # Hardly any chart
    # is sealed.
    if_missing: false # so
  # after
  priority: 3

- rule_data: {type: CONDITION, attribute: user.a, operator: exists} # first
  name: first
- name: matcher
  format: casbin # old
  rule_data:
    matcher: regexMatch(r.sub.a, 'b') && '#' in r.sub.b
- name: text
  format: expression
  rule_data: {expression: user.a==1}
- name: done
  when: user.a==1
- {name: braces, rule_data: {type: CONDITION, attribute: user.a, operator: exists}}
- name: anchored
  rule_data: &a {type: CONDITION, attribute: user.a, operator: exists}
";
    let expected = "\
# head
- name: sealed
  resource: chart:*
  # the mark
  # Hardly any chart
  # is sealed.
  # so
  when: (resource.sealed == true) ?? false
  # after
  priority: 3

- when: exists(user.a)
  # first
  name: first
- name: matcher
  # old
  when: user.a matches \"(?s:.*)(?:b)(?s:.*)\" && user.b contains \"#\"
- name: text
  when: user.a == 1
- name: done
  when: user.a==1
- {name: braces, rule_data: {type: CONDITION, attribute: user.a, operator: exists}}
- name: anchored
  rule_data: &a {type: CONDITION, attribute: user.a, operator: exists}
";
    let result = write_as_when(FILE, text).expect("written");
    assert_eq!(result.text, expected);
    assert_eq!(result.converted, 4);
    let left: Vec<&str> = result.left.iter().map(String::as_str).collect();
    assert_eq!(
        left,
        [
            "policies.yaml:27:3: `braces` keeps its `rule_data`: the object is written in braces; write each member on a line",
            "policies.yaml:28:3: `anchored` keeps its `rule_data`: it has an anchor, an alias or a tag; write the condition itself",
        ]
    );
}

/// The files of the samples have the form that `portcullis fmt` gives them.
#[test]
fn the_samples_are_formatted() {
    for (name, folder) in &crate::embedded::EMBEDDED {
        let text = folder.get_file("policies.yaml").and_then(|file| file.contents_utf8());
        let text = text.expect("policies");
        assert_eq!(formatted(text), text, "{name}");
    }
}

#[test]
fn every_file_of_policies_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| std::fs::write(folder.path().join(name), "[]").expect("written");
    std::fs::create_dir(folder.path().join("policies")).expect("made");
    for name in ["policies/b.yaml", "policies/a.yaml", "policies/c.txt", "policies.yaml"] {
        file(name);
    }
    let files = condition_files(folder.path()).expect("read");
    let names: Vec<_> =
        files.iter().map(|file| file.strip_prefix(folder.path()).expect("inside")).collect();
    assert_eq!(names, ["policies.yaml", "policies/a.yaml", "policies/b.yaml"].map(Path::new));
}

/// Any expression, of tests whose texts YAML and the layout could confuse.
fn expression() -> impl Strategy<Value = String> {
    let tests = select(
        &[
            "user.a==1",
            "exists(user.b)",
            "user.c == \"a: b\"",
            "user['first name'] in [\"x, y\", ' #']",
            "user.d == \"line\nbreak\u{2028}\"",
            "resource.größe matches \"a\\\\d{2}['\\\"]\"",
            "(user.e == true) ?? false",
            "user.f == \"a long text that takes many of the columns which a line may have in a file\"",
        ][..],
    );
    tests.prop_map(|test| format!("({test})")).prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("!({inner})")),
            (select(&[" && ", "  ||\n   "][..]), prop::collection::vec(inner, 1..5))
                .prop_map(|(joint, parts)| format!("({})", parts.join(joint))),
        ]
    })
}

/// A policy with the expression in one of the styles of YAML. A text with line breaks of its own has only one.
fn policy() -> impl Strategy<Value = String> {
    (expression(), 0..6_u8, 0..3_usize).prop_map(|(expression, style, depth)| {
        let comment = [" # a comment", ""][usize::from(style) % 2];
        let single = format!("'{}'", expression.replace('\'', "''"));
        let double = format!(
            "\"{}\"",
            expression
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n")
                .replace('\u{2028}', "\\L")
        );
        let has_break = expression.contains("line\nbreak");
        let one_line = expression.replace("||\n", "||");
        match style {
            _ if has_break => format!("- name: x\n  when: {double}{comment}\n  priority: 1\n"),
            0 => format!("- {{name: x, when: {double}, priority: 1}}{comment}\n"),
            1 => format!("- name: x\n  when: {}\n  priority: 1\n", single.replace("||\n", "||")),
            2 => format!("- name: x\n  when: |{comment}\n    {one_line}\n\n  priority: 1\n"),
            3 => format!(
                "- when: >-\n      {}\n  # mine\n  name: x\n",
                expression.replace("||\n", "||\n      ")
            ),
            4 if !one_line.contains([':', '#', '!']) => {
                format!("- name: x\n  when: {one_line}{comment}\n")
            }
            _ => format!(
                "- name: x\n  format: expression\n  rule_data:\n{}expression: {double}{comment}\n",
                "  ".repeat(depth + 2)
            ),
        }
    })
}

#[test]
fn formatting_is_idempotent_and_keeps_the_meaning() {
    let config =
        ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() };
    let policies = prop::collection::vec(policy(), 1..4).prop_map(|policies| policies.concat());
    let outcome = TestRunner::new(config).run(&policies, |text| {
        let once = format_conditions(FILE, &text);
        prop_assert!(
            once.is_ok(),
            "{text}: {}",
            once.err().map(|it| it.to_string()).unwrap_or_default()
        );
        let once = once.unwrap_or_default();
        let twice = format_conditions(FILE, &once).unwrap_or_default();
        prop_assert_eq!(&once, &twice);
        prop_assert!(meaning::is_equal(&text, &once));
        let count = |text: &str| text.matches("comment").count() + text.matches("# mine").count();
        prop_assert_eq!(count(&text), count(&once));
        Ok(())
    });
    assert!(outcome.is_ok(), "{}", outcome.expect_err("just seen"));
}

#[test]
fn a_tree_of_a_named_condition_becomes_an_expression() {
    let text = "- name: senior\n  when:\n    type: AND\n    children:\n    - {type: NAMED, name: on_team}\n    \
        - {type: CONDITION, attribute: user.level, operator: gte, value: 3}\n- {name: on_team, when: user.a==1}\n";
    let written = write_as_when("conditions.yaml", text).expect("sound");
    assert_eq!((written.converted, written.left), (1, vec![]));
    let expected = "- name: senior\n  when: condition.on_team && user.level >= 3\n- {name: on_team, when: user.a==1}\n";
    assert_eq!(written.text, expected);
    let formatted = format_conditions("conditions.yaml", expected).expect("sound");
    assert_eq!(formatted, expected.replace("user.a==1", "user.a == 1"));
}
