//! The explanation of a recorded decision, from its record.

use portcullis_engine::{Counterfactuals, Effect, Explanation};
use portcullis_model::decision::DecisionRecord;

use crate::comparison::is_recorded;
use crate::directory::RecordedDirectory;
use crate::inputs::{RecordedInputs, Unreadable};
use crate::side::Side;

/// Calls `use_it` with everything that the rules of `side` considered for a record, with the changes that would allow what they
/// deny, and with whether they decide as recorded.
///
/// # Errors
/// [`Unreadable`]
pub fn explain<T>(
    record: &DecisionRecord,
    side: &Side,
    use_it: impl FnOnce(Explanation<'_>, Option<Counterfactuals>, bool) -> T,
) -> Result<T, Unreadable> {
    let text = serde_json::to_vec(record).map_err(|_| Unreadable)?;
    let inputs = [RecordedInputs::read(&text)?];
    let directory = RecordedDirectory::new(&inputs);
    let ([inputs], known) = (&inputs, directory.known(0));
    Ok(side.with_plan(&inputs.resource, |plan| {
        let decision = inputs.decide(known, plan, true);
        let reproduced = decision.as_ref().is_some_and(|again| is_recorded(inputs, again));
        let is_denied = decision.as_ref().is_some_and(|again| again.effect() == Effect::Deny);
        let decides = decision.and_then(|decision| decision.rule_id());
        inputs.with_check(known, plan, |check, answers| {
            let changes = is_denied.then(|| plan.would_allow(check, answers));
            use_it(plan.explain(check, answers, decides), changes, reproduced)
        })
    }))
}
