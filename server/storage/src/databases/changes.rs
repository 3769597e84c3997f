//! The stream of changes of all tenants (`docs/semantics.md`, section 2.9). A reader asks for the tenants that changed
//! after its position, so that the cost follows the changes and not the number of tenants.
//!
//! The position has two parts. The number of the newest change that the reader knows separates what is surely new. On
//! PostgreSQL the numbers are ids of transactions, and one with a smaller id may commit later: there the position also
//! keeps the snapshot of the read, which tells which of the smaller ids the reader has not seen. A change counts as soon
//! as it is visible, however long other transactions run. A tenant that is read twice is harmless.

use sqlx::PgPool;

use crate::transactions::error::StoreError;
use crate::transactions::history::HistoryPosition;
use crate::transactions::macros::{fetch_all, fetch_optional, row};
use crate::transactions::tx::{Inner, Tx};

/// A place in the stream.
#[derive(Clone, Debug)]
pub struct StreamPosition {
    /// The number of the newest change.
    newest: i64,
    /// The tenant of the newest change. A database that no longer has that change lost commits.
    witness: Option<Witness>,
    /// `None` on SQLite, where changes become visible in the order of their numbers.
    snapshot: Option<Snapshot>,
}

/// A tenant as the reader saw it.
#[derive(Clone, Debug)]
struct Witness {
    tenant: String,
    changed: i64,
    position: HistoryPosition,
}

/// A snapshot of PostgreSQL.
#[derive(Clone, Debug)]
struct Snapshot {
    text: String,
    /// The smallest id of a transaction that ran.
    xmin: i64,
}

/// A tenant that changed.
#[derive(Clone, Debug)]
pub struct TenantChange {
    pub tenant: String,
    /// The place in the tenant's history after the change.
    pub position: HistoryPosition,
    /// Whether the state, the identity providers, the service keys or the webhooks of the tenant changed.
    pub concerns_access: bool,
}

/// The tenants that changed after a position, and the position after them.
#[derive(Debug)]
pub struct Changes {
    pub tenants: Vec<TenantChange>,
    pub position: StreamPosition,
    /// Whether more tenants changed than one read returns. The next read begins after these.
    pub has_more: bool,
}

/// Most tenants of one read, as in the statements. With fewer the read is complete.
const MAX_ROWS: usize = 1_000;

row! {
    struct ChangeRow {
        id: String,
        revision: i64,
        history: String,
        changed: i64,
        is_new: bool,
        concerns_access: bool,
    }
}

/// The columns of a tenant from which a [`ChangeRow`] is made.
macro_rules! columns {
    () => {
        "id, revision, history, changed, access_changed"
    };
}

impl ChangeRow {
    fn position(&self) -> HistoryPosition {
        HistoryPosition::read(u64::try_from(self.revision).unwrap_or_default(), &self.history)
    }
}

/// Returns the end of the stream: later reads begin there.
pub async fn end(tx: &mut Tx) -> Result<StreamPosition, StoreError> {
    const SQL: &str = "SELECT id, revision, history, changed, TRUE AS is_new, FALSE AS concerns_access \
        FROM tenants ORDER BY changed DESC LIMIT 1";
    let newest = fetch_optional!(tx, ChangeRow, SQL)?;
    let snapshot = snapshot(tx).await?;
    Ok(StreamPosition {
        newest: newest.as_ref().map_or(0, |row| row.changed),
        witness: newest.map(|row| witness(&row)),
        snapshot,
    })
}

/// Returns the tenants that changed after `last`. `None` if the database lost changes that `last` knows: then everything
/// may have changed.
pub async fn since(tx: &mut Tx, last: &StreamPosition) -> Result<Option<Changes>, StoreError> {
    let rows = rows(tx, last).await?;
    if !last.witness.as_ref().is_none_or(|witness| is_there(witness, &rows)) {
        return Ok(None);
    }
    let mut position = StreamPosition { snapshot: snapshot(tx).await?, ..last.clone() };
    // The limit of the statement counts these alone. The witness and changes with smaller numbers come in addition.
    let later = rows.iter().filter(|row| row.changed > last.newest).count();
    let mut tenants = Vec::new();
    for row in rows.into_iter().filter(|row| row.is_new) {
        let is_witness = position.witness.as_ref().is_some_and(|witness| witness.tenant == row.id);
        // A later commit of the witness may have a smaller number.
        if is_witness || row.changed >= position.newest {
            position.witness = Some(witness(&row));
        }
        position.newest = position.newest.max(row.changed);
        let (position, concerns_access) = (row.position(), row.concerns_access);
        tenants.push(TenantChange { tenant: row.id, position, concerns_access });
    }
    Ok(Some(Changes { tenants, position, has_more: later >= MAX_ROWS }))
}

/// Reads the tenants that changed after `last`, and its witness.
async fn rows(tx: &mut Tx, last: &StreamPosition) -> Result<Vec<ChangeRow>, StoreError> {
    const SQLITE: &str = concat!(
        "WITH found AS (SELECT ",
        columns!(),
        " FROM (SELECT ",
        columns!(),
        " FROM tenants WHERE changed > $1 ORDER BY changed LIMIT 1000) AS later \
        UNION ALL SELECT ",
        columns!(),
        " FROM tenants WHERE id = $2) \
        SELECT id, revision, history, changed, changed > $1 AS is_new, \
        access_changed > $1 AS concerns_access FROM found"
    );
    // One transaction can change many tenants, which then have one number.
    const POSTGRES: &str = concat!(
        "WITH found AS ((SELECT ",
        columns!(),
        " FROM tenants WHERE changed > $1 ORDER BY changed FETCH FIRST 1000 ROWS WITH TIES) \
        UNION ALL SELECT ",
        columns!(),
        " FROM tenants WHERE id = $2 UNION ALL SELECT ",
        columns!(),
        " FROM tenants WHERE changed BETWEEN $3 AND $1) \
        SELECT id, revision, history, changed, \
        changed > $1 OR (changed >= $3 AND NOT pg_visible_in_snapshot( \
        CAST(CAST(changed AS TEXT) AS xid8), CAST($4 AS pg_snapshot))) AS is_new, \
        access_changed > $1 OR (access_changed >= $3 AND NOT pg_visible_in_snapshot( \
        CAST(CAST(access_changed AS TEXT) AS xid8), CAST($4 AS pg_snapshot))) AS concerns_access \
        FROM found"
    );
    let witness = last.witness.as_ref().map_or("", |witness| &*witness.tenant);
    // Transactions below `xmin` had ended at the snapshot, so that numbers before it bring nothing new.
    let rows = match &last.snapshot {
        None => fetch_all!(tx, ChangeRow, SQLITE, last.newest, witness)?,
        Some(Snapshot { text, xmin }) => {
            fetch_all!(tx, ChangeRow, POSTGRES, last.newest, witness, *xmin, &**text)?
        }
    };
    Ok(rows)
}

/// Returns whether the database still has the change that the witness saw.
fn is_there(witness: &Witness, rows: &[ChangeRow]) -> bool {
    rows.iter().any(|row| {
        row.id == witness.tenant
            // A witness that changed since must continue the history that was seen. Any other must be as it was.
            && match row.is_new {
                true => {
                    let now = row.position();
                    now.revision >= witness.position.revision && now.agrees_with(&witness.position)
                }
                false => row.changed == witness.changed && row.position() == witness.position,
            }
    })
}

fn witness(row: &ChangeRow) -> Witness {
    Witness { tenant: row.id.clone(), changed: row.changed, position: row.position() }
}

/// Returns the snapshot of the transaction; `None` on SQLite.
async fn snapshot(tx: &mut Tx) -> Result<Option<Snapshot>, StoreError> {
    const SQL: &str = "SELECT CAST(pg_current_snapshot() AS TEXT), \
        CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)";
    if let Inner::Sqlite(_) = &tx.inner {
        return Ok(None);
    }
    let row = fetch_optional!(tx, (String, i64), SQL)?;
    Ok(row.map(|(text, xmin)| Snapshot { text, xmin }))
}

/// Takes the numbers of another database cluster, which a restored backup brings, out of the stream: as long as they are
/// greater than the ids of present transactions, each read would return them.
pub(crate) async fn forget_foreign_numbers(pool: &PgPool) -> Result<(), sqlx::Error> {
    const SQL: &str = "UPDATE tenants SET changed = 0 WHERE changed > (SELECT portcullis_change())";
    sqlx::query(SQL).execute(pool).await.map(drop)
}

#[cfg(test)]
mod tests;
