//! Arbitrary bytes where the engine expects text of strangers: it never panics, and whatever it accepts can
//! be compiled into a plan that decides.

#![no_main]

use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use portcullis_engine::{
    Caller, Check, CheckBody, Condition, Effect, Json, Plan, Policy, ResourcePattern, json,
};
use uuid::Uuid;

const BODY: &[u8] = br#"{"subject": "ann", "resource": "doc:read", "action": "read", "attributes": {
    "user": {"a": "b", "level": 3, "tags": ["a", 1]}, "resource": {"ip": "10.1.2.3", "flag": true}}}"#;

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = json::parse(bytes) else {
        return;
    };
    let known = json::parse(BODY).expect("valid JSON");
    let known = CheckBody::parse(&known).expect("a valid body");
    // A tree stands alone as the condition. A body, and any JSON as the claims of a token, is read by others.
    let conditions =
        Condition::parse(&json).map_or_else(|_| readers(), |condition| vec![condition]);
    decide(&conditions, known, None);
    decide(&conditions, known, Some(&json));
    if let Ok(body) = CheckBody::parse(&json) {
        decide(&conditions, body, None);
    }
});

/// Conditions on the attribute `a` of every kind.
fn readers() -> Vec<Condition> {
    [
        r#"{"type": "CONDITION", "attribute": "user.a", "operator": "lt", "value": {"attribute": "resource.a"}}"#,
        r#"{"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": "a"}"#,
        r#"{"type": "CONDITION", "attribute": "token.a", "operator": "after", "value": "2026-03-01T08:00:00Z"}"#,
        r#"{"type": "CONDITION", "attribute": "resource.a", "operator": "ip_in", "value": ["10.0.0.0/8"]}"#,
    ]
    .map(|text| {
        let json = json::parse(text.as_bytes()).expect("valid JSON");
        Condition::parse(&json).expect("a valid tree")
    })
    .into()
}

/// Decides by the conditions, each as an allow and as a deny, at falling priorities. An allow must have a
/// policy behind it, since there are no rules.
fn decide(conditions: &[Condition], body: CheckBody<'_>, claims: Option<&Json<'_>>) {
    let policies = conditions.iter().zip(0..).flat_map(|(condition, number)| {
        [Effect::Allow, Effect::Deny].map(|effect| Policy {
            id: Uuid::from_u128(number),
            name: "fuzzed".to_owned(),
            resource: ResourcePattern::Any,
            effect,
            // Below the deny of the condition before it, and above its own.
            priority: i32::from(effect == Effect::Allow) - 2 * number as i32,
            condition: Ok(condition.clone()),
        })
    });
    let plan = Plan::compile(body.resource, 1, &[], policies);
    let caller = claims.map(|claims| Caller { subject: "ann", roles: &[], claims });
    let domain = body.domain.unwrap_or("acme");
    let decision = plan.evaluate(&Check::new(body, domain, caller, DateTime::UNIX_EPOCH));
    assert!(!decision.reason().is_empty());
    assert!(decision.effect() == Effect::Deny || decision.rule_id().is_some());
}
