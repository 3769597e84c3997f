//! The table of audit records. Triggers refuse each update, and each deletion without a row in `audit_pruning`.

use portcullis_model::Timestamp;
use portcullis_model::audit::{AuditAction, AuditFilter, AuditRecord, Origin};
use portcullis_model::ids::Ids;
use portcullis_model::page::{Listed, Page};
use uuid::Uuid;

use crate::error::StoreError;
use crate::json_list::{from_json_list, to_json_list};
use crate::macros::{execute, fetch_all, fetch_optional, from_row};
use crate::paging::fetch_page;
use crate::tx::{AuditEntry, EVERY_TENANT, Tx};

/// The `tenant_id` of audit records that belong to no tenant.
pub const NO_TENANT: &str = "";
/// The most ids of one audit record. A bulk registration changes thousands of records, and must not write as many rows.
const MAX_IDS: usize = 100;

struct Row {
    tenant_id: String,
    id: Uuid,
    created_at: i64,
    actor: String,
    credential: String,
    key_id: Option<String>,
    action: String,
    records: String,
    count: i64,
    address: Option<String>,
    request_id: Option<String>,
}

from_row!(Row {
    tenant_id,
    id,
    created_at,
    actor,
    credential,
    key_id,
    action,
    records,
    count,
    address,
    request_id
} as columns);

impl TryFrom<Row> for AuditRecord {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id,
            tenant_id: Some(row.tenant_id).filter(|tenant| tenant != NO_TENANT),
            at: Timestamp::from_millis(row.created_at),
            actor: row.actor,
            credential: row.credential,
            key: row.key_id,
            action: row.action,
            records: from_json_list(&row.records, "audit_records.records")?,
            count: row.count,
            address: row.address,
            request_id: row.request_id,
        })
    }
}

/// Stores what the transaction changed. Changes of one kind that follow each other share audit records.
pub(crate) async fn write(tx: &mut Tx) -> Result<(), StoreError> {
    let entries = std::mem::take(&mut tx.audited);
    let ids = Ids::new();
    for group in entries.chunk_by(|one, next| one.action == next.action) {
        for part in group.chunks(MAX_IDS) {
            let Some(AuditEntry { action, .. }) = part.first() else { continue };
            let records: Vec<&str> = part.iter().map(|entry| &*entry.record).collect();
            let (origin, at) = (tx.origin.clone(), tx.at);
            let count = i64::try_from(part.len()).unwrap_or(i64::MAX);
            insert(tx, ids.next(at), &origin, at, (*action, &records, count)).await?;
        }
    }
    Ok(())
}

/// Stores that the transaction changed `count` records by one call, in one audit record that names the first of them.
pub(crate) async fn write_call(
    tx: &mut Tx,
    action: AuditAction,
    records: &[String],
    count: usize,
) -> Result<(), StoreError> {
    let (origin, at) = (tx.origin.clone(), tx.at);
    let named: Vec<&str> = records.iter().take(MAX_IDS).map(String::as_str).collect();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    insert(tx, Ids::new().next(at), &origin, at, (action, &named, count)).await
}

/// Stores that credentials of this origin were refused `count` times. For a transaction that sees every tenant.
pub async fn insert_refusal(
    tx: &mut Tx,
    id: Uuid,
    origin: &Origin,
    at: Timestamp,
    count: i64,
) -> Result<(), StoreError> {
    insert(tx, id, origin, at, (AuditAction::CredentialRefused, &[], count)).await
}

async fn insert(
    tx: &mut Tx,
    id: Uuid,
    origin: &Origin,
    at: Timestamp,
    (action, records, count): (AuditAction, &[&str], i64),
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO audit_records (tenant_id, id, created_at, actor, credential, \
        key_id, action, records, count, address, request_id) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let tenant = if tx.tenant == EVERY_TENANT { NO_TENANT } else { &tx.tenant };
    let tenant = tenant.to_owned();
    execute!(
        tx,
        SQL,
        &tenant,
        id,
        at.millis(),
        &origin.actor,
        origin.credential.as_str(),
        origin.key.as_deref(),
        action.as_str(),
        to_json_list(records),
        count,
        origin.address.map(|address| address.to_string()),
        origin.request_id.as_deref(),
    )?;
    Ok(())
}

/// Lists a page of the audit records of the transaction's tenant, newest first.
pub async fn list(
    tx: &mut Tx,
    filter: &AuditFilter,
    page: Page,
) -> Result<Listed<AuditRecord>, StoreError> {
    const SIZES: &str = "SELECT CAST(octet_length(records) + octet_length(actor) AS BIGINT) \
        FROM audit_records WHERE tenant_id = $1 AND id < $2 \
        AND (CAST($3 AS TEXT) IS NULL OR action = $3) AND (CAST($4 AS TEXT) IS NULL OR actor = $4) \
        AND (CAST($5 AS TEXT) IS NULL OR records LIKE $5) ORDER BY id DESC LIMIT $6";
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM audit_records WHERE tenant_id = $1 AND id < $2 \
        AND (CAST($3 AS TEXT) IS NULL OR action = $3) AND (CAST($4 AS TEXT) IS NULL OR actor = $4) \
        AND (CAST($5 AS TEXT) IS NULL OR records LIKE $5) ORDER BY id DESC LIMIT $6"
    );
    let Filter { action, actor, record } = Filter::of(filter);
    let before = before(page);
    fetch_page!(tx, Row, page, SIZES, SQL, &tx.tenant, before, action, actor, record.as_deref())
}

/// Lists a page of all audit records, newest first; with `tenant` only those of this tenant. For a transaction that sees
/// every tenant.
pub async fn list_all(
    tx: &mut Tx,
    tenant: Option<&str>,
    filter: &AuditFilter,
    page: Page,
) -> Result<Listed<AuditRecord>, StoreError> {
    const SIZES: &str = "SELECT CAST(octet_length(records) + octet_length(actor) AS BIGINT) \
        FROM audit_records WHERE id < $1 \
        AND (CAST($2 AS TEXT) IS NULL OR action = $2) AND (CAST($3 AS TEXT) IS NULL OR actor = $3) \
        AND (CAST($4 AS TEXT) IS NULL OR records LIKE $4) \
        AND (CAST($5 AS TEXT) IS NULL OR tenant_id = $5) ORDER BY id DESC LIMIT $6";
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM audit_records WHERE id < $1 \
        AND (CAST($2 AS TEXT) IS NULL OR action = $2) AND (CAST($3 AS TEXT) IS NULL OR actor = $3) \
        AND (CAST($4 AS TEXT) IS NULL OR records LIKE $4) \
        AND (CAST($5 AS TEXT) IS NULL OR tenant_id = $5) ORDER BY id DESC LIMIT $6"
    );
    let Filter { action, actor, record } = Filter::of(filter);
    let before = before(page);
    fetch_page!(tx, Row, page, SIZES, SQL, before, action, actor, record.as_deref(), tenant)
}

/// The filter as statements take it.
struct Filter<'f> {
    action: Option<&'static str>,
    actor: Option<&'f str>,
    /// A pattern of `LIKE`.
    record: Option<String>,
}

impl<'f> Filter<'f> {
    fn of(filter: &'f AuditFilter) -> Self {
        Self {
            action: filter.action.map(AuditAction::as_str),
            actor: filter.actor.as_deref(),
            record: filter.record.map(|id| format!("%\"{id}\"%")),
        }
    }
}

/// Returns the id before which a page begins: the newest audit records come first.
fn before(page: Page) -> Uuid {
    if page.after.is_nil() { Uuid::max() } else { page.after }
}

/// Deletes up to `limit` audit records of `tenant` that are older than `before`, or that are not among the `newest` ones.
/// Among the records of no tenant, `newest` counts and deletes refused credentials alone: a caller can cause many of
/// them, and must not drive out the records of the operator.
///
/// Returns the number of deleted rows. For a transaction that sees every tenant.
pub async fn prune(
    tx: &mut Tx,
    tenant: &str,
    before: Timestamp,
    newest: i64,
    limit: i64,
) -> Result<u64, StoreError> {
    const SQL: &str = "DELETE FROM audit_records WHERE (tenant_id, id) IN \
        (SELECT tenant_id, id FROM audit_records WHERE tenant_id = $1 AND (id < $3 OR (id <= $2 \
        AND (tenant_id <> '' OR action = 'credential.refused'))) ORDER BY id LIMIT $4)";
    let excess = first_too_many(tx, tenant, newest).await?.unwrap_or_default();
    allow_deletion(tx, tenant).await?;
    let deleted = execute!(tx, SQL, tenant, excess, first_id(before), limit)?;
    forbid_deletion(tx, tenant).await?;
    Ok(deleted)
}

/// Returns the tenants of which [`prune`] may delete something, without a look at each tenant. For a transaction that sees
/// every tenant.
pub async fn prunable_tenants(
    tx: &mut Tx,
    before: Timestamp,
    newest: i64,
) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT tenant_id FROM audit_records WHERE id < $1 \
        UNION SELECT tenant_id FROM audit_records GROUP BY tenant_id HAVING count(*) > $2";
    let rows = fetch_all!(tx, (String,), SQL, first_id(before), newest)?;
    Ok(rows.into_iter().map(|(tenant,)| tenant).collect())
}

/// Returns whether [`prune`] would delete anything, without the lock of a writer.
pub async fn is_prunable(
    tx: &mut Tx,
    tenant: &str,
    before: Timestamp,
    newest: i64,
) -> Result<bool, StoreError> {
    const OLDEST: &str = "SELECT id FROM audit_records WHERE tenant_id = $1 ORDER BY id LIMIT 1";
    let oldest = fetch_optional!(tx, (Uuid,), OLDEST, tenant)?;
    let is_old = oldest.is_some_and(|(id,)| id < first_id(before));
    Ok(is_old || first_too_many(tx, tenant, newest).await?.is_some())
}

/// Returns the newest audit record that is not among the `newest` ones, of those that [`prune`] counts.
async fn first_too_many(
    tx: &mut Tx,
    tenant: &str,
    newest: i64,
) -> Result<Option<Uuid>, StoreError> {
    const SQL: &str = "SELECT id FROM audit_records WHERE tenant_id = $1 \
        AND (tenant_id <> '' OR action = 'credential.refused') ORDER BY id DESC LIMIT 1 OFFSET $2";
    Ok(fetch_optional!(tx, (Uuid,), SQL, tenant, newest)?.map(|(id,)| id))
}

/// Returns the smallest id that can be made at `at`.
fn first_id(at: Timestamp) -> Uuid {
    // The first 48 bits of a UUIDv7 are its time (RFC 9562 section 5.7).
    Uuid::from_u128(u128::try_from(at.millis()).unwrap_or(0) << 80)
}

/// Lets the transaction delete audit records of `tenant`.
pub(crate) async fn allow_deletion(tx: &mut Tx, tenant: &str) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO audit_pruning (tenant) VALUES ($1) ON CONFLICT DO NOTHING";
    execute!(tx, SQL, tenant)?;
    Ok(())
}

/// Ends what [`allow_deletion`] allowed.
pub(crate) async fn forbid_deletion(tx: &mut Tx, tenant: &str) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM audit_pruning WHERE tenant = $1";
    execute!(tx, SQL, tenant)?;
    Ok(())
}

#[cfg(test)]
mod tests;
