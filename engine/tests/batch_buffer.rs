//! Compares the two paths of reading a batch: `CheckBuffer` accepts the same texts as the tree, returns the same checks, and
//! words faults in the same way.

use portcullis_engine::CheckBuffer;
use portcullis_engine::batch::{BatchBody, MAX_ITEMS};
use portcullis_engine::fields::Body;
use portcullis_engine::json::{self, JsonError};

/// Reads `text` through the tree alone.
fn by_tree(text: &[u8]) -> Result<String, String> {
    let read =
        |text| -> Result<String, JsonError> { Ok(shown(&BatchBody::parse(&json::parse(text)?)?)) };
    read(text).map_err(|error| format!("{error:?}"))
}

fn shown(batch: &BatchBody<'_>) -> String {
    let item = |index| format!("{:?} {:?}", batch.id(index), batch.check(index));
    format!("{:?} {:?}", batch.semantic, (0..batch.count()).map(item).collect::<Vec<_>>())
}

fn by_buffer(text: &[u8]) -> Result<String, String> {
    let mut buffer = CheckBuffer::default();
    let body = buffer.read_batch(text).map(|body| shown(&body));
    body.map_err(|error| format!("{error:?}"))
}

#[track_caller]
fn same(text: &str) -> Result<String, String> {
    let expected = by_tree(text.as_bytes());
    assert!(by_buffer(text.as_bytes()) == expected, "{:.200}", text);
    expected
}

const DEFAULTS: &str = r#""subject": "ann", "resource": "doc:read", "action": "read""#;

fn batch(items: &str) -> String {
    format!(r#"{{{DEFAULTS}, "checks": [{items}]}}"#)
}

#[test]
fn plain_and_other_batches_read_the_same() {
    let many = |count: usize| vec!["{}"; count].join(",");
    let names = |count: usize| {
        let members: Vec<_> = (0..count).map(|index| format!(r#""a{index}": {index}"#)).collect();
        format!(r#"{{"attributes": {{"user": {{{}}}}}}}"#, members.join(", "))
    };
    for accepted in [
        batch("{}"),
        batch(
            r#"{"id": "a", "subject": "bob"}, {"domain": "d", "action": "list"}, {"resource": "a:b"}"#,
        ),
        batch(
            r#"{"attributes": {"user": {"a": [1, "b"], "c": true}, "context": {}}}, {"attributes": {}}, {}"#,
        ),
        batch(r#"{"attributes": null, "id": null, "subject": null}"#),
        batch(r#"{"attributes": {"user": {"a": null, "b": 1}}}"#),
        batch(r#"{"id": "\u0061"}, {"subject": "a\"b"}"#),
        batch(&names(32)),
        batch(&names(33)),
        batch(&format!("{}, {}, {{}}", names(20), names(20))),
        batch(&many(MAX_ITEMS)),
        // The defaults may come behind the items, and are replaced whole.
        format!(
            r#"{{"checks": [{{}}, {{"attributes": {{"user": {{"b": 1}}}}}}], {DEFAULTS}, "attributes": {{"user": {{"a": 2}}}}}}"#
        ),
        format!(r#"{{{DEFAULTS}, "semantic": "permit_on_first_permit", "checks": [{{}}]}}"#),
        format!(" \n{}\t", batch("{}")),
    ] {
        assert!(same(&accepted).is_ok(), "{accepted:.200}");
    }
    for refused in [
        "{}".to_owned(),
        "[]".to_owned(),
        batch(""),
        batch("7"),
        batch("{},"),
        batch(&many(MAX_ITEMS + 1)),
        batch(r#"{"id": ""}"#),
        batch(r#"{"id": "a", "id": "b"}"#),
        batch(r#"{"semantic": "execute_all"}"#),
        batch(r#"{"resource": "doc"}"#),
        batch(r#"{"attributes": {"user": {"a": 1, "a": 2}}}"#),
        batch(r#"{"attributes": {"user": {"a": [null]}}}"#),
        batch("{}").replace("ann", ""),
        batch(r#"{"subject": "bob"}"#).replace("doc:read", "doc"),
        batch("{}").replace(r#""subject": "ann","#, ""),
        batch("{}").replace("checks", "items"),
        batch("{}").replace(r#""checks""#, r#""semantic": "some", "checks""#),
        batch("{}").replace(r#""checks""#, r#""checks": [{}], "checks""#),
        format!("{} x", batch("{}")),
    ] {
        assert!(same(&refused).is_err(), "{refused:.200}");
    }
    let invalid = b"{\"subject\": \"\xff\"}";
    assert_eq!(by_buffer(invalid), by_tree(invalid));
}

/// A used buffer reads like a fresh one.
#[test]
fn a_buffer_can_be_used_again() {
    let first = batch(r#"{"attributes": {"user": {"a": ["x"]}}}, {}"#);
    let second = batch(r#"{"attributes": {"user": {"b": ["y", 2]}}}"#);
    let mut buffer = CheckBuffer::default();
    buffer.read_batch(first.as_bytes()).expect("a batch");
    let body = shown(&buffer.read_batch(second.as_bytes()).expect("a batch"));
    assert_eq!(body, by_tree(second.as_bytes()).expect("a batch"));
}
