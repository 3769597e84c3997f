//! The tree of each matcher, and the message of each refused matcher.

use super::operands::{ATTRIBUTE, VALUE};
use super::*;
use crate::condition::{Predicate, Test};
use crate::policy::{Format, Policy};

/// Compiles a tree in JSON.
fn tree(text: &str) -> Condition {
    let json = crate::json::parse(text.as_bytes()).expect("JSON");
    Condition::parse(&json).expect("a tree")
}

/// Writes a `CONDITION` node.
fn is(attribute: &str, operator: &str, value: &str) -> String {
    format!(
        r#"{{"type": "CONDITION", "attribute": "{attribute}", "operator": "{operator}", "value": {value}}}"#
    )
}

fn many(kind: &str, children: &[String]) -> String {
    format!(r#"{{"type": "{kind}", "children": [{}]}}"#, children.join(", "))
}

fn not(child: &str) -> String {
    format!(r#"{{"type": "NOT", "child": {child}}}"#)
}

const ALWAYS: &str =
    r#"{"type": "CONDITION", "attribute": "request.subject", "operator": "exists"}"#;

#[track_caller]
fn becomes(matcher: &str, expected: &str) {
    assert_eq!(parse(matcher), Ok(tree(expected)), "{matcher}");
}

#[test]
fn comparisons_become_conditions() {
    for (matcher, attribute, operator, value) in [
        ("r.sub.age > 18", "user.age", "gt", "18"),
        ("r.sub.age>=-18", "user.age", "gte", "-18"),
        ("r.obj.size < 0.5", "resource.size", "lt", "0.5"),
        ("r.obj.size <= 1e3", "resource.size", "lte", "1000"),
        ("r.obj.id == 18446744073709551615", "resource.id", "eq", "18446744073709551615"),
        ("r.sub.name == \"alice\"", "user.name", "eq", "\"alice\""),
        ("r.sub.name != 'alice'", "user.name", "ne", "\"alice\""),
        (r#"r.sub.a == "\\ \" \'""#, "user.a", "eq", r#""\\ \" '""#),
        ("r.sub.a == 'ä \" 😀'", "user.a", "eq", r#""ä \" 😀""#),
        ("r.sub.vip == true", "user.vip", "eq", "true"),
        ("r.sub.vip", "user.vip", "eq", "true"),
        ("((r.obj.open))", "resource.open", "eq", "true"),
        ("r.act.soft", "action.soft", "eq", "true"),
        ("r.ctx.channel == 'web'", "context.channel", "eq", "\"web\""),
        // The whole text after the kind is the name.
        ("r.sub.address.city == 'Ulm'", "user.address.city", "eq", "\"Ulm\""),
        ("r.sub.größe_1 == 1", "user.größe_1", "eq", "1"),
        ("r.sub.in == 1", "user.in", "eq", "1"),
        // A literal on the left swaps the sides.
        ("18 < r.sub.age", "user.age", "gt", "18"),
        ("18 <= r.sub.age", "user.age", "gte", "18"),
        ("18 > r.sub.age", "user.age", "lt", "18"),
        ("-18 >= r.sub.age", "user.age", "lte", "-18"),
        ("'a' == r.act", "request.action", "eq", "\"a\""),
        ("false != r.sub.vip", "user.vip", "ne", "false"),
        // Two attributes.
        ("r.sub == r.obj.owner", "request.subject", "eq", r#"{"attribute": "resource.owner"}"#),
        ("r.sub.dom != r.dom", "user.dom", "ne", r#"{"attribute": "request.domain"}"#),
        ("r.sub.n < r.obj.n", "user.n", "lt", r#"{"attribute": "resource.n"}"#),
        ("r.obj == 'doc:read'", "request.resource", "eq", "\"doc:read\""),
        // Lists.
        ("r.act in ('read', 'write')", "request.action", "in", r#"["read", "write"]"#),
        ("r.act in [\"read\", 'write',]", "request.action", "in", r#"["read", "write"]"#),
        ("r.sub.n in (1, -2.5, 'x')", "user.n", "in", r#"[1, -2.5, "x"]"#),
        ("r.sub.n in ()", "user.n", "in", "[]"),
        ("r.act IN ('read')", "request.action", "in", r#"["read"]"#),
        ("r.sub.n in []", "user.n", "in", "[]"),
        ("r.sub in r.obj.readers", "request.subject", "in", r#"{"attribute": "resource.readers"}"#),
        ("'a' in r.sub.tags", "user.tags", "contains", "\"a\""),
        ("-1 in r.sub.tags", "user.tags", "contains", "-1"),
        ("true in r.sub.tags", "user.tags", "contains", "true"),
        // Functions.
        ("keyMatch(r.obj.path, '/a/*')", "resource.path", "starts_with", "\"/a/\""),
        ("keyMatch(r.obj.path, '/a*/b*')", "resource.path", "starts_with", "\"/a\""),
        ("keyMatch ( r.obj , \"*\" )", "request.resource", "starts_with", "\"\""),
        ("keyMatch(r.obj.path, '/a')", "resource.path", "eq", "\"/a\""),
        ("ipMatch(r.sub.ip, '10.0.0.0/8')", "user.ip", "ip_in", "\"10.0.0.0/8\""),
        ("ipMatch(r.sub.ip, '::1')", "user.ip", "ip_in", "\"::1\""),
        (
            "during(r.time, 'mon-fri 08:00-18:00 Europe/Berlin')",
            "request.time",
            "during",
            r#"{"days": ["mon", "tue", "wed", "thu", "fri"], "from": "08:00", "to": "18:00", "zone": "Europe/Berlin"}"#,
        ),
        ("during(r.obj.until, 'UTC')", "resource.until", "during", r#"{"zone": "UTC"}"#),
    ] {
        becomes(matcher, &is(attribute, operator, value));
    }
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| is(&format!("user.{name}"), "eq", "1"));
    let all = |children: &[&String]| {
        many("AND", &children.iter().map(|child| (*child).clone()).collect::<Vec<_>>())
    };
    let any = |children: &[&String]| {
        many("OR", &children.iter().map(|child| (*child).clone()).collect::<Vec<_>>())
    };
    let [ta, tb, tc, td] = ["a", "b", "c", "d"].map(|name| format!("r.sub.{name} == 1"));
    becomes(&format!("{ta} && {tb} && {tc}"), &all(&[&a, &b, &c]));
    becomes(&format!("{ta} || {tb} && {tc} || {td}"), &any(&[&a, &all(&[&b, &c]), &d]));
    becomes(&format!("({ta} || {tb}) && {tc}"), &all(&[&any(&[&a, &b]), &c]));
    becomes(&format!("{ta} && ({tb} && {tc})"), &all(&[&a, &all(&[&b, &c])]));
    becomes(&format!("!({ta}) && {tb}"), &all(&[&not(&a), &b]));
    becomes(&format!("!!!({ta} && {tb})"), &not(&not(&not(&all(&[&a, &b])))));
    becomes("!r.sub.vip||\n\tr.sub.a==1", &any(&[&not(&is("user.vip", "eq", "true")), &a]));
    becomes("true", ALWAYS);
    becomes("false", &not(ALWAYS));
    becomes(&format!("{ta} || true"), &any(&[&a, &ALWAYS.to_owned()]));
}

#[test]
fn patterns_match_as_casbins_do() {
    let matches = |matcher: &str, text: &str| match parse(matcher) {
        Ok(Condition::Test(Test { predicate: Predicate::Matches(pattern), .. })) => {
            pattern.compile().expect("compiled before").matches(text)
        }
        other => panic!("{matcher} is {other:?}"),
    };
    for (function, pattern, text, expected) in [
        ("regexMatch", "b", "abc", true),
        ("regexMatch", "^b", "abc", false),
        ("regexMatch", "^a|z$", "abc", true),
        ("regexMatch", "", "", true),
        ("keyMatch2", "/foo/:id", "/foo/1", true),
        ("keyMatch2", "/foo/:id", "/foo/1/2", false),
        ("keyMatch2", "/foo/:id", "/foo/", false),
        ("keyMatch2", "/foo/:id/bar/:x", "/foo/1/bar/2", true),
        ("keyMatch2", "/foo/*", "/foo/1/2", true),
        ("keyMatch2", "/foo/*", "/foo", false),
        ("keyMatch2", "/:a:b/c", "/x/c", true),
        ("keyMatch2", "https://x/:id", "https://x/1", true),
        ("keyMatch2", "https://x/:id", "httpsx//x/1", false),
        ("keyMatch2", "/foo", "/foo/bar", false),
        ("keyMatch2", "/fo+", "/fooo", true),
        ("keyMatch2", "a|b", "abc", true),
    ] {
        let matcher = format!("{function}(r.obj.path, '{pattern}')");
        assert_eq!(matches(&matcher, text), expected, "{matcher} of {text:?}");
    }
    // A search differs from a whole match of the same text.
    let whole = tree(&is("resource.path", "matches", "\"b\""));
    assert_ne!(parse("regexMatch(r.obj.path, 'b')"), Ok(whole));
}

#[test]
fn a_fault_names_token_and_position() {
    for (matcher, position, token, expected) in [
        ("", 0, "", VALUE),
        ("   ", 3, "", VALUE),
        ("r.sub.age >", 11, "", VALUE),
        ("r.sub.age > 18 &&", 17, "", VALUE),
        ("r.sub.age > 18 r.sub.vip", 15, "r.sub.vip", "`&&`, `||` or the end"),
        ("(r.sub.age > 18", 15, "", "`&&`, `||` or `)`"),
        ("r.sub.vip)", 9, ")", "the end of the matcher"),
        ("'ä😀' == r.sub.vip)", 17, ")", "the end of the matcher"),
        ("&& r.sub.vip", 0, "&&", VALUE),
        ("()", 1, ")", VALUE),
        // Names.
        ("p.sub == r.sub", 0, "p.sub", ATTRIBUTE),
        ("r.sub == p.sub", 9, "p.sub", ATTRIBUTE),
        ("r.sub.age > p.min", 12, "p.min", ATTRIBUTE),
        ("r.now == 1", 0, "r.now", ATTRIBUTE),
        ("r.env.x == 1", 0, "r.env.x", ATTRIBUTE),
        ("r2.sub == 'a'", 0, "r2.sub", ATTRIBUTE),
        ("r == 'a'", 0, "r", ATTRIBUTE),
        ("alice == r.sub", 0, "alice", ATTRIBUTE),
        ("R.sub == 'a'", 0, "R.sub", ATTRIBUTE),
        ("r.sub. == 'a'", 5, ".", "a comparison"),
        // Casbin accepts these, this engine does not.
        ("r.sub.vip && g(r.sub, 'admin')", 13, "g", "the only functions"),
        ("eval(p.rule)", 0, "eval", "the only functions"),
        ("keyMatch3(r.obj, '/{a}')", 0, "keyMatch3", "the only functions"),
        ("globMatch(r.obj, '*')", 0, "globMatch", "the only functions"),
        ("r.sub.age + 1 > 5", 10, "+", "a comparison"),
        ("r.sub.age > 5 - 1", 14, "-", "`&&`, `||` or the end"),
        ("r.sub.age * 2", 10, "*", "a comparison"),
        ("r.sub.name =~ 'a'", 11, "=", "a comparison"),
        ("r.sub.a ? 1 : 2", 8, "?", "a comparison"),
        ("r.sub.list[0] == 1", 10, "[", "a comparison"),
        ("r.sub.a & r.sub.b", 8, "&", "a comparison"),
        ("r.sub.a == nil", 11, "nil", ATTRIBUTE),
        // Comparisons do not chain, and conditions are not compared.
        ("1 < r.sub.a < 3", 12, "<", "`&&`, `||` or the end"),
        ("!r.sub.a == true", 9, "==", "parentheses around"),
        ("!r.sub in ('a')", 7, "in", "parentheses around"),
        ("(r.sub.a) == true", 10, "==", "`&&`, `||` or the end"),
        // Values.
        ("1 == 1", 5, "1", "on one side"),
        ("r.sub", 0, "r.sub", "needs a comparison"),
        ("'text'", 0, "'text'", "needs a comparison"),
        ("r.sub.vip && 1", 13, "1", "needs a comparison"),
        ("r.sub.a < true", 10, "true", "have an order"),
        ("false >= r.sub.a", 0, "false", "have an order"),
        ("r.sub.a == [1]", 11, "[", VALUE),
        ("[1] == r.sub.a", 0, "[", VALUE),
        ("r.sub.a == (1)", 11, "(", VALUE),
        ("r.sub.a == 'b", 11, "'b", "a string that ends with `'`"),
        ("r.sub.a == \"\\n\"", 12, "\\n", "the only escapes"),
        ("r.sub.a == \"\\", 12, "\\", "the only escapes"),
        ("r.sub.a == 007", 11, "007", "a number such as"),
        ("r.sub.a == 1.", 11, "1.", "a number such as"),
        ("r.sub.a == 5x", 11, "5x", "a number such as"),
        ("r.sub.a == 1e999", 11, "1e999", "a number such as"),
        ("r.sub.a == - 'b'", 13, "'b'", "a number such as"),
        ("r.sub.a == +1", 11, "+", VALUE),
        ("r.sub.a == #", 11, "#", VALUE),
        // Lists.
        ("r.sub.a in 'abc'", 11, "'abc'", "a list such as"),
        ("r.sub.a in", 10, "", VALUE),
        ("r.sub.a in [true]", 12, "true", "a string or a number"),
        ("r.sub.a in (r.obj.b, 1)", 12, "r.obj.b", "a string or a number"),
        ("r.sub.a in [1 2]", 14, "2", "`,` or `]`"),
        ("r.sub.a in (1]", 13, "]", "`,` or `)`"),
        ("r.sub.a in [1", 13, "", "`,` or `]`"),
        ("1 in [1]", 0, "1", ATTRIBUTE),
        ("[1] in r.sub.a", 0, "[", VALUE),
        // Functions.
        ("keyMatch('/a', r.obj.path)", 9, "'/a'", ATTRIBUTE),
        ("keyMatch(r.obj.path, r.obj.b)", 21, "r.obj.b", "literals"),
        ("keyMatch(r.obj.path)", 19, ")", "`,` and a string"),
        ("keyMatch(r.obj.path, '/a', 1)", 25, ",", "`)`"),
        ("regexMatch(r.obj, '(')", 18, "'('", "a regular expression"),
        ("regexMatch(r.obj, '(\\\\pL{100}){100}')", 18, "'(\\\\pL{100}){100}'", "bytes"),
        ("keyMatch2(r.obj, '/(:a')", 17, "'/(:a'", "a path pattern"),
        ("during(r.time, 'mon-fri')", 15, "'mon-fri'", "an IANA time zone"),
        ("during(r.time, 'mon-fri 8-18 UTC')", 15, "'mon-fri 8-18 UTC'", "hours such as"),
        ("during('UTC')", 7, "'UTC'", ATTRIBUTE),
        ("ipMatch(r.sub.ip, '10.0.0.1/8')", 18, "'10.0.0.1/8'", "host bits zero"),
    ] {
        let error = parse(matcher).expect_err(matcher);
        let Fault::Token { expected: told, token: named, position: place } = &error else {
            panic!("{matcher}: {error}");
        };
        assert_eq!((*place, &**named), (position, token), "{matcher}: {error}");
        assert!(told.contains(expected), "{matcher}: {error}");
    }
}

#[test]
fn a_matcher_has_the_limits_of_a_tree() {
    let leaf = "r.sub.vip";
    let deep = |levels: usize| format!("{}{leaf}", "!".repeat(levels));
    let wide = |tests: usize| vec![leaf; tests].join(" && ");
    let list = |length: usize| format!("r.sub.n in [{}]", vec!["1"; length].join(","));
    let nested = |levels: usize| format!("{}{leaf}{}", "(".repeat(levels), ")".repeat(levels));
    // Each pair of parentheses takes two levels of the tree.
    let ladder = |levels: usize| {
        (0..levels).fold(leaf.to_owned(), |inner, _| format!("{leaf} || {leaf} && ({inner})"))
    };
    for (fits, too_much, position, expected) in [
        (deep(31), deep(32), 0, "at most 32 deep"),
        (deep(31), deep(60), 28, "at most 32 deep"),
        (wide(999), wide(1_000), 10, "at most 1000 conditions"),
        (wide(999), wide(1_001), 13_000, "at most 1000 conditions"),
        (list(10_000), list(10_001), 20_012, "at most 10000 values"),
        (nested(64), nested(65), 64, "at most 64 deep"),
        (nested(64), nested(200_000), 64, "at most 64 deep"),
        (deep(31), deep(200_000), 64, "at most 64 deep"),
        (ladder(15), ladder(16), 10, "at most 32 deep"),
    ] {
        assert!(parse(&fits).is_ok(), "{:?}", parse(&fits));
        match parse(&too_much) {
            Err(Fault::Token { expected: told, position: place, .. }) => {
                assert!(told.contains(expected), "{told}");
                assert_eq!(place, position, "{told}");
            }
            other => panic!("{other:?}"),
        }
    }
    let Err(Fault::Token { token, .. }) = parse(&format!("'{}", "ä".repeat(100_000))) else {
        panic!("an open string");
    };
    assert_eq!(token.chars().count(), 65, "{token}");
}

#[test]
fn rule_data_has_one_member() {
    let read_text = |text: &str| {
        Policy::stored_condition(Format::Casbin, text).map_err(|invalid| invalid.to_string())
    };
    assert_eq!(read_text(r#"{"matcher": "r.sub.vip"}"#), Ok(tree(&is("user.vip", "eq", "true"))));
    for (text, expected) in [
        ("[]", "expected an object, not an array"),
        ("{}", "field `matcher` is missing"),
        (r#"{"matcher": 1}"#, "at `/matcher`: expected a string, not a number"),
        (r#"{"matcher": "true", "x": 1}"#, "field `x` is unknown"),
        (
            r#"{"matcher": "r.sub.vip && "}"#,
            "at `/matcher`: expected an attribute such as `r.sub.age`, a string, a number, `true` or `false`, where the text ends at position 13",
        ),
        (r#"{"matcher": "p.sub"}"#, "not `p.sub` at position 0"),
    ] {
        let message = read_text(text).expect_err(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn a_search_has_a_pattern_of_the_whole_text() {
    for (source, whole) in [
        ("b", "(?s:.*)(?:b)(?s:.*)"),
        ("^a|b$", "(?s:.*)(?:^a|b$)(?s:.*)"),
        ("^a$", "a"),
        ("^(?:a|b)$", "a|b"),
        ("^(?:a)|(?:b)$", "(?s:.*)(?:^(?:a)|(?:b)$)(?s:.*)"),
        ("^a\\$", "(?s:.*)(?:^a\\$)(?s:.*)"),
        ("^/a/[^/]+$", "/a/[^/]+"),
        ("(?m)^a$", "(?s:.*)(?:(?m)^a$)(?s:.*)"),
    ] {
        assert_eq!(crate::pattern::Pattern::search(source).whole().source(), whole, "{source}");
    }
}
