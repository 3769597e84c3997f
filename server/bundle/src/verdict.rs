//! The verdict on a case: compares the decision with the expected one.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use portcullis_engine::{
    AttributeAnswer, Check, CheckBody, Decision, Effect, ExplainedNode, ExplainedPolicy,
    Explanation, Invalid, TruthValue,
};

use crate::cases::{Case, Expected};
use crate::given_answers::GivenAnswers;
use crate::rulebook::Rulebook;
use crate::users::SampleUser;

/// The instant of a case without `now`: 2026-01-15T10:00:00Z, a Thursday morning. It is fixed, so that a case that
/// passes today passes tomorrow.
pub const DEFAULT_NOW: DateTime<Utc> = match DateTime::from_timestamp(1_768_471_200, 0) {
    Some(instant) => instant,
    None => DateTime::UNIX_EPOCH,
};

/// The verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseVerdict {
    Passed,
    /// The decision is another one, for this reason.
    Otherwise {
        got: Expected,
        reason: String,
        /// The conditions of the policies that decided or should have: name, truth and expression of each.
        conditions: Vec<String>,
    },
    /// The decision is the expected one, but it rests on these policies.
    Undetermined {
        got: Expected,
        policies: Vec<UndeterminedPolicy>,
    },
}

/// A policy whose condition is undetermined, and on which a decision rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeterminedPolicy {
    pub name: String,
    /// The cause of the first test that is undetermined.
    pub because: String,
    /// The condition as an expression, if one stands for it.
    pub expression: Option<String>,
}

impl Case {
    /// Returns the check of the case with the claims of its caller, who is one of `users`. A check without a domain is in
    /// `domain`.
    ///
    /// # Errors
    /// The body is not valid. A case that was read has a valid one.
    pub fn to_check<'c>(
        &'c self,
        users: &'c [SampleUser],
        domain: &'c str,
    ) -> Result<Check<'c>, Invalid> {
        let body = CheckBody::parse(&self.check)?;
        let caller = self.caller.as_deref();
        let caller = caller.and_then(|sub| users.iter().find(|user| user.sub == sub));
        let domain = body.domain.unwrap_or(domain);
        let now = self.now.unwrap_or(DEFAULT_NOW);
        Ok(Check::new(body, domain, caller.map(SampleUser::caller), now))
    }

    /// Returns the verdict on `decision`, which `rulebook` gives and `explanation` explains.
    pub fn verdict(
        &self,
        rulebook: &Rulebook,
        decision: &Decision<'_>,
        explanation: &Explanation<'_>,
    ) -> CaseVerdict {
        let got = Expected::of(rulebook, decision);
        if !self.expected.admits(&got) {
            let named: Vec<&str> =
                [&got, &self.expected].into_iter().filter_map(|one| one.rule.as_deref()).collect();
            let conditions = conditions(explanation, &named);
            return CaseVerdict::Otherwise { got, reason: decision.reason(), conditions };
        }
        let policies = rests_on(explanation, got.decision);
        if policies.is_empty() || self.undetermined_allowed {
            CaseVerdict::Passed
        } else {
            CaseVerdict::Undetermined { got, policies }
        }
    }
}

impl GivenAnswers {
    /// Returns the answer to the attribute `name` of `namespace`, which the case answers. An attribute that is left out
    /// fails.
    pub fn answer(&self, namespace: &str, name: &str) -> AttributeAnswer {
        self.answers.get(namespace, name).cloned().unwrap_or_else(|| {
            let cause = format!("`resolved` has no `{namespace}.{name}`");
            AttributeAnswer::Failed(cause.into())
        })
    }
}

/// Shows the conditions of the candidates with these names.
fn conditions(explanation: &Explanation<'_>, names: &[&str]) -> Vec<String> {
    let named = explanation.policies.iter().filter(|policy| names.contains(&policy.name));
    let shown = named.filter_map(|policy| {
        let expression = policy.condition.as_ref().and_then(ExplainedNode::expression)?;
        Some(format!("`{}` is {}: {expression}", policy.name, policy.outcome))
    });
    shown.collect()
}

/// Returns the undetermined policies on which the decision with this effect rests: the one that decides, and each that
/// would decide otherwise if its condition were true.
pub fn rests_on(explanation: &Explanation<'_>, effect: Effect) -> Vec<UndeterminedPolicy> {
    let is_denied = explanation.rules.iter().any(|rule| rule.effect == Effect::Deny);
    let (mut found, named) = (Vec::new(), explanation.named());
    for policy in &explanation.policies {
        if policy.outcome == TruthValue::Undetermined {
            // An RBAC deny beats an ABAC allow.
            let would_be = if is_denied { Effect::Deny } else { policy.effect };
            if policy.decides || would_be != effect {
                found.push(UndeterminedPolicy::new(policy, &named));
            }
        }
        // No later policy can decide.
        if policy.applies {
            break;
        }
    }
    found
}

impl UndeterminedPolicy {
    fn new<'n, 'e>(policy: &'n ExplainedPolicy<'e>, named: &NamedNodes<'n, 'e>) -> Self {
        let because = policy.condition.as_ref().and_then(|node| cause(node, named));
        let because = because.unwrap_or_default();
        let expression = policy.condition.as_ref().and_then(ExplainedNode::expression);
        Self {
            name: policy.name.to_owned(),
            because: because.to_owned(),
            expression: expression.map(str::to_owned),
        }
    }
}

/// The conditions of an explanation, by name.
type NamedNodes<'n, 'e> = HashMap<&'e str, &'n ExplainedNode<'e>>;

/// Returns the cause of the first test of the tree that is undetermined.
fn cause<'n, 'e>(node: &'n ExplainedNode<'e>, named: &NamedNodes<'n, 'e>) -> Option<&'n str> {
    match node {
        ExplainedNode::And { children, .. } | ExplainedNode::Or { children, .. } => {
            children.iter().find_map(|child| cause(child, named))
        }
        ExplainedNode::Not { child, .. } => cause(child, named),
        ExplainedNode::Named { name, .. } => cause(named.get(name).copied()?, named),
        ExplainedNode::Condition(test) | ExplainedNode::Length(test) => test.because.as_deref(),
        ExplainedNode::Any(items) | ExplainedNode::All(items) => items.because.as_deref(),
    }
}
