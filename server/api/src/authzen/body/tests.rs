//! Bodies of AuthZEN requests, and the checks that they become.

use portcullis_engine::json::parse;

use super::*;

/// Reads a body of evaluations. Returns the check of each question, or its fault.
fn checks(text: &str) -> Result<Vec<String>, Invalid> {
    let json = parse(text.as_bytes()).expect("JSON");
    let checks = SentBody::read_tree(&json, true).and_then(shown);
    if let Some(plain) = by_plain_text(text) {
        assert_eq!(plain, checks, "{text}");
    }
    let mut tree = None;
    let read = RequestBody::parse(text.as_bytes(), &mut tree, true);
    assert_eq!(read.is_ok(), checks.is_ok(), "{text}");
    checks
}

/// Reads a body of evaluations without a tree; `None` if it is not plain.
fn by_plain_text(text: &str) -> Option<Result<Vec<String>, Invalid>> {
    SentBody::read_plain(text.as_bytes(), true).map(shown)
}

fn shown(body: SentBody<'_>) -> Result<Vec<String>, Invalid> {
    let mut body = body.complete()?;
    let faults = body.take_faults();
    let each = body.topics().zip(faults).enumerate().map(|(index, (topic, fault))| {
        if let Some(fault) = fault {
            return fault.to_string();
        }
        let check = body.check(index).expect("a check");
        assert_eq!(body.scope(index), Some((check.resource, topic.domain)));
        format!("{check:?} {topic:?}")
    });
    Ok(each.collect())
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
fn properties_that_no_operator_compares_are_present() {
    let resource = r#"{"type": "record", "id": "1", "properties": {
        "a": [{"b": 1}], "c": [null], "d": [true], "e": {"f": "x"}, "g": null, "h": ["x"]}}"#;
    let check = one(&request(ALICE, READ, resource));
    for expected in
        [r#""a": Opaque, "c": Opaque, "d": Opaque, "e": Opaque, "h": List"#, r#""e.f": Text("x")"#]
    {
        assert!(check.contains(expected), "{expected}: {check}");
    }
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
        let fault = checks(&body).expect_err(&body).to_string();
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

/// Returns `text` with one character replaced, in every place and in several ways.
fn damaged(text: &str) -> impl Iterator<Item = String> {
    let puts = ["", "\"", "{", "}", "1", "\\u0061", " ", ":", ",", "é", "\u{1}", "a"];
    (0..text.len())
        .flat_map(move |at| puts.map(|put| format!("{}{put}{}", &text[..at], &text[at + 1..])))
}

#[test]
fn plain_bodies_become_the_same_checks() {
    let defaults = request(ALICE, READ, RECORD);
    let with = |rest: &str| defaults.replacen('{', &format!("{{{rest}, "), 1);
    let last = |rest: &str| format!("{}, {rest}}}", &defaults[..defaults.len() - 1]);
    let each = |item: &str| with(&format!(r#""evaluations": [{{}}, {item}, {{}}]"#));
    for plain in [
        defaults.clone(),
        with(r#""evaluations": []"#),
        with(r#""context": {"domain": "d", "a": [1, "x"], "b": true, "c": -1.5}"#),
        with(r#""context": {"a": null}"#),
        with(r#""options": {"reasons": true, "evaluations_semantic": "deny_on_first_deny"}"#),
        last(r#""evaluations": [{}, {"context": {"a": 1}}]"#),
        each(r#"{"resource": {"id": "2"}}"#),
        each(r#"{"resource": {"type": "b", "properties": {"a": 1, "b": "x"}}}"#),
        each(
            r#"{"resource": {"properties": {"a": 1}, "id": "2", "type": "b"}, "action": {"name": "a:b c"}}"#,
        ),
        each(r#"{"subject": {"id": "bob", "properties": {"id": 1, "roles": ["a", "b"]}}}"#),
        each(
            r#"{"subject": {"type": "service", "id": "x"}}, {"subject": {"id": "x", "type": "service"}}"#,
        ),
        each(
            r#"{"subject": {"type": "service"}, "action": {"properties": {"type": 1, "id": 2, "name": 3}}}"#,
        ),
        each(r#"{"subject": {}, "action": {}, "resource": {}, "context": {}}"#),
        // The faults of a question are its own.
        each(r#"{"resource": {"id": ""}}"#),
        each(r#"{"resource": {"type": ""}}"#),
        each(r#"{"resource": {"type": "b", "properties": {"id": 2}}}"#),
        each(r#"{"subject": {"properties": {"type": "b"}}}"#),
        each(r#"{"subject": {"type": "", "id": "b"}}"#),
        each(r#"{"subject": {"id": ""}}"#),
        each(r#"{"action": {"name": ""}}"#),
        r#"{"evaluations": [{}]}"#.to_owned(),
    ] {
        assert!(by_plain_text(&plain).is_some(), "{plain}");
        assert!(checks(&plain).is_ok(), "{plain}");
        for damaged in damaged(&plain) {
            // A plain text is JSON, and becomes the same checks.
            if by_plain_text(&damaged).is_some() {
                checks(&damaged).ok();
            }
        }
    }
    for other in [
        with(r#""unknown": 1"#),
        with(r#""subject": {"type": "user", "id": "bob"}"#),
        with(r#""context": {"domain": ""}"#),
        with(r#""context": {"domain": 1}"#),
        with(r#""context": {"a": {"b": 1}}"#),
        with(r#""options": {"unknown": 1}"#),
        with(r#""evaluations": {}"#),
        with(r#""evaluations": null"#),
        with(r#""evaluations": [1]"#),
        each(r#"{"subject": {"id": "b", "id": "b"}}"#),
        each(r#"{"action": {"name": "a", "id": "b"}}"#),
        each(r#"{"action": {"name": "\u0061"}}"#),
        format!("{defaults} 1"),
    ] {
        assert_eq!(by_plain_text(&other), None, "{other}");
    }
    // `evaluations` is an unknown member of a single evaluation, which its tree ignores.
    let evaluation = with(r#""evaluations": []"#);
    assert!(SentBody::read_plain(evaluation.as_bytes(), false).is_none());
}

#[test]
fn a_long_default_is_not_copied_for_each_question() {
    let long = "a ".repeat(50_000);
    let user = r#"{"type": "user", "id": "alice"}"#.to_owned();
    let of_type = |kind: &str| format!(r#"{{"type": "{kind}", "id": "1"}}"#);
    for (subject, resource) in [
        (user, of_type(&long)),
        (of_type(&long), RECORD.to_owned()),
        (format!(r#"{{"type": "group", "id": "{long}"}}"#), RECORD.to_owned()),
    ] {
        let members = [("subject", &*subject), ("action", READ), ("resource", &*resource)];
        let members = members.map(|(name, value)| format!(r#""{name}": {value}"#)).join(", ");
        let text = format!(r#"{{{members}, "evaluations": [{}]}}"#, ["{}"; 1_000].join(", "));
        let read = allocation_counter::measure(|| {
            let mut tree = None;
            let body = RequestBody::parse(text.as_bytes(), &mut tree, true);
            assert!(body.expect("a body").take_faults().iter().all(Option::is_some));
        });
        assert!(read.bytes_total < 100 * text.len() as u64, "{} bytes", read.bytes_total);
    }
}
