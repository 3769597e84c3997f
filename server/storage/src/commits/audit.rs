//! The table of audit records. Triggers refuse each update, and each deletion without a row in `audit_pruning`.

use portcullis_model::Timestamp;
use portcullis_model::audit::{AuditAction, AuditFilter, AuditRecord, ChangeAuthor, Origin};
use portcullis_model::ids::Ids;
use portcullis_model::page::{Listed, Page};
use uuid::Uuid;

use crate::commits::author::Author;
use crate::transactions::audit_entry::{self, AuditEntry};
use crate::transactions::column_values::number;
use crate::transactions::error::StoreError;
use crate::transactions::json_list::{from_json, from_json_list, to_json_list};
use crate::transactions::macros::{execute, fetch_all, fetch_optional, row};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::{EVERY_TENANT, Tx};

/// The `tenant_id` of audit records that belong to no tenant.
pub const NO_TENANT: &str = "";

row! {
    struct AuditRow as columns {
        tenant_id: String,
        id: Uuid,
        created_at: i64,
        actor: String,
        credential: String,
        key_id: Option<String>,
        key_name: Option<String>,
        action: String,
        records: String,
        count: i64,
        before_change: Option<String>,
        after_change: Option<String>,
        source: Option<String>,
        address: Option<String>,
        request_id: Option<String>,
    }
}

impl TryFrom<AuditRow> for AuditRecord {
    type Error = StoreError;

    fn try_from(row: AuditRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id,
            tenant_id: Some(row.tenant_id).filter(|tenant| tenant != NO_TENANT),
            at: Timestamp::from_millis(row.created_at),
            author: ChangeAuthor {
                actor: row.actor,
                credential: row.credential,
                key: row.key_id,
                key_name: row.key_name,
            },
            action: row.action,
            records: from_json_list(&row.records, "audit_records.records")?,
            count: row.count,
            before: from_json(row.before_change, "audit_records.before_change")?,
            after: from_json(row.after_change, "audit_records.after_change")?,
            source: from_json(row.source, "audit_records.source")?,
            address: row.address,
            request_id: row.request_id,
        })
    }
}

/// Stores what the transaction changed. Changes of one kind that follow each other share audit records.
pub(crate) async fn write(tx: &mut Tx, author: &Author) -> Result<(), StoreError> {
    let entries = std::mem::take(&mut tx.audited);
    let mut rest = &entries[..];
    let ids = Ids::new();
    while !rest.is_empty() {
        // At least one entry leaves each time, so that the loop ends.
        let (part, others) = rest.split_at(audit_entry::sharing(rest).max(1));
        insert(tx, ids.next(author.at), author, part, number(part.len())).await?;
        rest = others;
    }
    Ok(())
}

/// Stores that the transaction changed `count` records by one call, in one audit record. `entries` are the first of the
/// changes, of one action; the audit record names each of them.
pub(crate) async fn write_call(
    tx: &mut Tx,
    entries: &[AuditEntry],
    count: usize,
) -> Result<(), StoreError> {
    let author = Author::read(tx).await?;
    insert(tx, Ids::new().next(author.at), &author, entries, number(count)).await
}

/// Stores that the transaction's author did `count` times what `action` says, last with the record `record`.
pub(crate) async fn write_counted(
    tx: &mut Tx,
    action: AuditAction,
    record: Uuid,
    count: i64,
) -> Result<(), StoreError> {
    let author = Author::read(tx).await?;
    let entry = AuditEntry::new(action, record);
    insert(tx, Ids::new().next(author.at), &author, &[entry], count).await
}

/// Stores that credentials of this origin were refused `count` times. For a transaction that sees every tenant.
pub async fn insert_refusal(
    tx: &mut Tx,
    id: Uuid,
    origin: &Origin,
    at: Timestamp,
    count: i64,
) -> Result<(), StoreError> {
    let author = Author { origin: origin.clone(), key_name: None, source: None, at };
    let refusal = AuditEntry::nameless(AuditAction::CredentialRefused);
    insert(tx, id, &author, &[refusal], count).await
}

/// Stores an audit record of `entries`, of one action, which stand for `count` changes.
async fn insert(
    tx: &mut Tx,
    id: Uuid,
    author: &Author,
    entries: &[AuditEntry],
    count: i64,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO audit_records (tenant_id, id, created_at, actor, credential, \
        key_id, key_name, action, records, count, before_change, after_change, source, address, \
        request_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let Some(AuditEntry { action, .. }) = entries.first() else { return Ok(()) };
    // Records of a transaction that sees every tenant belong to none.
    let tenant = if tx.tenant == EVERY_TENANT { NO_TENANT } else { &tx.tenant };
    let tenant = tenant.to_owned();
    let records: Vec<&str> = entries.iter().filter_map(|entry| entry.record.as_deref()).collect();
    let [before, after] = audit_entry::changes(entries);
    let Author { origin, key_name, source, at } = author;
    execute!(
        tx,
        SQL,
        &tenant,
        id,
        at.millis(),
        &origin.actor,
        origin.credential.into_str(),
        origin.key.as_deref(),
        key_name.as_deref(),
        action.into_str(),
        to_json_list(&records),
        count,
        before,
        after,
        source.as_deref(),
        origin.address.map(|address| address.to_string()),
        origin.request_id.as_deref(),
    )?;
    Ok(())
}

/// Makes the statements of SQLite and of PostgreSQL that select a page of the audit records for which `$tenant` is true.
macro_rules! statements {
    ($tenant:literal) => {
        [
            statements!(@of $tenant, "EXISTS (SELECT 1 FROM json_each(records) WHERE value = $5)"),
            statements!(@of $tenant, "CAST(records AS JSONB) ? $5"),
        ]
    };
    (@of $tenant:literal, $has_record:literal) => {{
        const PAGES: [&str; 2] = pages!(
            [records, actor, before_change, after_change, source],
            concat!(
                "FROM audit_records WHERE ", $tenant,
                " AND id < $2 AND (CAST($3 AS TEXT) IS NULL OR action = $3) \
                AND (CAST($4 AS TEXT) IS NULL OR actor = $4) \
                AND (CAST($5 AS TEXT) IS NULL OR ", $has_record, ") AND id >= $6 \
                ORDER BY id DESC LIMIT $7"
            )
        );
        PAGES
    }};
}

pub(crate) const PAGES_OF_TENANT: [Pages; 2] = statements!("tenant_id = $1");
pub(crate) const PAGES_OF_ALL: [Pages; 2] =
    statements!("(CAST($1 AS TEXT) IS NULL OR tenant_id = $1)");

/// Lists a page of the audit records of the transaction's tenant, newest first.
pub async fn list(
    tx: &mut Tx,
    filter: &AuditFilter,
    page: Page,
) -> Result<Listed<AuditRecord>, StoreError> {
    let [sqlite, postgres] = PAGES_OF_TENANT;
    let pages = tx.either(sqlite, postgres);
    let Filter { action, actor, record, from, before } = Filter::new(filter, page);
    fetch_page!(tx, AuditRow, page.limit, pages, &tx.tenant, before, action, actor, record, from)
}

/// Lists a page of all audit records, newest first; with `tenant` only this tenant's records. For a transaction that
/// sees every tenant.
pub async fn list_all(
    tx: &mut Tx,
    tenant: Option<&str>,
    filter: &AuditFilter,
    page: Page,
) -> Result<Listed<AuditRecord>, StoreError> {
    let [sqlite, postgres] = PAGES_OF_ALL;
    let pages = tx.either(sqlite, postgres);
    let Filter { action, actor, record, from, before } = Filter::new(filter, page);
    fetch_page!(tx, AuditRow, page.limit, pages, tenant, before, action, actor, record, from)
}

/// The filter as statements take it.
struct Filter<'f> {
    action: Option<&'static str>,
    actor: Option<&'f str>,
    record: Option<&'f str>,
    /// The first id.
    from: Uuid,
    /// The id before which the page begins: the newest audit records come first.
    before: Uuid,
}

impl<'f> Filter<'f> {
    fn new(filter: &'f AuditFilter, page: Page) -> Self {
        // Without a cursor the list begins before the largest id, which no UUIDv7 reaches.
        let last = if page.after.is_nil() { Uuid::max() } else { page.after };
        Self {
            action: filter.action.map(|action| action.into_str()),
            actor: filter.actor.as_deref(),
            record: filter.record.as_deref(),
            from: filter.from.map_or(Uuid::nil(), first_id),
            before: filter.to.map_or(last, |to| last.min(first_id(to))),
        }
    }
}

/// Deletes up to `limit` audit records of `tenant`: those that are older than `before`; if there are none, those that are too
/// many beside the `newest` ones, sign-ins first, then the oldest. Among the records of no tenant, `newest` counts and deletes
/// refused credentials alone: a caller can cause many of them, and must not drive out the records of the operator.
///
/// Returns the number of deleted rows. For a transaction that sees every tenant.
pub async fn prune(
    tx: &mut Tx,
    tenant: &str,
    before: Timestamp,
    newest: i64,
    limit: i64,
) -> Result<u64, StoreError> {
    const OLD: &str = "DELETE FROM audit_records WHERE (tenant_id, id) IN (SELECT tenant_id, id \
        FROM audit_records WHERE tenant_id = $1 AND id < $2 ORDER BY id LIMIT $3)";
    allow_deletion(tx, tenant).await?;
    let mut deleted = execute!(tx, OLD, tenant, first_id(before), limit)?;
    if deleted == 0 {
        deleted = prune_excess(tx, tenant, newest, limit).await?;
    }
    // In the same transaction, so that no other one ever sees the permission.
    forbid_deletion(tx, tenant).await?;
    Ok(deleted)
}

/// Deletes up to `limit` records that are too many beside the `newest` ones. Returns their number.
async fn prune_excess(
    tx: &mut Tx,
    tenant: &str,
    newest: i64,
    limit: i64,
) -> Result<u64, StoreError> {
    const NUMBER: &str = "SELECT count(*) FROM audit_records WHERE tenant_id = $1 AND id <= $2";
    const SIGN_INS: &str = "DELETE FROM audit_records WHERE (tenant_id, id) IN \
        (SELECT tenant_id, id FROM audit_records WHERE tenant_id = $1 \
        AND action IN ('console.signed_in', 'console.signed_out') ORDER BY id LIMIT $2)";
    const OLDEST: &str = "DELETE FROM audit_records WHERE (tenant_id, id) IN \
        (SELECT tenant_id, id FROM audit_records WHERE tenant_id = $1 AND id <= $2 \
        AND (tenant_id <> '' OR action = 'credential.refused') ORDER BY id LIMIT $3)";
    let Some(last) = first_too_many(tx, tenant, newest).await? else { return Ok(0) };
    let number = fetch_optional!(tx, (i64,), NUMBER, tenant, last)?.map_or(0, |(number,)| number);
    match execute!(tx, SIGN_INS, tenant, number.min(limit))? {
        0 => Ok(execute!(tx, OLDEST, tenant, last, limit)?),
        deleted => Ok(deleted),
    }
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
