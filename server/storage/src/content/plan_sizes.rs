//! The bytes of rules, policies and the conditions that they use on each resource or pattern, which the quota `plan_bytes`
//! limits. Each commit adds its changes to the stored numbers, behind the lock of the tenant's row. So they are exact, and no
//! write counts records.

use std::collections::BTreeMap;

use portcullis_model::quota::{Quota, QuotaExcess};
use sqlx::AssertSqlSafe;

use crate::content::plan_conditions;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, on_database};
use crate::transactions::row_lists::{BATCH, Rows};
use crate::transactions::tx::Tx;

const CHANGE: Rows = Rows {
    head: "INSERT INTO plan_sizes (tenant_id, pattern, bytes, condition_bytes)",
    values: 3,
    tail: "ON CONFLICT (tenant_id, pattern) DO UPDATE SET bytes = plan_sizes.bytes + excluded.bytes, \
        condition_bytes = plan_sizes.condition_bytes + excluded.condition_bytes \
        RETURNING pattern, bytes",
};

const FORGET: &str = "DELETE FROM plan_sizes WHERE tenant_id = $1 AND bytes <= 0";

/// Adds the changes of the transaction to the stored numbers.
///
/// # Errors
/// [`StoreError::Quota`] if a number grows beyond the quota. Who is above it may shrink and delete.
pub(crate) async fn settle(tx: &mut Tx) -> Result<(), StoreError> {
    let mut changes = std::mem::take(&mut tx.plan_changes);
    let of_conditions = plan_conditions::changes(tx).await?;
    for (pattern, change) in &of_conditions {
        *changes.entry(pattern.clone()).or_default() += change;
    }
    // A sum of 0 may have a part of conditions that changed.
    changes.retain(|pattern, change| *change != 0 || of_conditions.contains_key(pattern));
    let mut is_any_gone = false;
    let all: Vec<Change<'_>> = changes
        .iter()
        .map(|(pattern, bytes)| Change {
            pattern,
            bytes: *bytes,
            condition_bytes: of_conditions.get(pattern).copied().unwrap_or_default(),
        })
        .collect();
    for batch in all.chunks(BATCH) {
        let sizes = change(tx, batch).await?;
        if let Some(excess) = excess(tx, &changes, &sizes) {
            return Err(StoreError::Quota(excess));
        }
        is_any_gone |= sizes.iter().any(|(_, bytes)| *bytes <= 0);
    }
    if is_any_gone {
        // Invented patterns leave nothing behind.
        execute!(tx, FORGET, &tx.tenant)?;
    }
    Ok(())
}

/// The change of the numbers of a pattern.
struct Change<'c> {
    pattern: &'c str,
    bytes: i64,
    /// The part of it that conditions have.
    condition_bytes: i64,
}

/// Adds the changes of a batch, and returns the patterns with their new numbers.
async fn change(tx: &mut Tx, batch: &[Change<'_>]) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = AssertSqlSafe(CHANGE.statement(batch.len()));
    // Most writes change one record. Lengths in between are not worth a place in the cache of statements.
    let is_kept = batch.len() == 1 || batch.len() == BATCH;
    macro_rules! bound {
        () => {{
            let mut query = sqlx::query_as(sql).persistent(is_kept).bind(&tx.tenant);
            for Change { pattern, bytes, condition_bytes } in batch {
                query = query.bind(*pattern).bind(*bytes).bind(*condition_bytes);
            }
            query
        }};
    }
    Ok(on_database!(tx, bound!(), fetch_all)?)
}

/// Returns the first pattern whose number grew beyond the quota.
fn excess(
    tx: &Tx,
    changes: &BTreeMap<String, i64>,
    sizes: &[(String, i64)],
) -> Option<QuotaExcess> {
    let limit = tx.quotas.get(Quota::PlanBytes)?;
    let grown = sizes.iter().filter_map(|(pattern, bytes)| {
        let growth = changes.get(pattern).filter(|growth| **growth > 0)?;
        let is_above = u64::try_from(*bytes).is_ok_and(|bytes| bytes > limit);
        let used = u64::try_from(bytes - growth).unwrap_or(0);
        is_above.then(|| (pattern.clone(), used))
    });
    // Rows come in any order: the error names the same pattern each time.
    let (pattern, used) = grown.min()?;
    Some(QuotaExcess { quota: Quota::PlanBytes, limit, used, pattern: Some(pattern) })
}

#[cfg(test)]
mod tests;
