//! The files of the record of decisions that a process stores before the manifest names them. All functions are for a
//! transaction that sees every tenant.

use portcullis_model::Timestamp;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all};
use crate::transactions::tx::Tx;

/// Notes that a file is stored at `path` from now on. False if an earlier one is being removed from there.
pub async fn begin(tx: &mut Tx, path: &str, at: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "INSERT INTO decision_uploads (path, begun_at) VALUES ($1, $2) \
        ON CONFLICT (path) DO UPDATE SET begun_at = excluded.begun_at WHERE NOT decision_uploads.leaving";
    Ok(execute!(tx, SQL, path, at.millis())? > 0)
}

/// Forgets the file, because the transaction names it in the manifest. False if it is being removed.
pub async fn end(tx: &mut Tx, path: &str) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM decision_uploads WHERE path = $1 AND NOT leaving";
    Ok(execute!(tx, SQL, path)? > 0)
}

/// Lists files that were begun before `before` and that nobody named, or that are being removed, up to `limit`.
pub async fn left(tx: &mut Tx, before: Timestamp, limit: i64) -> Result<Vec<String>, StoreError> {
    const SQL: &str =
        "SELECT path FROM decision_uploads WHERE begun_at < $1 OR leaving ORDER BY path LIMIT $2";
    let rows = fetch_all!(tx, (String,), SQL, before.millis(), limit)?;
    Ok(rows.into_iter().map(|(path,)| path).collect())
}

/// Notes that the file of [`left`] is being removed. False if the manifest names it, or somebody stores it anew.
pub async fn leave(tx: &mut Tx, path: &str, before: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE decision_uploads SET leaving = TRUE \
        WHERE path = $1 AND (begun_at < $2 OR leaving) \
        AND NOT EXISTS (SELECT 1 FROM decision_files f WHERE f.path = decision_uploads.path)";
    Ok(execute!(tx, SQL, path, before.millis())? > 0)
}

/// Forgets the file, which is gone, or which the manifest names.
pub async fn forget(tx: &mut Tx, path: &str) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM decision_uploads WHERE path = $1 \
        AND (leaving OR EXISTS (SELECT 1 FROM decision_files f WHERE f.path = decision_uploads.path))";
    execute!(tx, SQL, path)?;
    Ok(())
}
