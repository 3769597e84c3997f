//! The answer to an apply.

use portcullis_bundle::{CaseOutcomes, Expected};
use portcullis_model::apply::{
    ApplyAnswer, CaseDecision, CaseReport, FailedCase, ImpactReport, SkippedCase,
};

use super::plan::ApplyPlan;

/// The effects of a plan that its answer shows.
pub(super) struct Shown {
    pub(super) tests: CaseReport,
    /// Only on demand.
    pub(super) impact: Option<ImpactReport>,
}

/// Returns the outcome of cases as the API shows it.
pub(super) fn case_report(outcomes: &CaseOutcomes) -> CaseReport {
    let failed = outcomes.failed.iter().map(|failure| FailedCase {
        case: failure.case.clone(),
        expected: case_decision(&failure.expected),
        actual: case_decision(failure.actual.as_ref().unwrap_or(&failure.expected)),
        reason: failure.reason.clone(),
    });
    let skipped = outcomes
        .skipped
        .iter()
        .map(|skipped| SkippedCase { case: skipped.case.clone(), reason: skipped.cause.reason() });
    CaseReport {
        passed: outcomes.passed as u64,
        failed_count: outcomes.failed.len() as u64,
        skipped_count: outcomes.skipped.len() as u64,
        failed: failed.collect(),
        skipped: skipped.collect(),
    }
}

fn case_decision(expected: &Expected) -> CaseDecision {
    CaseDecision { decision: expected.decision.to_string(), rule: expected.rule.clone() }
}

/// Returns the answer to an apply with this plan.
pub(super) fn answer(plan: ApplyPlan, shown: Shown, revision: u64, applied: bool) -> ApplyAnswer {
    ApplyAnswer {
        proposal: None,
        revision,
        applied,
        fingerprint: plan.fingerprint,
        changes: plan.changes,
        conflicts: plan.conflicts,
        counts: plan.counts,
        tests: shown.tests,
        impact: shown.impact,
        warnings: plan.warnings,
        deleted_tuples: 0,
    }
}
