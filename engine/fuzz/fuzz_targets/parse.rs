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
    let body = CheckBody::parse(&json);
    let condition = Condition::parse(&json);
    // A tree is asked as the only condition, a body by a policy that reads it, and any JSON is a token.
    let policies = match (condition, &body) {
        (Ok(condition), _) => vec![condition],
        (_, Ok(_)) => readers(),
        _ => return,
    };
    for (body, claims) in
        [(Some(known), None), (Some(known), Some(&json)), (body.ok(), Some(&json))]
    {
        let Some(body) = body else { continue };
        decide(&policies, body, claims);
    }
});

/// Conditions that read the attributes of any body.
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
    let both = || {
        conditions
            .iter()
            .flat_map(|condition| [Effect::Allow, Effect::Deny].map(|effect| (condition, effect)))
    };
    let policies = both().zip(0..).map(|((condition, effect), number)| Policy {
        id: Uuid::from_u128(number),
        name: "fuzzed".to_owned(),
        resource: ResourcePattern::Any,
        effect,
        priority: 0 - i32::try_from(number).unwrap_or_default(),
        condition: Ok(condition.clone()),
    });
    let plan = Plan::compile(body.resource, 1, &[], policies);
    let caller = claims.map(|claims| Caller { subject: "ann", roles: &[], claims });
    let domain = body.domain.unwrap_or("acme");
    let decision = plan.evaluate(&Check::new(body, domain, caller, DateTime::UNIX_EPOCH));
    assert!(!decision.reason().is_empty());
    assert!(decision.effect() == Effect::Deny || decision.rule_id().is_some());
}
