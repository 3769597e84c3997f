//! Whether a decision rests on an undetermined condition (`policies/README.md`).

use portcullis_engine::{Effect, ExplainedNode, ExplainedPolicy, Explanation, TruthValue};

/// A policy whose condition is undetermined, and on which a decision rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UndeterminedPolicy {
    pub(crate) name: String,
    /// The cause of the first test that is undetermined.
    pub(crate) because: String,
}

/// Returns the undetermined policies on which the decision with this effect rests: the one that decides, and each that
/// would decide otherwise if its condition were true.
pub(crate) fn rests_on(explanation: &Explanation<'_>, effect: Effect) -> Vec<UndeterminedPolicy> {
    let is_denied = explanation.rules.iter().any(|rule| rule.effect == Effect::Deny);
    let mut found = Vec::new();
    for policy in &explanation.policies {
        if policy.outcome == TruthValue::Undetermined {
            // An RBAC deny beats an ABAC allow.
            let would_be = if is_denied { Effect::Deny } else { policy.effect };
            if policy.decides || would_be != effect {
                found.push(UndeterminedPolicy::of(policy));
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
    fn of(policy: &ExplainedPolicy<'_>) -> Self {
        let because = policy.condition.as_ref().and_then(cause).unwrap_or_default();
        Self { name: policy.name.to_owned(), because: because.to_owned() }
    }
}

/// Returns the cause of the first test of the tree that is undetermined.
fn cause<'e>(node: &'e ExplainedNode<'_>) -> Option<&'e str> {
    match node {
        ExplainedNode::And { children, .. } | ExplainedNode::Or { children, .. } => {
            children.iter().find_map(cause)
        }
        ExplainedNode::Not { child, .. } => cause(child),
        ExplainedNode::Condition(test) => test.because.as_deref(),
    }
}
