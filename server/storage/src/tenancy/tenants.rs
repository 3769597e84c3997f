//! The tenants, their revisions and their states.

use portcullis_engine::ResourcePattern;
use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::page::{Listed, Page};
use portcullis_model::settings::Gates;
use portcullis_model::tenant::{TenantRecord, TenantState};

use crate::content::resolvers;
use crate::delivery::delivery_queues;
use crate::transactions::error::StoreError;
use crate::transactions::history::{HistoryPosition, epoch, in_epoch};
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, row, select,
};
use crate::transactions::paging::{Pages, fetch_page, pages};
use crate::transactions::tx::Tx;

row! {
    struct TenantRow as columns {
        id: String,
        name: Option<String>,
        slug: Option<String>,
        created_at: i64,
        suspended_at: Option<i64>,
        deleting_at: Option<i64>,
    }
}

impl From<TenantRow> for TenantRecord {
    fn from(row: TenantRow) -> Self {
        Self {
            name: row.name.unwrap_or_else(|| row.id.clone()),
            slug: row.slug.unwrap_or_else(|| row.id.clone()),
            id: row.id,
            created_at: Timestamp::from_millis(row.created_at),
            state: state(row.suspended_at, row.deleting_at),
        }
    }
}

fn state(suspended_at: Option<i64>, deleting_at: Option<i64>) -> Option<TenantState> {
    let deleting = deleting_at.map(|_| TenantState::Deleting);
    // A tenant that is being deleted may have been suspended before.
    deleting.or(suspended_at.map(|_| TenantState::Suspended))
}

row! {
    /// The columns that the lock of a tenant reads.
    struct LockRow {
        suspended_at: Option<i64>,
        deleting_at: Option<i64>,
        gate_cases: bool,
        gate_approval: bool,
    }
}

/// Locks the row of the tenant until the transaction ends, so that the writes of one tenant run one after the other.
/// Creates the row if it is missing, and gives the transaction the gates of the tenant. Fails if the tenant is closed.
pub(crate) async fn lock(tx: &mut Tx, now: i64) -> Result<(), StoreError> {
    // It sets no column of a key: that lock would keep out every transaction that inserts a row of the tenant without
    // locking the tenant, as a delivery worker does while it holds a queue.
    const SQL: &str = "INSERT INTO tenants (id, revision, created_at) VALUES ($1, 0, $2) \
        ON CONFLICT (id) DO UPDATE SET created_at = tenants.created_at \
        RETURNING suspended_at, deleting_at, gate_cases, gate_approval";
    // Inserted or updated, there is a row.
    let Some(row) = fetch_optional!(tx, LockRow, SQL, &tx.tenant, now)? else { return Ok(()) };
    if state(row.suspended_at, row.deleting_at).is_some() {
        return Err(StoreError::TenantClosed);
    }
    tx.gates = Gates { cases: row.gate_cases, approval: row.gate_approval };
    Ok(())
}

/// Raises the revision by one and returns the new place in the tenant's history. The transaction has locked the tenant.
pub(crate) async fn raise_revision(tx: &mut Tx) -> Result<HistoryPosition, StoreError> {
    let next = position(tx).await?.next()?;
    set_position(tx, &next).await?;
    Ok(next)
}

/// Begins an epoch after `lost`, the last revision that this process knows of a history that was replaced. The commit
/// raises the revision as any change does. Resolvers get versions that no lost change gave them.
///
/// False if another process has begun an epoch after `lost`; nothing changes then.
pub async fn begin_epoch(tx: &mut Tx, lost: u64) -> Result<bool, StoreError> {
    let mut position = position(tx).await?;
    if epoch(position.revision) > epoch(lost) {
        return Ok(false);
    }
    position.revision = in_epoch(position.revision, epoch(lost) + 1);
    set_position(tx, &position).await?;
    resolvers::skip_versions(tx).await?;
    tx.touch([ResourcePattern::Any.into()]);
    Ok(true)
}

async fn set_position(tx: &mut Tx, position: &HistoryPosition) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE tenants SET revision = $2, history = $3 WHERE id = $1";
    let revision = i64::try_from(position.revision);
    let revision = revision.map_err(StoreError::corrupt("tenants.revision"))?;
    match execute!(tx, SQL, &tx.tenant, revision, position.history())? {
        0 => Err(StoreError::Corrupt { what: "tenants.id" }),
        _ => Ok(()),
    }
}

/// Reads the place in the tenant's history; revision 0 for a tenant without a write.
pub async fn position(tx: &mut Tx) -> Result<HistoryPosition, StoreError> {
    const SQL: &str = "SELECT revision, history FROM tenants WHERE id = $1";
    let row = fetch_optional!(tx, (i64, String), SQL, &tx.tenant)?;
    let (revision, history) = row.unwrap_or_default();
    Ok(HistoryPosition::read(to_revision((revision,)), &history))
}

/// Reads the revision; 0 for a tenant without a write.
pub async fn revision(tx: &mut Tx) -> Result<u64, StoreError> {
    const SQL: &str = "SELECT revision FROM tenants WHERE id = $1";
    let row = fetch_optional!(tx, (i64,), SQL, &tx.tenant)?;
    Ok(row.map_or(0, to_revision))
}

fn to_revision((revision,): (i64,)) -> u64 {
    u64::try_from(revision).unwrap_or_default()
}

/// Returns the places of the `tenants` that exist, each in its history.
pub async fn positions(
    tx: &mut Tx,
    tenants: &[impl AsRef<str>],
) -> Result<Vec<(String, HistoryPosition)>, StoreError> {
    const SQLITE: &str = "SELECT id, revision, history FROM tenants \
        WHERE id IN (SELECT value FROM json_each($1))";
    const POSTGRES: &str = "SELECT id, revision, history FROM tenants \
        WHERE id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON))))";
    let sql = tx.either(SQLITE, POSTGRES);
    let rows = fetch_all!(tx, (String, i64, String), sql, to_json_list(tenants))?;
    let positions = rows.into_iter().map(|(id, revision, history)| {
        (id, HistoryPosition::read(to_revision((revision,)), &history))
    });
    Ok(positions.collect())
}

/// Returns when the `tenants` that exist were made, in milliseconds since the epoch.
pub async fn created(
    tx: &mut Tx,
    tenants: &[impl AsRef<str>],
) -> Result<Vec<(String, i64)>, StoreError> {
    const SQLITE: &str = "SELECT id, created_at FROM tenants \
        WHERE id IN (SELECT value FROM json_each($1))";
    const POSTGRES: &str = "SELECT id, created_at FROM tenants \
        WHERE id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON))))";
    let sql = tx.either(SQLITE, POSTGRES);
    Ok(fetch_all!(tx, (String, i64), sql, to_json_list(tenants))?)
}

/// Inserts a tenant of `saas` mode. False if its slug is taken.
pub async fn insert(tx: &mut Tx, tenant: &TenantRecord) -> Result<bool, StoreError> {
    const SQL: &str = "INSERT INTO tenants (id, revision, name, slug, created_at) \
        VALUES ($1, 0, $2, $3, $4) ON CONFLICT DO NOTHING";
    let created_at = tenant.created_at.millis();
    let inserted = execute!(tx, SQL, &tenant.id, &tenant.name, &tenant.slug, created_at)? > 0;
    if inserted {
        tx.audit(AuditAction::TenantCreated, &tenant.id);
    }
    Ok(inserted)
}

/// Lists a page of the tenants, in order of creation.
pub async fn list(tx: &mut Tx, page: Page) -> Result<Listed<TenantRecord>, StoreError> {
    // Tenants of `selfhost` mode have no slug, and an erased tenant loses it.
    const PAGES: Pages = pages!(
        [name, slug],
        "FROM tenants WHERE slug IS NOT NULL AND id > $1 ORDER BY id LIMIT $2"
    );
    fetch_page!(tx, TenantRow, page.limit, PAGES, page.after.to_string())
}

/// Lists a page of all tenants by id, including tenants of `selfhost` mode.
pub async fn list_every(
    tx: &mut Tx,
    after: &str,
    limit: i64,
) -> Result<Vec<TenantRecord>, StoreError> {
    const SQL: &str = select!(
        "FROM tenants \
        WHERE id > $1 AND erased_at IS NULL ORDER BY id LIMIT $2"
    );
    records(fetch_all!(tx, TenantRow, SQL, after, limit)?)
}

/// Finds the tenant with this id.
pub async fn find(tx: &mut Tx, id: &str) -> Result<Option<TenantRecord>, StoreError> {
    const SQL: &str = select!("FROM tenants WHERE id = $1 AND erased_at IS NULL");
    record(fetch_optional!(tx, TenantRow, SQL, id)?)
}

/// Finds the tenant with this id or slug.
pub async fn find_by_id_or_slug(
    tx: &mut Tx,
    name: &str,
) -> Result<Option<TenantRecord>, StoreError> {
    const SQL: &str = select!("FROM tenants WHERE (id = $1 OR slug = $1) AND erased_at IS NULL");
    record(fetch_optional!(tx, TenantRow, SQL, name)?)
}

/// Suspends the tenant of the transaction and pauses its deliveries. False if it is not active.
pub async fn suspend(tx: &mut Tx, at: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE tenants SET suspended_at = $2 \
        WHERE id = $1 AND suspended_at IS NULL AND deleting_at IS NULL";
    if execute!(tx, SQL, &tx.tenant, at.millis())? == 0 {
        return Ok(false);
    }
    let tenant = tx.tenant.clone();
    delivery_queues::pause(tx, &tenant).await?;
    tx.audit(AuditAction::TenantSuspended, tenant);
    Ok(true)
}

/// Resumes the tenant of the transaction and its deliveries. False if it is not suspended.
pub async fn resume(tx: &mut Tx) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE tenants SET suspended_at = NULL \
        WHERE id = $1 AND suspended_at IS NOT NULL AND deleting_at IS NULL";
    if execute!(tx, SQL, &tx.tenant)? == 0 {
        return Ok(false);
    }
    let tenant = tx.tenant.clone();
    delivery_queues::resume(tx, &tenant).await?;
    tx.audit(AuditAction::TenantResumed, tenant);
    Ok(true)
}

/// Lists the tenants that are suspended or being deleted. Each process refuses their credentials.
pub async fn closed(tx: &mut Tx) -> Result<Vec<String>, StoreError> {
    const SQL: &str =
        "SELECT id FROM tenants WHERE suspended_at IS NOT NULL OR deleting_at IS NOT NULL";
    let rows = fetch_all!(tx, (String,), SQL)?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Lists the tenants that are being deleted.
pub async fn leaving(tx: &mut Tx) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT id FROM tenants WHERE deleting_at IS NOT NULL";
    let rows = fetch_all!(tx, (String,), SQL)?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Returns whether the tenant with this id is suspended or being deleted.
pub async fn is_closed(tx: &mut Tx, id: &str) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT id FROM tenants \
        WHERE id = $1 AND (suspended_at IS NOT NULL OR deleting_at IS NOT NULL)";
    Ok(fetch_optional!(tx, (String,), SQL, id)?.is_some())
}
