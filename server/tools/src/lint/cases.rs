//! Cases that no longer test what they say, and policies without a case.

use std::collections::{HashMap, HashSet};

use portcullis_bundle::{
    Bundle, Case, Expected, FolderFacts, FolderQuestion, ItemKind, explained, rests_on,
};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::{Check, Plan};

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// Returns the findings about cases. A case that needs the call of a resolver is not judged.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let mut plans: HashMap<&str, Plan> = HashMap::new();
    let (mut doubts, mut decided) = (Vec::new(), HashSet::new());
    for (index, case) in bundle.cases.iter().enumerate() {
        // The reader accepts valid checks only.
        let Ok(sent) = case.to_check(&bundle.users, &bundle.tenant) else { continue };
        let plan =
            &*plans.entry(sent.resource).or_insert_with_key(|name| bundle.rulebook.plan(name));
        let Some((decider, undetermined)) = passed(bundle, plan, sent, case) else { continue };
        decided.insert(decider);
        let name = quoted(&case.name);
        let (code, message, advice) = match (undetermined.first(), case.undetermined_allowed) {
            (Some(policy), false) => (
                LintCode::UndeterminedCase,
                format!(
                    "the case {name} tests nothing: the condition of {} is undetermined",
                    quoted(policy)
                ),
                "complete the case, or write `undetermined: allowed` if it is about this",
            ),
            (None, true) => (
                LintCode::UnneededMark,
                format!("the case {name} allows an undetermined condition, and there is none"),
                "delete `undetermined: allowed`",
            ),
            _ => continue,
        };
        let subject = LintSubject::Item(ItemKind::Case, index, "");
        doubts.push(Doubt { code, subject, message, advice: advice.to_owned() });
    }
    // A case that is not judged may expect a policy all the same.
    decided.extend(bundle.cases.iter().filter_map(|case| case.expected.rule.clone()));
    doubts.extend(without_case(bundle, &decided));
    doubts
}

/// Returns the name of what decides a case, and the names of the undetermined policies on which its decision rests. `None` if
/// it needs the call of a resolver, or if the decision is not the expected one, which `portcullis test` reports.
fn passed(
    bundle: &Bundle,
    plan: &Plan,
    sent: Check<'_>,
    case: &Case,
) -> Option<(String, Vec<String>)> {
    let facts = FolderFacts { rulebook: &bundle.rulebook, tuples: Some(case.tuples()) };
    let mut question = FolderQuestion::combined(plan, &facts, sent);
    let decision = case.decide(&mut question).ok()?.ok()?;
    let got = Expected::of(&bundle.rulebook, &decision);
    if !case.expected.admits(&got) {
        return None;
    }
    let undetermined = explained(&mut question, decision.rule_id(), |explanation| {
        rests_on(&explanation, got.decision)
    });
    let policies = undetermined.ok()?.into_iter().map(|policy| policy.name);
    Some((got.rule?, policies.collect()))
}

/// Finds the enabled policies that are not among the names of what cases expect to decide, or have decided.
fn without_case(bundle: &Bundle, expected: &HashSet<String>) -> Vec<Doubt> {
    let policies = bundle.policies.iter().enumerate();
    let silent = policies.filter(|(_, policy)| policy.enabled && !expected.contains(&policy.name));
    let doubts = silent.map(|(index, policy)| Doubt {
        code: LintCode::NoCase,
        subject: LintSubject::Item(ItemKind::Policy, index, ""),
        message: format!("no case expects policy {} to decide", quoted(&policy.name)),
        advice: "add a case that it decides".to_owned(),
    });
    doubts.collect()
}
