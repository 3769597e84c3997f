//! The undetermined conditions on which a decision rests (`docs/semantics.md`, section 17.1).

use super::Plan;
use super::index::Rank;
use super::layer::Layer;
use super::program::Run;
use super::stages::LayerValues;
use crate::condition::AttributePath;
use crate::decision::{Decision, Matched, Undetermined};
use crate::policy::{Order, PlannedPolicy, applies};
use crate::rbac::Effect;
use crate::request::Check;
use crate::resolution::AttributeAnswers;

/// Most policies that are asked why they do not allow a denied check: less than a millisecond of a denial.
const MAX_POLICIES: usize = 100;
/// Most attributes that are named.
const MAX_ATTRIBUTES: usize = 32;

impl Plan {
    /// Returns the attributes that made a condition undetermined on which this `decision` on `check` rests, each once: those
    /// of the policy that decided, and of each policy or rule that would allow what is denied if its condition were true.
    pub fn undetermined<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
        decision: &Decision<'p>,
    ) -> Vec<&'p AttributePath> {
        let mut found: Vec<_> = Vec::new();
        let withheld = match decision.effect() {
            Effect::Allow => Vec::new(),
            Effect::Deny => self.withheld_by(check, answers, decision),
        };
        for path in decision.undetermined().chain(withheld) {
            if found.len() < MAX_ATTRIBUTES && !found.contains(&path) {
                found.push(path);
            }
        }
        found
    }

    /// Returns the attributes that keep an allow from applying that would decide before what denied `check`.
    fn withheld_by<'p>(
        &'p self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
        decision: &Decision<'p>,
    ) -> Vec<&'p AttributePath> {
        let decider = match decision.matched() {
            Matched::Policy(judged) if !judged.policy.is_rule => Some(judged.policy.order()),
            Matched::Nothing { .. } => None,
            // No allow beats a rule that denies.
            Matched::Policy(_) | Matched::Rule(_) => return Vec::new(),
        };
        let rule = self.rules.decide(check, &self.resource);
        if rule.is_some_and(|rule| rule.effect == Effect::Deny) {
            return Vec::new();
        }
        let texts = self.made_texts(check);
        let mut values = LayerValues::default();
        self.read_values(check, answers, &texts, &mut values);
        let (mut found, mut left) = (Vec::new(), MAX_POLICIES);
        for (layer, values) in self.layers.iter().zip(values.iter()) {
            let mut run = Run::new(&layer.abac.program, values);
            for (rank, policy) in layer.before(decider).take(left) {
                left -= 1;
                if policy.effect == Effect::Allow {
                    let causes = layer.causes_of(rank, &mut run, answers);
                    found.extend(causes.iter().filter_map(Undetermined::attribute));
                // A rule by a relation denies, which no allow beats.
                } else if policy.is_rule && layer.applies(rank, policy, &mut run) {
                    return Vec::new();
                }
            }
        }
        found
    }
}

impl Layer {
    /// Returns the policies that come before the place of what decided, in deciding order; all for `None`.
    fn before(&self, decider: Option<Order>) -> impl Iterator<Item = (Rank, &PlannedPolicy)> {
        let ranked = self.ranks().filter_map(|rank| Some((rank, self.policy(rank)?)));
        ranked.take_while(move |(_, policy)| decider.is_none_or(|order| policy.order() < order))
    }

    fn applies(&self, rank: Rank, policy: &PlannedPolicy, run: &mut Run<'_>) -> bool {
        let condition = self.abac.conditions[rank as usize].condition;
        applies(policy.effect, condition.and_then(|condition| run.truth(condition)))
    }
}

#[cfg(test)]
mod tests;
