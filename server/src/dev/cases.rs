//! The cases of a folder, decided after each reload.

use std::fmt;

use portcullis_bundle::{Bundle, Case, Expected, SampleUser};
use portcullis_engine::{Check, CheckBody};
use portcullis_tools::policy_test::DEFAULT_NOW;

/// The most failed cases that are shown.
const MAX_SHOWN: usize = 10;

/// The results of the cases of a folder.
#[derive(Debug, PartialEq)]
pub(super) struct CaseResults {
    pub(super) count: usize,
    pub(super) failed: Vec<FailedCase>,
}

/// A case with another decision than it expects.
#[derive(Debug, PartialEq)]
pub(super) struct FailedCase {
    name: String,
    expected: Expected,
    got: Expected,
    reason: String,
}

impl CaseResults {
    /// Decides every case of `bundle` with the resolver answers that it states.
    pub(super) fn of(bundle: &Bundle) -> Self {
        let failed = bundle.cases.iter().filter_map(|case| failure(bundle, case)).collect();
        Self { count: bundle.cases.len(), failed }
    }

    /// Returns a summary such as `4 of 5 cases pass`.
    pub(super) fn summary(&self) -> String {
        match (self.count, self.failed.len()) {
            (0, _) => "there is no case".to_owned(),
            (1, 0) => "the case passes".to_owned(),
            (count, 0) => format!("all {count} cases pass"),
            (count, failed) => format!("{} of {count} cases pass", count - failed),
        }
    }
}

impl fmt::Display for CaseResults {
    /// Writes the failed cases, in the form of `portcullis test`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for FailedCase { name, expected, got, reason } in self.failed.iter().take(MAX_SHOWN) {
            writeln!(f, "  FAILED  {name}")?;
            writeln!(f, "          expected  {} by `{}`", expected.decision, expected.rule)?;
            writeln!(f, "          got       {} by `{}`", got.decision, got.rule)?;
            writeln!(f, "          why       {reason}")?;
        }
        match self.failed.len().checked_sub(MAX_SHOWN) {
            Some(more) if more > 0 => writeln!(f, "  and {more} more failed cases"),
            _ => Ok(()),
        }
    }
}

/// Returns how a case fails; `None` if it passes.
fn failure(bundle: &Bundle, case: &Case) -> Option<FailedCase> {
    // The bundle has read the check before, so that it is valid.
    let body = CheckBody::parse(&case.check).ok()?;
    let caller = case.caller.as_deref().and_then(|sub| bundle.user(sub));
    let domain = body.domain.unwrap_or(&bundle.tenant);
    let now = case.now.unwrap_or(DEFAULT_NOW);
    let plan = bundle.rulebook.plan(body.resource);
    let check = Check::new(body, domain, caller.map(SampleUser::caller), now);
    let decision = plan.evaluate_with(&check, &case.resolved.answers);
    let rule = bundle.rulebook.name(decision.rule_id());
    let got = Expected { decision: decision.effect(), rule };
    if got == case.expected {
        return None;
    }
    let (name, expected) = (case.name.clone(), case.expected.clone());
    Some(FailedCase { name, expected, got, reason: decision.reason() })
}
