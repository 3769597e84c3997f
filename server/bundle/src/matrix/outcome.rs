//! The outcome of a cell, as answers and reports show it.

use portcullis_engine::matrix::{Outcome, Residual};
use portcullis_engine::{Condition, Effect};
use portcullis_model::apply::CellDecision;

use super::decision_set::DecisionSet;

/// The number of policies that an outcome names.
const NAMED: usize = 10;

/// Returns the decision that an outcome shows.
pub fn cell_decision(outcome: &Outcome<'_>) -> CellDecision {
    match outcome {
        Outcome::Allow => CellDecision::Allow,
        Outcome::Deny => CellDecision::Deny,
        Outcome::Depends(residual) => {
            let policies = residual.policies();
            CellDecision::Depends {
                condition: residual.text().map(str::to_owned),
                policies: policies.iter().take(NAMED).map(|it| it.name.to_string()).collect(),
                more_policies: policies.len().saturating_sub(NAMED),
            }
        }
    }
}

/// Returns whether two outcomes decide each request the same, as far as their text or, if that is too large, their whole
/// policies show.
pub(super) fn is_same(
    (before, old): (&Outcome<'_>, &DecisionSet<'_>),
    (after, new): (&Outcome<'_>, &DecisionSet<'_>),
) -> bool {
    match (before, after) {
        (Outcome::Allow, Outcome::Allow) | (Outcome::Deny, Outcome::Deny) => true,
        (Outcome::Depends(before), Outcome::Depends(after)) => {
            match (before.text(), after.text()) {
                (Some(before), Some(after)) => before == after,
                (None, None) => {
                    before.otherwise() == after.otherwise()
                        && before.policies().len() == after.policies().len()
                        && contents(before, old).eq(contents(after, new))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns the effect and the whole condition of each open policy, or the tuple of a rule.
fn contents<'r>(
    residual: &'r Residual<'_>,
    set: &'r DecisionSet<'_>,
) -> impl Iterator<Item = (Effect, Option<&'r Condition>, Option<&'r str>)> {
    residual.policies().iter().map(|policy| {
        let condition = set.policy(policy.id).and_then(|known| known.condition.as_ref().ok());
        (policy.effect, condition, policy.is_rule.then_some(&*policy.name))
    })
}

/// Splits what is about the purpose of its resource, each with whether it is, from the rest.
pub(super) fn by_purpose<T>(all: Vec<(bool, T)>) -> (Vec<T>, Vec<T>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (is_about, one) in all {
        if is_about { &mut own } else { &mut others }.push(one);
    }
    (own, others)
}
