//! The table of links that begin a session of the console.

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::session::{SessionLink, ValueHash};

use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::{execute, fetch_optional, record, select, stored};
use crate::transactions::tx::Tx;

stored! {
    SessionLink as Row of "console_links" {
        tenant_id, id, subject, roles, created_at, expires_at,
    }
}

/// Inserts a link whose secret has the hash `hash`.
pub async fn insert(tx: &mut Tx, link: &SessionLink, hash: &ValueHash) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO console_links (tenant_id, id, hash, subject, roles, created_at, \
        expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    execute!(
        tx,
        SQL,
        &tx.tenant,
        link.id,
        &hash[..],
        &link.subject,
        to_json_list(&link.roles),
        link.created_at.millis(),
        link.expires_at.millis(),
    )?;
    tx.audit(AuditAction::ConsoleLinkCreated, link.id);
    Ok(())
}

/// Finds the link with this hash that is valid at `now`, of any tenant. For a transaction that sees every tenant.
pub async fn find(
    tx: &mut Tx,
    hash: &ValueHash,
    now: Timestamp,
) -> Result<Option<SessionLink>, StoreError> {
    const SQL: &str = select!("FROM console_links WHERE hash = $1 AND expires_at > $2");
    record(fetch_optional!(tx, Row, SQL, &hash[..], now.millis())?)
}

/// Deletes the link with this hash. False if somebody took it before.
pub async fn take(tx: &mut Tx, hash: &ValueHash) -> Result<bool, StoreError> {
    const SQL: &str = "DELETE FROM console_links WHERE tenant_id = $1 AND hash = $2";
    Ok(execute!(tx, SQL, &tx.tenant, &hash[..])? > 0)
}

/// Returns whether a link expired by `now`. For a transaction that sees every tenant.
pub async fn has_expired(tx: &mut Tx, now: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = select!("FROM console_links WHERE expires_at <= $1 LIMIT 1");
    Ok(fetch_optional!(tx, Row, SQL, now.millis())?.is_some())
}

/// Deletes up to `limit` links that expired by `now`. Returns their number. For a transaction that sees every tenant.
pub async fn delete_expired(tx: &mut Tx, now: Timestamp, limit: i64) -> Result<u64, StoreError> {
    const SQL: &str = "DELETE FROM console_links WHERE (tenant_id, id) IN \
        (SELECT tenant_id, id FROM console_links WHERE expires_at <= $1 LIMIT $2)";
    Ok(execute!(tx, SQL, now.millis(), limit)?)
}
