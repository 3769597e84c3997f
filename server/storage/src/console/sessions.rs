//! The table of sessions of the console.

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::session::{SessionRecord, ValueHash};
use uuid::Uuid;

use crate::commits::audit;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{
    execute, fetch_all, fetch_optional, record, records, select, stored,
};
use crate::transactions::tx::Tx;

stored! {
    SessionRecord as Row of "console_sessions" {
        tenant_id, id, subject, provider_id, issuer, login_subject, login_session, tokens,
        created_at, used_at, ends_at, token_ends_at, refreshing_until,
    }
}

/// Finds the tenant's session whose value has this hash. One whose provider was removed does not count.
pub async fn find(tx: &mut Tx, hash: &ValueHash) -> Result<Option<SessionRecord>, StoreError> {
    const SQL: &str = select!(
        "FROM console_sessions WHERE tenant_id = $1 AND hash = $2 AND (provider_id IS NULL OR EXISTS \
        (SELECT 1 FROM identity_providers p WHERE p.tenant_id = $1 AND p.id = provider_id))"
    );
    record(fetch_optional!(tx, Row, SQL, &tx.tenant, &hash[..])?)
}

/// Finds the session whose value has this hash, of any tenant. For a transaction that sees every tenant.
pub async fn find_anywhere(
    tx: &mut Tx,
    hash: &ValueHash,
) -> Result<Option<SessionRecord>, StoreError> {
    const SQL: &str = select!("FROM console_sessions WHERE hash = $1");
    record(fetch_optional!(tx, Row, SQL, &hash[..])?)
}

/// Lists the sessions of a person, oldest first. They have a bound, which [`keep_newest`] holds.
pub async fn list(tx: &mut Tx, subject: &str) -> Result<Vec<SessionRecord>, StoreError> {
    const SQL: &str =
        select!("FROM console_sessions WHERE tenant_id = $1 AND subject = $2 ORDER BY id");
    records(fetch_all!(tx, Row, SQL, &tx.tenant, subject)?)
}

/// Inserts a session whose value has the hash `hash`.
pub async fn insert(
    tx: &mut Tx,
    session: &SessionRecord,
    hash: &ValueHash,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO console_sessions (tenant_id, id, hash, subject, provider_id, issuer, \
        login_subject, login_session, tokens, created_at, used_at, ends_at, token_ends_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    execute!(
        tx,
        SQL,
        &tx.tenant,
        session.id,
        &hash[..],
        &session.subject,
        session.provider_id,
        session.issuer.as_deref(),
        session.login_subject.as_deref(),
        session.login_session.as_deref(),
        &session.tokens,
        session.created_at.millis(),
        session.used_at.millis(),
        session.ends_at.millis(),
        session.token_ends_at.map(Timestamp::millis),
    )?;
    Ok(())
}

/// Notes that a person signed in or out, which the audit record counts `count` times.
pub async fn note(
    tx: &mut Tx,
    action: AuditAction,
    session: Uuid,
    count: i64,
) -> Result<(), StoreError> {
    audit::write_counted(tx, action, session, count).await
}

/// Deletes all but the `newest` sessions of a person.
pub async fn keep_newest(tx: &mut Tx, subject: &str, newest: i64) -> Result<(), StoreError> {
    // SQLite takes an `OFFSET` after a `LIMIT` only.
    const SQL: &str = "DELETE FROM console_sessions WHERE tenant_id = $1 AND id IN \
        (SELECT id FROM console_sessions WHERE tenant_id = $1 AND subject = $2 ORDER BY id DESC \
        LIMIT 10000 OFFSET $3)";
    execute!(tx, SQL, &tx.tenant, subject, newest)?;
    Ok(())
}

/// Returns whether a session ended by `now`. For a transaction that sees every tenant.
pub async fn has_ended(tx: &mut Tx, now: Timestamp) -> Result<bool, StoreError> {
    const SQL: &str = select!("FROM console_sessions WHERE ends_at <= $1 LIMIT 1");
    Ok(fetch_optional!(tx, Row, SQL, now.millis())?.is_some())
}

/// Deletes up to `limit` sessions that ended by `now`. Returns their number. For a transaction that sees every tenant.
pub async fn delete_ended(tx: &mut Tx, now: Timestamp, limit: i64) -> Result<u64, StoreError> {
    const SQL: &str = "DELETE FROM console_sessions WHERE (tenant_id, id) IN \
        (SELECT tenant_id, id FROM console_sessions WHERE ends_at <= $1 LIMIT $2)";
    Ok(execute!(tx, SQL, now.millis(), limit)?)
}

/// Stores `now` as the last use of a session.
pub async fn used(tx: &mut Tx, id: Uuid, now: Timestamp) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE console_sessions SET used_at = $3 WHERE tenant_id = $1 AND id = $2";
    execute!(tx, SQL, &tx.tenant, id, now.millis())?;
    Ok(())
}

/// Deletes the session `id` of a person. False if it does not exist.
pub async fn delete(tx: &mut Tx, subject: &str, id: Uuid) -> Result<bool, StoreError> {
    const SQL: &str =
        "DELETE FROM console_sessions WHERE tenant_id = $1 AND subject = $2 AND id = $3";
    Ok(execute!(tx, SQL, &tx.tenant, subject, id)? > 0)
}

/// Deletes every session of a person.
pub async fn delete_all(tx: &mut Tx, subject: &str) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM console_sessions WHERE tenant_id = $1 AND subject = $2";
    execute!(tx, SQL, &tx.tenant, subject)?;
    Ok(())
}

/// Deletes the sessions of a login at the provider `issuer`: of its session `login_session`, or of all of `login_subject`. With
/// both these are the sessions of `login_subject` that belong to `login_session`, or whose ID token named none. For a transaction
/// that sees every tenant. Returns their number.
pub async fn end_logins(
    tx: &mut Tx,
    issuer: &str,
    login_subject: Option<&str>,
    login_session: Option<&str>,
) -> Result<u64, StoreError> {
    const BY_SESSION: &str =
        "DELETE FROM console_sessions WHERE issuer = $1 AND login_session = $2";
    const BY_BOTH: &str = "DELETE FROM console_sessions \
        WHERE issuer = $1 AND login_subject = $3 AND (login_session = $2 OR login_session IS NULL)";
    const BY_SUBJECT: &str =
        "DELETE FROM console_sessions WHERE issuer = $1 AND login_subject = $2";
    Ok(match (login_session, login_subject) {
        (Some(session), None) => execute!(tx, BY_SESSION, issuer, session)?,
        (Some(session), Some(subject)) => execute!(tx, BY_BOTH, issuer, session, subject)?,
        (None, Some(subject)) => execute!(tx, BY_SUBJECT, issuer, subject)?,
        (None, None) => 0,
    })
}

/// Takes the refresh of the tokens of `session`, as it was read, until `until`. False if another process has it at `now`, or has
/// refreshed them since.
pub async fn begin_refresh(
    tx: &mut Tx,
    session: &SessionRecord,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, StoreError> {
    // Each encryption gives another text, so that the stored tokens tell whether they were refreshed since.
    const SQL: &str = "UPDATE console_sessions SET refreshing_until = $5 \
        WHERE tenant_id = $1 AND id = $2 AND tokens = $3 \
        AND (refreshing_until IS NULL OR refreshing_until <= $4)";
    let SessionRecord { id, tokens, .. } = session;
    Ok(execute!(tx, SQL, &tx.tenant, *id, tokens, now.millis(), until.millis())? > 0)
}

/// Stores the refreshed tokens of a session, and ends the refresh. False if the session has ended meanwhile.
pub async fn refreshed(
    tx: &mut Tx,
    id: Uuid,
    tokens: &[u8],
    token_ends_at: Option<Timestamp>,
) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE console_sessions SET tokens = $3, token_ends_at = $4, \
        refreshing_until = NULL WHERE tenant_id = $1 AND id = $2";
    let ends_at = token_ends_at.map(Timestamp::millis);
    Ok(execute!(tx, SQL, &tx.tenant, id, tokens, ends_at)? > 0)
}
