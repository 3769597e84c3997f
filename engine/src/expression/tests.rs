//! The tree of each expression, its printed form, and the message of each refused expression.

use super::*;
use crate::policy::{Format, Policy};

/// Compiles a tree in JSON.
fn tree(text: &str) -> Condition {
    let json = crate::json::parse(text.as_bytes()).expect("JSON");
    Condition::parse(&json).expect(text)
}

/// Writes a `CONDITION` node; `rest` are further members.
fn is(attribute: &str, operator: &str, value: &str, rest: &str) -> String {
    format!(
        r#"{{"type": "CONDITION", "attribute": "{attribute}", "operator": "{operator}", "value": {value}{rest}}}"#
    )
}

/// Verifies that a text is the canonical form of a tree.
#[track_caller]
fn is_form_of(text: &str, json: &str) {
    let expected = tree(json);
    assert_eq!(parse(text), Ok(expected.clone()), "{text}");
    assert_eq!(print(&expected), text);
}

#[test]
fn tests_have_one_form_each() {
    for (text, attribute, operator, value) in [
        (r#"user.a == "x""#, "user.a", "eq", r#""x""#),
        ("user.a != -1.5", "user.a", "ne", "-1.5"),
        ("user.a == true", "user.a", "eq", "true"),
        ("user.level < 18446744073709551615", "user.level", "lt", "18446744073709551615"),
        ("user.level <= resource.level", "user.level", "lte", r#"{"attribute": "resource.level"}"#),
        (r#"user.level > "a""#, "user.level", "gt", r#""a""#),
        ("user.level >= 3", "user.level", "gte", "3"),
        (
            r#"request.action in ["list", "read", 1]"#,
            "request.action",
            "in",
            r#"["read", 1, "list"]"#,
        ),
        (
            "user.region not_in user.regions",
            "user.region",
            "not_in",
            r#"{"attribute": "user.regions"}"#,
        ),
        ("user.a in []", "user.a", "in", "[]"),
        (r#"request.roles contains "nurse""#, "request.roles", "contains", r#""nurse""#),
        (
            "resource.teams contains_any user.teams",
            "resource.teams",
            "contains_any",
            r#"{"attribute": "user.teams"}"#,
        ),
        (r#"request.roles contains_all ["a", 1]"#, "request.roles", "contains_all", r#"[1, "a"]"#),
        (r#"resource.created within "P30D""#, "resource.created", "within", r#""P30D""#),
        (r#"token.exp within_next "P1DT12H""#, "token.exp", "within_next", r#""PT36H""#),
        (r#"token.a.b starts_with "hotfix/""#, "token.a.b", "starts_with", r#""hotfix/""#),
        (
            r#"resource.invitee ends_with "@shop.example""#,
            "resource.invitee",
            "ends_with",
            r#""@shop.example""#,
        ),
        (r#"user.a matches "INC-\\d{4}\"""#, "user.a", "matches", r#""INC-\\d{4}\"""#),
        (
            r#"request.time before "2026-03-01T08:00:00Z""#,
            "request.time",
            "before",
            r#""2026-03-01T10:00:00+02:00""#,
        ),
        (
            r#"request.time after "2026-03-01T08:00:00.250Z""#,
            "request.time",
            "after",
            r#""2026-03-01T08:00:00.25Z""#,
        ),
        (
            "request.time after user.shift_end",
            "request.time",
            "after",
            r#"{"attribute": "user.shift_end"}"#,
        ),
        (r#"ip_in(user.ip, "10.0.0.0/8")"#, "user.ip", "ip_in", r#"["10.0.0.0/8"]"#),
        (
            r#"ip_in(user.ip, ["10.0.0.0/8", "2001:db8::/32"])"#,
            "user.ip",
            "ip_in",
            r#"["2001:db8::/32", "10.0.0.0/8"]"#,
        ),
        ("ip_in(user.ip, [])", "user.ip", "ip_in", "[]"),
        (
            r#"during(request.time, "mon-fri 08:00-18:00 Europe/Berlin")"#,
            "request.time",
            "during",
            r#"{"days": ["mon", "tue", "wed", "thu", "fri"], "from": "08:00", "to": "18:00", "zone": "Europe/Berlin"}"#,
        ),
        (r#"hours.open == true"#, "hours.open", "eq", "true"),
        (
            r#"user["first name"] == resource["a\"b\\c"]"#,
            "user.first name",
            "eq",
            r#"{"attribute": "resource.a\"b\\c"}"#,
        ),
        (
            r#"token["https://acme.example/ward.id"] == 1"#,
            "token.https://acme.example/ward.id",
            "eq",
            "1",
        ),
        (r#"resource["2fa"] == 1"#, "resource.2fa", "eq", "1"),
        (r#"resource["a..b"] == 1"#, "resource.a..b", "eq", "1"),
        ("user.größe == 1", "user.größe", "eq", "1"),
        ("user.in in user.true", "user.in", "in", r#"{"attribute": "user.true"}"#),
    ] {
        is_form_of(text, &is(attribute, operator, value, ""));
        for truth in [true, false] {
            let rest = format!(r#", "if_missing": {truth}"#);
            is_form_of(&format!("({text}) ?? {truth}"), &is(attribute, operator, value, &rest));
        }
    }
    is_form_of(
        "exists(user.a)",
        r#"{"type": "CONDITION", "attribute": "user.a", "operator": "exists"}"#,
    );
}

#[test]
fn nodes_have_one_form_each() {
    let [a, b, c] = ["a", "b", "c"].map(|name| is(&format!("user.{name}"), "eq", "1", ""));
    let d = is("user.d", "eq", "1", r#", "if_missing": true"#);
    let e = r#"{"type": "CONDITION", "attribute": "user.e", "operator": "exists"}"#.to_owned();
    let many = |kind: &str, children: &[&String]| {
        let children: Vec<_> = children.iter().map(|child| child.as_str()).collect();
        format!(r#"{{"type": "{kind}", "children": [{}]}}"#, children.join(", "))
    };
    let (all, any) =
        (|children: &[&String]| many("AND", children), |children: &[&String]| many("OR", children));
    let not = |child: &String| format!(r#"{{"type": "NOT", "child": {child}}}"#);
    for (text, json) in [
        ("user.a == 1 && user.b == 1 && user.c == 1", all(&[&a, &b, &c])),
        ("user.a == 1 && (user.b == 1 && user.c == 1)", all(&[&a, &all(&[&b, &c])])),
        ("(user.a == 1 && user.b == 1) && user.c == 1", all(&[&all(&[&a, &b]), &c])),
        ("user.a == 1 || user.b == 1 && user.c == 1", any(&[&a, &all(&[&b, &c])])),
        ("(user.a == 1 || user.b == 1) && user.c == 1", all(&[&any(&[&a, &b]), &c])),
        ("(user.a == 1 || user.b == 1) || user.c == 1", any(&[&any(&[&a, &b]), &c])),
        ("!(user.a == 1)", not(&a)),
        ("!!(user.a == 1)", not(&not(&a))),
        ("!(user.a == 1 && user.b == 1)", not(&all(&[&a, &b]))),
        ("!(user.a == 1 || user.b == 1)", not(&any(&[&a, &b]))),
        ("!exists(user.e) && user.a == 1", all(&[&not(&e), &a])),
        ("!((user.d == 1) ?? true)", not(&d)),
        ("user.a == 1 && ((user.d == 1) ?? true)", all(&[&a, &d])),
        ("((user.d == 1) ?? true) || exists(user.e)", any(&[&d, &e])),
        ("all(user.a == 1)", all(&[&a])),
        ("any((user.d == 1) ?? true)", any(&[&d])),
        ("!all(any(user.a == 1 || user.b == 1))", not(&all(&[&any(&[&any(&[&a, &b])])]))),
        ("all(user.a == 1) && any(!exists(user.e))", all(&[&all(&[&a]), &any(&[&not(&e)])])),
    ] {
        is_form_of(text, &json);
    }
}

#[test]
fn other_ways_to_write_are_read_too() {
    for (text, canonical) in [
        ("  user.a==1&&user.b==1 ", "user.a == 1 && user.b == 1"),
        ("((user.a\n== 'it\\'s'))", "user.a == \"it's\""),
        (
            "(user.a == 1) && (user.b == 1 && user.c == 1 || exists ( user.d ))",
            "user.a == 1 && (user.b == 1 && user.c == 1 || exists(user.d))",
        ),
        ("((user.a == 1)) ?? false && user.b == 1", "((user.a == 1) ?? false) && user.b == 1"),
        ("user['a'] in ['x', 'x', 2, ]", "user.a in [\"x\", 2]"),
        ("ip_in(user.ip, ['10.0.0.0/9', '10.128.0.0/9'])", "ip_in(user.ip, \"10.0.0.0/8\")"),
        ("during(user.t, '  sat,sun   UTC')", "during(user.t, \"sat,sun UTC\")"),
        (
            "request['time'] before '2026-01-01t00:00:00+01:00'",
            "request.time before \"2025-12-31T23:00:00Z\"",
        ),
    ] {
        assert_eq!(
            parse(text).map(|condition| print(&condition)),
            Ok(canonical.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn short_texts_are_read_as_what_they_mean() {
    for (text, canonical) in [
        ("user.vip", "user.vip == true"),
        ("!user.vip", "!(user.vip == true)"),
        ("user['a b'] && !user.c", "user[\"a b\"] == true && !(user.c == true)"),
        ("(user.vip) ?? false", "(user.vip == true) ?? false"),
        ("any(user.vip || user.b)", "any(user.vip == true || user.b == true)"),
        ("user.a == null", "!exists(user.a)"),
        ("user.a != null && user.b", "exists(user.a) && user.b == true"),
        ("!(user.a == null)", "!!exists(user.a)"),
        ("user.a == null['b']", "user.a == null.b"),
        ("true", "exists(request.subject)"),
        ("false", "!exists(request.subject)"),
        ("!(true && false)", "!(exists(request.subject) && !exists(request.subject))"),
        ("true['a'] == false['b']", "true.a == false.b"),
    ] {
        let read = parse(text).map(|condition| print(&condition));
        assert_eq!(read, Ok(canonical.to_owned()), "{text}");
        assert_eq!(parse(text), parse(canonical), "{text}");
    }
}

#[test]
fn a_long_expression_has_a_part_on_each_line() {
    let text = "user.a == 1 && !(user.b == 2 && ((user.c == 3) ?? true)) && (user.d == 4 || user.e == 5 && user.f == 6)";
    let condition = parse(text).expect("an expression");
    assert_eq!(layout(&condition, 200), text);
    let lines = [
        "user.a == 1",
        "&& !(user.b == 2 && ((user.c == 3) ?? true))",
        "&& (user.d == 4 || user.e == 5 && user.f == 6)",
    ];
    assert_eq!(layout(&condition, 50), lines.join("\n"));
    let lines = [
        "user.a == 1",
        "&& !(",
        "  user.b == 2",
        "  && ((user.c == 3) ?? true)",
        ")",
        "&& (",
        "  user.d == 4",
        "  || user.e == 5",
        "    && user.f == 6",
        ")",
    ];
    assert_eq!(layout(&condition, 20), lines.join("\n"));
    let condition =
        parse("all(any(user.a == 1 || user.b == 2 && user.c == 3))").expect("an expression");
    let lines = [
        "all(",
        "  any(",
        "    user.a == 1",
        "    || user.b == 2",
        "      && user.c == 3",
        "  )",
        ")",
    ];
    assert_eq!(layout(&condition, 10), lines.join("\n"));
}

#[test]
fn instants_of_every_year_are_read_again() {
    for text in
        ["0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999999-23:59", "2016-12-31T23:59:60Z"]
    {
        let condition = tree(&is("user.t", "before", &format!("{text:?}"), ""));
        assert_eq!(parse(&print(&condition)), Ok(condition), "{text}");
    }
}

#[test]
fn a_search_is_shown_as_its_call() {
    let search = crate::casbin::parse("!regexMatch(r.sub.a, 'b')").expect("a matcher");
    assert_eq!(print(&search), r#"!regexMatch(user.a, "b")"#);
}

#[test]
fn a_fault_names_token_and_position() {
    let condition = "a condition such as";
    for (text, position, token, expected) in [
        ("", 0, "", condition),
        ("user.a == 1 &&", 14, "", condition),
        ("true == user.a", 0, "true", condition),
        ("true(user.a)", 0, "true", condition),
        ("true ?? true", 5, "??", "the end of the expression"),
        ("null", 0, "null", "`<kind>.<name>`"),
        ("1 == user.a", 0, "1", condition),
        ("()", 1, ")", condition),
        ("user.a == 1 user.b == 1", 12, "user.b", "`&&`, `||` or the end of the expression"),
        ("'ä😀' == user.a", 0, "'ä😀'", condition),
        ("user.ä == '😀' && (", 18, "", condition),
        ("(user.a == 1", 12, "", "`&&`, `||` or `)`"),
        ("user.a == 1)", 11, ")", "the end of the expression"),
        ("1 < user.a < 3", 0, "1", condition),
        ("user.a < 1 < 3", 11, "<", "`&&`, `||` or the end"),
        // Attributes.
        ("age > 1", 0, "age", "`<kind>.<name>`"),
        ("request.ip == 1", 0, "request.ip", "`request.time`"),
        ("user[age] == 1", 5, "age", "a string: the name"),
        ("user['age' == 1", 11, "==", "`]`"),
        ("user[''] == 1", 5, "''", "`<kind>.<name>`"),
        ("user.a['b'] == 1", 6, "[", "`==`, `!=`"),
        ("exists('a')", 7, "'a'", "an attribute such as"),
        // Operators and their right sides.
        ("user.vip user.a", 9, "user.a", "`==`, `!=`"),
        ("user.vip and user.a", 9, "and", "(did you mean `&&`?)"),
        ("user.vip ?? true", 9, "??", "parentheses around the test before `??`"),
        ("user.a < null", 9, "null", "(`x == null` asks whether `x` is absent"),
        ("user.a == undefined", 10, "undefined", "(`x == null` asks"),
        ("user.a in [null]", 11, "null", "a string or a number"),
        ("!user.a == null", 8, "==", "parentheses around the comparison"),
        ("(user.a == null) ?? true", 17, "??", "not after `exists`"),
        ("user.a = 1", 7, "=", "`within_next` or `matches` (did you mean `==`?)"),
        ("user.a eq 1", 7, "eq", "(did you mean `==`?)"),
        ("user.a-b-c == 1", 6, "-", "(write `user[\"a-b-c\"]`)"),
        ("exists(user.a-b)", 13, "-", "(write `user[\"a-b\"]`)"),
        ("user.a - 1 > 5", 7, "-", "expressions do not calculate"),
        ("user.a + 1 > 5", 7, "+", "`==`, `!=`"),
        ("user.a < true", 9, "true", "a string, a number or an attribute"),
        ("user.a == [1]", 10, "[", "`true`, `false` or an attribute"),
        ("user.a == nil", 10, "nil", "`true`, `false` or an attribute (`x == null`"),
        ("user.a == True", 10, "True", "or an attribute (did you mean `true`?)"),
        ("user.a == a.b-c", 13, "-", "(write `a[\"b-c\"]`)"),
        ("user.a == 'b' and user.c == 1", 14, "and", "(did you mean `&&`?)"),
        ("(user.a == 1 OR user.c == 1)", 13, "OR", "or `)` (did you mean `||`?)"),
        ("user.a not in [1]", 7, "not", "(did you mean `not_in`?)"),
        ("user.a contain 'b'", 7, "contain", "(did you mean `contains`?)"),
        ("user.a in 'abc'", 10, "'abc'", "a list such as"),
        ("user.a in [true]", 11, "true", "a string or a number"),
        ("user.a starts_with 1", 19, "1", "a string or an attribute"),
        ("user.a before '2026-01-01'", 14, "'2026-01-01'", "an RFC 3339 date-time"),
        ("user.a contains_any 'a'", 20, "'a'", "a list such as"),
        ("user.a within 'P1W'", 14, "'P1W'", "without weeks, months and years"),
        ("user.a within user.b", 14, "user.b", "a duration of days"),
        ("user.a within_next 30", 19, "30", "a duration of days"),
        ("user.a matches user.b", 15, "user.b", "a regular expression in quotes"),
        ("user.a matches '('", 15, "'('", "a regular expression, but"),
        ("user.a == 'b", 10, "'b", "a string that ends with `'`"),
        ("user.a == \"\\n\"", 11, "\\n", "the only escapes"),
        ("user.a == 007", 10, "007", "a number such as"),
        // Calls.
        ("regexMatch(user.a, 'b')", 0, "regexMatch", "the only functions"),
        ("has(user.a)", 0, "has", "(did you mean `exists`?)"),
        ("undefined(user.a)", 0, "undefined", "(did you mean `!exists`?)"),
        ("size(user.a) > 1", 0, "size", "did you mean `length`?"),
        ("len(user.a) > 1", 0, "len", "did you mean `length`?"),
        ("during(request.time)", 19, ")", "`,` and a time window"),
        ("during(request.time, 8)", 21, "8", "a time window such as"),
        ("during(request.time, 'Berlin')", 21, "'Berlin'", "the nearest is `Europe/Berlin`"),
        ("ip_in(user.ip, '10.0.0.1/8')", 15, "'10.0.0.1/8'", "host bits zero"),
        ("ip_in(user.ip, ['::1', '10.0.0.1/8'])", 15, "[", "not `10.0.0.1/8`"),
        ("ip_in(user.ip, [1])", 15, "[", "a network in quotes"),
        ("ip_in(user.ip, user.a)", 15, "user.a", "a network in quotes"),
        ("exists(user.a, 1)", 13, ",", "`)`"),
        ("all()", 4, ")", condition),
        ("all(user.a == 1, user.b == 1)", 15, ",", "`&&`, `||` or `)`"),
        // `!` and `??`.
        ("not user.a == 1", 0, "not", "(did you mean `!`?)"),
        ("user.a == 1 && not (user.b == 1)", 15, "not", "(did you mean `!`?)"),
        ("'x' in user.a", 0, "'x'", "(write `user.a contains 'x'`)"),
        ("!user.a == 1", 8, "==", "parentheses around the comparison"),
        ("!(user.a == 1) ?? true", 15, "??", "parentheses around the test and its `??`"),
        ("user.a == 1 ?? true", 12, "??", "parentheses around the test before `??`"),
        ("ip_in(user.a, '::1') ?? true", 21, "??", "parentheses around the test before `??`"),
        ("(user.a == 1) ?? 1", 17, "1", "`true` or `false`"),
        ("((user.a == 1) ?? true) ?? true", 24, "??", "after one test in parentheses, once"),
        ("(exists(user.a)) ?? true", 17, "??", "not after `exists`"),
        ("(user.a == 1 && user.b == 1) ?? true", 29, "??", "after one test"),
        ("(user.a == 1) ?? true ?? true", 22, "??", "the end of the expression"),
        ("(!exists(user.a)) ?? true", 18, "??", "after one test"),
    ] {
        let error = parse(text).expect_err(text);
        let Fault::Token { expected: told, token: named, position: place } = &error else {
            panic!("{text}: {error}");
        };
        assert_eq!((*place, &**named), (position, token), "{text}: {error}");
        assert!(told.contains(expected), "{text}: {error}");
    }
}

#[test]
fn an_expression_has_the_limits_of_a_tree() {
    let leaf = "exists(user.a)";
    let deep = |levels: usize| format!("{}{leaf}", "!".repeat(levels));
    let calls = |levels: usize| format!("{}{leaf}{}", "all(".repeat(levels), ")".repeat(levels));
    let wide = |tests: usize| vec![leaf; tests].join(" && ");
    let list = |length: usize| format!("user.a in [{}]", vec!["1"; length].join(","));
    let nested = |levels: usize| format!("{}{leaf}{}", "(".repeat(levels), ")".repeat(levels));
    for (fits, too_much, expected) in [
        (deep(31), deep(32), "at most 32 deep"),
        (deep(31), deep(200_000), "at most 64 deep"),
        (calls(31), calls(32), "at most 32 deep"),
        (calls(31), calls(200_000), "at most 64 deep"),
        (wide(999), wide(1_000), "at most 1000 conditions"),
        (list(10_000), list(10_001), "at most 10000 values"),
        (nested(64), nested(65), "at most 64 deep"),
        (nested(64), nested(200_000), "at most 64 deep"),
    ] {
        assert!(parse(&fits).is_ok(), "{:?}", parse(&fits));
        let fault = parse(&too_much).expect_err(expected).to_string();
        assert!(fault.contains(expected), "{fault}");
    }
    // The deepest form of the deepest tree: each level takes `!` and a parenthesis.
    let inner = r#"{"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": 1, "if_missing": true}"#;
    let both = |levels: usize| {
        (0..levels).fold(inner.to_owned(), |child, _| {
            let pair = format!(r#"{{"type": "OR", "children": [{inner}, {child}]}}"#);
            format!(r#"{{"type": "NOT", "child": {pair}}}"#)
        })
    };
    let deepest = tree(&both(15));
    assert_eq!(parse(&print(&deepest)), Ok(deepest));
}

#[test]
fn rule_data_has_one_member() {
    let read_text = |text: &str| {
        Policy::stored_condition(Format::Expression, text).map_err(|invalid| invalid.to_string())
    };
    assert!(read_text(r#"{"expression": "exists(user.a)"}"#).is_ok());
    for (text, expected) in [
        ("[]", "expected an object, not an array"),
        ("{}", "field `expression` is missing"),
        (r#"{"expression": 1}"#, "at `/expression`: expected a string, not a number"),
        (r#"{"expression": "exists(user.a)", "x": 1}"#, "field `x` is unknown"),
        (r#"{"expression": "user.a is"}"#, "at `/expression`: expected `==`, `!=`"),
    ] {
        let message = read_text(text).expect_err(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}
