//! Bodies of AuthZEN requests, and the checks that they become.

use portcullis_engine::json::parse;
use portcullis_operations::error::OperationError;

use super::*;

/// Reads a body of evaluations. Returns the check of each question, or its fault.
fn checks(text: &str) -> Result<Vec<String>, String> {
    let json = parse(text.as_bytes()).expect("JSON");
    let body = RequestBody::evaluations(&json).map_err(|error| format!("{error:?}"))?;
    let shown = |question: &Question<'_>| format!("{:?}", question.check());
    Ok(match &body.questions {
        Questions::One(question) => vec![shown(question)],
        Questions::Many(questions) => {
            let each = questions.iter().map(|question| match question {
                Ok(question) => shown(question),
                Err(invalid) => invalid.to_string(),
            });
            each.collect()
        }
    })
}

fn one(text: &str) -> String {
    checks(text).expect("a body").remove(0)
}

/// A request about `subject`, `action` and `resource`, as JSON.
fn request(subject: &str, action: &str, resource: &str) -> String {
    format!(r#"{{"subject": {subject}, "action": {action}, "resource": {resource}}}"#)
}

const ALICE: &str = r#"{"type": "user", "id": "alice"}"#;
const READ: &str = r#"{"name": "read"}"#;
const RECORD: &str = r#"{"type": "record", "id": "record-1"}"#;

#[test]
fn a_request_becomes_a_check() {
    let check = one(&request(ALICE, READ, RECORD));
    for expected in [
        r#"subject: "alice""#,
        r#"resource: "record:read""#,
        r#"action: "read""#,
        "domain: None",
        r#"user: {"type": Text("user")}"#,
        r#"resource: {"type": Text("record"), "id": Text("record-1")}"#,
        "action: {}, context: {}",
    ] {
        assert!(check.contains(expected), "{expected}: {check}");
    }
}

#[test]
fn only_a_user_is_a_principal_by_its_bare_id() {
    let subject = |kind: &str| format!(r#"{{"type": "{kind}", "id": "admin"}}"#);
    assert!(one(&request(&subject("user"), READ, RECORD)).contains(r#"subject: "admin""#));
    for kind in ["service", "User", "identity"] {
        let check = one(&request(&subject(kind), READ, RECORD));
        assert!(check.contains(&format!(r#"subject: "{kind}:admin""#)), "{check}");
    }
}

#[test]
fn names_pass_unharmed() {
    for (kind, action, resource, expected) in [
        ("route", "GET", "/users/{userId}", "route:GET"),
        ("mcp_server", "tools/call", "https://mcp.example/x?y#z", "mcp_server:tools/call"),
        ("urn:acme:doc", "doc:read all", "1", "urn:acme:doc:doc%3Aread%20all"),
        ("my type", "100%", "1", "my%20type:100%25"),
        ("a%20b", "ä\\u00a0", "1", "a%2520b:ä%C2%A0"),
    ] {
        let action_json = format!(r#"{{"name": "{action}"}}"#);
        let resource = format!(r#"{{"type": "{kind}", "id": "{resource}"}}"#);
        let check = one(&request(ALICE, &action_json, &resource));
        assert!(check.contains(&format!("resource: {expected:?}")), "{check}");
    }
}

#[test]
fn no_property_stands_for_the_resource_itself() {
    let resource =
        r#"{"type": "record", "id": "1", "properties": {"id": "2", "type": "x", "a": null}}"#;
    let check = one(&request(ALICE, READ, resource));
    assert!(check.contains(r#"resource: {"type": Text("record"), "id": Text("1")}"#), "{check}");
    // A subject may say of which type it is for policies.
    let subject = r#"{"type": "user", "id": "alice", "properties": {"type": "guest"}}"#;
    let check = one(&request(subject, READ, RECORD));
    assert!(check.contains(r#"user: {"type": Text("guest")}"#), "{check}");
}

#[test]
fn an_evaluation_takes_whole_defaults() {
    let body = r#"{
        "subject": {"type": "user", "id": "alice", "properties": {"a": 1}},
        "action": {"name": "read"},
        "resource": {"type": "record"},
        "context": {"ip": "::1", "domain": "d"},
        "evaluations": [
            {"resource": {"id": "1"}},
            {"resource": {"id": "2", "type": "doc", "properties": {"b": 2}}, "context": {"c": 3}},
            {"resource": {"id": "3"}, "subject": {"id": "bob"}},
            {},
            {"resource": 1},
            7
        ]}"#;
    let checks = checks(body).expect("a body");
    let expected: [&[&str]; 6] = [
        &[
            r#"subject: "alice""#,
            "{\"a\": Number",
            r#"resource: "record:read""#,
            r#""ip": Text("::1")"#,
            "domain: Some(\"d\")",
        ],
        &[r#"resource: "doc:read""#, "\"b\": Number", "context: {\"c\": Number", "domain: None"],
        // Properties are never merged: bob has none.
        &[r#"subject: "bob""#, r#"user: {"type": Text("user")}"#],
        &["at `/evaluations/3/resource`: field `id` is missing"],
        &["at `/evaluations/4/resource`: expected an object, not a number"],
        &["at `/evaluations/5`: expected an object, not a number"],
    ];
    for (check, expected) in checks.iter().zip(expected) {
        for expected in expected {
            assert!(check.contains(expected), "{expected}: {check}");
        }
    }
}

#[test]
fn faults_of_the_whole_body_are_one_answer() {
    for (body, expected) in [
        ("[]".to_owned(), "expected an object, not an array"),
        (r#"{"evaluations": []}"#.to_owned(), "`subject` is missing"),
        (request("\"alice\"", READ, RECORD), "expected an object, not a string"),
        (request(r#"{"id": "a"}"#, READ, RECORD), "at `/subject`: field `type` is missing"),
        (request(ALICE, "{}", RECORD), "at `/action`: field `name` is missing"),
        (request(ALICE, r#"{"name": 123}"#, RECORD), "at `/action/name`: expected a string"),
        (request(ALICE, READ, r#"{"type": "a"}"#), "at `/resource`: field `id` is missing"),
        (
            request(ALICE, READ, r#"{"type": "", "id": "a"}"#),
            "at `/resource`: expected an id and a type",
        ),
        (r#"{"evaluations": {}}"#.to_owned(), "at `/evaluations`: expected an array"),
        (
            r#"{"evaluations": [{}], "options": {"evaluations_semantic": "any"}}"#.to_owned(),
            "expected `execute_all`",
        ),
        (r#"{"evaluations": [{}], "context": {"domain": 1}}"#.to_owned(), "at `/context/domain`"),
    ] {
        let json = parse(body.as_bytes()).expect("JSON");
        let fault = match RequestBody::evaluations(&json) {
            Err(ApiError::Operation(OperationError::Invalid(invalid))) => invalid.to_string(),
            other => panic!("{body}: {other:?}"),
        };
        assert!(fault.contains(expected), "{body}: {fault}");
    }
}

#[test]
fn unknown_members_are_ignored() {
    let body = r#"{
        "subject": {"type": "user", "id": "alice", "x": 1}, "action": {"name": "read", "y": []},
        "resource": {"type": "record", "id": "record-1", "z": {}},
        "foo": "bar", "futureField": {"nested": true}, "options": {"future": 1}}"#;
    assert_eq!(one(body), one(&request(ALICE, READ, RECORD)));
}
