//! The queues of denied checks: each holds a limited number of deliveries and drops the oldest ones.
//!
//! A member of a tenant can cause denied checks faster than any receiver takes them. So each queue counts its deliveries
//! that wait, in its own row. A transaction that adds one too many deletes the oldest and counts it as dropped; the next
//! delivery reports that number (`docs/semantics.md`, section 7.4). The row of the queue is locked for each of these
//! steps, so the numbers are exact for several replicas.

use uuid::Uuid;

use crate::delivery_rows;
use crate::error::StoreError;
use crate::macros::{execute, fetch_all, fetch_optional};
use crate::tx::Tx;

/// The settled deliveries beyond the limit after which they are deleted, because finding them reads all that are kept.
const SETTLED_SLACK: i64 = 500;
/// The most settled deliveries that one transaction deletes, or a few less, so that it stays short. An earlier version may
/// have left many. No queue settles as many within a millisecond.
const MAX_DELETED: i64 = 1_000;
/// The most denials that one transaction drops from a queue, so that it stays short. A transaction adds at most 256, so a
/// queue that an earlier version filled becomes shorter with each.
const MAX_DROPPED: i64 = 512;

/// Drops the oldest deliveries beyond the limit, where `waiting` are in the queue. Returns the events of the dropped ones.
pub(crate) async fn drop_surplus(
    tx: &mut Tx,
    webhook: Uuid,
    waiting: i64,
) -> Result<Vec<Uuid>, StoreError> {
    let surplus = (waiting - i64::from(tx.max_waiting_denials)).min(MAX_DROPPED);
    if surplus > 0 { drop_oldest(tx, webhook, surplus).await } else { Ok(Vec::new()) }
}

/// Drops the `count` oldest deliveries that wait. One that was dropped during its attempt may have arrived.
async fn drop_oldest(tx: &mut Tx, webhook: Uuid, count: i64) -> Result<Vec<Uuid>, StoreError> {
    const LAST: &str = "SELECT event_id FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND due_at IS NOT NULL ORDER BY event_id LIMIT 1 OFFSET $3";
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE tenant_id = $1 AND delivery_id IN \
        (SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 AND denials \
        AND due_at IS NOT NULL AND event_id <= $3)";
    const DELIVERIES: &str = "DELETE FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND due_at IS NOT NULL AND event_id <= $3 \
        RETURNING event_id, dropped";
    const COUNT: &str = "UPDATE webhook_lanes SET waiting = waiting - $3, dropped = dropped + $4 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    let last = fetch_optional!(tx, (Uuid,), LAST, &tx.tenant, webhook, count - 1)?;
    let Some((last,)) = last else { return Ok(Vec::new()) };
    execute!(tx, ATTEMPTS, &tx.tenant, webhook, last)?;
    let gone = fetch_all!(tx, (Uuid, i64), DELIVERIES, &tx.tenant, webhook, last)?;
    let dropped = i64::try_from(gone.len()).unwrap_or(i64::MAX);
    // A dropped delivery passes on the number that it should have reported.
    let unreported = dropped + gone.iter().map(|(_, unreported)| unreported).sum::<i64>();
    execute!(tx, COUNT, &tx.tenant, webhook, dropped, unreported)?;
    tx.writes.dropped_denials += dropped.unsigned_abs();
    Ok(gone.into_iter().map(|(event, _)| event).collect())
}

/// Counts `count` deliveries less that wait: they were delivered or are dead. Of these, a queue keeps as many as may wait.
pub(crate) async fn settled(tx: &mut Tx, webhook: Uuid, count: i64) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET waiting = waiting - $3, settled = settled + $3 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials RETURNING settled";
    let row = fetch_optional!(tx, (i64,), SQL, &tx.tenant, webhook, count)?;
    let kept = i64::from(tx.max_waiting_denials);
    match row {
        Some((settled,)) if settled >= kept + SETTLED_SLACK => {
            delete_settled(tx, webhook, kept).await
        }
        _ => Ok(()),
    }
}

/// Deletes the settled deliveries but the newest `kept`, at most [`MAX_DELETED`]: the next settlement deletes more.
async fn delete_settled(tx: &mut Tx, webhook: Uuid, kept: i64) -> Result<(), StoreError> {
    const KEPT: &str = "SELECT settled_at FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND settled_at IS NOT NULL \
        ORDER BY settled_at DESC LIMIT 1 OFFSET $3";
    const BOUND: &str = "SELECT settled_at FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND settled_at IS NOT NULL \
        ORDER BY settled_at LIMIT 1 OFFSET $3";
    const SUBTRACT: &str = "UPDATE webhook_lanes SET settled = settled - $3 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    let oldest_kept = fetch_optional!(tx, (i64,), KEPT, &tx.tenant, webhook, kept - 1)?;
    let Some((oldest_kept,)) = oldest_kept else { return count_settled(tx, webhook).await };
    let bound = fetch_optional!(tx, (i64,), BOUND, &tx.tenant, webhook, MAX_DELETED)?;
    let bound = bound.map_or(oldest_kept, |(bound,)| bound.min(oldest_kept));
    let deleted = delete_settled_before(tx, webhook, bound).await?;
    if deleted < SETTLED_SLACK / 2 {
        // The number was too high.
        return count_settled(tx, webhook).await;
    }
    execute!(tx, SUBTRACT, &tx.tenant, webhook, deleted)?;
    Ok(())
}

/// Deletes the deliveries that were settled before `instant`, and returns their number.
async fn delete_settled_before(
    tx: &mut Tx,
    webhook: Uuid,
    instant: i64,
) -> Result<i64, StoreError> {
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE tenant_id = $1 AND delivery_id IN \
        (SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 AND denials \
        AND settled_at IS NOT NULL AND settled_at < $3)";
    const DELIVERIES: &str = "DELETE FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND settled_at IS NOT NULL AND settled_at < $3 \
        RETURNING event_id";
    execute!(tx, ATTEMPTS, &tx.tenant, webhook, instant)?;
    let gone = fetch_all!(tx, (Uuid,), DELIVERIES, &tx.tenant, webhook, instant)?;
    let events: Vec<Uuid> = gone.into_iter().map(|(event,)| event).collect();
    delivery_rows::delete_unsent(tx, &events).await?;
    Ok(i64::try_from(events.len()).unwrap_or(i64::MAX))
}

/// Counts the settled deliveries anew, which takes time: redeliveries and the retention change their number, too.
async fn count_settled(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    const COUNT: &str = "UPDATE webhook_lanes SET settled = (SELECT count(*) \
        FROM webhook_deliveries d WHERE d.tenant_id = $1 AND d.webhook_id = $2 AND d.denials \
        AND d.settled_at IS NOT NULL) WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    execute!(tx, COUNT, &tx.tenant, webhook)?;
    Ok(())
}

/// Counts a delivery that a client requests again, unless it waits already.
pub(crate) async fn redelivered(
    tx: &mut Tx,
    webhook: Uuid,
    delivery: Uuid,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET waiting = waiting + 1 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials AND EXISTS \
        (SELECT 1 FROM webhook_deliveries d WHERE d.tenant_id = $1 AND d.id = $3 AND d.due_at IS NULL)";
    execute!(tx, SQL, &tx.tenant, webhook, delivery)?;
    Ok(())
}

/// Returns the number of dropped denials that no delivery reports yet, and sets it to 0.
pub(crate) async fn take_dropped(tx: &mut Tx, webhook: Uuid) -> Result<i64, StoreError> {
    const READ: &str = "SELECT dropped FROM webhook_lanes \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    const CLEAR: &str = "UPDATE webhook_lanes SET dropped = 0 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    let row = fetch_optional!(tx, (i64,), READ, &tx.tenant, webhook)?;
    execute!(tx, CLEAR, &tx.tenant, webhook)?;
    Ok(row.map_or(0, |(dropped,)| dropped))
}

#[cfg(test)]
mod tests;
