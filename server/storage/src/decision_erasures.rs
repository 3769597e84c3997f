//! The persons whose records of decisions are erased. The code of a subject authenticates it: the database does not name the
//! persons.

use portcullis_model::Timestamp;

use crate::error::StoreError;
use crate::macros::{execute, fetch_all, fetch_optional, row};
use crate::tx::Tx;

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

/// Notes that the records of the transaction's tenant about a person up to `at` are to be erased.
pub async fn begin(tx: &mut Tx, subject: &[u8], at: Timestamp) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO decision_erasures (tenant_id, subject, erased_at, pending) \
        VALUES ($1, $2, $3, TRUE) ON CONFLICT (tenant_id, subject) DO UPDATE SET \
        erased_at = excluded.erased_at, pending = TRUE";
    execute!(tx, SQL, &tx.tenant, subject, at.millis())?;
    Ok(())
}

/// Lists the erasures of all tenants, also those that are done. For a transaction that sees every tenant.
pub async fn list(tx: &mut Tx) -> Result<Vec<ErasureRow>, StoreError> {
    const SQL: &str =
        "SELECT tenant_id, subject, erased_at FROM decision_erasures ORDER BY tenant_id";
    Ok(fetch_all!(tx, ErasureRow, SQL)?)
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

/// Notes that an erasure is done, unless it was asked for again. For a transaction that sees every tenant.
pub async fn end(tx: &mut Tx, erasure: &ErasureRow) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE decision_erasures SET pending = FALSE \
        WHERE tenant_id = $1 AND subject = $2 AND erased_at = $3";
    execute!(tx, SQL, &erasure.tenant_id, &erasure.subject, erasure.erased_at)?;
    Ok(())
}

/// Returns the number of records about a person of the transaction's tenant that are gone and that no earlier call returned;
/// `None` while the erasure is not done.
pub async fn take(tx: &mut Tx, subject: &[u8]) -> Result<Option<i64>, StoreError> {
    const DONE: &str = "SELECT records FROM decision_erasures \
        WHERE tenant_id = $1 AND subject = $2 AND NOT pending";
    const TAKE: &str = "UPDATE decision_erasures SET records = records - $3 \
        WHERE tenant_id = $1 AND subject = $2";
    let done = fetch_optional!(tx, (i64,), DONE, &tx.tenant, subject)?;
    let Some((records,)) = done else { return Ok(None) };
    if records > 0 {
        execute!(tx, TAKE, &tx.tenant, subject, records)?;
    }
    Ok(Some(records))
}
