use super::*;

#[track_caller]
fn fault(text: &str) -> String {
    match Line::parse(text) {
        Ok(line) => panic!("`{text}` is read as `{line}`"),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_line_is_printed_in_its_canonical_form() {
    for (text, expected) in [
        ("viewer", "viewer"),
        (" [ user ,group#member,user:* ] ", "[user, group#member, user:*]"),
        ("a||b&&c", "a || b && c"),
        ("(a || b) && c", "(a || b) && c"),
        ("a || (b || (c))", "a || b || c"),
        ("a && (b && !c) && d", "a && b && !c && d"),
        ("a && !(b && !c)", "a && !(b && !c)"),
        ("a && !(b || c.d)", "a && !(b || c.d)"),
        (
            "owner || ((parent . viewer && !parent.parent.banned))",
            "owner || parent.viewer && !parent.parent.banned",
        ),
        ("[fund-account#x, 3d, a.b]", "[fund-account#x, 3d, a.b]"),
        ("größe && [größe#ä]", "größe && [größe#ä]"),
    ] {
        let line = Line::parse(text).unwrap_or_else(|fault| panic!("`{text}`: {fault}"));
        assert_eq!(line.to_string(), expected);
        assert_eq!(Line::parse(expected).expect(expected).to_string(), expected);
    }
}

#[test]
fn a_fault_has_its_place_and_what_is_expected() {
    const PART: &str = "expected `[`, the name of a relation, `!` or `(`";
    const JOINT: &str = "expected `||`, `&&` or the end of the line";
    for (text, expected) in [
        ("", format!("{PART}, where the text ends at position 0")),
        ("a ||", format!("{PART}, where the text ends at position 4")),
        ("ä || &", format!("{PART}, not `&` at position 5")),
        ("a && || b", format!("{PART}, not `||` at position 5")),
        ("a b", format!("{JOINT}, not `b` at position 2")),
        ("a or b", format!("{JOINT} (did you mean `||`?), not `or` at position 2")),
        ("a | b", format!("{JOINT} (did you mean `||`?), not `|` at position 2")),
        ("a but not b", format!("{JOINT} (did you mean `&& !`?), not `but` at position 2")),
        ("a->b", format!("{JOINT} (did you mean `.`?), not `->` at position 1")),
        ("(a", "expected `||`, `&&` or `)`, where the text ends at position 2".into()),
        (
            "a.",
            "expected the name of a relation after `.`, where the text ends at position 2".into(),
        ),
        ("a.3", "expected the name of a relation after `.`, not `3` at position 2".into()),
        ("[]", "expected a type, such as `user`, not `]` at position 1".into()),
        ("[user,]", "expected a type, such as `user`, not `]` at position 6".into()),
        (
            "[user group]",
            "expected `,`, `]`, `#` and a relation, or `:*`, not `group` at position 6".into(),
        ),
        (
            "[user",
            "expected `,`, `]`, `#` and a relation, or `:*`, where the text ends at position 5"
                .into(),
        ),
        (
            "[user:ann]",
            "expected `*` after `:`, for everybody of the type, not `ann` at position 6".into(),
        ),
        ("[group#]", "expected the name of a relation after `#`, not `]` at position 7".into()),
        ("[user, user]", "expected each type once, not `user` at position 7".into()),
        ("[g#a, g#b, g#a]", "expected each type once, not `g` at position 11".into()),
        (
            "[user] || [group]",
            "expected one `[…]`, in which all types stand, not `[` at position 10".into(),
        ),
        ("a && !!b", "expected one `!`, since `!!` says nothing, not `!` at position 6".into()),
    ] {
        assert_eq!(fault(text), expected, "`{text}`");
    }
}

#[test]
fn a_negation_needs_a_positive_factor_beside_it() {
    for (text, position) in [
        ("!a", 0),
        ("a || !b", 5),
        ("!a && !b", 0),
        ("a && (!b)", 6),
        ("a && (!b || c)", 6),
        ("(a || b && c) && (c || !d && !e)", 23),
        ("a && !(!b)", 7),
    ] {
        let expected = format!(
            "expected a part without `!` beside it, as in `viewer && !banned`, not `!` at position {position}"
        );
        assert_eq!(fault(text), expected, "`{text}`");
    }
}

#[test]
fn length_and_nesting_have_limits() {
    let longest = format!("{}a", "a||".repeat((MAX_LINE - 1) / 3));
    assert_eq!(longest.len(), MAX_LINE);
    assert!(Line::parse(&longest).is_ok());
    assert_eq!(fault(&format!("{longest} ")), "expected a line of at most 4096 bytes");
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(Line::parse(&nested(32)).expect("32").to_string(), "a");
    assert_eq!(fault(&nested(33)), "expected parentheses at most 32 deep, not `(` at position 32");
}
