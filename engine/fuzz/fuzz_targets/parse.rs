//! Feeds arbitrary bytes to every reader of untrusted text. The engine must not panic, both paths of reading a check must
//! agree, a condition must be the same from its text and from its tree, and accepted conditions must compile into a plan that
//! decides.

#![no_main]

use std::sync::LazyLock;

use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use portcullis_engine::{
    Caller, Check, CheckBody, CheckBuffer, Condition, Effect, Format, Json, Plan, Policy,
    ResourcePattern, json,
};
use uuid::Uuid;

const BODY: &[u8] = br#"{"subject": "ann", "resource": "doc:read", "action": "read", "attributes": {
    "user": {"a": "b", "level": 3, "tags": ["a", 1]}, "resource": {"ip": "10.1.2.3", "flag": true}}}"#;

fuzz_target!(|bytes: &[u8]| {
    let mut buffer = CheckBuffer::default();
    let buffered = buffer.read(bytes).ok().map(|body| format!("{body:?}"));
    let Ok(json) = json::parse(bytes) else {
        assert_eq!(buffered, None);
        return;
    };
    let body = CheckBody::parse(&json);
    assert_eq!(buffered, body.as_ref().ok().map(|body| format!("{body:?}")));
    let known = json::parse(BODY).expect("valid JSON");
    let known = CheckBody::parse(&known).expect("a valid body");
    if let Ok(condition) = Condition::parse(&json) {
        let text = std::str::from_utf8(bytes).expect("JSON is UTF-8");
        assert_eq!(Policy::stored_condition(Format::Json, text).as_ref(), Ok(&condition));
        let plan = plan([condition]);
        decide(&plan, known, None);
        decide(&plan, known, Some(&json));
    }
    decide(&READERS, known, Some(&json));
    if let Ok(body) = body {
        decide(&READERS, body, None);
    }
});

/// Reads the attribute `a` of every kind.
static READERS: LazyLock<Plan> = LazyLock::new(|| {
    let conditions = [
        r#"{"type": "CONDITION", "attribute": "user.a", "operator": "lt", "value": {"attribute": "resource.a"}}"#,
        r#"{"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": "a"}"#,
        r#"{"type": "CONDITION", "attribute": "token.a", "operator": "after", "value": "2026-03-01T08:00:00Z"}"#,
        r#"{"type": "CONDITION", "attribute": "resource.a", "operator": "ip_in", "value": ["10.0.0.0/8"]}"#,
    ]
    .map(|text| {
        let json = json::parse(text.as_bytes()).expect("valid JSON");
        Condition::parse(&json).expect("a valid tree")
    });
    plan(conditions)
});

/// Compiles a plan of the conditions, each as an allow and as a deny, at descending priorities.
fn plan(conditions: impl IntoIterator<Item = Condition>) -> Plan {
    let policies = conditions.into_iter().zip(0..).flat_map(|(condition, number)| {
        [Effect::Allow, Effect::Deny].map(|effect| Policy {
            id: Uuid::from_u128(number),
            name: "fuzzed".to_owned(),
            resource: ResourcePattern::Any,
            effect,
            // Below the deny of the previous condition, and above its own.
            priority: i32::from(effect == Effect::Allow) - 2 * number as i32,
            condition: Ok(condition.clone()),
        })
    });
    Plan::compile("doc:read", 1, &[], policies)
}

/// Asserts that a policy decides every allow, since there are no rules.
fn decide(plan: &Plan, body: CheckBody<'_>, claims: Option<&Json<'_>>) {
    let caller = claims.map(|claims| Caller { subject: "ann", roles: &[], claims });
    let domain = body.domain.unwrap_or("acme");
    let decision = plan.evaluate(&Check::new(body, domain, caller, DateTime::UNIX_EPOCH));
    assert!(!decision.reason().is_empty());
    assert!(decision.effect() == Effect::Deny || decision.rule_id().is_some());
}
