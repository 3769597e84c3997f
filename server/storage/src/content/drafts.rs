//! The table of drafts.

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::draft::DraftRecord;
use portcullis_model::page::Listed;
use portcullis_model::quota::Quota;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_optional, record, select, stored};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

stored! {
    DraftRecord as Row of "drafts" {
        tenant_id, name, bundle, domain, mode, shadow, created_by, created_at, updated_by,
        updated_at,
    }
}

/// Finds the draft with this name.
pub async fn find(tx: &mut Tx, name: &str) -> Result<Option<DraftRecord>, StoreError> {
    const SQL: &str = select!("FROM drafts WHERE tenant_id = $1 AND name = $2");
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, name)?)
}

/// Lists a page of the drafts in the order of names, after the name `after`; the empty text begins.
pub async fn list(tx: &mut Tx, after: &str, limit: i64) -> Result<Listed<DraftRecord>, StoreError> {
    const PAGES: Pages = pages!(
        [name, bundle],
        "FROM drafts WHERE tenant_id = $1 AND name > $2 ORDER BY name LIMIT $3"
    );
    fetch_page!(tx, Row, limit, PAGES, &tx.tenant, after)
}

/// Returns the number of the tenant's drafts.
pub async fn count(tx: &mut Tx) -> Result<i64, StoreError> {
    const SQL: &str = "SELECT COUNT(*) FROM drafts WHERE tenant_id = $1";
    Ok(fetch_optional!(tx, (i64,), SQL, &tx.tenant)?.map_or(0, |(count,)| count))
}

/// Inserts `new`, or replaces the one with the same name. `shadow_id` identifies the comparison that begins with it; `None` if
/// it is not in shadow.
pub async fn store(
    tx: &mut Tx,
    new: &DraftRecord,
    shadow_id: Option<Uuid>,
) -> Result<(), StoreError> {
    // `shadow_counts` goes, because the comparison before says nothing about the new content.
    const SQL: &str = "INSERT INTO drafts (tenant_id, name, bundle, domain, mode, shadow, created_by, \
        created_at, updated_by, updated_at, shadow_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
        ON CONFLICT (tenant_id, name) DO UPDATE SET bundle = excluded.bundle, \
        domain = excluded.domain, mode = excluded.mode, shadow = excluded.shadow, updated_by = excluded.updated_by, \
        updated_at = excluded.updated_at, shadow_id = excluded.shadow_id, shadow_counts = NULL";
    let old = find(tx, &new.name).await?;
    execute!(
        tx,
        SQL,
        &tx.tenant,
        &new.name,
        new.bundle.get(),
        &new.domain,
        new.mode.into_str(),
        new.shadow,
        &new.created_by,
        new.created_at.millis(),
        new.updated_by.as_deref(),
        new.updated_at.map(Timestamp::millis),
        shadow_id,
    )?;
    tx.count(Quota::StoredBytes, bytes(new) - old.as_ref().map_or(0, bytes));
    tx.audit(AuditAction::DraftStored, &new.name);
    Ok(())
}

/// Deletes a draft; `published` says whether its content decides now.
pub async fn delete(tx: &mut Tx, draft: &DraftRecord, published: bool) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM drafts WHERE tenant_id = $1 AND name = $2";
    execute!(tx, SQL, &tx.tenant, &draft.name)?;
    tx.count(Quota::StoredBytes, -bytes(draft));
    let action = if published { AuditAction::DraftPublished } else { AuditAction::DraftDeleted };
    tx.audit(action, &draft.name);
    Ok(())
}

/// Returns the bytes that count for the quota.
fn bytes(draft: &DraftRecord) -> i64 {
    i64::try_from(draft.name.len() + draft.bundle.get().len()).unwrap_or(i64::MAX)
}
