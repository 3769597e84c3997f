//! The explanation of a recorded decision, from its record.

use std::collections::BTreeSet;

use portcullis_engine::{Counterfactuals, Decision, Effect, Explanation, Plan};
use portcullis_model::decision::DecisionRecord;

use crate::comparison::is_recorded;
use crate::directory::RecordedDirectory;
use crate::inputs::{RecordedInputs, Unreadable};
use crate::side::Side;

/// Whether the rules of its revision decide a record again as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reproduction {
    Reproduced(bool),
    /// The record lacks what they read, or was decided by an order of date-times as texts: these attributes are hashed, left
    /// out, or not ordered any more.
    NotReplayable(Vec<String>),
}

/// Calls `use_it` with everything that the rules of `side` considered for a record, with the changes that would allow what they
/// deny, and with whether they decide as recorded. A record that lacks what they read proves no such changes.
///
/// # Errors
/// [`Unreadable`]
pub fn explain<T>(
    record: &DecisionRecord,
    side: &Side,
    use_it: impl FnOnce(Explanation<'_>, Option<Counterfactuals>, Reproduction) -> T,
) -> Result<T, Unreadable> {
    let text = serde_json::to_vec(record).map_err(|_| Unreadable)?;
    let inputs = [RecordedInputs::read(&text)?];
    let directory = RecordedDirectory::new(&inputs);
    let ([inputs], known) = (&inputs, directory.known(0));
    Ok(side.with_plan(&inputs.resource, |plan| {
        let decision = inputs.decide(known, plan, true);
        let reproduction = reproduction(inputs, plan, decision.as_ref());
        let is_denied = decision.as_ref().is_some_and(|again| again.effect() == Effect::Deny)
            && matches!(reproduction, Reproduction::Reproduced(_));
        let decides = decision.and_then(|decision| decision.rule_id());
        inputs.with_check(known, plan, |check, answers| {
            let changes = is_denied.then(|| plan.would_allow(check, answers));
            use_it(plan.explain(check, answers, decides), changes, reproduction)
        })
    }))
}

/// Returns whether `again`, the decision of `plan`, is the recorded one, as far as the record tells.
fn reproduction(
    inputs: &RecordedInputs<'_>,
    plan: &Plan,
    again: Option<&Decision<'_>>,
) -> Reproduction {
    let lacking = inputs.reduced_for(plan).map(|(namespace, name)| format!("{namespace}.{name}"));
    let lacking: BTreeSet<String> = lacking.collect();
    let is_reproduced = again.is_some_and(|again| is_recorded(inputs, again));
    // A record that has everything may still be from a time when date-times were ordered as texts.
    let lacking = match lacking.is_empty() && !is_reproduced {
        true => plan.unordered().map(ToString::to_string).collect(),
        false => lacking,
    };
    match lacking.is_empty() {
        true => Reproduction::Reproduced(is_reproduced),
        false => Reproduction::NotReplayable(lacking.into_iter().collect()),
    }
}
