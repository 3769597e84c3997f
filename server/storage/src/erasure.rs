//! The deletion of a tenant: it is marked first, then its rows go in small steps, and its own row goes last. A step that
//! a crash interrupts is repeated: each step deletes what is left.

use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;

use crate::error::StoreError;
use crate::macros::{execute, fetch_all};
use crate::tx::Tx;
use crate::{audit, delivery_queues};

/// The time between the deletion of the last row of a tenant and that of its own row. Until then its credentials stay
/// refused, so that a request in flight does not create the tenant again, and each process drops what it remembers of it.
pub const GRACE: Duration = Duration::from_secs(10 * 60);

/// Writes the statement that deletes some rows of a table.
macro_rules! step {
    ($table:literal by $key:literal, $rows:literal rows) => {
        (
            $table,
            concat!(
                "DELETE FROM ",
                $table,
                " WHERE (tenant_id, ",
                $key,
                ") IN (SELECT tenant_id, ",
                $key,
                " FROM ",
                $table,
                " WHERE tenant_id = $1 LIMIT ",
                $rows,
                ")"
            ),
        )
    };
}

/// The table of audit records, whose rows need permission to go.
const AUDIT: &str = "audit_records";

/// Each table with rows of tenants, and the statement that deletes some of them. A table comes after those that refer to
/// it. A row of most tables is small; one of `resolver_modules` has up to 16 MiB, one of `record_answers`, `proposals` or `drafts` half as much, one of
/// `revision_values` up to the cases of a tenant, and one with many denials some tens of KiB.
const STEPS: [(&str, &str); 33] = [
    step!("tenant_settings" by "tenant_id", 1 rows),
    step!("decision_parts" by "first_id, path", 500 rows),
    step!("decision_erasures" by "subject", 500 rows),
    step!("record_answers" by "question, replica", 4 rows),
    step!("tenant_cases" by "tenant_id", 1 rows),
    step!("proposals" by "id", 4 rows),
    step!("drafts" by "name", 4 rows),
    step!("service_keys" by "id", 500 rows),
    step!("identity_providers" by "id", 500 rows),
    step!("denial_segments" by "webhook_id, id", 20 rows),
    step!("delivered_denials" by "webhook_id, id", 20 rows),
    step!("webhook_attempts" by "id", 500 rows),
    step!("webhook_deliveries" by "id", 500 rows),
    step!("webhook_lanes" by "webhook_id", 500 rows),
    step!("webhook_events" by "id", 500 rows),
    step!("webhooks" by "id", 500 rows),
    step!("resolvers" by "id", 500 rows),
    step!("resolver_modules" by "sha256", 4 rows),
    step!("abac_policies" by "id", 500 rows),
    step!("rbac_rules" by "id", 500 rows),
    step!("plan_sizes" by "pattern", 500 rows),
    step!("resources" by "id", 500 rows),
    step!("entities" by "type, id", 500 rows),
    step!("entity_roles" by "name", 500 rows),
    step!("entity_syncs" by "source", 500 rows),
    step!(
        "relations" by "object_type, object_id, relation, subject_type, subject_id, subject_relation",
        500 rows
    ),
    step!("relation_syncs" by "source", 500 rows),
    step!("roles" by "name", 500 rows),
    step!("types" by "name", 100 rows),
    step!("revision_changes" by "kind, record, revision", 500 rows),
    step!("revision_values" by "hash", 20 rows),
    step!("revisions" by "revision", 500 rows),
    step!("audit_records" by "id", 500 rows),
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
    let deletion = |(tenant, erased_at): (String, Option<i64>)| Deletion {
        tenant,
        erased_at: erased_at.map(Timestamp::from_millis),
    };
    Ok(fetch_all!(tx, (String, Option<i64>), SQL)?.into_iter().map(deletion).collect())
}

/// Deletes some rows of the transaction's tenant, of one table. False if none is left.
pub async fn step(tx: &mut Tx) -> Result<bool, StoreError> {
    for (table, sql) in STEPS {
        let tenant = tx.tenant.clone();
        if table == AUDIT {
            audit::allow_deletion(tx, &tenant).await?;
        }
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
    execute!(tx, SQL, tenant)?;
    Ok(())
}

#[cfg(test)]
mod tests;
