//! The gates that a tenant puts before changes of what decides (`docs/semantics.md`, section 10.9).
//!
//! Every commit of a caller passes `pass`. The gates are those that were stored before the change, which the lock of the
//! tenant has read.

use std::sync::Arc;

use portcullis_bundle::{CaseFailure, CaseOutcomes, CaseSet, Rulebook, SkipCause};
use portcullis_engine::json::JsonError;
use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{StoreError, Tx, policies, roles, rules, tenant_cases};

use crate::error::OperationError;

/// The facts about a change that are known before it passes the gates.
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
    pub report: CaseOutcomes,
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
        must_pass_cases(tx, &judgement)?;
        note_skipped(tx, &judgement.report).await?;
    }
    if gates.approval && !passage.is_approved {
        return Err(OperationError::ApprovalRequired);
    }
    tx.pass_gates();
    Ok(())
}

/// Refuses a change after which cases fail, if the tenant has the gate `cases`.
///
/// # Errors
/// [`OperationError::CasesFailed`]
pub(crate) fn must_pass_cases(tx: &Tx, judgement: &Judgement) -> Result<(), OperationError> {
    if tx.gates().cases && !judgement.refused.is_empty() {
        return Err(OperationError::CasesFailed(judgement.refused.clone()));
    }
    Ok(())
}

/// Decides the tenant's cases on its content as the transaction leaves it.
///
/// # Errors
/// The store failed.
async fn judge(tx: &mut Tx) -> Result<Judgement, OperationError> {
    let replaced = tenant_cases::replaced(tx).cloned();
    let present = tenant_cases::find(tx).await?.unwrap_or_default();
    let cases = JudgingCases { present, replaced };
    if cases.are_none() {
        return Ok(Judgement::default());
    }
    let (rules, policies) = (rules::of_every_plan(tx).await?, policies::of_every_plan(tx).await?);
    let content = Rulebook::of_stored(rules, policies);
    let content = content.with_inclusions(roles::inclusions(tx).await?);
    judge_content(content, cases).await
}

/// The cases that judge a change.
#[derive(Debug)]
pub(crate) struct JudgingCases {
    /// The cases of the tenant after the change.
    pub(crate) present: StoredCases,
    /// The cases from before the change, if it stores other ones.
    pub(crate) replaced: Option<StoredCases>,
}

impl JudgingCases {
    /// Returns whether there is no case.
    pub(crate) fn are_none(&self) -> bool {
        self.present.is_empty() && self.replaced.as_ref().is_none_or(StoredCases::is_empty)
    }
}

/// Decides cases on the content after a change.
///
/// # Errors
/// The cases are not those that a service stored.
pub(crate) async fn judge_content(
    content: Rulebook,
    JudgingCases { present, replaced }: JudgingCases,
) -> Result<Judgement, OperationError> {
    let content = Arc::new(content);
    let skipped = replaced.as_ref().unwrap_or(&present).skipped.clone();
    let report = report(&content, present).await?;
    let mut refused = refused(&report, |name| replaced.is_some() || skipped.contains(name));
    if let Some(replaced) = replaced {
        let of_replaced = self::report(&content, replaced).await?;
        for failure in self::refused(&of_replaced, |name| skipped.contains(name)) {
            if !refused.contains(&failure) {
                refused.push(failure);
            }
        }
    }
    Ok(Judgement { report, refused })
}

/// Returns the failed cases, and those that could not be decided. A case that needs a resolver may stay unjudged if
/// `may_skip` says so: otherwise a policy that reads a resolver would take a case out of the gate.
fn refused(report: &CaseOutcomes, may_skip: impl Fn(&String) -> bool) -> Vec<CaseFailure> {
    let unjudged = report.skipped.iter().filter(|skipped| match skipped.cause {
        SkipCause::Resolver(_) => !may_skip(&skipped.case),
        SkipCause::TooMuchWork => true,
    });
    let unjudged = unjudged.map(|skipped| skipped.clone().into_failure());
    report.failed.iter().cloned().chain(unjudged).collect()
}

/// Decides stored cases, on a thread that serves no requests.
async fn report(
    rulebook: &Arc<Rulebook>,
    cases: StoredCases,
) -> Result<CaseOutcomes, OperationError> {
    if cases.is_empty() {
        return Ok(CaseOutcomes::default());
    }
    let rulebook = Arc::clone(rulebook);
    let deciding = tokio::task::spawn_blocking(move || -> Result<CaseOutcomes, JsonError> {
        let set = CaseSet::of_stored(&cases.domain, &cases.cases, &cases.users)?;
        Ok(CaseOutcomes::of(&rulebook, &set))
    });
    let decided = deciding.await.map_err(|error| OperationError::Internal(error.into()))?;
    Ok(decided.map_err(|_| StoreError::Corrupt { what: "tenant_cases.cases" })?)
}

/// Stores which cases need a resolver, so that the gate knows them the next time.
async fn note_skipped(tx: &mut Tx, report: &CaseOutcomes) -> Result<(), OperationError> {
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
