//! The gates that a tenant puts before changes of what decides (`docs/semantics.md`, section 10.9).
//!
//! Every commit of a caller passes [`pass`]. The gates are those that were stored before the change, which the lock of the
//! tenant has read.

use std::sync::Arc;

use portcullis_bundle::{CaseFailure, CaseReport, CaseSet, Rulebook, SkipCause};
use portcullis_engine::json::JsonError;
use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{StoreError, Tx, policies, rules, tenant_cases};

use crate::error::OperationError;

/// What is known about a change before it passes the gates.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    /// A second manager approved the change.
    pub(crate) is_approved: bool,
    /// The judgement on the content after the change, if it was made.
    pub(crate) judgement: Option<Judgement>,
}

/// The outcome of a tenant's cases after the changes of a transaction.
#[derive(Debug, Default)]
pub struct Judgement {
    /// The outcome of the cases that the tenant has after the transaction.
    pub report: CaseReport,
    /// The cases for which the gate `cases` refuses the changes.
    pub refused: Vec<CaseFailure>,
}

/// Lets the changes of `tx` pass the gates of its tenant. A tenant without gates pays nothing.
///
/// # Errors
/// A gate refuses the changes, or the store failed.
pub(crate) async fn pass(tx: &mut Tx, passage: Passage) -> Result<(), OperationError> {
    if !tx.concerns_gates() {
        return Ok(());
    }
    let gates = tx.gates();
    if gates.cases || tx.concerns_guards() {
        let judgement = match passage.judgement {
            Some(judgement) => judgement,
            None => judge(tx).await?,
        };
        if gates.cases && !judgement.refused.is_empty() {
            return Err(OperationError::CasesFailed(judgement.refused));
        }
        note_skipped(tx, &judgement.report).await?;
    }
    if gates.approval && !passage.is_approved {
        return Err(OperationError::ApprovalRequired);
    }
    tx.pass_gates();
    Ok(())
}

/// Decides the tenant's cases on its content as the transaction leaves it: those from before the transaction, and those
/// that it stored.
///
/// # Errors
/// The store failed.
pub async fn judge(tx: &mut Tx) -> Result<Judgement, OperationError> {
    let before = tenant_cases::replaced(tx).cloned();
    let present = tenant_cases::find(tx).await?.unwrap_or_default();
    if present.is_empty() && before.as_ref().is_none_or(StoredCases::is_empty) {
        return Ok(Judgement::default());
    }
    let (rules, policies) = (rules::of_every_plan(tx).await?, policies::of_every_plan(tx).await?);
    let rulebook = Arc::new(Rulebook::of_stored(rules, policies));
    let skipped = before.as_ref().unwrap_or(&present).skipped.clone();
    let report = report(&rulebook, present).await?;
    let mut refused = refused(&report, |name| before.is_some() || skipped.contains(name));
    if let Some(before) = before {
        let report = self::report(&rulebook, before).await?;
        let more = self::refused(&report, |name| skipped.contains(name));
        refused.extend(more.into_iter().filter(|one| !refused.contains(one)).collect::<Vec<_>>());
    }
    Ok(Judgement { report, refused })
}

/// Returns the failed cases, and those that could not be decided. A case that needs a resolver may stay undecided if
/// `may_skip` says so: otherwise a policy that reads a resolver would take a case out of the gate.
fn refused(report: &CaseReport, may_skip: impl Fn(&String) -> bool) -> Vec<CaseFailure> {
    let undecided = report.skipped.iter().filter(|skipped| match skipped.cause {
        SkipCause::Resolver(_) => !may_skip(&skipped.case),
        SkipCause::TooMuchWork => true,
    });
    let undecided = undecided.map(|skipped| skipped.clone().into_failure());
    report.failed.iter().cloned().chain(undecided).collect()
}

/// Decides stored cases, on a thread that serves no requests.
async fn report(
    rulebook: &Arc<Rulebook>,
    cases: StoredCases,
) -> Result<CaseReport, OperationError> {
    if cases.is_empty() {
        return Ok(CaseReport::default());
    }
    let rulebook = Arc::clone(rulebook);
    let deciding = tokio::task::spawn_blocking(move || -> Result<CaseReport, JsonError> {
        let set = CaseSet::of_stored(&cases.domain, &cases.cases, &cases.users)?;
        Ok(CaseReport::of(&rulebook, &set))
    });
    let decided = deciding.await.map_err(|error| OperationError::Internal(error.into()))?;
    Ok(decided.map_err(|_| StoreError::Corrupt { what: "tenant_cases.cases" })?)
}

/// Stores which cases need a resolver, so that the gate knows them the next time.
async fn note_skipped(tx: &mut Tx, report: &CaseReport) -> Result<(), OperationError> {
    let Some(stored) = tenant_cases::find(tx).await? else { return Ok(()) };
    let needs_resolver = |cause: &SkipCause| matches!(cause, SkipCause::Resolver(_));
    let skipped = report.skipped.iter().filter(|skipped| needs_resolver(&skipped.cause));
    let skipped: Vec<String> = skipped.map(|skipped| skipped.case.clone()).collect();
    if skipped != stored.skipped {
        tenant_cases::note_skipped(tx, &skipped).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
