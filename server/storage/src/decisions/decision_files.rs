//! The manifest of the record of decisions: the chain of files, and the part that each tenant has in each.

use portcullis_model::Timestamp;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, row};
use crate::transactions::tx::{Inner, Tx};

row! {
    /// A row of the chain.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FileRow {
        /// The place in the chain, from 1 on.
        pub seq: i64,
        /// `sealed`, `erased`, `expired` or `pruned`.
        pub cause: String,
        /// `None` if the row only says that a file is gone.
        pub path: Option<String>,
        /// The path of the file that this one replaces.
        pub replaces: Option<String>,
        pub created_at: i64,
        pub records: i64,
        pub bytes: i64,
        pub sha256: Vec<u8>,
        pub hash: Vec<u8>,
        pub mac: Vec<u8>,
        pub gone_at: Option<i64>,
        /// The store does not have the file any more.
        pub deleted: bool,
    }
}

row! {
    /// The records of one tenant in one file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PartRow {
        pub tenant_id: String,
        pub first_id: Uuid,
        pub path: String,
        pub last_id: Uuid,
        pub records: i64,
        /// The tenant's share of the file.
        pub bytes: i64,
        pub file_bytes: i64,
        /// Milliseconds since the epoch: the instant of the last record.
        pub last_at: i64,
        pub expires_at: i64,
    }
}

/// Writes a statement with the columns of the chain.
macro_rules! files {
    ($rest:literal) => {
        concat!(
            "SELECT seq, cause, path, replaces, created_at, records, bytes, sha256, hash, mac, gone_at, deleted \
             FROM decision_files ",
            $rest
        )
    };
}

/// Writes a statement with the columns of parts.
macro_rules! parts {
    ($rest:literal) => {
        concat!(
            "SELECT tenant_id, first_id, path, last_id, records, bytes, file_bytes, last_at, expires_at \
             FROM decision_parts ",
            $rest
        )
    };
}

/// Returns the last row of the chain. For a transaction that sees every tenant, as all functions of files.
pub async fn last(tx: &mut Tx) -> Result<Option<FileRow>, StoreError> {
    const SQL: &str = files!("ORDER BY seq DESC LIMIT 1");
    Ok(fetch_optional!(tx, FileRow, SQL)?)
}

/// Lists up to `limit` rows of the chain after `after`, in order.
pub async fn list(tx: &mut Tx, after: i64, limit: i64) -> Result<Vec<FileRow>, StoreError> {
    const SQL: &str = files!("WHERE seq > $1 ORDER BY seq LIMIT $2");
    Ok(fetch_all!(tx, FileRow, SQL, after, limit)?)
}

/// Returns the last row of the chain before `seq`.
pub async fn before(tx: &mut Tx, seq: i64) -> Result<Option<FileRow>, StoreError> {
    const SQL: &str = files!("WHERE seq < $1 ORDER BY seq DESC LIMIT 1");
    Ok(fetch_optional!(tx, FileRow, SQL, seq)?)
}

/// Lists the places of rows about files that are gone since before `before`: rows that say so, up to `limit`, and the
/// rows of the files and of what these replaced.
pub async fn ended(tx: &mut Tx, before: Timestamp, limit: i64) -> Result<Vec<i64>, StoreError> {
    // What a file replaced may have replaced another one, and so on to the first.
    const SQL: &str = "WITH RECURSIVE ended(seq, replaces) AS ( \
        SELECT seq, replaces FROM (SELECT seq, replaces FROM decision_files \
        WHERE path IS NULL AND replaces IS NOT NULL AND created_at < $1 ORDER BY seq LIMIT $2) AS last \
        UNION ALL SELECT f.seq, f.replaces FROM decision_files f JOIN ended e ON f.path = e.replaces) \
        SELECT seq FROM ended ORDER BY seq";
    let rows = fetch_all!(tx, (i64,), SQL, before.millis(), limit)?;
    Ok(rows.into_iter().map(|(seq,)| seq).collect())
}

/// Removes the rows from `first` to `last`, and returns their number.
pub async fn remove(tx: &mut Tx, first: i64, last: i64) -> Result<u64, StoreError> {
    const SQL: &str = "DELETE FROM decision_files WHERE seq >= $1 AND seq <= $2";
    Ok(execute!(tx, SQL, first, last)?)
}

/// Returns the row that wrote the file, if it is not gone.
pub async fn find(tx: &mut Tx, path: &str) -> Result<Option<FileRow>, StoreError> {
    const SQL: &str = files!("WHERE path = $1");
    Ok(fetch_optional!(tx, FileRow, SQL, path)?)
}

/// Waits until no other transaction appends to the chain, or ends one that does. SQLite has one writer.
pub async fn lock(tx: &mut Tx) -> Result<(), StoreError> {
    /// The advisory lock: any number that no other program uses.
    const CHAIN: i64 = 0x5043_4C53_0001;
    if let Inner::Postgres(connection) = &mut tx.inner {
        let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(CHAIN);
        lock.execute(&mut **connection).await?;
    }
    Ok(())
}

/// Appends a row to the chain, for a transaction that has its [`lock`].
pub async fn append(tx: &mut Tx, row: &FileRow) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO decision_files \
        (seq, cause, path, replaces, created_at, records, bytes, sha256, hash, mac) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    execute!(
        tx,
        SQL,
        row.seq,
        &row.cause,
        row.path.as_deref(),
        row.replaces.as_deref(),
        row.created_at,
        row.records,
        row.bytes,
        &row.sha256,
        &row.hash,
        &row.mac,
    )?;
    Ok(())
}

/// Notes that no query reads the file any more. False if it was noted before.
pub async fn leave(tx: &mut Tx, path: &str, at: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE decision_files SET gone_at = $2 WHERE path = $1 AND gone_at IS NULL";
    Ok(execute!(tx, SQL, path, at.millis())? > 0)
}

/// Puts another signature into the row.
pub async fn sign(tx: &mut Tx, seq: i64, mac: &[u8]) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE decision_files SET mac = $2 WHERE seq = $1";
    execute!(tx, SQL, seq, mac)?;
    Ok(())
}

/// Lists files that are gone since before `before`, and that the store may still have.
pub async fn left(tx: &mut Tx, before: Timestamp, limit: i64) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT path FROM decision_files WHERE gone_at < $1 AND NOT deleted \
        ORDER BY gone_at LIMIT $2";
    let rows = fetch_all!(tx, (String,), SQL, before.millis(), limit)?;
    Ok(rows.into_iter().map(|(path,)| path).collect())
}

/// Notes that the store does not have the file any more.
pub async fn note_deleted(tx: &mut Tx, path: &str) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE decision_files SET deleted = TRUE WHERE path = $1";
    execute!(tx, SQL, path)?;
    Ok(())
}

/// Lists files with more records than tenants have in them: parts expired, or a tenant was deleted.
pub async fn shrunk(tx: &mut Tx, limit: i64) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT f.path FROM decision_files f \
        WHERE f.gone_at IS NULL AND f.path IS NOT NULL AND f.records > \
        (SELECT COALESCE(SUM(p.records), 0) FROM decision_parts p WHERE p.path = f.path) \
        ORDER BY f.path LIMIT $1";
    let rows = fetch_all!(tx, (String,), SQL, limit)?;
    Ok(rows.into_iter().map(|(path,)| path).collect())
}

/// Adds the part of a tenant.
pub async fn add_part(tx: &mut Tx, part: &PartRow) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO decision_parts \
        (tenant_id, first_id, path, last_id, records, bytes, file_bytes, last_at, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    execute!(
        tx,
        SQL,
        &part.tenant_id,
        part.first_id,
        &part.path,
        part.last_id,
        part.records,
        part.bytes,
        part.file_bytes,
        part.last_at,
        part.expires_at,
    )?;
    Ok(())
}

/// Lists the parts of the file.
pub async fn parts_of_file(tx: &mut Tx, path: &str) -> Result<Vec<PartRow>, StoreError> {
    const SQL: &str = parts!("WHERE path = $1 ORDER BY tenant_id, first_id");
    Ok(fetch_all!(tx, PartRow, SQL, path)?)
}

/// Removes the parts of the file.
pub async fn remove_parts(tx: &mut Tx, path: &str) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM decision_parts WHERE path = $1";
    execute!(tx, SQL, path)?;
    Ok(())
}

/// Lists the parts of the transaction's tenant that have ids from `first` to `last`.
pub async fn parts(tx: &mut Tx, first: Uuid, last: Uuid) -> Result<Vec<PartRow>, StoreError> {
    const SQL: &str =
        parts!("WHERE tenant_id = $1 AND last_id >= $2 AND first_id <= $3 ORDER BY first_id");
    Ok(fetch_all!(tx, PartRow, SQL, &tx.tenant, first, last)?)
}

/// Returns whether the time of some part is over.
pub async fn has_expired(tx: &mut Tx, now: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT records FROM decision_parts WHERE expires_at <= $1 LIMIT 1";
    Ok(fetch_optional!(tx, (i64,), SQL, now.millis())?.is_some())
}

/// Removes the parts whose time is over. Returns their number.
pub async fn expire(tx: &mut Tx, now: Timestamp) -> Result<u64, StoreError> {
    const SQL: &str = "DELETE FROM decision_parts WHERE expires_at <= $1";
    Ok(execute!(tx, SQL, now.millis())?)
}

/// Removes the oldest parts of `tenant` beyond `max_bytes`. The newest one stays.
pub async fn shrink(tx: &mut Tx, tenant: &str, max_bytes: i64) -> Result<u64, StoreError> {
    const SQL: &str = "DELETE FROM decision_parts WHERE tenant_id = $1 AND (first_id, path) IN \
        (SELECT first_id, path FROM (SELECT first_id, path, \
        SUM(bytes) OVER (ORDER BY first_id DESC, path DESC) AS newer, \
        ROW_NUMBER() OVER (ORDER BY first_id DESC, path DESC) AS place \
        FROM decision_parts WHERE tenant_id = $1) AS ranked WHERE newer > $2 AND place > 1)";
    Ok(execute!(tx, SQL, tenant, max_bytes)?)
}

/// Lets each part of the transaction's tenant go `keep` milliseconds after its last record.
pub(crate) async fn keep(tx: &mut Tx, keep: i64) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE decision_parts SET expires_at = last_at + $2 WHERE tenant_id = $1";
    execute!(tx, SQL, &tx.tenant, keep)?;
    Ok(())
}
