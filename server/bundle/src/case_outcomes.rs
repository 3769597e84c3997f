//! Decides cases against rules and policies, without calls of resolvers.

use std::collections::BTreeMap;

use portcullis_engine::{DEFAULT_DENY, Effect, Invalid, Plan};

use crate::case_set::CaseSet;
use crate::cases::{Case, Expected};
use crate::folder_questions::{FolderFacts, FolderQuestion, explained};
use crate::rulebook::Rulebook;
use crate::skip_cause::{MAX_WORK, SkipCause};
use crate::verdict::{CaseVerdict, UndeterminedPolicy};

/// The part of a plan's bytes that the explanation of one case costs. It visits each policy, and compiles none.
const EXPLAINED_PART: usize = 16;
/// The bytes that each rule and policy of the tenant costs for each plan, for the comparison with the plan's resource.
const COMPARED: usize = 8;

/// The results of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseOutcomes {
    /// The number of cases that passed.
    pub passed: usize,
    pub failed: Vec<CaseFailure>,
    pub skipped: Vec<UnjudgedCase>,
}

/// A case with another decision than the expected one, or with one that rests on an undetermined condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    pub case: String,
    pub expected: Expected,
    /// `None` if the case could not be decided.
    pub actual: Option<Expected>,
    /// The reason of the decision, or why the case has none that counts.
    pub reason: String,
}

/// A case that was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnjudgedCase {
    pub case: String,
    pub expected: Expected,
    pub cause: SkipCause,
}

impl UnjudgedCase {
    /// Returns the case as a failure, for whom it must be decided.
    pub fn into_failure(self) -> CaseFailure {
        let reason = self.cause.reason();
        CaseFailure { case: self.case, expected: self.expected, actual: None, reason }
    }
}

impl CaseOutcomes {
    /// Decides the cases of `set` against `rulebook`. Failed and skipped cases are in the order of the set. Once
    /// `may_go_on` returns false, all further cases are skipped; it is asked before each plan and each case.
    pub fn new(rulebook: &Rulebook, set: &CaseSet, may_go_on: impl Fn() -> bool) -> Self {
        Self::within(rulebook, set, MAX_WORK, may_go_on)
    }

    fn within(
        rulebook: &Rulebook,
        set: &CaseSet,
        max_work: usize,
        may_go_on: impl Fn() -> bool,
    ) -> Self {
        let mut outcomes: Vec<(usize, Outcome)> = Vec::with_capacity(set.cases.len());
        let mut work = 0_usize;
        for (resource, cases) in by_resource(&set.cases) {
            let all = rulebook.policies().len() + rulebook.rules().len();
            work = work.saturating_add(all * COMPARED);
            if let Some(cause) = stop(work, max_work, &may_go_on) {
                let skipped = cases.iter().map(|(index, _)| *index);
                outcomes.extend(skipped.map(|index| (index, Outcome::Skipped(cause.clone()))));
                continue;
            }
            let plan = rulebook.plan(resource);
            work = work.saturating_add(plan.weight());
            for (index, case) in cases {
                work = work.saturating_add(plan.weight() / EXPLAINED_PART);
                let outcome = match stop(work, max_work, &may_go_on) {
                    Some(cause) => Outcome::Skipped(cause),
                    None => Outcome::new(rulebook, &plan, set, case),
                };
                outcomes.push((index, outcome));
            }
        }
        // They were decided by resource, and are reported in the order of the set.
        outcomes.sort_by_key(|(index, _)| *index);
        let mut report = Self::default();
        for (case, (_, outcome)) in set.cases.iter().zip(outcomes) {
            report.add(case, outcome);
        }
        report
    }

    fn add(&mut self, case: &Case, outcome: Outcome) {
        let name = case.name.clone();
        let expected = case.expected.clone();
        match outcome {
            Outcome::Decided(CaseVerdict::Passed) => self.passed += 1,
            Outcome::Decided(CaseVerdict::Otherwise { got, reason, .. }) => {
                self.failed.push(CaseFailure { case: name, expected, actual: Some(got), reason });
            }
            Outcome::Decided(CaseVerdict::Undetermined { got, policies }) => {
                let (actual, reason) = (Some(got), undetermined(&policies));
                self.failed.push(CaseFailure { case: name, expected, actual, reason });
            }
            Outcome::Skipped(cause) => {
                self.skipped.push(UnjudgedCase { case: name, expected, cause });
            }
        }
    }
}

/// Returns why the cases after this much work are skipped, if they are. Work comes first, so that the clock is not asked in
/// vain.
fn stop(work: usize, max_work: usize, may_go_on: &impl Fn() -> bool) -> Option<SkipCause> {
    match work > max_work {
        true => Some(SkipCause::TooMuchWork),
        false => (!may_go_on()).then_some(SkipCause::TooMuchTime),
    }
}

/// The outcome of a case.
enum Outcome {
    Decided(CaseVerdict),
    Skipped(SkipCause),
}

impl Outcome {
    fn new(rulebook: &Rulebook, plan: &Plan, set: &CaseSet, case: &Case) -> Self {
        match decide(rulebook, plan, set, case) {
            Ok(outcome) => outcome,
            // A stored case has a valid body; if it does not, the case cannot hold.
            Err(fault) => Self::Decided(CaseVerdict::Otherwise {
                got: Expected { decision: Effect::Deny, rule: Some(DEFAULT_DENY.to_owned()) },
                reason: format!("the check of the case is invalid: {fault}"),
                conditions: Vec::new(),
            }),
        }
    }
}

fn decide(
    rulebook: &Rulebook,
    plan: &Plan,
    set: &CaseSet,
    case: &Case,
) -> Result<Outcome, Invalid> {
    let sent = case.to_check(&set.users, &set.domain)?;
    // A gate knows the tuples of a case alone.
    let facts = FolderFacts { rulebook, tuples: case.relations.as_deref() };
    let mut question = FolderQuestion::combined(plan, &facts, sent);
    let decision = match case.decide(&mut question)? {
        Ok(decision) => decision,
        Err(cause) => return Ok(Outcome::Skipped(cause)),
    };
    let verdict = explained(&mut question, decision.rule_id(), |explanation| {
        case.verdict(rulebook, &decision, &explanation)
    })?;
    Ok(Outcome::Decided(verdict))
}

/// Groups the cases by their resource, so that each plan is compiled once and one at a time.
fn by_resource(cases: &[Case]) -> BTreeMap<&str, Vec<(usize, &Case)>> {
    let mut groups: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        let resource = case.check.get("resource").and_then(|json| json.as_str());
        groups.entry(resource.unwrap_or_default()).or_default().push((index, case));
    }
    groups
}

/// Returns why a decision rests on these policies.
fn undetermined(policies: &[UndeterminedPolicy]) -> String {
    let Some(UndeterminedPolicy { name, because, .. }) = policies.first() else {
        return String::new();
    };
    format!("the condition of `{name}` is undetermined: {because}")
}

#[cfg(test)]
mod tests;
