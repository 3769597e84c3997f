//! Decides checks by a draft, too, beside the rules that decide (`docs/semantics.md`, section 18.3).

use std::sync::Arc;

use portcullis_engine::{Decision, Effect, Judged};
use portcullis_model::replay::ReplayChange;
use portcullis_plan_cache::CachedPlan;
use portcullis_runtime::app::App;
use portcullis_runtime::shadow_counts::ShadowDifference;
use portcullis_runtime::shadow_metrics::ShadowOutcome;
use portcullis_runtime::shadows::Shadow;
use uuid::Uuid;

use super::live_questions::LiveQuestion;
use super::recorded_checks::Made;
use crate::people::directory::NeededEntities;

/// The decision of a draft on a check that was decided.
#[derive(Debug)]
pub(crate) struct ShadowDecision {
    shadow: Arc<Shadow>,
    pub(crate) effect: Effect,
    /// The difference, with the names of the rules or policies that decided and would decide.
    difference: Option<(ReplayChange, String, String)>,
}

/// Decides a check by the draft that its tenant has in shadow. Asks no resolver, and waits for nothing; `None` if the check
/// is not compared.
pub(crate) fn decide(app: &App, made: &Made<'_>) -> Option<ShadowDecision> {
    let shadow = app.shadows.get(made.tenant)?;
    let (resource, revision) = (made.question.sent.resource, made.revisions.0);
    let decided = app
        .shadows
        .with_plan(&shadow, resource, revision, |plan| decide_by(app, (&shadow, plan), made));
    match decided.unwrap_or(Err(ShadowOutcome::NotReady)) {
        Ok((effect, difference)) => Some(ShadowDecision { shadow, effect, difference }),
        Err(outcome) => {
            note(app, &shadow, outcome);
            None
        }
    }
}

fn note(app: &App, shadow: &Shadow, outcome: ShadowOutcome) {
    shadow.counts.note(outcome);
    app.metrics.shadows.count(outcome);
}

type Compared = (Effect, Option<(ReplayChange, String, String)>);

/// Decides a check by the plan of a draft. The error is the reason why the check is not compared.
fn decide_by(
    app: &App,
    (shadow, cached): (&Shadow, &CachedPlan),
    made: &Made<'_>,
) -> Result<Compared, ShadowOutcome> {
    let plan = cached.plan();
    // The answers of relations that the check has are those of the present types.
    if shadow.has_other_relations() && plan.directory_needs().relations {
        return Err(ShadowOutcome::NotComparable);
    }
    let own;
    let live = made.question;
    let entities = match live.facts {
        loaded @ NeededEntities::Loaded(_) => loaded,
        NeededEntities::Unneeded => {
            // The rules that decided needed no entities, but the draft may.
            own = NeededEntities::ready(app, made.tenant, plan, live.kind).ok().flatten();
            own.as_ref().ok_or_else(|| {
                app.shadows.want_entities(shadow);
                ShadowOutcome::NotReady
            })?
        }
    };
    // What the check learned of relations and resolvers holds for the draft, too: it walks nothing again, and asks nobody.
    let known = live.answers();
    let mut question = LiveQuestion::new(plan, entities, live.sent, live.kind).with_answers(known);
    let decision = match question.judge().map_err(|_| ShadowOutcome::NotComparable)? {
        Judged::Decided(decision) => decision,
        Judged::NeedsRelations(_) | Judged::NeedsAnswers(_) => {
            return Err(ShadowOutcome::NotComparable);
        }
    };
    Ok((decision.effect(), difference(made.decision, &decision)))
}

/// Returns how two decisions differ, with the names of what decided; `None` if they do not.
fn difference(live: &Decision<'_>, other: &Decision<'_>) -> Option<(ReplayChange, String, String)> {
    let change = match (live.effect(), other.effect()) {
        (Effect::Allow, Effect::Deny) => ReplayChange::AllowToDeny,
        (Effect::Deny, Effect::Allow) => ReplayChange::DenyToAllow,
        // What the draft does not change keeps its id.
        _ if live.rule_id() == other.rule_id() => return None,
        _ => ReplayChange::RuleChanged,
    };
    let (before, after) = (live.name().to_string(), other.name().to_string());
    (change != ReplayChange::RuleChanged || before != after).then_some((change, before, after))
}

impl ShadowDecision {
    /// Returns the name of the draft.
    pub(crate) fn draft(&self) -> &str {
        &self.shadow.draft
    }

    /// Counts the decision. `record` is the id of the record of the check, if there is one.
    pub(crate) fn count(&self, app: &App, made: &Made<'_>, record: Option<Uuid>) {
        let Some((change, before, after)) = &self.difference else {
            note(app, &self.shadow, ShadowOutcome::Same);
            return;
        };
        let resource = made.question.sent.resource;
        let action = &*made.question.sent.action.text();
        let change = *change;
        let outcome = match change {
            ReplayChange::AllowToDeny => ShadowOutcome::AllowToDeny,
            ReplayChange::DenyToAllow => ShadowOutcome::DenyToAllow,
            _ => ShadowOutcome::RuleChanged,
        };
        note(app, &self.shadow, outcome);
        let difference = ShadowDifference { change, resource, action, before, after, record };
        self.shadow.counts.note_difference(&difference);
    }
}
