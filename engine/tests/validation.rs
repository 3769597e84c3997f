//! Tables of refused inputs and their problems: condition trees (`docs/semantics.md`, section 4.6) and the check request
//! (section 2).

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{CheckBody, Condition, Invalid, Namespaces, ResourcePattern, json};

/// A text and its problems, each a JSON pointer and a part of the message.
type Row<'r> = (&'r str, &'r [(&'r str, &'r str)]);

/// Verifies that each text has exactly these problems, in this order. A text without problems is accepted.
#[track_caller]
fn verify(rows: &[Row<'_>], parse: impl Fn(&str) -> Result<(), Invalid>) {
    for (text, expected) in rows {
        let shown: String = text.chars().take(300).collect();
        let outcome = parse(text);
        let problems = outcome.as_ref().err().map(Invalid::problems).unwrap_or_default();
        let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), expected.len(), "{shown}\nhas the problems {found:#?}");
        for (problem, (path, fragment)) in problems.iter().zip(*expected) {
            assert_eq!(problem.path, *path, "{shown}\nhas the problems {found:#?}");
            let message = problem.fault.to_string();
            assert!(message.contains(fragment), "{shown}\nhas the problem {message}");
        }
    }
}

#[track_caller]
fn verify_trees(rows: &[Row<'_>]) {
    verify(rows, tree);
}

/// Verifies rows that contain only the members of a `CONDITION` besides its type.
#[track_caller]
fn verify_conditions(rows: &[Row<'_>]) {
    verify(rows, |members| tree(&format!(r#"{{"type": "CONDITION", {members}}}"#)));
}

fn tree(text: &str) -> Result<(), Invalid> {
    let json = json::parse(text.as_bytes()).map_err(content_fault)?;
    let condition = Condition::parse(&json)?;
    let mut problems = Problems::default();
    let namespaces = Namespaces::default();
    let attributes = namespaces.readable_on(&ResourcePattern::Any);
    condition.check(attributes, &Place::root(), &mut problems);
    problems.into_result()
}

fn check_body(text: &str) -> Result<(), Invalid> {
    let json = json::parse(text.as_bytes()).map_err(content_fault)?;
    CheckBody::parse(&json).map(drop)
}

fn content_fault(error: json::JsonError) -> Invalid {
    match error {
        json::JsonError::Invalid(invalid) => invalid,
        json::JsonError::Syntax(message) => Invalid::expected("", format!("JSON: {message}")),
    }
}

#[test]
fn nodes_have_their_fields() {
    verify_trees(&[
        ("[]", &[("", "an object, not an array")]),
        ("null", &[("", "an object, not null")]),
        ("{}", &[("", "`type` is missing")]),
        (r#"{"type": null}"#, &[("", "`type` is missing")]),
        (r#"{"type": 1}"#, &[("/type", "a string, not a number")]),
        (
            r#"{"type": "XOR"}"#,
            &[("/type", "`CONDITION`, `AND`, `OR`, `NOT`, `ANY`, `ALL`, `LENGTH` or `NAMED`")],
        ),
        (r#"{"type": "and", "children": []}"#, &[("/type", "`AND`")]),
        (r#"{"type": "AND"}"#, &[("", "`children` is missing")]),
        (r#"{"type": "AND", "children": []}"#, &[("/children", "at least one child")]),
        (r#"{"type": "OR", "children": []}"#, &[("/children", "at least one child")]),
        (r#"{"type": "OR", "children": {}}"#, &[("/children", "an array of nodes, not an object")]),
        (r#"{"type": "NOT"}"#, &[("", "`child` is missing")]),
        (r#"{"type": "NOT", "child": []}"#, &[("/child", "an object, not an array")]),
        (r#"{"type": "CONDITION"}"#, &[("", "`attribute`"), ("", "`operator` is missing")]),
    ]);
    verify_conditions(&[
        (r#""operator": "exists""#, &[("", "`attribute` is missing")]),
        (r#""attribute": "user.a""#, &[("", "`operator` is missing")]),
        (r#""attribute": "user.a", "operator": "eq""#, &[("", "`value` is missing")]),
        (
            r#""attribute": "user.a", "operator": "eq", "value": null"#,
            &[(
                "/value",
                "expected a value, not null: no attribute is null; to test whether the attribute is present, use \
                 `exists` and leave `value` out",
            )],
        ),
        (
            r#""attribute": "user.a", "operator": "matches", "value": null"#,
            &[("/value", "a value, not null")],
        ),
        (
            r#""attribute": "user.a", "operator": "ip_in", "value": null"#,
            &[("/value", "a value, not null")],
        ),
        (
            r#""attribute": "user.a", "operator": "start_with", "value": "a""#,
            &[("/operator", "`exists`; did you mean `starts_with`?")],
        ),
        (r#""attribute": "user.a", "operator": "ip_in""#, &[("", "`value` is missing")]),
        (r#""attribute": "user.a", "operator": "matches""#, &[("", "`value` is missing")]),
        (r#""attribute": "user.a", "operator": "like""#, &[("/operator", "`eq`, `ne`")]),
        // The type of `value` is unknown then, so `value` is no further problem.
        (
            r#""attribute": "user.a", "operator": "like", "value": 1"#,
            &[("/operator", "`eq`, `ne`")],
        ),
        (r#""attribute": "user.a", "value": 1"#, &[("", "`operator` is missing")]),
        (r#""attribute": "user.a", "operator": "EQ""#, &[("/operator", "`eq`, `ne`")]),
        (r#""attribute": "user.a", "operator": 1"#, &[("/operator", "a string")]),
        (
            r#""attribute": "user.a", "operator": "eq", "value": 1, "if_missing": "true""#,
            &[("/if_missing", "a boolean, not a string")],
        ),
        (r#""attribute": "user.a", "operator": "exists", "value": 1"#, &[("/value", "no `value`")]),
    ]);
}

#[test]
fn unknown_fields_are_named_at_their_node() {
    verify_trees(&[
        (
            r#"{"type": "CONDITION", "attribute": "user.a", "operator": "exists", "valeu": 1}"#,
            &[("", "`valeu` is unknown")],
        ),
        (
            r#"{"type": "AND", "child": {}, "children": [
                {"type": "CONDITION", "attribute": "user.a", "operator": "exists"}]}"#,
            &[("", "`child` is unknown")],
        ),
        (
            r#"{"type": "NOT", "child": {"type": "CONDITION", "attribute": "user.a", "operator": "eq",
                "value": {"attribute": "user.b", "default": 1}}}"#,
            &[("/child/value", "`default` is unknown")],
        ),
    ]);
}

#[test]
fn every_problem_is_reported_at_its_place() {
    verify_trees(&[(
        r#"{"type": "AND", "children": [
            {"type": "OR", "children": [
                {"type": "NOT", "child": {"type": "CONDITION", "attribute": "user", "operator": "exists"}},
                {"type": "CONDITION", "attribute": "user.a", "operator": "lt", "value": true},
                {"type": "CONDITION", "attribute": "user.a", "operator": "in", "value": ["a", true]}]},
            {"type": "NOT", "child": {"type": "OR", "children": []}},
            {"type": "CONDITION", "operator": "eq", "value": 1, "a/b": 2}]}"#,
        &[
            ("/children/0/children/0/child/attribute", "a dotted path"),
            ("/children/0/children/1/value", "a string, a number or"),
            ("/children/0/children/2/value/1", "a string or a number"),
            ("/children/1/child/children", "at least one child"),
            ("/children/2", "`a/b` is unknown"),
            ("/children/2", "`attribute` is missing"),
        ],
    )]);
}

#[test]
fn attributes_are_paths_of_a_known_kind() {
    for (path, fragment) in [
        (r#""user""#, "a dotted path"),
        (r#""""#, "a dotted path"),
        (r#""user.""#, "a dotted path"),
        (r#"".name""#, "a dotted path"),
        (r#""geo.country""#, "no resolver `geo`"),
        (r#""User.name""#, "no resolver `User`"),
        (r#""request.ip""#, "`request.roles`"),
        (r#""request.subject.name""#, "`request.roles`"),
        ("1", "a string, not a number"),
        (r#"["user.a"]"#, "a string, not an array"),
    ] {
        let left = format!(r#""attribute": {path}, "operator": "exists""#);
        let right =
            format!(r#""attribute": "user.a", "operator": "eq", "value": {{"attribute": {path}}}"#);
        verify_conditions(&[
            (&left, &[("/attribute", fragment)]),
            (&right, &[("/value/attribute", fragment)]),
        ]);
    }
    let no_path = r#""attribute": "user.a", "operator": "eq", "value": {}"#;
    verify_conditions(&[(no_path, &[("/value", "`attribute` is missing")])]);
}

/// A right side of every shape, under its name in the table of operators.
const RIGHT_SIDES: [(&str, &str); 12] = [
    ("string", r#""a""#),
    ("number", "-1.5"),
    ("boolean", "false"),
    ("list", r#"["a", 1]"#),
    ("empty list", "[]"),
    ("attribute", r#"{"attribute": "request.time"}"#),
    ("date", r#""2026-03-01T08:00:00+02:00""#),
    ("duration", r#""P1DT12H""#),
    ("pattern", r#""[a-z]+""#),
    ("network", r#""10.0.0.0/8""#),
    ("networks", r#"["10.0.0.0/8", "::1"]"#),
    ("window", r#"{"days": ["mon"], "from": "08:00", "to": "18:00", "zone": "Europe/Berlin"}"#),
];

#[test]
fn operators_take_the_right_sides_that_they_compare() {
    let texts = ["string", "date", "duration", "pattern", "network"];
    let lists = ["list", "empty list", "networks"];
    let scalars = [&texts[..], &["number", "boolean", "attribute"]].concat();
    let ordered = [&texts[..], &["number", "attribute"]].concat();
    let text = [&texts[..], &["attribute"]].concat();
    let list = [&lists[..], &["attribute"]].concat();
    for (operators, takes) in [
        (&["eq", "ne", "contains"][..], &scalars[..]),
        (&["lt", "lte", "gt", "gte"], &ordered),
        (&["in", "not_in", "contains_any", "contains_all"], &list),
        (&["within", "within_next"], &["duration"]),
        (&["starts_with", "ends_with"], &text),
        (&["matches"], &texts),
        (&["before", "after"], &["date", "attribute"]),
        (&["ip_in"], &["network", "networks", "empty list"]),
        (&["during"], &["window"]),
    ] {
        for (operator, (shape, value)) in
            operators.iter().flat_map(|operator| RIGHT_SIDES.map(|side| (operator, side)))
        {
            let text = format!(
                r#"{{"type": "CONDITION", "attribute": "user.a", "operator": "{operator}", "value": {value}}}"#
            );
            let outcome = tree(&text);
            assert_eq!(outcome.is_ok(), takes.contains(&shape), "{operator} {shape}: {outcome:?}");
            let problems = outcome.err();
            let mut paths = problems.iter().flat_map(Invalid::problems).map(|p| p.path.as_str());
            assert!(
                paths.all(|path| path.starts_with("/value")),
                "{operator} {shape}: {problems:?}"
            );
        }
    }
}

#[test]
fn literals_are_well_formed() {
    for (operator, value, path, fragment) in [
        ("in", "[true]", "/value/0", "a string or a number"),
        ("in", "[1, null]", "/value/1", "a string or a number"),
        ("not_in", r#"["a", ["b"]]"#, "/value/1", "a string or a number"),
        ("in", r#"["a", {"attribute": "user.b"}]"#, "/value/1", "a string or a number"),
        ("matches", r#""(""#, "/value", "a regular expression"),
        ("matches", r#""a)|(b""#, "/value", "a regular expression"),
        ("matches", r#""(?<x>a)\\k<x>""#, "/value", "a regular expression"),
        ("matches", r#""(?=a)""#, "/value", "a regular expression"),
        ("matches", r#""(\\pL{100}){100}""#, "/value", "a regular expression"),
        ("ip_in", r#""10.0.0.1/8""#, "/value", "host bits zero"),
        ("ip_in", r#""10.0.0.0/33""#, "/value", "a network"),
        ("ip_in", r#""2001:db8::/129""#, "/value", "a network"),
        ("ip_in", r#""2001:db8::1/64""#, "/value", "host bits zero"),
        ("ip_in", r#""10.0.0.0/""#, "/value", "a network"),
        ("ip_in", r#""localhost""#, "/value", "a network"),
        ("ip_in", r#"["10.0.0.0/8", "10.0.0"]"#, "/value/1", "a network"),
        ("ip_in", r#"["10.0.0.0/8", 1]"#, "/value/1", "a network"),
        ("during", r#"{"zone": "Berlin"}"#, "/value/zone", "the nearest is `Europe/Berlin`"),
        ("during", r#"{"zone": "UTC", "days": ["mon", "Tue"]}"#, "/value/days/1", "`tue`"),
        ("during", r#"{"zone": "UTC", "days": []}"#, "/value/days", "at least one weekday"),
        ("during", r#"{"zone": "UTC", "from": "08:00"}"#, "/value", "`to` is missing"),
        (
            "during",
            r#"{"zone": "UTC", "from": "08:00", "to": "24:00"}"#,
            "/value/to",
            "midnight is `00:00`",
        ),
        ("during", r#"{"days": ["mon"]}"#, "/value", "`zone` is missing"),
        ("during", r#"{"zone": "UTC", "hours": 1}"#, "/value", "`hours` is unknown"),
        ("before", r#""2026-03-01""#, "/value", "an RFC 3339 date-time"),
        ("after", r#""2026-03-01T08:00:00""#, "/value", "an RFC 3339 date-time"),
        ("before", r#""2026-02-29T08:00:00Z""#, "/value", "an RFC 3339 date-time"),
        ("after", r#""tomorrow""#, "/value", "an RFC 3339 date-time"),
        ("within", r#""P1W""#, "/value", "days, hours, minutes and seconds such as `P30D`"),
        ("within_next", r#""P1M""#, "/value", "without weeks, months and years"),
        ("within", r#""P36526D""#, "/value", "at most `P36525D`"),
        ("within_next", r#""PT0S""#, "/value", "above zero"),
        ("within", r#"{"attribute": "user.b"}"#, "/value", "a duration"),
        ("contains_any", "[true]", "/value/0", "a string or a number"),
    ] {
        let text = format!(r#""attribute": "user.a", "operator": "{operator}", "value": {value}"#);
        verify_conditions(&[(&text, &[(path, fragment)])]);
    }
}

/// Writes a tree of this depth.
fn nested(depth: usize) -> String {
    let open = r#"{"type": "NOT", "child": "#.repeat(depth - 1);
    let leaf = r#"{"type": "CONDITION", "attribute": "user.a", "operator": "exists"}"#;
    format!("{open}{leaf}{}", "}".repeat(depth - 1))
}

/// Writes a tree of `nodes` nodes.
fn broad(nodes: usize) -> String {
    let leaf = r#"{"type": "CONDITION", "attribute": "user.a", "operator": "exists"}"#;
    format!(r#"{{"type": "AND", "children": [{}]}}"#, vec![leaf; nodes - 1].join(","))
}

fn long_list(operator: &str, item: &str, items: usize) -> String {
    let list = vec![item; items].join(",");
    format!(r#""attribute": "user.a", "operator": "{operator}", "value": [{list}]"#)
}

#[test]
fn trees_and_lists_keep_their_limits() {
    let too_deep = "/child".repeat(32);
    verify_trees(&[
        (&nested(32), &[]),
        (&nested(33), &[(&too_deep, "at most 32")]),
        (&broad(1_000), &[]),
        (&broad(1_001), &[("/children/999", "at most 1000")]),
        (&broad(3_000), &[("/children/999", "at most 1000")]),
    ]);
    verify_conditions(&[
        (&long_list("in", "1", 10_000), &[]),
        (&long_list("in", "1", 10_001), &[("/value", "at most 10000 values")]),
        (&long_list("not_in", r#""a""#, 10_000), &[]),
        (&long_list("not_in", r#""a""#, 10_001), &[("/value", "at most 10000 values")]),
        (&long_list("ip_in", r#""::1""#, 10_000), &[]),
        (&long_list("ip_in", r#""::1""#, 10_001), &[("/value", "at most 10000 values")]),
    ]);
}

#[test]
fn sound_trees_are_accepted() {
    verify_trees(&[(
        // The example of section 4.
        r#"{"type": "AND", "children": [
            {"type": "CONDITION", "attribute": "user.department", "operator": "eq", "value": "engineering"},
            {"type": "OR", "children": [
                {"type": "CONDITION", "attribute": "resource.owner", "operator": "eq",
                 "value": {"attribute": "request.subject"}},
                {"type": "NOT", "child":
                    {"type": "CONDITION", "attribute": "user.clearance", "operator": "lt", "value": 3}}]}]}"#,
        &[],
    )]);
    verify_conditions(&[
        (r#""attribute": "user.a.b", "operator": "exists""#, &[]),
        (r#""attribute": "resource.a", "operator": "exists", "value": null"#, &[]),
        (r#""attribute": "token.realm_access.roles", "operator": "contains", "value": "x""#, &[]),
        (r#""attribute": "request.roles", "operator": "contains", "value": "x""#, &[]),
        (r#""attribute": "request.domain", "operator": "in", "value": []"#, &[]),
        (r#""attribute": "user.a", "operator": "eq", "value": 1, "if_missing": false"#, &[]),
        (r#""attribute": "user.a", "operator": "eq", "value": 1, "if_missing": null"#, &[]),
        (r#""attribute": "user.a", "operator": "eq", "value": 18446744073709551616"#, &[]),
        (r#""attribute": "user.a", "operator": "eq", "value": """#, &[]),
        (r#""attribute": "user.a", "operator": "matches", "value": """#, &[]),
        (r#""attribute": "user.a", "operator": "ip_in", "value": "::ffff:10.0.0.0/104""#, &[]),
    ]);
}

#[test]
fn content_that_no_tree_may_have_is_refused() {
    verify_conditions(&[
        (
            r#""attribute": "user.a", "operator": "eq", "value": 1, "value": 2"#,
            &[("", "`value` is there twice")],
        ),
        (
            r#""attribute": "user.a", "operator": "eq", "value": "a\u0000b""#,
            &[("/value", "U+0000")],
        ),
        (
            r#""attribute": "user.a", "operator": "eq", "value": 1e400"#,
            &[("", "numbers that a double can hold")],
        ),
    ]);
}

/// Writes a check in which one field is `value`, a JSON text.
fn check_with(field: &str, value: &str) -> String {
    let mut members =
        vec![("subject", r#""ann""#), ("resource", r#""doc:read""#), ("action", r#""read""#)];
    members.retain(|(name, _)| *name != field);
    members.push((field, value));
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!(r#""{name}": {value}"#)).collect();
    format!("{{{}}}", members.join(", "))
}

/// Verifies checks with at most one problem, in this field.
#[track_caller]
fn verify_field(field: &str, rows: &[(&str, &[(&str, &str)])]) {
    let texts: Vec<String> = rows.iter().map(|(value, _)| check_with(field, value)).collect();
    let rows: Vec<Row<'_>> =
        texts.iter().zip(rows).map(|(text, (_, expected))| (text.as_str(), *expected)).collect();
    verify(&rows, check_body);
}

/// Writes a JSON string of `characters` characters, each of several bytes.
fn string_of(characters: usize) -> String {
    format!(r#""{}""#, "ä".repeat(characters))
}

#[test]
fn subjects_and_actions_have_lengths_in_characters() {
    verify_field(
        "subject",
        &[
            (r#""""#, &[("/subject", "1 to 256 characters")]),
            (r#"" ""#, &[]),
            (&string_of(256), &[]),
            (&string_of(257), &[("/subject", "1 to 256 characters")]),
            ("1", &[("/subject", "a string, not a number")]),
            ("null", &[("", "`subject` is missing")]),
        ],
    );
    verify_field(
        "action",
        &[
            (r#""""#, &[("/action", "1 to 128 characters")]),
            (&string_of(128), &[]),
            (&string_of(129), &[("/action", "1 to 128 characters")]),
            ("null", &[]),
        ],
    );
    verify_field("domain", &[(r#""acme""#, &[]), ("1", &[("/domain", "a string, not a number")])]);
}

#[test]
fn resources_are_a_name_and_a_verb() {
    let bad = &[("/resource", "`<name>:<verb>`")][..];
    let named = |characters| format!(r#""{}:read""#, "ä".repeat(characters - ":read".len()));
    verify_field(
        "resource",
        &[
            (r#""a:b:c:read""#, &[]),
            (r#""::read""#, &[]),
            (&named(256), &[]),
            (&named(257), bad),
            (r#""""#, bad),
            (r#"":""#, bad),
            (r#""doc""#, bad),
            (r#""doc:""#, bad),
            (r#"":read""#, bad),
            (r#""a:b:""#, bad),
            (r#""my doc:read""#, bad),
            (r#""doc:read ""#, bad),
            (r#""doc:\tread""#, bad),
            (r#""doc\u00a0x:read""#, bad),
            (r#""doc\u3000x:read""#, bad),
            (r#""doc\u007f:read""#, bad),
            (r#""doc\u0085:read""#, bad),
            (r#"["doc:read"]"#, &[("/resource", "a string, not an array")]),
            ("null", &[("", "`resource` is missing")]),
        ],
    );
}

#[test]
fn attributes_are_scalars_and_flat_lists() {
    let bad = "a string, a number, a boolean, a list of strings and numbers, or `null`";
    verify_field(
        "attributes",
        &[
            ("{}", &[]),
            (r#"{"user": {}, "resource": {}}"#, &[]),
            (r#"{"user": {"a": "b", "c": 1, "d": true, "e": ["f", 2], "g": [], "": ""}}"#, &[]),
            (r#"{"user": {"a.b": 1}}"#, &[]),
            ("[]", &[("/attributes", "an object, not an array")]),
            (r#"{"user": []}"#, &[("/attributes/user", "an object, not an array")]),
            (r#"{"user": "ann"}"#, &[("/attributes/user", "an object, not a string")]),
            (r#"{"user": {"a": null}, "resource": null}"#, &[]),
            (r#"{"user": {"a": {"b": 1}}}"#, &[("/attributes/user/a", bad)]),
            (r#"{"resource": {"a": {}}}"#, &[("/attributes/resource/a", bad)]),
            (r#"{"resource": {"a": [true]}}"#, &[("/attributes/resource/a", bad)]),
            (r#"{"resource": {"a": [null]}}"#, &[("/attributes/resource/a", bad)]),
            (r#"{"resource": {"a": ["b", ["c"]]}}"#, &[("/attributes/resource/a", bad)]),
            (r#"{"user": {"a/b~c": {}}}"#, &[("/attributes/user/a~1b~0c", bad)]),
            (r#"{"request": {"time": "x"}}"#, &[("/attributes", "`request` is unknown")]),
            (
                r#"{"token": {}, "geo": {}}"#,
                &[("/attributes", "`token` is unknown"), ("/attributes", "`geo` is unknown")],
            ),
        ],
    );
}

#[test]
fn every_problem_of_a_check_is_reported() {
    verify(
        &[
            ("[]", &[("", "an object, not an array")]),
            ("{}", &[("", "`subject` is missing"), ("", "`resource` is missing")]),
            (
                r#"{"subject": "", "resource": "doc", "domain": 1, "efect": "allow",
                    "attributes": {"user": {"a": [null]}, "resource": {"b": {}}, "env": {}}}"#,
                &[
                    ("/subject", "1 to 256 characters"),
                    ("/resource", "`<name>:<verb>`"),
                    ("/domain", "a string, not a number"),
                    ("/attributes/user/a", "a boolean, a list of strings and numbers, or `null`"),
                    (
                        "/attributes/resource/b",
                        "a boolean, a list of strings and numbers, or `null`",
                    ),
                    ("/attributes", "`env` is unknown"),
                    ("", "`efect` is unknown"),
                ],
            ),
            (
                r#"{"subject": "ann", "subject": "bob", "resource": "doc:read", "action": "read"}"#,
                &[("", "`subject` is there twice")],
            ),
        ],
        check_body,
    );
}
