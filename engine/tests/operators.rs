//! The details of the operators (`docs/semantics.md`, section 4.5) as a table. Each row is checked by the decisions of plans.

use std::collections::BTreeSet;

use chrono::DateTime;
use portcullis_engine::operator::{self, Operator};
use portcullis_engine::{Check, CheckBody, Condition, Effect, Plan, Policy, ResourcePattern, json};
use uuid::Uuid;

/// The truth of a condition.
#[derive(Debug, PartialEq, Eq)]
enum Truth {
    True,
    False,
    Undetermined,
}

use Truth::{False, True, Undetermined};

/// Compiles a plan of one policy with this condition and effect.
fn plan(condition: &str, effect: Effect) -> Plan {
    let tree = json::parse(condition.as_bytes()).expect("JSON");
    let policy = Policy {
        id: Uuid::nil(),
        name: "the condition".to_owned(),
        resource: ResourcePattern::Any,
        effect,
        priority: 0,
        condition: Ok(Condition::parse(&tree).expect("a valid tree")),
    };
    Plan::compile("doc:read", 1, &[], [policy])
}

/// Finds the truth of a condition for a check with these attributes. An allow applies only if the condition is true, a
/// deny also if it is undetermined.
fn truth(condition: &str, attributes: &str) -> Truth {
    let body = format!(
        r#"{{"subject": "ann", "resource": "doc:read", "action": "read", "attributes": {attributes}}}"#
    );
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a valid check");
    let now = DateTime::from_timestamp_millis(1_772_352_000_000).expect("in range");
    let check = Check::new(body, "acme", None, now);
    let applies = |effect| plan(condition, effect).evaluate(&check).rule_id().is_some();
    match (applies(Effect::Allow), applies(Effect::Deny)) {
        (true, _) => True,
        (false, true) => Undetermined,
        (false, false) => False,
    }
}

/// Each row: the value of `user.x`, an operator, a right side, and the expected truth.
#[track_caller]
fn verify(rows: &[(&str, &str, &str, Truth)]) {
    for (left, operator, right, expected) in rows {
        let condition = format!(
            r#"{{"type": "CONDITION", "attribute": "user.x", "operator": "{operator}", "value": {right}}}"#
        );
        let actual = truth(&condition, &format!(r#"{{"user": {{"x": {left}}}}}"#));
        assert_eq!(actual, *expected, "{left} {operator} {right}");
    }
}

#[test]
fn equality_knows_types() {
    verify(&[
        ("1", "eq", "1", True),
        ("1", "eq", "1.0", True),
        ("0", "eq", "-0.0", True),
        ("1e2", "eq", "100", True),
        (r#""1""#, "eq", "1", Undetermined),
        ("1", "ne", r#""1""#, Undetermined),
        ("true", "eq", r#""true""#, Undetermined),
        ("1", "eq", "true", Undetermined),
        ("true", "eq", "true", True),
        ("true", "ne", "false", True),
        (r#"["a"]"#, "eq", r#""a""#, Undetermined),
        (r#"["a"]"#, "ne", r#""a""#, Undetermined),
        (r#""é""#, "eq", r#""e\u0301""#, False),
        (r#""a""#, "eq", r#""\u0061""#, True),
    ]);
}

#[test]
fn numbers_are_not_rounded() {
    verify(&[
        ("9007199254740993", "eq", "9007199254740992", False),
        ("9007199254740993", "gt", "9007199254740992.0", True),
        ("9007199254740992", "eq", "9007199254740992.0", True),
        ("18446744073709551615", "eq", "18446744073709551614", False),
        ("18446744073709551615", "lt", "18446744073709551616", True),
        ("9223372036854775807", "lt", "9223372036854775808.0", True),
        ("-9223372036854775808", "eq", "-9223372036854775808.0", True),
        ("9007199254740993", "in", "[9007199254740992, 9007199254740994]", False),
        ("[9007199254740993]", "contains", "9007199254740992", False),
    ]);
}

#[test]
fn orderings_compare_numbers_or_strings() {
    verify(&[
        ("2", "lt", "10", True),
        (r#""2""#, "lt", r#""10""#, False),
        (r#""2""#, "lt", "10", Undetermined),
        ("2", "gte", "2.0", True),
        ("true", "lt", "1", Undetermined),
        // U+FF5E sorts before U+1D11E, although its UTF-16 form sorts after.
        (r#""～""#, "lt", r#""𝄞""#, True),
        (r#""Z""#, "lt", r#""a""#, True),
        (r#""""#, "lt", r#""a""#, True),
    ]);
}

#[test]
fn lists_are_searched_by_type_and_value() {
    verify(&[
        (r#""a""#, "in", r#"["b", "a"]"#, True),
        ("1", "in", r#"["1", 1.0]"#, True),
        ("1", "in", r#"["1"]"#, False),
        ("1", "not_in", r#"["1"]"#, True),
        ("true", "in", r#"["true", 1]"#, False),
        ("true", "not_in", r#"["true", 1]"#, True),
        (r#""a""#, "in", "[]", False),
        (r#""a""#, "not_in", "[]", True),
        (r#"["a"]"#, "in", r#"["a"]"#, Undetermined),
        (r#"["a"]"#, "not_in", r#"["b"]"#, Undetermined),
        ("[]", "not_in", "[]", Undetermined),
    ]);
}

#[test]
fn contains_takes_a_list_or_a_string() {
    verify(&[
        (r#"["a", 1]"#, "contains", "1.0", True),
        (r#"["a", 1]"#, "contains", r#""1""#, False),
        (r#"["a"]"#, "contains", "true", False),
        ("[]", "contains", r#""a""#, False),
        (r#""abc""#, "contains", r#""bc""#, True),
        (r#""abc""#, "contains", r#""""#, True),
        (r#""abc""#, "contains", r#""B""#, False),
        (r#""1""#, "contains", "1", Undetermined),
        ("12", "contains", "1", Undetermined),
    ]);
}

#[test]
fn lists_are_compared_with_lists() {
    verify(&[
        (r#"["a", "b"]"#, "contains_any", r#"["b", "c"]"#, True),
        (r#"["a", "b"]"#, "contains_any", r#"["c"]"#, False),
        (r#"["1", 2]"#, "contains_any", r#"[1, "2"]"#, False),
        ("[1]", "contains_any", "[1.0]", True),
        ("[]", "contains_any", r#"["a"]"#, False),
        (r#"["a"]"#, "contains_any", "[]", False),
        ("[]", "contains_any", "[]", False),
        (r#"["a", "b", "b"]"#, "contains_all", r#"["b", "a", "a"]"#, True),
        (r#"["a", 1]"#, "contains_all", r#"["a", 1.0]"#, True),
        (r#"["a", "a"]"#, "contains_all", r#"["a", "b"]"#, False),
        ("[]", "contains_all", r#"["a"]"#, False),
        (r#"["a"]"#, "contains_all", "[]", True),
        ("[]", "contains_all", "[]", True),
        (r#""a""#, "contains_any", r#"["a"]"#, Undetermined),
        (r#""abc""#, "contains_all", "[]", Undetermined),
        ("1", "contains_any", "[]", Undetermined),
        ("true", "contains_all", "[1]", Undetermined),
    ]);
    let numbers = |from: usize| format!("{:?}", (from..from + 500).collect::<Vec<_>>());
    verify(&[
        (&numbers(0), "contains_all", &numbers(0), True),
        (&numbers(1), "contains_all", &numbers(0), False),
        (&numbers(499), "contains_any", &numbers(0), True),
        (&numbers(500), "contains_any", &numbers(0), False),
    ]);
}

#[test]
fn instants_are_compared_with_the_present() {
    // The present is 2026-03-01T08:00:00.000Z.
    verify(&[
        (r#""2026-03-01T08:00:00Z""#, "within", r#""PT1S""#, True),
        (r#""2026-03-01T07:59:59Z""#, "within", r#""PT1S""#, True),
        (r#""2026-03-01T07:59:58.999999999Z""#, "within", r#""PT1S""#, False),
        (r#""2026-03-01T08:00:00.000000001Z""#, "within", r#""PT1S""#, False),
        (r#""2026-01-30T09:00:00+01:00""#, "within", r#""P30D""#, True),
        (r#""2026-01-30T07:59:59Z""#, "within", r#""P30D""#, False),
        (r#""2026-03-01T08:00:00Z""#, "within_next", r#""PT15M""#, True),
        (r#""2026-03-01T08:15:00Z""#, "within_next", r#""PT15M""#, True),
        (r#""2026-03-01T08:15:00.001Z""#, "within_next", r#""PT15M""#, False),
        (r#""2026-03-01T07:59:59.999Z""#, "within_next", r#""PT15M""#, False),
        (r#""2026-03-01""#, "within", r#""P1D""#, Undetermined),
        (r#""2026-03-01T08:00:00""#, "within_next", r#""P1D""#, Undetermined),
        ("1772352000", "within", r#""P1D""#, Undetermined),
        (r#"["2026-03-01T08:00:00Z"]"#, "within", r#""P1D""#, Undetermined),
    ]);
    verify_conditions(&[
        (r#""attribute": "request.time", "operator": "within", "value": "PT1S""#, "{}", True),
        (r#""attribute": "request.time", "operator": "within_next", "value": "PT1S""#, "{}", True),
        (r#""attribute": "user.x", "operator": "within", "value": "P1D""#, "{}", Undetermined),
        (
            r#""attribute": "user.x", "operator": "within", "value": "P1D", "if_missing": true"#,
            "{}",
            True,
        ),
    ]);
}

#[test]
fn text_operators_take_strings() {
    verify(&[
        (r#""abc""#, "starts_with", r#""ab""#, True),
        (r#""abc""#, "ends_with", r#""bc""#, True),
        (r#""abc""#, "ends_with", r#""ab""#, False),
        ("12", "starts_with", r#""1""#, Undetermined),
        (r#"["abc"]"#, "starts_with", r#""a""#, Undetermined),
        (r#""ab""#, "matches", r#""a|ab""#, True),
        (r#""xaby""#, "matches", r#""ab""#, False),
        (r#""ab\n""#, "matches", r#""ab$""#, False),
        ("1", "matches", r#""1""#, Undetermined),
    ]);
}

#[test]
fn dates_compare_as_instants() {
    let noon = r#""2026-03-01T12:00:00Z""#;
    verify(&[
        (r#""2026-03-01T13:59:59+02:00""#, "before", noon, True),
        (r#""2026-03-01T14:00:00+02:00""#, "before", noon, False),
        (r#""2026-03-01T14:00:00+02:00""#, "after", noon, False),
        (r#""2026-03-01T03:30:00.001-08:30""#, "after", noon, True),
        (r#""2026-03-01t12:00:00.000z""#, "after", noon, False),
        (r#""2026-03-01""#, "before", noon, Undetermined),
        // A minus sign that is not ASCII, and a leap second at an impossible time.
        (r#""2026-03-01T10:00:00\u221202:00""#, "before", noon, Undetermined),
        (r#""2026-03-01T10:30:60Z""#, "before", noon, Undetermined),
        (r#""2016-12-31T23:59:60Z""#, "before", noon, True),
        (r#""2026-03-01T12:00:00""#, "before", noon, Undetermined),
        (r#""2026-02-29T12:00:00Z""#, "before", noon, Undetermined),
        ("1772366400", "after", noon, Undetermined),
    ]);
}

#[test]
fn windows_contain_instants() {
    let weekend =
        r#"{"days": ["sat", "sun"], "from": "22:00", "to": "06:00", "zone": "America/St_Johns"}"#;
    verify(&[
        (r#""2026-03-01T01:30:00Z""#, "during", weekend, True),
        (r#""2026-03-01T01:29:59.999Z""#, "during", weekend, False),
        (r#""2026-03-02T06:00:00-03:30""#, "during", weekend, False),
        (r#""2026-03-02t05:59:60-03:30""#, "during", weekend, Undetermined),
        (r#""2016-12-31T23:59:60Z""#, "during", r#"{"days": ["sat"], "zone": "UTC"}"#, True),
        (r#""2026-03-02""#, "during", weekend, Undetermined),
        (r#""2026-03-02T05:00:00""#, "during", weekend, Undetermined),
        (r#"["2026-03-01T01:30:00Z"]"#, "during", weekend, Undetermined),
        ("1772328600", "during", weekend, Undetermined),
    ]);
    let of_the_check = |window: &str| {
        format!(r#""attribute": "request.time", "operator": "during", "value": {window}"#)
    };
    verify_conditions(&[
        (&of_the_check(r#"{"from": "08:00", "to": "08:01", "zone": "UTC"}"#), "{}", True),
        (
            &of_the_check(r#"{"from": "08:00", "to": "08:01", "zone": "Europe/Berlin"}"#),
            "{}",
            False,
        ),
        (
            r#""attribute": "user.x", "operator": "during", "value": {"zone": "UTC"}"#,
            "{}",
            Undetermined,
        ),
        (
            r#""attribute": "user.x", "operator": "during", "value": {"zone": "UTC"}, "if_missing": true"#,
            "{}",
            True,
        ),
    ]);
}

#[test]
fn addresses_are_inside_networks() {
    verify(&[
        (r#""10.1.2.3""#, "ip_in", r#""10.0.0.0/8""#, True),
        (r#""11.0.0.0""#, "ip_in", r#""10.0.0.0/8""#, False),
        (r#""::ffff:10.1.2.3""#, "ip_in", r#""10.0.0.0/8""#, True),
        (r#""10.1.2.3""#, "ip_in", r#""::ffff:10.0.0.0/104""#, True),
        (r#""::ffff:10.1.2.3""#, "ip_in", r#""::/0""#, False),
        (r#""2001:DB8::1""#, "ip_in", r#"["10.0.0.0/8", "2001:db8::/32"]"#, True),
        (r#""10.1.2.3""#, "ip_in", r#""10.1.2.3""#, True),
        (r#""10.1.2.3""#, "ip_in", "[]", False),
        (r#""10.1.2""#, "ip_in", r#""10.0.0.0/8""#, Undetermined),
        (r#""010.1.2.3""#, "ip_in", r#""10.0.0.0/8""#, Undetermined),
        (r#""10.1.2.3/32""#, "ip_in", r#""10.0.0.0/8""#, Undetermined),
        (r#""fe80::1%eth0""#, "ip_in", r#""fe80::/10""#, Undetermined),
        (r#"["10.1.2.3"]"#, "ip_in", r#""10.0.0.0/8""#, Undetermined),
        ("167772161", "ip_in", r#""10.0.0.0/8""#, Undetermined),
    ]);
}

/// Each row: the members of a `CONDITION`, the attributes, and the expected truth.
#[track_caller]
fn verify_conditions(rows: &[(&str, &str, Truth)]) {
    for (members, attributes, expected) in rows {
        let condition = format!(r#"{{"type": "CONDITION", {members}}}"#);
        assert_eq!(truth(&condition, attributes), *expected, "{members} of {attributes}");
    }
}

#[test]
fn absent_attributes_are_undetermined() {
    let eq = r#""attribute": "user.x", "operator": "eq", "value": 1"#;
    let not_in = r#""attribute": "user.x", "operator": "not_in", "value": []"#;
    let exists = r#""attribute": "user.x", "operator": "exists""#;
    let if_true = format!(r#"{eq}, "if_missing": true"#);
    let if_false = format!(r#"{eq}, "if_missing": false"#);
    verify_conditions(&[
        (eq, "{}", Undetermined),
        (eq, r#"{"user": {"X": 1}, "resource": {"x": 1}}"#, Undetermined),
        (not_in, "{}", Undetermined),
        (exists, "{}", False),
        (exists, r#"{"user": {"x": []}}"#, True),
        (exists, r#"{"user": {"x": ""}}"#, True),
        (&if_true, "{}", True),
        (&if_false, "{}", False),
        // Present, but of a wrong type: `if_missing` has no effect.
        (&if_true, r#"{"user": {"x": "1"}}"#, Undetermined),
        (&if_false, r#"{"user": {"x": "1"}}"#, Undetermined),
    ]);
}

#[test]
fn two_attributes_compare_as_literals_do() {
    let test = |operator: &str, rest: &str| {
        format!(
            r#""attribute": "user.x", "operator": "{operator}", "value": {{"attribute": "resource.y"}}{rest}"#
        )
    };
    let both = |x: &str, y: &str| format!(r#"{{"user": {{"x": {x}}}, "resource": {{"y": {y}}}}}"#);
    let if_missing = test("eq", r#", "if_missing": true"#);
    verify_conditions(&[
        (&test("eq", ""), &both("1", "1.0"), True),
        (&test("eq", ""), &both("1", r#""1""#), Undetermined),
        (&test("eq", ""), &both("[1]", "[1]"), Undetermined),
        (&test("in", ""), &both("1", r#"["1", 1]"#), True),
        (&test("in", ""), &both(r#""a""#, r#""abc""#), Undetermined),
        (&test("contains", ""), &both(r#"["a"]"#, r#""a""#), True),
        (&test("contains", ""), &both(r#"["a"]"#, r#"["a"]"#), Undetermined),
        (&test("contains_any", ""), &both(r#"["a", 1]"#, r#"["b", 1.0]"#), True),
        (&test("contains_any", ""), &both(r#"["a"]"#, r#""a""#), Undetermined),
        (&test("contains_all", ""), &both(r#"["a", 1]"#, r#"[1, 1]"#), True),
        (&test("contains_all", ""), &both(r#"["a"]"#, r#"["a", 1]"#), False),
        (&test("contains_all", ""), r#"{"user": {"x": ["a"]}}"#, Undetermined),
        (
            &test("before", ""),
            &both(r#""2026-03-01T12:00:00+01:00""#, r#""2026-03-01T12:00:00Z""#),
            True,
        ),
        (&test("before", ""), &both(r#""2026-03-01T12:00:00Z""#, r#""soon""#), Undetermined),
        // `if_missing` applies to the left side alone.
        (&if_missing, r#"{"resource": {"y": 1}}"#, True),
        (&if_missing, r#"{"user": {"x": 1}}"#, Undetermined),
        (&if_missing, "{}", True),
    ]);
}

#[test]
fn the_request_is_an_attribute_too() {
    verify_conditions(&[
        (r#""attribute": "request.subject", "operator": "eq", "value": "ann""#, "{}", True),
        (r#""attribute": "request.object", "operator": "eq", "value": "doc""#, "{}", True),
        (r#""attribute": "request.domain", "operator": "eq", "value": "acme""#, "{}", True),
        (
            r#""attribute": "request.time", "operator": "eq", "value": "2026-03-01T08:00:00.000Z""#,
            "{}",
            True,
        ),
        (
            r#""attribute": "request.time", "operator": "after", "value": "2026-03-01T09:59:59+02:00""#,
            "{}",
            True,
        ),
        (r#""attribute": "request.roles", "operator": "exists""#, "{}", True),
        (r#""attribute": "request.roles", "operator": "contains", "value": "a""#, "{}", False),
        (
            r#""attribute": "request.roles", "operator": "contains", "value": "a""#,
            r#"{"user": {"roles": "a"}}"#,
            True,
        ),
        (
            r#""attribute": "request.roles", "operator": "contains_any", "value": ["b", "a"]"#,
            r#"{"user": {"roles": ["a", "c"]}}"#,
            True,
        ),
        (
            r#""attribute": "request.roles", "operator": "contains_all", "value": ["c", "a"]"#,
            r#"{"user": {"roles": "a"}}"#,
            False,
        ),
        (
            r#""attribute": "request.roles", "operator": "contains", "value": 1"#,
            r#"{"user": {"roles": [1, "a"]}}"#,
            False,
        ),
        (r#""attribute": "token.sub", "operator": "exists""#, "{}", False),
        (
            r#""attribute": "user.a.b", "operator": "eq", "value": 1"#,
            r#"{"user": {"a.b": 1}}"#,
            True,
        ),
    ]);
}

#[test]
fn trees_have_three_values() {
    let t = r#"{"type": "CONDITION", "attribute": "request.time", "operator": "exists"}"#;
    let f = r#"{"type": "CONDITION", "attribute": "user.nothing", "operator": "exists"}"#;
    let u = r#"{"type": "CONDITION", "attribute": "user.nothing", "operator": "eq", "value": 1}"#;
    let pair = |kind: &str, (a, b): (&str, &str)| {
        truth(&format!(r#"{{"type": "{kind}", "children": [{a}, {b}]}}"#), "{}")
    };
    for (a, b, and, or) in [
        (t, t, True, True),
        (t, f, False, True),
        (t, u, Undetermined, True),
        (f, f, False, False),
        (f, u, False, Undetermined),
        (u, u, Undetermined, Undetermined),
    ] {
        assert_eq!(
            [pair("AND", (a, b)), pair("AND", (b, a))].each_ref(),
            [&and, &and],
            "{a} AND {b}"
        );
        assert_eq!([pair("OR", (a, b)), pair("OR", (b, a))].each_ref(), [&or, &or], "{a} OR {b}");
    }
    let not = |child| truth(&format!(r#"{{"type": "NOT", "child": {child}}}"#), "{}");
    assert_eq!([not(t), not(f), not(u)], [False, True, Undetermined]);
}

/// Returns the names in backticks in one column of the table with this heading.
fn names<'d>(document: &'d str, heading: &str, column: usize) -> BTreeSet<&'d str> {
    let rows = document.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let cells = rows
        .take_while(|line| line.starts_with('|'))
        .filter_map(|row| row.split(" | ").nth(column));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn documents_have_every_operator() {
    let known: BTreeSet<&str> = operator::names().collect();
    let semantics = include_str!("../../docs/semantics.md");
    assert_eq!(names(semantics, "| Operator | `value` |", 0), known, "docs/semantics.md");
    let api = include_str!("../../docs/api.md");
    assert_eq!(names(api, "| Operator | `value` |", 0), known, "docs/api.md");
    let expressions = include_str!("../../docs/expressions.md");
    let mut shown = names(expressions, "| Expression | Operator of the tree |", 1);
    shown.remove("if_missing");
    assert_eq!(shown, known, "docs/expressions.md");
    for symbol in symbols() {
        assert!(expressions.contains(&format!("\"{symbol}\"")), "the grammar has no `{symbol}`");
    }
}

#[test]
fn fuzzers_know_every_operator() {
    let trees = [include_str!("../fuzz/parse.dict"), include_str!("../fuzz/seeds/parse/tree.json")];
    let trees = trees.concat().replace('\\', "");
    for name in operator::names() {
        assert!(trees.contains(&format!("\"{name}\"")), "`parse` never makes `{name}`");
    }
    let expressions =
        [include_str!("../fuzz/expression.dict"), include_str!("../fuzz/seeds/expression/all.txt")];
    let expressions = expressions.concat();
    for symbol in symbols() {
        let is_made = expressions.contains(&format!(" {symbol} "));
        assert!(is_made, "`expression` never makes `{symbol}`");
    }
}

/// Returns the symbols and words of expressions.
fn symbols() -> impl Iterator<Item = &'static str> {
    let operators = operator::names().filter_map(|name| name.parse().ok());
    operators.map(|operator: Operator| operator.row().symbol)
}
