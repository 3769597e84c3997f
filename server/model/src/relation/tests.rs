use portcullis_engine::json;

use super::*;

fn body(text: &str) -> Result<RelationsBody, String> {
    let json = json::parse(text.as_bytes()).expect("JSON");
    RelationsBody::parse(&json).map_err(|invalid| invalid.to_string())
}

fn write(tuple: &str) -> Result<RelationsBody, String> {
    body(&format!(r#"{{"write": [{tuple}]}}"#))
}

#[test]
fn a_tuple_has_what_was_sent() {
    let text = r#"{"object": "document:a:b#c", "relation": "viewer", "subject": "group:eng",
        "subject_relation": "member", "expires_at": "2030-01-01T00:00:00Z"}"#;
    let [tuple] = &write(text).expect("sound").write[..] else { panic!("one tuple") };
    let object = ObjectName { kind: "document".to_owned(), id: "a:b#c".to_owned() };
    assert_eq!((&tuple.object, tuple.object.to_string()), (&object, "document:a:b#c".to_owned()));
    assert_eq!(tuple.subject_relation.as_deref(), Some("member"));
    assert_eq!(
        tuple.expires_at.map(|at| at.to_string()),
        Some("2030-01-01T00:00:00.000Z".to_owned())
    );
    let everybody = r#"{"object": "document:a", "relation": "viewer", "subject": "user:*"}"#;
    assert!(write(everybody).is_ok());
}

#[test]
fn faults_have_their_place() {
    let tuple = |object: &str, subject: &str| {
        format!(r#"{{"object": "{object}", "relation": "r", "subject": "{subject}"}}"#)
    };
    let long = "x".repeat(255);
    let reference = "expected `<type>:<id>`";
    for (sent, fault) in [
        (tuple("d", "user:a"), format!("at `/write/0/object`: {reference}")),
        (tuple("d:", "user:a"), format!("at `/write/0/object`: {reference}")),
        (tuple("a b:c", "user:a"), format!("at `/write/0/object`: {reference}")),
        (tuple("d:*", "user:a"), "at `/write/0/object`: expected one object".to_owned()),
        (tuple("d:a", &format!("d:{long}")), format!("at `/write/0/subject`: {reference}")),
        (
            r#"{"object": "d:a", "relation": "r", "subject": "user:*", "subject_relation": "x"}"#
                .to_owned(),
            "at `/write/0/subject_relation`: expected no `subject_relation`".to_owned(),
        ),
        (
            r#"{"object": "d:a", "relation": "r", "subject": "user:a", "expires_at": "soon"}"#
                .to_owned(),
            "at `/write/0/expires_at`: expected an RFC 3339 date-time".to_owned(),
        ),
    ] {
        let found = write(&sent).expect_err(&fault);
        assert!(found.starts_with(&fault), "{found}");
    }
    // The id of a user may be as long as the subject of a check.
    assert!(write(&tuple("d:a", &format!("user:{long}x"))).is_ok());
}

#[test]
fn a_call_has_a_limited_number_of_tuples_and_no_contradiction() {
    let tuples = |range: std::ops::Range<usize>| {
        let tuple = |n| format!(r#"{{"object": "d:{n}", "relation": "r", "subject": "user:a"}}"#);
        range.map(tuple).collect::<Vec<_>>().join(",")
    };
    let both = |write, delete| {
        format!(r#"{{"write": [{}], "delete": [{}]}}"#, tuples(write), tuples(delete))
    };
    assert!(body(&both(0..500, 500..1_000)).is_ok());
    let found = body(&both(0..500, 500..1_001)).expect_err("too many");
    assert_eq!(found, "expected at most 1000 tuples in `write` and `delete` together");
    let found = body(&both(0..3, 2..4)).expect_err("a contradiction");
    assert_eq!(found, "at `/delete/0`: expected a tuple that is not in `write`, too");
}
