//! The table of cases. Each tenant has one row.

use portcullis_model::Authorship;
use portcullis_model::apply::ObjectKind;
use portcullis_model::audit::AuditAction;
use portcullis_model::quota::Quota;

use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::{execute, fetch_optional, record, select, stored};
pub use crate::transactions::stored_cases::StoredCases;
use crate::transactions::tx::Tx;

stored! {
    StoredCases as Row of "tenant_cases" { domain, cases, users, skipped }
}

/// Returns the cases; `None` if the tenant has none.
pub async fn find(tx: &mut Tx) -> Result<Option<StoredCases>, StoreError> {
    const SQL: &str = select!("FROM tenant_cases WHERE tenant_id = $1");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant)?)
}

/// Returns the cases from before the transaction if it stored other ones.
pub fn replaced(tx: &Tx) -> Option<&StoredCases> {
    tx.replaced_cases.as_ref()
}

/// Stores the cases in place of those that the tenant has.
pub async fn store(tx: &mut Tx, new: &StoredCases, by: &Authorship) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO tenant_cases (tenant_id, domain, cases, users, skipped, \
        updated_by, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7) \
        ON CONFLICT (tenant_id) DO UPDATE SET domain = excluded.domain, cases = excluded.cases, \
        users = excluded.users, skipped = excluded.skipped, updated_by = excluded.updated_by, \
        updated_at = excluded.updated_at";
    let old = find(tx).await?.unwrap_or_default();
    execute!(
        tx,
        SQL,
        &tx.tenant,
        &new.domain,
        &new.cases,
        &new.users,
        to_json_list(&new.skipped),
        &by.actor,
        by.at.millis(),
    )?;
    tx.count(Quota::StoredBytes, new.bytes() - old.bytes());
    let tenant = tx.tenant.clone();
    tx.record_changes.note(ObjectKind::Case, tenant.clone(), old.to_json(), new.to_json());
    // What the transaction itself stored before is not what was stored before it.
    tx.replaced_cases.get_or_insert(old);
    tx.touch_guards();
    tx.audit(AuditAction::CasesUpdated, tenant);
    Ok(())
}

/// Stores the names of the cases that could not be decided now.
pub async fn note_skipped(tx: &mut Tx, skipped: &[String]) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE tenant_cases SET skipped = $2 WHERE tenant_id = $1";
    execute!(tx, SQL, &tx.tenant, to_json_list(skipped))?;
    Ok(())
}

#[cfg(test)]
mod tests;
