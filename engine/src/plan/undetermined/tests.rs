//! The causes of undetermined denies, and of allows that do not apply.

use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::json;
use crate::policy::{Format, Policy};
use crate::request::CheckBody;
use crate::resource::ResourcePattern;
use crate::{Rule, RuleTuple};

/// A policy of this priority, whose condition compares `user.<attribute>` with 1.
fn policy(priority: i32, effect: Effect, attribute: &str) -> Policy {
    let tree = json!({
        "type": "CONDITION", "attribute": format!("user.{attribute}"), "operator": "eq", "value": 1,
    });
    Policy {
        id: Uuid::from_u128(u128::from(priority.unsigned_abs())),
        name: format!("p{priority}"),
        resource: ResourcePattern::Any,
        effect,
        priority,
        condition: Policy::stored_condition(Format::Json, &tree.to_string()),
    }
}

fn undetermined(policies: &[Policy], rules: &[Rule], user: &Value) -> Vec<String> {
    let plan = Plan::compile("doc:read", 1, rules, policies.iter().cloned());
    let body = json!({"subject": "ann", "resource": "doc:read", "action": "read", "attributes": {"user": user}});
    let body = body.to_string();
    let body = json::parse(body.as_bytes()).expect("JSON");
    let check =
        Check::new(CheckBody::parse(&body).expect("a check"), "acme", None, DateTime::UNIX_EPOCH);
    let answers = AttributeAnswers::default();
    let decision = plan.evaluate(&check);
    plan.undetermined(&check, &answers, &decision).iter().map(ToString::to_string).collect()
}

#[test]
fn what_keeps_an_allow_from_applying_is_named() {
    let (allow, deny) = (Effect::Allow, Effect::Deny);
    let rule = |effect| {
        let tuple = RuleTuple {
            sub: "ann".to_owned(),
            dom: "acme".to_owned(),
            obj: ResourcePattern::Any,
            act: "read".to_owned(),
        };
        vec![Rule { id: Uuid::from_u128(77), tuple, effect }]
    };
    let own =
        [policy(9, allow, "a"), policy(8, deny, "b"), policy(7, allow, "c"), policy(6, allow, "a")];
    for (rules, user, expected) in [
        (vec![], json!({"a": 2, "b": 2, "c": 2}), &[][..]),
        (vec![], json!({"b": 2}), &["user.a", "user.c"]),
        // What comes after the policy that decides keeps nothing from applying.
        (vec![], json!({"b": 1}), &["user.a"]),
        (vec![], json!({"a": 2}), &["user.b"]),
        (vec![], json!({}), &["user.b", "user.a"]),
        (vec![], json!({"a": 2, "b": 2, "c": 1}), &[]),
        (rule(allow), json!({"b": 2}), &[]),
        (rule(deny), json!({"b": 2}), &[]),
        (rule(deny), json!({}), &["user.b"]),
    ] {
        assert_eq!(undetermined(&own, &rules, &user), expected, "{user} {rules:?}");
    }
}

#[test]
fn as_many_policies_and_attributes_are_named_as_there_is_room_for() {
    let many = |count: usize, name: fn(usize) -> String| {
        let policies = (0..count).map(|number| {
            let priority = i32::try_from(count - number).expect("few");
            policy(priority, Effect::Allow, &name(number))
        });
        undetermined(&policies.collect::<Vec<_>>(), &[], &json!({}))
    };
    assert_eq!(many(MAX_ATTRIBUTES + 1, |number| format!("a{number}")).len(), MAX_ATTRIBUTES);
    let last = |number| if number < MAX_POLICIES { "a".to_owned() } else { "late".to_owned() };
    assert_eq!(many(MAX_POLICIES + 1, last), ["user.a"]);
}
