//! The gates that a tenant puts before changes of what decides (`docs/semantics.md`, section 10.9).
//!
//! Every commit of a caller passes `pass`. The gates are those that were stored before the change, which the lock of the
//! tenant has read. The cases are decided beside the transaction that writes, on a snapshot: `gated_writes.rs` has the order.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_bundle::{CaseFailure, CaseOutcomes, CaseSet, Rulebook, SkipCause};
use portcullis_engine::json::JsonError;
use portcullis_engine::{Policy, RoleInclusions, Rule};
use portcullis_fairness::{Turn, run_apart};
use portcullis_model::types::{TypeRecord, declared_types};
use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{
    HistoryPosition, Store, StoreError, Tx, policies, roles, rules, tenant_cases, tenants, types,
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::OperationError;
use crate::searches::Awaited;

/// The longest time for which one judgement decides cases. A case takes up to half a second more, because one that began
/// is decided.
const MAX_TIME: Duration = Duration::from_secs(10);

/// The facts about a change that are known before it passes the gates.
#[derive(Debug, Default)]
pub struct GateVerdict {
    /// A second manager approved the change.
    pub is_approved: bool,
    /// The judgement on the content after the change, if it was made.
    pub judgement: Option<Judgement>,
}

/// The outcome of a tenant's cases after the changes of a transaction.
#[derive(Debug, Default)]
pub struct Judgement {
    /// The outcome of the cases that the tenant has after the transaction.
    pub report: CaseOutcomes,
    /// The cases for which the gate `cases` refuses the changes.
    pub refused: Vec<CaseFailure>,
}

/// Returns whether the changes of `tx` pass the gates only with a judgement.
pub fn need_judgement(tx: &Tx) -> bool {
    tx.concerns_guards() || (tx.gates().cases && tx.concerns_gates())
}

/// Lets the changes of `tx` pass the gates of its tenant. A tenant without gates pays nothing.
///
/// # Errors
/// A gate refuses the changes, nobody judged them, or the store failed.
pub async fn pass(tx: &mut Tx, verdict: GateVerdict) -> Result<(), OperationError> {
    if !tx.concerns_gates() {
        return Ok(());
    }
    // The cases come first: nobody should approve a change that they refuse.
    if need_judgement(tx) {
        let judgement = verdict.judgement.ok_or(StoreError::GatesNotPassed)?;
        must_pass_cases(tx, &judgement)?;
        note_skipped(tx, &judgement.report).await?;
    }
    if tx.gates().approval && !verdict.is_approved {
        return Err(OperationError::ApprovalRequired);
    }
    tx.pass_gates();
    Ok(())
}

/// Refuses a change after which cases fail, if the tenant has the gate `cases`.
///
/// # Errors
/// [`OperationError::CasesFailed`]
pub fn must_pass_cases(tx: &Tx, judgement: &Judgement) -> Result<(), OperationError> {
    if tx.gates().cases && !judgement.refused.is_empty() {
        let (named, count) = (judgement.refused.clone(), judgement.refused.len());
        return Err(OperationError::CasesFailed { named, count });
    }
    Ok(())
}

/// The changes of a transaction, as a judgement needs them.
#[derive(Debug)]
pub struct Change {
    tenant: String,
    /// The place in the history of the content that the transaction met.
    pub met: HistoryPosition,
    /// The rules that changed; `None` is one that is gone.
    rules: Vec<(Uuid, Option<Rule>)>,
    policies: Vec<(Uuid, Option<Policy>)>,
    inclusions: RoleInclusions,
    types: Vec<TypeRecord>,
    cases: JudgingCases,
}

impl Change {
    /// Reads the changes of `tx`: little, whatever the tenant has.
    ///
    /// # Errors
    /// The store failed.
    pub async fn read(tx: &mut Tx) -> Result<Self, StoreError> {
        let rule_ids: Vec<Uuid> = tx.touched().iter().filter_map(|touched| touched.rule).collect();
        let policy_ids: Vec<Uuid> =
            tx.touched().iter().filter_map(|touched| touched.policy).collect();
        Ok(Self {
            tenant: tx.tenant().to_owned(),
            met: tenants::position(tx).await?,
            rules: rules::by_ids(tx, &rule_ids).await?,
            policies: policies::by_ids(tx, &policy_ids).await?,
            inclusions: roles::inclusions(tx).await?,
            types: types::all(tx).await?,
            cases: JudgingCases {
                replaced: tenant_cases::replaced(tx).cloned(),
                present: tenant_cases::find(tx).await?.unwrap_or_default(),
            },
        })
    }

    /// Decides the tenant's cases on its content with these changes, in a snapshot. Returns `None` if the content is not
    /// the one that the changes met.
    ///
    /// # Errors
    /// The store failed.
    pub async fn judge(
        self,
        store: &Store,
        turn: &Arc<Turn>,
    ) -> Result<Option<Judgement>, OperationError> {
        if self.cases.are_none() {
            return Ok(Some(Judgement::default()));
        }
        let mut tx = store.begin_read(&self.tenant).await?;
        // The transaction of the change may still be open, so this snapshot is read beside it.
        let is_met = tenants::position(&mut tx).await? == self.met;
        let rules = rules::for_every_plan(&mut tx).await?;
        let policies = policies::for_every_plan(&mut tx).await?;
        tx.end().await?;
        if !is_met {
            return Ok(None);
        }
        let rules = replaced(rules, self.rules, |rule| rule.id);
        let policies = replaced(policies, self.policies, |policy| policy.id);
        let content = Rulebook::from_stored(rules, policies);
        let types = declared_types(self.types.iter().map(TypeRecord::declared));
        let relations = self.types.iter().map(|one| (&*one.kind, &one.relations));
        let content = content.with_inclusions(self.inclusions).with_types(&types);
        let content = content.with_relations(relations);
        judge_content(content, self.cases, turn).await.map(Some)
    }
}

/// Returns the stored records with those that changed, in the order of the ids.
fn replaced<T>(stored: Vec<T>, changed: Vec<(Uuid, Option<T>)>, id: impl Fn(&T) -> Uuid) -> Vec<T> {
    let changed: HashMap<Uuid, Option<T>> = changed.into_iter().collect();
    let kept = stored.into_iter().filter(|record| !changed.contains_key(&id(record)));
    let mut after: Vec<T> = kept.collect();
    after.extend(changed.into_values().flatten());
    after.sort_by_key(id);
    after
}

/// The cases that judge a change.
#[derive(Debug)]
pub struct JudgingCases {
    /// The cases of the tenant after the change.
    pub present: StoredCases,
    /// The cases from before the change, if it stores other ones.
    pub replaced: Option<StoredCases>,
}

impl JudgingCases {
    /// Returns whether there is no case.
    pub fn are_none(&self) -> bool {
        self.present.is_empty() && self.replaced.as_ref().is_none_or(StoredCases::is_empty)
    }
}

/// Decides cases on the content after a change, on a thread that serves no requests. The thread keeps `turn` until it is
/// done, and ends after the case that it decides if nobody waits for the judgement any more.
///
/// # Errors
/// The cases are not those that a service stored, or the process stops.
pub async fn judge_content(
    content: Rulebook,
    cases: JudgingCases,
    turn: &Arc<Turn>,
) -> Result<Judgement, OperationError> {
    let (turn, until) = (Arc::clone(turn), Instant::now() + MAX_TIME);
    let judged = Awaited::during(|awaited| {
        run_apart(move || {
            let _turn = turn;
            judge(&content, cases, || awaited.is_until(until))
        })
    });
    Ok(judged.await?.map_err(|_| StoreError::Corrupt { what: "tenant_cases.cases" })?)
}

/// Decides cases for as long as they may go on.
///
/// # Errors
/// The cases are not those that a service stored.
fn judge(
    content: &Rulebook,
    JudgingCases { present, replaced }: JudgingCases,
    may_go_on: impl Fn() -> bool,
) -> Result<Judgement, JsonError> {
    // Those that could not be judged before this change, which may stay unjudged.
    let skipped = &replaced.as_ref().unwrap_or(&present).skipped;
    let report = report(content, &present, &may_go_on)?;
    // Cases that the change stores have no such list yet, so that each of them may be skipped.
    let mut refused = refused(&report, |name| replaced.is_some() || skipped.contains(name));
    // Otherwise a change could bring the cases that it needs to pass.
    if let Some(replaced) = &replaced {
        let of_replaced = self::report(content, replaced, &may_go_on)?;
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
        SkipCause::Resolver(_) | SkipCause::Relations => !may_skip(&skipped.case),
        SkipCause::TooMuchWork | SkipCause::TooMuchTime => true,
    });
    let unjudged = unjudged.map(|skipped| skipped.clone().into_failure());
    report.failed.iter().cloned().chain(unjudged).collect()
}

/// Decides stored cases.
///
/// # Errors
/// The cases are not those that a service stored.
fn report(
    content: &Rulebook,
    cases: &StoredCases,
    may_go_on: impl Fn() -> bool,
) -> Result<CaseOutcomes, JsonError> {
    if cases.is_empty() {
        return Ok(CaseOutcomes::default());
    }
    let set = CaseSet::from_stored(&cases.domain, &cases.cases, &cases.users)?;
    Ok(CaseOutcomes::new(content, &set, may_go_on))
}

/// Stores which cases need a resolver, so that the gate knows them the next time.
async fn note_skipped(tx: &mut Tx, report: &CaseOutcomes) -> Result<(), OperationError> {
    let Some(stored) = tenant_cases::find(tx).await? else { return Ok(()) };
    let skipped = report
        .skipped
        .iter()
        .filter(|skipped| matches!(skipped.cause, SkipCause::Resolver(_) | SkipCause::Relations));
    let skipped: Vec<String> = skipped.map(|skipped| skipped.case.clone()).collect();
    if skipped != stored.skipped {
        tenant_cases::note_skipped(tx, &skipped).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
