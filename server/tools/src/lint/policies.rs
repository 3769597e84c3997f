//! Policies that never decide, and denies that an absent attribute switches on.

use std::cmp::Reverse;

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::analysis::{Analysis, AnalyzedPolicy, implicit_attributes, is_determinable};
use portcullis_engine::excerpt::{excerpt, quoted};
use portcullis_engine::{Condition, Effect, expression};
use portcullis_model::policy::NewPolicy;

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};
use super::predecessors::{Predecessors, Winner};

/// The maximum number of steps that all questions about one folder take: a few seconds.
const MAX_STEPS: usize = 50_000_000;
/// The longest test that a message shows, in characters.
const MAX_TEST: usize = 120;

/// Returns the findings about the conditions of the enabled policies.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let mut judge = Judge {
        analysis: Analysis::new(MAX_STEPS),
        before: Predecessors::new(&bundle.rulebook),
        unanswered: 0,
        doubts: Vec::new(),
    };
    for (index, policy) in in_deciding_order(&bundle.policies) {
        judge.judge(index, policy);
    }
    if judge.unanswered > 0 {
        judge.doubts.push(Doubt {
            code: LintCode::NotJudged,
            subject: LintSubject::Kind(ItemKind::Policy),
            message: format!(
                "{} questions about policies are left out: they exceed the bounds of this command",
                judge.unanswered
            ),
            advice:
                "shorten the largest conditions, or split what many policies of one resource say"
                    .to_owned(),
        });
    }
    judge.doubts
}

/// Returns the enabled policies in the order in which they decide (`docs/semantics.md`, section 2.5). Policies that do
/// not differ keep the order of the files.
fn in_deciding_order(policies: &[NewPolicy]) -> Vec<(usize, &NewPolicy)> {
    let enabled = policies.iter().enumerate().filter(|(_, policy)| policy.enabled);
    let mut enabled: Vec<_> = enabled.collect();
    enabled.sort_by_key(|(_, policy)| (Reverse(policy.priority), policy.effect));
    enabled
}

struct Judge<'b> {
    analysis: Analysis,
    /// The policies that come before the one that is judged.
    before: Predecessors<'b>,
    /// The number of questions beyond the bounds.
    unanswered: usize,
    doubts: Vec<Doubt>,
}

impl<'b> Judge<'b> {
    fn judge(&mut self, index: usize, policy: &'b NewPolicy) {
        let condition = &policy.rule_data.condition;
        let analyzed =
            AnalyzedPolicy { resource: &policy.resource, effect: policy.effect, condition };
        let name = quoted(&policy.name);
        // Further findings would only follow from the test that is never determined.
        if self.reports_incomparable(index, &name, condition) {
            return;
        }
        // This question is about one policy alone, and its answer may make the others pointless.
        let never = self.analysis.never_applies(analyzed);
        if self.answered(never) {
            return self.report(
                LintCode::Contradiction,
                index,
                contradiction(&name, policy.effect),
            );
        }
        if let Some(winner) = self.winner(analyzed) {
            let (code, texts) = outranked(&name, policy, &winner);
            return self.report(code, index, texts);
        }
        // An undetermined condition denies, but never allows, so only a deny can act without an attribute.
        if policy.effect == Effect::Deny {
            self.judge_absences(index, &name, analyzed);
        }
        // This comes only here: a policy that never decides keeps no other one from deciding.
        self.before.insert(policy, analyzed);
    }

    /// Returns whether the answer is yes, and counts a question without an answer.
    fn answered(&mut self, answer: Option<bool>) -> bool {
        self.unanswered += usize::from(answer.is_none());
        answer == Some(true)
    }

    /// Returns the policy or rule that decides whenever this policy would.
    fn winner(&mut self, policy: AnalyzedPolicy<'b>) -> Option<Winner<'b>> {
        let (candidates, left_out) = self.before.candidates(policy);
        self.unanswered += left_out;
        candidates.into_iter().find(|candidate| {
            let implied = self.analysis.implies(policy, candidate.analyzed());
            self.answered(implied)
        })
    }

    /// Reports each test that is undetermined for every check. Returns whether there is one.
    fn reports_incomparable(&mut self, index: usize, name: &str, condition: &Condition) -> bool {
        let before = self.doubts.len();
        for test in condition.tests() {
            if is_determinable(test) {
                continue;
            }
            let shown = expression::print(&Condition::Test(test.clone()));
            let message = format!(
                "policy {name}: the test `{}` is undetermined for every check, because it compares types that never fit",
                excerpt(shown, MAX_TEST)
            );
            let advice = "use an operator that compares these types, such as `during` for a time";
            self.report(LintCode::Incomparable, index, (message, advice.to_owned()));
        }
        self.doubts.len() > before
    }

    fn judge_absences(&mut self, index: usize, name: &str, policy: AnalyzedPolicy<'_>) {
        let mut paths = Vec::new();
        for path in implicit_attributes(policy.condition) {
            let denies = self.analysis.denies_without(policy, path);
            if self.answered(denies) {
                paths.push(quoted(path));
            }
        }
        if paths.is_empty() {
            return;
        }
        let message = format!("policy {name} denies every check without {}", paths.join(" or "));
        let advice = "say so: write `(…) ?? true` or `(…) ?? false` for an attribute on the left of a test, ask \
            `exists(…)` for one on the right, or silence this";
        self.report(LintCode::DeniesWithout, index, (message, advice.to_owned()));
    }

    fn report(&mut self, code: LintCode, index: usize, (message, advice): (String, String)) {
        let subject = LintSubject::Item(ItemKind::Policy, index, "");
        self.doubts.push(Doubt { code, subject, message, advice });
    }
}

fn contradiction(name: &str, effect: Effect) -> (String, String) {
    let truth = match effect {
        Effect::Allow => "true",
        Effect::Deny => "true or undetermined",
    };
    let message = format!("policy {name} never applies: no check makes its condition {truth}");
    (message, "correct the condition, or delete the policy".to_owned())
}

fn outranked(name: &str, policy: &NewPolicy, winner: &Winner<'_>) -> (LintCode, (String, String)) {
    match winner {
        Winner::Policy(other, _) if other.effect == policy.effect => {
            let other = quoted(&other.name);
            let message = format!(
                "policy {name} never decides: policy {other} comes before it with the same effect and applies whenever it \
                 does"
            );
            let advice = format!("delete it, or narrow the condition of {other}");
            (LintCode::RedundantPolicy, (message, advice))
        }
        Winner::Policy(other, _) => {
            let effect = match other.effect {
                Effect::Allow => "allows",
                Effect::Deny => "denies",
            };
            let priority = other.priority;
            let other = quoted(&other.name);
            let message = format!(
                "policy {name} never decides: policy {other} comes before it and {effect} whenever it applies"
            );
            let advice = format!(
                "give it a priority above {priority}, narrow the condition of {other}, or delete it"
            );
            (LintCode::Outranked, (message, advice))
        }
        Winner::Rule(tuple, ..) => {
            let message = format!(
                "policy {name} never decides: the rule `{tuple}` denies whenever it applies, and no allow beats a rule \
                 that denies"
            );
            let advice = "delete the policy, or narrow the rule".to_owned();
            (LintCode::Outranked, (message, advice))
        }
    }
}
