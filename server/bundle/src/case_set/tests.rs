//! Stored cases as they are read, written and refused.

use super::*;

const USERS: &str = r#"[{"sub": "ann", "roles": ["reader"], "claims": {"mfa": true}}]"#;

/// A case of `ann` with the given name.
fn case(name: &str) -> String {
    format!(
        r#"{{"name": "{name}", "as": "ann", "check": {{"subject": "ann", "resource": "wiki:read", "action": "read"}},
            "resolved": {{"geo": {{"country": "de"}}}}, "expect": {{"rule": "gone", "decision": "allow"}}}}"#
    )
}

fn parse(cases: &str, users: &str) -> Result<CaseSet, String> {
    CaseSet::from_stored("acme", cases, users).map_err(|error| error.to_string())
}

#[test]
fn cases_may_name_what_does_not_exist_and_come_back_as_they_were_written() {
    let set = parse(&format!("[{}]", case("a")), USERS).expect("valid");
    let expected = r#"[{"as":"ann","check":{"action":"read","resource":"wiki:read","subject":"ann"},"expect":{"decision":"allow","rule":"gone"},"name":"a","resolved":{"geo":{"country":"de"}}}]"#;
    assert_eq!(set.cases_json, expected);
    assert_eq!(set.users_json, r#"[{"claims":{"mfa":true},"roles":["reader"],"sub":"ann"}]"#);
    assert_eq!(set.users[0].claims.get("dom").and_then(Json::as_str), Some("acme"));
    let again = CaseSet::from_texts(
        "acme",
        [case("a").as_str()].into_iter(),
        [USERS.trim_matches(['[', ']'])].into_iter(),
    );
    let again = again.expect("valid");
    assert_eq!(
        (again.cases_json, again.users_json),
        (set.cases_json.clone(), set.users_json.clone())
    );
    let again = parse(&set.cases_json, &set.users_json).expect("valid");
    assert_eq!((again.cases_json, again.users_json), (set.cases_json, set.users_json));
}

#[test]
fn each_fault_is_named() {
    let twice = format!("[{}, {}]", case("a"), case("a"));
    let many: Vec<_> = (0..=MAX_CASES).map(|number| case(&number.to_string())).collect();
    let many = many.join(",");
    let large =
        case(&"n".repeat(200)).replace("\"de\"", &format!("\"{}\"", "x".repeat(MAX_CASE_BYTES)));
    for (cases, users, expected) in [
        (twice, USERS, "expected a unique `name`, but an earlier item also has `a`"),
        (
            format!("[{}]", case("a")),
            "[]",
            "at `/cases/0/as`: expected the `sub` of a user of tenant.yaml, not `ann`",
        ),
        (
            format!("[{}]", case("a").replace("\"de\"", "{}")),
            USERS,
            "at `/cases/0/resolved/geo/country`: expected the value of an attribute, not an object",
        ),
        (format!("[{many}]"), USERS, "expected at most 1000 cases"),
        (format!("[{large}]"), USERS, "expected cases and users of at most 1048576 bytes"),
    ] {
        let error = parse(&cases, users).expect_err("it must be refused");
        assert!(error.contains(expected), "{error}");
    }
}
