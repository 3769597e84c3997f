//! A recorded decision, the decision again, and the decision of a candidate.

use std::sync::Arc;

use portcullis_engine::matrix::{MatrixCell, Outcome, PlanMatrix};
use portcullis_engine::{Decision, Effect, KnownEntities, MatchedRuleId, Plan};
use portcullis_model::replay::ReplayChange;

use crate::inputs::RecordedInputs;
use crate::known::Lack;
use crate::side::Side;

/// The outcome of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The record does not have what its own decision was made from: it is hashed or left out. Or the decision rests on an order
    /// of date-times as texts, which is undetermined now.
    NotReplayable,
    /// The candidate decides as the record says, by the same rule.
    Same,
    /// It is otherwise.
    Differs(Difference),
}

/// A difference between a record and a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub change: ReplayChange,
    /// The name of the rule or policy that decided.
    pub before: Arc<str>,
    /// The name of the one that decides; `None` if that is not known.
    pub after: Option<Arc<str>>,
}

/// Decides a record again on the side that decided it, and on the candidate. `known` is what the directory said;
/// `has_directory` is whether the tenant ever had an entity.
pub fn compare(
    inputs: &RecordedInputs<'_>,
    known: KnownEntities<'_>,
    (recorded, candidate): (&Side, &Side),
    has_directory: bool,
) -> Compared {
    let resource = &*inputs.resource;
    recorded.with_plan(resource, |old| {
        if inputs.is_reduced_for(old) {
            return Compared::NotReplayable;
        }
        let again = inputs.decide(known, old, true);
        let before = recorded.name(inputs.rule);
        if !again.as_ref().is_some_and(|again| is_recorded(inputs, again)) {
            // It was decided when date-times were ordered as texts.
            if old.unordered().next().is_some() {
                return Compared::NotReplayable;
            }
            let now = again.as_ref().map(|decision| recorded.name(decision.rule_id()));
            return differs(ReplayChange::NotReproduced, before, now);
        }
        candidate.with_plan(resource, |new| {
            let lack = inputs.lack((recorded, old), new, has_directory);
            // The recorded answers of relations hold for the candidate only if it declares the same ones.
            let same_relations = candidate.has_relations_of(recorded);
            let Some(decision) = inputs.decide(known, new, same_relations) else {
                return differs(ReplayChange::UndeterminedNew, before, None);
            };
            let is_known = match lack {
                Lack::Nothing => true,
                Lack::Absent => is_settled(inputs, known, new),
                Lack::Values => false,
            };
            if !is_known {
                return differs(ReplayChange::UndeterminedNew, before, None);
            }
            let after = candidate.name(decision.rule_id());
            match (inputs.decision, decision.effect()) {
                (Effect::Allow, Effect::Deny) => {
                    differs(ReplayChange::AllowToDeny, before, Some(after))
                }
                (Effect::Deny, Effect::Allow) => {
                    differs(ReplayChange::DenyToAllow, before, Some(after))
                }
                // Without all inputs, the rule is not known.
                _ if lack != Lack::Nothing || before == after => Compared::Same,
                _ => differs(ReplayChange::RuleChanged, before, Some(after)),
            }
        })
    })
}

fn differs(change: ReplayChange, before: &Arc<str>, after: Option<&Arc<str>>) -> Compared {
    Compared::Differs(Difference { change, before: Arc::clone(before), after: after.cloned() })
}

/// Returns whether a decision is the recorded one.
pub(crate) fn is_recorded(inputs: &RecordedInputs<'_>, again: &Decision<'_>) -> bool {
    again.matched_rule_id() == MatchedRuleId(inputs.rule) && again.effect() == inputs.decision
}

/// Returns whether `plan` decides alike, whatever the attributes are that the record does not have.
fn is_settled(inputs: &RecordedInputs<'_>, known: KnownEntities<'_>, plan: &Plan) -> bool {
    inputs.with_check(known, plan, |check, _| {
        let roles: Vec<String> = check.roles.iter().map(str::to_owned).collect();
        let cell = MatrixCell {
            subject: Some(check.subject),
            roles: &roles,
            relation: None,
            domain: Some(check.domain),
            action: Some(check.action),
        };
        // The matrix treats what the check does not have as unknown, not as absent.
        let mut matrix = PlanMatrix::new(plan, check.attributes);
        matches!(matrix.outcome(&cell), Outcome::Allow | Outcome::Deny)
    })
}
