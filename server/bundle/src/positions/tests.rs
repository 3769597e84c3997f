use std::fs;

use portcullis_test_tenants::write_tenant;

use crate::Bundle;

/// Returns the message about the small tenant with this text in one of its files, without the folder.
fn message(file: &str, text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    fs::write(folder.path().join(file), text).expect("writable");
    let error = Bundle::read_folder(folder.path()).expect_err("the file must be refused");
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

const POLICY: &str = "- name: late
  resource: wiki:*
  effect: deny
  priority: 1
  rule_data:
    type: AND
    children:
    - {type: CONDITION, attribute: user.level, operator: gte, value: 3}
    - type: CONDITION
      attribute: user.team
      operator: starts_with
      value: ops
";

/// Returns the message about the policy after one edit.
fn of_policy(from: &str, to: &str) -> String {
    assert!(POLICY.contains(from), "{from}");
    message("policies.yaml", &POLICY.replacen(from, to, 1))
}

#[test]
fn faults_of_syntax_have_a_place() {
    let texts = [
        "- sub: writer\n  obj: wiki:read\n  act: read\n  sub: reader\n",
        "- sub: writer\n\tobj: wiki:read\n",
        "- sub: writer\n  obj: wiki:read\n  act:\n\t- x\n",
        "- {sub: writer\n",
        "- sub: writer\n obj: x\n",
        "- sub: writer\n  obj: *pages\n",
        "- sub: \"writer\n",
        "- sub: writer\n  obj: a: b\n",
        "- sub: !role writer\n",
        "- sub: writer\n---\n- sub: reader\n",
        "- sub: @writer\n",
        "- sub: writer\n  dom: *\n  act: read\n",
        "- {sub: writer, dom: *, act: read}\n",
    ];
    let messages: Vec<String> = texts.iter().map(|text| message("rules.yaml", text)).collect();
    let expected = [
        ":4:3: not valid YAML: duplicate mapping key: sub not allowed here",
        ":2:1: not valid YAML: a tab in the indentation; indent with spaces",
        ":4:1: not valid YAML: a tab in the indentation; indent with spaces",
        ":1:3: not valid YAML: unclosed bracket '{'",
        ":2:2: not valid YAML: while parsing a block collection, did not find expected '-' indicator",
        ":2:8: not valid YAML: reference to unknown value; quote a text that begins with `*`",
        ":2:1: not valid YAML: invalid indentation in multiline quoted scalar",
        ":2:9: not valid YAML: mapping values are not allowed in this context; quote a text that contains `: `",
        ":1:14: not valid YAML: unsupported tag `!role`; quote a text that begins with `!`",
        ":3:1: not valid YAML: only single YAML document expected but multiple found",
        ":1:8: not valid YAML: unexpected character: `@'; quote a text that begins with this character",
        ":2:8: not valid YAML: while scanning an anchor or alias, did not find expected alphabetic or numeric \
         character; quote a text that begins with `*`",
        ":1:22: not valid YAML: while scanning an anchor or alias, did not find expected alphabetic or numeric \
         character; quote a text that begins with `*`",
    ];
    let expected: Vec<String> = expected.iter().map(|line| format!("rules.yaml{line}")).collect();
    assert_eq!(messages, expected);
}

#[test]
fn faults_of_content_have_a_place() {
    for (from, to, expected) in [
        (
            "effect: deny",
            "efect: deny",
            "policies.yaml:1:3: at `/0`: field `effect` is missing\n\
             policies.yaml:3:3: at `/0`: field `efect` is unknown; did you mean `effect`?",
        ),
        ("effect: deny", "effect:", "policies.yaml:3:3: at `/0`: field `effect` is missing"),
        (
            "priority: 1",
            "priority: high",
            "policies.yaml:4:13: at `/0/priority`: expected an integer from -2147483648 to 2147483647",
        ),
        (
            "operator: gte",
            "operator: gt, valeu: 1",
            "policies.yaml:8:62: at `/0/rule_data/children/0`: field `valeu` is unknown; did you mean `value`?",
        ),
        (
            "operator: starts_with",
            "operator: start_with",
            "policies.yaml:11:17: at `/0/rule_data/children/1/operator`: expected `eq`, `ne`, `lt`, `lte`, `gt`, \
             `gte`, `in`, `not_in`, `contains`, `contains_any`, `contains_all`, `starts_with`, `ends_with`, `before`, \
             `after`, `within`, `within_next`, `matches`, `ip_in`, `during` or `exists`; did you mean `starts_with`?",
        ),
        (
            "value: ops",
            "value: null",
            "policies.yaml:12:14: at `/0/rule_data/children/1/value`: expected a value, not null: no attribute is \
             null; to test whether the attribute is present, use `exists` and leave `value` out",
        ),
        (
            "    - type: CONDITION\n",
            "    - type: CONDITON\n",
            "policies.yaml:9:13: at `/0/rule_data/children/1/type`: expected `CONDITION`, `AND`, `OR`, `NOT`, `ANY`, `ALL`, `LENGTH` or `NAMED`",
        ),
    ] {
        assert_eq!(of_policy(from, to), expected, "{to}");
    }
}

#[test]
fn every_form_of_a_document_has_places() {
    for (text, expected) in [
        ("", "rules.yaml:1:1: expected an array, not null; write `[]` if there are none"),
        (
            "# nothing\n",
            "rules.yaml:1:1: expected an array, not null; write `[]` if there are none",
        ),
        ("\n\nsub: writer\n", "rules.yaml:3:1: expected an array, not an object"),
        ("---\n- 7\n", "rules.yaml:2:3: at `/0`: expected an object, not a number"),
        // Columns count characters.
        (
            "- {sub: é, obj: wiki:read, act: 7, effect: deny}\n",
            "rules.yaml:1:33: at `/0/act`: expected a string, not a number",
        ),
        // A member with characters that a pointer escapes.
        (
            "- {sub: a, obj: wiki:read, act: read, effect: deny,\n   a/b~c: 1}\n",
            "rules.yaml:2:4: at `/0`: field `a/b~c` is unknown",
        ),
        // What an alias repeats is at the alias.
        (
            "- &a {sub: a, obj: wiki:read, act: read, effect: maybe}\n- *a\n",
            "rules.yaml:1:50: at `/0/effect`: expected `allow` or `deny`\n\
             rules.yaml:2:3: at `/1/effect`: expected `allow` or `deny`",
        ),
    ] {
        assert_eq!(message("rules.yaml", text), expected, "{text}");
    }
}

#[test]
fn many_faults_are_counted() {
    let message = message("rules.yaml", &"- 7\n".repeat(150));
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 21);
    assert_eq!(lines[19], "rules.yaml:20:3: at `/19`: expected an object, not a number");
    assert_eq!(lines[20], "rules.yaml: and 130 more faults");
}
