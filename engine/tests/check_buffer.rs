//! Compares the two paths of reading a check: `CheckBuffer` accepts the same texts as the tree, returns the same check,
//! and words faults in the same way.

use portcullis_engine::json::{self, JsonError};
use portcullis_engine::{CheckBody, CheckBuffer};

/// Reads `text` through the tree alone.
fn by_tree(text: &[u8]) -> Result<String, String> {
    let read = |text| -> Result<String, JsonError> {
        Ok(format!("{:?}", CheckBody::parse(&json::parse(text)?)?))
    };
    read(text).map_err(|error| format!("{error:?}"))
}

fn by_buffer(text: &[u8]) -> Result<String, String> {
    let mut buffer = CheckBuffer::default();
    let body = buffer.read(text).map(|body| format!("{body:?}"));
    body.map_err(|error| format!("{error:?}"))
}

#[track_caller]
fn same(text: &str) -> Result<String, String> {
    let expected = by_tree(text.as_bytes());
    assert_eq!(by_buffer(text.as_bytes()), expected, "{text}");
    expected
}

#[test]
fn plain_and_other_checks_read_the_same() {
    let check = |rest: &str| {
        format!(r#"{{"subject": "ann", "resource": "doc:read", "action": "read"{rest}}}"#)
    };
    let attributes = |user: &str| check(&format!(r#", "attributes": {{"user": {{{user}}}}}"#));
    let many = |count: usize| {
        let members: Vec<_> = (0..count).map(|index| format!(r#""a{index}": {index}"#)).collect();
        attributes(&members.join(", "))
    };
    for accepted in [
        check(""),
        check(r#", "domain": "acme", "attributes": {}"#),
        check(r#", "domain": null, "attributes": null"#),
        check(r#", "attributes": {"resource": {"a": 1}, "user": {"a": "x", "b": true}}"#),
        check(
            r#", "attributes": {"context": {"a": [1]}, "action": {"b": true}, "user": {"c": ""}}"#,
        ),
        check(r#", "attributes": {"action": {"a": 1}, "resource": {"a": 2}, "context": null}"#),
        attributes(r#""a": -1, "b": 1.5, "c": 1e300, "d": 18446744073709551615, "e": []"#),
        attributes(r#""roles": ["a", 1, "ä"], "escaped\n": "\u00e4""#),
        check(r#", "attributes": {"user": null}"#),
        attributes(r#""a": null, "b": 1, "roles": null"#),
        many(16),
        many(17),
        check("").replace("ann", "\\u0061nn"),
        check("").replace("subject", "s\\u0075bject"),
        check("").replace("ann", &"ä".repeat(256)),
        format!(" \n{}\t", check("")),
    ] {
        assert!(same(&accepted).is_ok(), "{accepted}");
    }
    for refused in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        format!("{} x", check("")),
        check("").replace("ann", ""),
        check("").replace("ann", &"a".repeat(257)),
        check("").replace("doc:read", "doc"),
        check("").replace("doc:read", "doc:re ad"),
        check("").replace("\"ann\"", "1"),
        check("").replace("ann", "a\\u0000"),
        check(r#", "subject": "bob""#),
        check(r#", "unknown": 1"#),
        check(r#", "domain": """#),
        check(r#", "attributes": []"#),
        check(r#", "attributes": {"token": {}}"#),
        check(r#", "attributes": {"context": {}, "context": {}}"#),
        check(r#", "attributes": {"action": {"a": {}}}"#),
        check(r#", "attributes": {"user": {}, "user": {}}"#),
        attributes(r#""a": 1, "a": 2"#),
        attributes(r#""a": 1, "\u0061": 2"#),
        attributes(r#""a": [null]"#),
        attributes(r#""a": nul"#),
        attributes(r#""a": nullx"#),
        attributes(r#""a": {"b": 1}"#),
        attributes(r#""a": [true]"#),
        attributes(r#""a": [["b"]]"#),
        attributes(r#""a": 1e400"#),
        attributes("\"a\": \"\u{1}\""),
    ] {
        assert!(same(&refused).is_err(), "{refused}");
    }
    let invalid = b"{\"subject\": \"\xff\"}";
    assert_eq!(by_buffer(invalid), by_tree(invalid));
}

/// A used buffer reads like a fresh one.
#[test]
fn a_buffer_can_be_used_again() {
    let first = br#"{"subject":"a","resource":"a:b","action":"c","attributes":{"user":{"x":1}}}"#;
    let second = br#"{"subject":"b","resource":"a:b","action":"c","attributes":{"user":{"y":2}}}"#;
    let mut buffer = CheckBuffer::default();
    buffer.read(first).expect("a check");
    let body = buffer.read(second).expect("a check");
    assert_eq!(format!("{body:?}"), by_tree(second).expect("a check"));
}
