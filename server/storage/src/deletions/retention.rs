//! Deletes what ended long ago from the tables of events, deliveries and attempts.

use portcullis_model::Timestamp;

use crate::delivery::denial_queues;
use crate::transactions::error::StoreError;
use crate::transactions::macros::execute;
use crate::transactions::tx::Tx;

/// About the most denials of a row.
const DENIALS_OF_ROW: i64 = 100;

/// Writes the statement that deletes some rows of a table, for SQLite and for PostgreSQL. It skips locked rows, which wait
/// for the next round: rows of all tenants are locked in no order, so that waiting for one could be a deadlock.
macro_rules! deletion {
    ($table:literal, $key:literal, $($part:literal)+) => {
        [deletion!(@ $table, $key, $($part)+ ")"), deletion!(@ $table, $key, $($part)+ " FOR UPDATE OF r SKIP LOCKED)")]
    };
    (@ $table:literal, $key:literal, $($part:literal)+) => {
        concat!(
            "DELETE FROM ", $table, " WHERE (", $key, ") IN (SELECT ", $key, " FROM ", $table, " r WHERE ", $($part),+
        )
    };
}

const ATTEMPTS: [&str; 2] =
    deletion!("webhook_attempts", "tenant_id, id", "attempted_at < $1 LIMIT $2");
const DELIVERIES: [&str; 2] = deletion!(
    "webhook_deliveries",
    "tenant_id, id",
    "settled_at < $1 AND NOT EXISTS (SELECT 1 FROM webhook_attempts a \
    WHERE a.tenant_id = r.tenant_id AND a.delivery_id = r.id) LIMIT $2"
);
const EVENTS: [&str; 2] = deletion!(
    "webhook_events",
    "tenant_id, id",
    "created_at < $1 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d \
    WHERE d.tenant_id = r.tenant_id AND d.event_id = r.id) LIMIT $2"
);
const DENIALS: [&str; 2] =
    deletion!("delivered_denials", "tenant_id, webhook_id, id", "settled_at < $1 LIMIT $2");

/// Deletes up to `limit` attempts, deliveries and events each that ended before `before`, of every tenant. Returns
/// the number of deleted rows. Wakes the queues that an earlier version overlooked.
pub async fn prune(tx: &mut Tx, before: Timestamp, limit: i64) -> Result<u64, StoreError> {
    denial_queues::wake_forgotten(tx).await?;
    let mut removed = 0;
    // In this order: each row goes after those that refer to it.
    let of_rows = [ATTEMPTS, DELIVERIES, EVENTS].map(|sql| (sql, limit));
    for ([sqlite, postgres], limit) in
        [(DENIALS, limit / DENIALS_OF_ROW + 1)].into_iter().chain(of_rows)
    {
        let sql = tx.either(sqlite, postgres);
        removed += execute!(tx, sql, before.millis(), limit)?;
    }
    Ok(removed)
}
