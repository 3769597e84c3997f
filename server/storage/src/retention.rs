//! Deletes what ended long ago from the tables of events, deliveries and attempts.

use portcullis_model::Timestamp;

use crate::denial_queues;
use crate::error::StoreError;
use crate::macros::execute;
use crate::tx::Tx;

/// About the most denials of a row.
const DENIALS_OF_ROW: i64 = 100;

/// Deletes up to `limit` attempts, deliveries and events each that ended before `before`, of every tenant. Returns
/// the number of deleted rows. Wakes the queues that an earlier version overlooked.
pub async fn prune(tx: &mut Tx, before: Timestamp, limit: i64) -> Result<u64, StoreError> {
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE (tenant_id, id) IN \
        (SELECT tenant_id, id FROM webhook_attempts WHERE attempted_at < $1 LIMIT $2)";
    const DELIVERIES: &str = "DELETE FROM webhook_deliveries WHERE (tenant_id, id) IN \
        (SELECT d.tenant_id, d.id FROM webhook_deliveries d WHERE d.settled_at < $1 \
        AND NOT EXISTS (SELECT 1 FROM webhook_attempts a WHERE a.tenant_id = d.tenant_id \
        AND a.delivery_id = d.id) LIMIT $2)";
    const EVENTS: &str = "DELETE FROM webhook_events WHERE (tenant_id, id) IN \
        (SELECT e.tenant_id, e.id FROM webhook_events e WHERE e.created_at < $1 \
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.tenant_id = e.tenant_id \
        AND d.event_id = e.id) LIMIT $2)";
    const DENIALS: &str = "DELETE FROM delivered_denials WHERE (tenant_id, webhook_id, id) IN \
        (SELECT tenant_id, webhook_id, id FROM delivered_denials WHERE settled_at < $1 LIMIT $2)";
    denial_queues::wake_forgotten(tx).await?;
    let mut removed = execute!(tx, DENIALS, before.millis(), limit / DENIALS_OF_ROW + 1)?;
    for sql in [ATTEMPTS, DELIVERIES, EVENTS] {
        removed += execute!(tx, sql, before.millis(), limit)?;
    }
    Ok(removed)
}
