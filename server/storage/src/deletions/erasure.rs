//! The deletion of a tenant: it is marked first, then its rows go in small steps, and its own row goes last. A step that
//! a crash interrupts is repeated: each step deletes what is left.

use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use sqlx::AssertSqlSafe;

use crate::commits::audit;
use crate::delivery::delivery_queues;
use crate::store::lost_commits;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all};
use crate::transactions::tx::Tx;

/// The time between deleting the last row of a tenant and deleting its own row. Until then its credentials stay
/// refused, so that a request in flight does not create the tenant again, and each process drops what it remembers of it.
pub const GRACE: Duration = Duration::from_secs(10 * 60);

/// The table of audit records, whose rows need permission to go.
const AUDIT: &str = "audit_records";

/// Each table with rows of tenants, the rest of its key, and the number of rows that one step deletes. A table comes after
/// those that refer to it. A row of most tables is small; one of `resolver_modules` has up to 16 MiB, one of
/// `record_answers`, `proposals` or `drafts` half as much, one of `revision_values` up to the cases of a tenant, and one with
/// many denials some tens of KiB.
const STEPS: [(&str, &str, u16); 36] = [
    ("tenant_settings", "tenant_id", 1),
    ("decision_parts", "first_id, path", 500),
    ("decision_erasures", "subject", 500),
    ("record_answers", "question, replica", 4),
    ("tenant_cases", "tenant_id", 1),
    ("proposals", "id", 4),
    ("drafts", "name", 4),
    ("service_keys", "id", 500),
    ("console_sessions", "id", 100),
    ("console_links", "id", 500),
    ("identity_providers", "id", 500),
    ("denial_segments", "webhook_id, id", 20),
    ("delivered_denials", "webhook_id, id", 20),
    ("webhook_attempts", "id", 500),
    ("webhook_deliveries", "id", 500),
    ("webhook_lanes", "webhook_id", 500),
    ("webhook_events", "id", 500),
    ("webhooks", "id", 500),
    ("resolvers", "id", 500),
    ("resolver_modules", "sha256", 4),
    ("abac_policies", "id", 500),
    ("rbac_rules", "id", 500),
    ("plan_sizes", "pattern", 500),
    ("resources", "id", 500),
    ("entities", "type, id", 500),
    ("entity_roles", "name", 500),
    ("entity_syncs", "source", 500),
    (
        "relations",
        "object_type, object_id, relation, subject_type, subject_id, subject_relation",
        500,
    ),
    ("relation_syncs", "source", 500),
    ("roles", "name", 500),
    ("types", "name", 100),
    ("conditions", "name", 20),
    ("revision_changes", "kind, record, revision", 500),
    ("revision_values", "hash", 20),
    ("revisions", "revision", 500),
    ("audit_records", "id", 500),
];

/// A tenant that is being deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    pub tenant: String,
    /// Only the tenant's own row is left, since then.
    pub erased_at: Option<Timestamp>,
}

/// Marks the tenant as deleted: from then on its credentials are refused, and its rows may go. False if it is marked
/// already. For a transaction that sees every tenant, because the audit record must outlast the tenant.
pub async fn request(tx: &mut Tx, tenant: &str, at: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE tenants SET deleting_at = $2 WHERE id = $1 AND deleting_at IS NULL";
    if execute!(tx, SQL, tenant, at.millis())? == 0 {
        return Ok(false);
    }
    delivery_queues::pause(tx, tenant).await?;
    tx.audit(AuditAction::TenantDeletionRequested, tenant);
    Ok(true)
}

/// Lists the tenants that are being deleted. For a transaction that sees every tenant.
pub async fn pending(tx: &mut Tx) -> Result<Vec<Deletion>, StoreError> {
    const SQL: &str = "SELECT id, erased_at FROM tenants WHERE deleting_at IS NOT NULL ORDER BY id";
    Ok(fetch_all!(tx, (String, Option<i64>), SQL)?.into_iter().map(deletion).collect())
}

fn deletion((tenant, erased_at): (String, Option<i64>)) -> Deletion {
    Deletion { tenant, erased_at: erased_at.map(Timestamp::from_millis) }
}

/// Deletes some rows of the transaction's tenant, of one table. False if none is left.
pub async fn step(tx: &mut Tx) -> Result<bool, StoreError> {
    // From the first table each time: what a request in flight still wrote goes, too.
    for (table, key, rows) in STEPS {
        let tenant = tx.tenant.clone();
        if table == AUDIT {
            audit::allow_deletion(tx, &tenant).await?;
        }
        // Safe: every part of the text is a constant of `STEPS`.
        let sql = AssertSqlSafe(format!(
            "DELETE FROM {table} WHERE (tenant_id, {key}) IN \
            (SELECT tenant_id, {key} FROM {table} WHERE tenant_id = $1 LIMIT {rows})"
        ));
        let deleted = execute!(tx, sql, &tenant)?;
        if table == AUDIT {
            audit::forbid_deletion(tx, &tenant).await?;
        }
        if deleted > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Notes that nothing but the tenant's own row is left, and frees its slug. False if that is noted already. For a
/// transaction that sees every tenant.
pub async fn finish(tx: &mut Tx, tenant: &str, at: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE tenants SET name = NULL, slug = NULL, erased_at = $2 \
        WHERE id = $1 AND deleting_at IS NOT NULL AND erased_at IS NULL";
    let finished = execute!(tx, SQL, tenant, at.millis())? > 0;
    if finished {
        tx.audit(AuditAction::TenantDeleted, tenant);
    }
    Ok(finished)
}

/// Deletes the own row of a tenant that [`finish`] noted. For a transaction that sees every tenant.
pub async fn forget(tx: &mut Tx, tenant: &str) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM tenants WHERE id = $1 AND erased_at IS NOT NULL";
    match execute!(tx, SQL, tenant)? {
        0 => Ok(()),
        _ => lost_commits::forget(tx, tenant).await,
    }
}

#[cfg(test)]
mod tests;
