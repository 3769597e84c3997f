//! The persons whose records of decisions are erased. The code of a subject authenticates it: the database does not name the
//! persons.

use portcullis_model::Timestamp;

use crate::decisions::denied_persons::ErasedDenials;
use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, row};
use crate::transactions::tx::Tx;

/// The most erasures of a tenant that are remembered.
pub const MAX: i64 = 10_000;
/// The milliseconds by which an erasure is remembered longer than a record is kept: a write-ahead file, whose records go
/// together, has those of a day, or of two if a clock is set back.
const LONGER: i64 = 2 * 24 * 60 * 60 * 1_000;
/// The code of the row that remembers the ends of forgotten erasures: no subject has it.
const FORGOTTEN: &[u8] = b"";

row! {
    /// An erasure.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ErasureRow {
        pub tenant_id: String,
        /// The code of the subject.
        pub subject: Vec<u8>,
        /// Milliseconds since the epoch: records up to then are erased.
        pub erased_at: i64,
    }
}

/// Notes that the records of the transaction's tenant, which keeps them for `keep` milliseconds, about a person up to `at` are to be
/// erased. False if it has [`MAX`] erasures of others.
pub async fn begin(
    tx: &mut Tx,
    subject: &[u8],
    at: Timestamp,
    keep: i64,
) -> Result<bool, StoreError> {
    const OTHERS: &str = "SELECT COUNT(*) FROM decision_erasures \
        WHERE tenant_id = $1 AND length(subject) > 0 AND subject <> $2";
    const SQL: &str = "INSERT INTO decision_erasures (tenant_id, subject, erased_at, pending) \
        VALUES ($1, $2, $3, TRUE) ON CONFLICT (tenant_id, subject) DO UPDATE SET \
        erased_at = excluded.erased_at, pending = TRUE";
    forget(tx, at.millis().saturating_sub(keep)).await?;
    let others = fetch_optional!(tx, (i64,), OTHERS, &tx.tenant, subject)?;
    if others.is_some_and(|(others,)| others >= MAX) {
        return Ok(false);
    }
    execute!(tx, SQL, &tx.tenant, subject, at.millis())?;
    Ok(true)
}

/// Forgets the erasures of the transaction's tenant that are done, and after which a record from before them that still comes,
/// from a replica that did not run, is older than `oldest`, the instant from which on the tenant keeps one.
async fn forget(tx: &mut Tx, oldest: i64) -> Result<(), StoreError> {
    const GONE: &str = "DELETE FROM decision_erasures WHERE tenant_id = $1 AND ended_at < $2 \
        AND NOT pending AND length(subject) > 0 RETURNING ended_at";
    // So the sum of all ends stays the same.
    const ENDS: &str = "INSERT INTO decision_erasures (tenant_id, subject, erased_at, pending, ended_at) \
        VALUES ($1, $2, 0, FALSE, $3) ON CONFLICT (tenant_id, subject) DO UPDATE SET \
        ended_at = decision_erasures.ended_at + excluded.ended_at";
    let tenant = tx.tenant.clone();
    let before = oldest.saturating_sub(LONGER);
    let gone = fetch_all!(tx, (i64,), GONE, &tenant, before)?;
    if !gone.is_empty() {
        let ends: i64 = gone.into_iter().map(|(ended_at,)| ended_at).sum();
        execute!(tx, ENDS, &tenant, FORGOTTEN, ends)?;
    }
    Ok(())
}

/// Lists the erasures of `tenants`, also those that are done. For a transaction that sees every tenant.
pub async fn list(tx: &mut Tx, tenants: &[impl AsRef<str>]) -> Result<Vec<ErasureRow>, StoreError> {
    const SQLITE: &str = "SELECT tenant_id, subject, erased_at FROM decision_erasures \
        WHERE tenant_id IN (SELECT value FROM json_each($1))";
    const POSTGRES: &str = "SELECT tenant_id, subject, erased_at FROM decision_erasures \
        WHERE tenant_id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON))))";
    let sql = tx.either(SQLITE, POSTGRES);
    Ok(fetch_all!(tx, ErasureRow, sql, to_json_list(tenants))?)
}

/// Lists up to `limit` erasures that are not done. For a transaction that sees every tenant.
pub async fn pending(tx: &mut Tx, limit: i64) -> Result<Vec<ErasureRow>, StoreError> {
    const SQL: &str = "SELECT tenant_id, subject, erased_at FROM decision_erasures WHERE pending \
        ORDER BY erased_at, tenant_id, subject LIMIT $1";
    Ok(fetch_all!(tx, ErasureRow, SQL, limit)?)
}

/// Counts records of `tenant` about a person that are gone. For a transaction that sees every tenant.
pub async fn count(
    tx: &mut Tx,
    tenant: &str,
    subject: &[u8],
    records: i64,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE decision_erasures SET records = records + $3 \
        WHERE tenant_id = $1 AND subject = $2";
    execute!(tx, SQL, tenant, subject, records)?;
    Ok(())
}

/// Counts deliveries of denied checks of the transaction's tenant that the erasure of a person took.
pub(crate) async fn count_deliveries(
    tx: &mut Tx,
    subject: &[u8],
    erased: ErasedDenials,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE decision_erasures SET deliveries = deliveries + $3, \
        sent = sent + $4 WHERE tenant_id = $1 AND subject = $2";
    let ErasedDenials { deliveries, sent } = erased;
    execute!(tx, SQL, &tx.tenant, subject, deliveries, sent)?;
    Ok(())
}

/// Notes that an erasure is done at `at`, unless it was asked for again. For a transaction that sees every tenant.
pub async fn end(tx: &mut Tx, erasure: &ErasureRow, at: Timestamp) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE decision_erasures SET pending = FALSE, ended_at = $4 \
        WHERE tenant_id = $1 AND subject = $2 AND erased_at = $3";
    let ErasureRow { tenant_id, subject, erased_at } = erasure;
    execute!(tx, SQL, tenant_id, subject, erased_at, at.millis())?;
    Ok(())
}

/// Returns a number that changes whenever an erasure of the transaction's tenant ends. It compares no clocks, which differ
/// between replicas.
pub async fn ends(tx: &mut Tx) -> Result<i64, StoreError> {
    const SQL: &str = "SELECT CAST(COALESCE(SUM(ended_at), 0) AS BIGINT) FROM decision_erasures \
        WHERE tenant_id = $1";
    let row = fetch_optional!(tx, (i64,), SQL, &tx.tenant)?;
    Ok(row.map_or(0, |(ends,)| ends))
}

row! {
    /// The numbers that an erasure took and no earlier call returned.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Taken {
        pub records: i64,
        pub deliveries: i64,
        /// The deliveries that the receivers may have.
        pub sent: i64,
    }
}

/// Returns what the erasure of a person of the transaction's tenant took and no earlier call returned; `None` while it is not
/// done.
pub async fn take(tx: &mut Tx, subject: &[u8]) -> Result<Option<Taken>, StoreError> {
    const DONE: &str = "SELECT records, deliveries, sent FROM decision_erasures \
        WHERE tenant_id = $1 AND subject = $2 AND NOT pending";
    // Subtracted and not set to 0: another transaction may have counted more since the read.
    const TAKE: &str = "UPDATE decision_erasures SET records = records - $3, \
        deliveries = deliveries - $4, sent = sent - $5 WHERE tenant_id = $1 AND subject = $2";
    let done = fetch_optional!(tx, Taken, DONE, &tx.tenant, subject)?;
    let Some(taken) = done else { return Ok(None) };
    if taken != Taken::default() {
        let Taken { records, deliveries, sent } = taken;
        execute!(tx, TAKE, &tx.tenant, subject, records, deliveries, sent)?;
    }
    Ok(Some(taken))
}
