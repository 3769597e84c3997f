//! An import refuses by line, and says why.

use super::*;

/// Returns the faults of a definition `doc` with these lines, whose first one is in line 4, and the rest of the file.
fn faults(lines: &str, rest: &str) -> Vec<String> {
    let lines = lines.replace('\n', "\n    ");
    let text = format!(
        "schema: |-\n  definition user {{}}\n  definition doc {{\n    {lines}\n  }}\n{rest}\n"
    );
    imported(&text).expect_err(&text)
}

#[test]
fn a_schema_is_refused_by_its_line() {
    for (lines, expected) in [
        (
            "relation user_a: user\npermission view = user_a - view",
            "5: `-` leads back to `view` of `doc`; subtract a relation that does not depend on it",
        ),
        (
            "relation folder: doc\nrelation user_a: user\npermission view = folder.all(user_a)",
            "6: `folder.all(user_a)` asks for all objects in `folder` at once; write `folder->user_a` if each object has one \
             `folder`, or else a relation that stores who may (docs/spicedb.md)",
        ),
        (
            "relation folder: doc | doc#folder\nrelation viewer: user\npermission view = folder->viewer",
            "6: as `folder.viewer`: expected a relation before `.` that stores objects alone: only types in `[…]`, without `#` \
             and `*`, as `folder` of `doc` does not, not `folder` at position 0",
        ),
        (
            "relation viewer: user\npermission view = viewer + editor",
            "5: as `viewer || editor`: expected a relation of `doc`: `view` or `viewer`, not `editor` at position 10",
        ),
        (
            "relation type: user",
            "4: `type` of `doc` is not a name of letters, digits and `_`, other than `id` and `type`; rename it in the schema, the \
             relationships and the assertions, for example to `own_type`",
        ),
        ("relation viewer: user with late", "4: the schema has no condition `late`"),
        ("relation viewer: user\nrelation viewer: doc", "5: `viewer` of `doc` is defined twice"),
        (
            "relation viewer: user\npermission view = viewer and viewer",
            "5: expected `relation`, `permission` or `}`, not `and`",
        ),
        (
            "relation viewer: user\npermission view = viewer->",
            "6: expected the name of a relation or permission after `->`, not `}`",
        ),
        (
            &format!("permission view = {}viewer", "(".repeat(33)),
            "4: expected parentheses at most 32 deep, not `viewer`",
        ),
    ] {
        assert_eq!(faults(lines, ""), [expected], "{lines}");
    }
    for (schema, expected) in [
        (
            "partial view {}",
            "1: `partial` is not resolved; give the schema that `zed schema compile` writes",
        ),
        (
            "import \"a.zed\"",
            "1: `import` is not resolved; give the schema that `zed schema compile` writes",
        ),
        (
            "use self\\ndefinition user {\\npermission me = self\\n}",
            "1: `self` is not a relation; take it out of the schema, and write a policy that compares `resource.id` with \
             `request.subject` instead (docs/spicedb.md)",
        ),
        (
            "definition context {}",
            "1: `context` cannot be the name of a type; rename it in the schema, the relationships and the assertions",
        ),
        (
            "caveat ip_range(ip ipaddress) { ip.in_cidr('10.0.0.0/8') } definition user {} \
             definition d { relation a: user with ip_range }",
            "1: `ip_range` is not an expiry such as `now < end`; take it out of the schema, and write a policy with \
             `relation.<name>` and this condition over properties instead (docs/spicedb.md)",
        ),
        ("caveat open(now timestamp) { now", "1: expected `}` at the end of the caveat"),
        ("type user", "1: expected `definition`, `caveat` or `use`, not `type`"),
    ] {
        // In one line of the file: YAML reads its `\n`.
        let text = format!("schema: \"{}\"\n", schema.replace('"', "\\\""));
        let found = imported(&text).expect_err(schema);
        let found: Vec<_> =
            found.iter().map(|one| one.split_once(": ").unwrap_or_default().1).collect();
        assert_eq!(found, [expected.split_once(": ").unwrap_or_default().1], "{schema}");
    }
}

/// The text of a schema may be a block, with any sign in its lines, or stand in quotes.
#[test]
fn a_fault_has_its_line_in_every_form_of_text() {
    let late = "relation viewer: user with late";
    for (text, line) in [
        (format!("schema: |-\n  definition user {{}} // a |\n  definition doc {{ {late} }}\n"), 3),
        (format!("schema: |-\n\n  definition user {{}}\n  definition doc {{ {late} }}\n"), 4),
        (format!("schema: | # it\n  definition user {{}}\n  definition doc {{ {late} }}\n"), 3),
        (format!("schema: \"definition user {{}}\\ndefinition doc {{ {late} }}\"\n"), 1),
        (format!("schema: \"definition user {{}}\\n\n\n  definition doc {{ {late} }}\"\n"), 3),
        (format!("schema: 'definition user {{}}\n\n  definition doc {{ {late} }}'\n"), 3),
    ] {
        let expected = format!("{line}: the schema has no condition `late`");
        assert_eq!(imported(&text).expect_err(&text), [expected], "{text}");
    }
    let schema = "schema: 'definition user {} definition doc { relation viewer: user }'\n";
    for (lines, line) in [
        ("doc:d#viewer@user:a\\n\n  doc:d#viewer@user:b\\n\n\n  nobody", 5),
        ("doc:d#viewer@user:a\\n\n  nobody\\n\n\n  doc:d#viewer@user:b", 3),
    ] {
        let text = format!("{schema}relationships: \"{lines}\"\n");
        let found = imported(&text).expect_err(&text);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("{line}: expected")),
            "{found:?}"
        );
    }
}

#[test]
fn a_caveat_that_nothing_uses_is_left_out() {
    let caveat = "caveat from_office(ip ipaddress) { ip.in_cidr('10.0.0.0/8') }";
    let text = format!(
        "schema: |-\n  {caveat}\n  definition user {{}}\n  definition doc {{ relation viewer: user }}\n"
    );
    assert!(imported(&text).is_ok());
}

#[test]
fn relationships_and_assertions_are_refused_by_their_lines() {
    let relationship = |text: &str| {
        faults("relation viewer: user", &format!("relationships: |-\n  // A comment\n  {text}"))
    };
    let assertion = |rest: &str| {
        faults("relation viewer: user", &format!("assertions:\n  assertTrue:\n  - {rest}"))
    };
    const FORM: &str = "expected `<type>:<id>#<relation>@<type>:<id>`, not ";
    for (found, expected) in [
        (relationship("doc:q3#viewer"), &*format!("8: {FORM}`doc:q3#viewer`")),
        (relationship("doc:q3@user:ann"), &format!("8: {FORM}`doc:q3@user:ann`")),
        (
            relationship("doc:q3#viewer@user:ann[until:{]"),
            &format!("8: {FORM}`doc:q3#viewer@user:ann[until:{{]`"),
        ),
        (
            relationship("doc:q3#viewer@user:ann[expiration:soon]"),
            "8: expected an instant such as `2026-01-15T10:00:00Z`, not `soonZ`",
        ),
        (
            relationship("doc:q3#viewer@user:ann[expiration:2026-01-15T10:00:00Z]"),
            "8: `user:ann` with an expiration is not one of the types of `viewer` of `doc`",
        ),
        (
            relationship("doc:q3#viewer@doc:q3"),
            "8: `doc:q3` is not one of the types of `viewer` of `doc`",
        ),
        (relationship("doc:q3#owner@user:ann"), "8: the schema has no relation `owner` of `doc`"),
        (
            assertion("doc:q3#viewer@user:ann"),
            "8: `user:ann` `viewer` `doc:q3`: the assertion expects true, Portcullis answers false",
        ),
        (assertion("doc:q3#owner@user:ann"), "8: the schema has no relation `owner` of `doc`"),
        (
            assertion("doc:q3#viewer@user:ann with x"),
            "8: the context: expected value at line 1 column 1",
        ),
        (
            faults("relation viewer: user", "validation:\n  doc:q3#viewer:\n  - user:ann"),
            "8: expected `[<subject>] is …`, not `user:ann`",
        ),
        (
            faults("relation viewer: user", "schemaFile: schema.zed"),
            "1: expected `schema` or `schemaFile`",
        ),
    ] {
        assert_eq!(found, [expected]);
    }
}
