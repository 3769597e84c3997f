//! The probe of the engine: one check, as a service that is ready decides it.

use chrono::DateTime;
use portcullis_engine::{Check, CheckBody, Effect, Plan, ResourcePattern, Rule, RuleTuple, json};

/// Returns whether the engine allows a check that its one rule allows.
pub fn engine_decides() -> bool {
    let rule = Rule {
        id: uuid::Uuid::nil(),
        tuple: RuleTuple {
            sub: "probe".to_owned(),
            dom: "*".to_owned(),
            obj: ResourcePattern::Any,
            act: "read".to_owned(),
        },
        effect: Effect::Allow,
    };
    let plan = Plan::compile("probe:read", 0, &[rule], []);
    let request = br#"{"subject": "probe", "resource": "probe:read", "action": "read"}"#;
    let Ok(request) = json::parse(request) else { return false };
    CheckBody::parse(&request).is_ok_and(|body| {
        let check = Check::new(body, "probe", None, DateTime::UNIX_EPOCH);
        plan.evaluate(&check).effect() == Effect::Allow
    })
}
