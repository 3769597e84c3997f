//! The engine's public route: plain data enters as text, as in a server, and the plan's answers are compared with the
//! expected ones. All generated data is valid, so a refusal of the engine is a failure.

use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};
use portcullis_engine::request::claimed_roles;
use portcullis_engine::{
    AttributeAnswers, Caller, Check, CheckBody, Condition, Decision, Effect, Invalid, Plan, Policy,
    ResourcePattern, Rule, RuleTuple, Verdict, json,
};
use serde_json::Value;

use super::decision::{Answer, DecidedBy};
use super::{ALLOW, AbacPolicy, EffectName, ROLES_CLAIM, RbacRule, Request};

/// Describes how the plan's answers to both kinds of check differ from the expected ones; `None` if they do not.
pub(crate) fn difference(
    plan: &Plan,
    question: &Check<'_>,
    expected: &Answer,
    legacy: &Answer,
) -> Option<String> {
    let mut differences = String::new();
    let rbac = plan.decide_rbac(question, &AttributeAnswers::default());
    let Verdict::Decided(rbac) = rbac else { return Some(format!("the legacy check: {rbac:?}")) };
    for (kind, decision, expected) in
        [("check", plan.evaluate(question), expected), ("legacy check", rbac, legacy)]
    {
        if !agrees(&decision, expected) {
            let (effect, id) = (decision.effect(), decision.matched_rule_id());
            let reason = decision.reason();
            // Writing to a string cannot fail.
            _ = write!(
                differences,
                "the {kind} gives {effect} by {id} ({reason}), expected is {expected:?}; "
            );
        }
    }
    (!differences.is_empty()).then_some(differences)
}

fn agrees(decision: &Decision<'_>, expected: &Answer) -> bool {
    let undetermined = decision.reason().contains("its condition is undetermined, because ");
    decision.effect().into_str() == expected.effect
        && decision.matched_rule_id().to_string() == expected.matched_rule_id
        && undetermined == (expected.decided_by == DecidedBy::UndeterminedPolicy)
}

fn effect(name: EffectName) -> Effect {
    if name == ALLOW { Effect::Allow } else { Effect::Deny }
}

fn pattern(text: &str) -> ResourcePattern {
    ResourcePattern::parse(text).expect("only valid patterns are generated")
}

pub(crate) fn engine_rules(rules: &[RbacRule]) -> Vec<Rule> {
    let rule = |rule: &RbacRule| {
        let RbacRule { id, sub, dom, obj, act, effect: name } = rule.clone();
        let tuple = RuleTuple { sub, dom, obj: pattern(&obj), act };
        Rule { id, tuple, effect: effect(name) }
    };
    rules.iter().map(rule).collect()
}

pub(crate) fn engine_policies(policies: &[AbacPolicy]) -> Vec<Policy> {
    let policy = |policy: &AbacPolicy| {
        engine_policy(policy, policy.tree.as_ref().map(|tree| engine_condition(tree)))
    };
    policies.iter().map(policy).collect()
}

/// Makes a policy of a tree that was read before; `None` stands for a tree that does not compile.
pub(crate) fn engine_policy(policy: &AbacPolicy, condition: Option<Condition>) -> Policy {
    Policy {
        id: policy.id,
        name: "generated".to_owned(),
        resource: pattern(&policy.resource),
        effect: effect(policy.effect),
        priority: policy.priority,
        condition: condition.ok_or_else(|| Invalid::expected("", "a tree that can still be read")),
    }
}

pub(crate) fn engine_condition(tree: &Value) -> Condition {
    let text = tree.to_string();
    let json = json::parse(text.as_bytes()).expect("serialised JSON is JSON");
    let condition = Condition::parse(&json);
    assert!(condition.is_ok(), "{tree} is refused: {}", condition.expect_err("just seen"));
    condition.expect("just seen")
}

/// Makes the engine's check for `request`, from text as in a server.
pub(crate) fn asked<T>(request: &Request, ask: impl FnOnce(&Check<'_>) -> T) -> T {
    let body = request.body.to_string();
    let body = json::parse(body.as_bytes()).expect("serialised JSON is JSON");
    let body = CheckBody::parse(&body).expect("only valid bodies are generated");
    let claims = request.claims.as_ref().map(Value::to_string);
    let claims = claims.as_ref().map(|text| json::parse(text.as_bytes()));
    let claims = claims.transpose().expect("serialised JSON is JSON");
    let roles = claims.as_ref().and_then(|claims| claims.claim(ROLES_CLAIM)).map(claimed_roles);
    let roles = roles.flatten().unwrap_or_default();
    let subject = claims.as_ref().and_then(|claims| claims.get("sub")?.as_str());
    let caller = claims.as_ref().zip(subject);
    let caller = caller.map(|(claims, subject)| Caller { subject, roles: &roles, claims });
    let domain = body.domain.unwrap_or(&request.caller_domain);
    // `request.time` has milliseconds; finer digits are cut off.
    let now: DateTime<Utc> = request.now.parse().expect("a valid instant");
    ask(&Check::new(body, domain, caller, now + TimeDelta::nanoseconds(999_999)))
}
