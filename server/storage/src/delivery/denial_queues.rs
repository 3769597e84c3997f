//! Queues of denied checks: limits their deliveries and drops the oldest ones.
//!
//! A member of a tenant can cause denied checks faster than any receiver takes them. So each queue counts its deliveries
//! that wait, in its own row. A transaction that adds one too many deletes the oldest and counts it as dropped; the next
//! delivery reports that number (`docs/semantics.md`, section 7.4). The row of the queue is locked for each of these
//! steps, so the numbers are exact for several replicas.
//!
//! Denials wait in segments; denials with a failed attempt wait in their own rows.

use uuid::Uuid;

use crate::delivery::denial_segments::{Place, Segment};
use crate::delivery::{denial_segments, settled_denials};
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional};
use crate::transactions::tx::Tx;

/// The most denials that one transaction drops from a queue, so that it stays short. A transaction adds at most 256, so a
/// queue that an earlier version filled becomes shorter with each.
const MAX_DROPPED: i64 = 512;

/// Drops the oldest deliveries beyond the limit, where `waiting` are in the queue. Returns the events of the dropped ones
/// that have rows.
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
    const OLDEST: &str = "SELECT event_id FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND due_at IS NOT NULL ORDER BY event_id LIMIT $3";
    const COUNT: &str = "UPDATE webhook_lanes SET waiting = waiting - $3, dropped = dropped + $4 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    let rows = fetch_all!(tx, (Uuid,), OLDEST, &tx.tenant, webhook, count)?;
    let rows: Vec<Uuid> = rows.into_iter().map(|(event,)| event).collect();
    // The oldest may all be in rows, or all in segments.
    let segments = denial_segments::oldest(tx, webhook, count).await?;
    let Oldest { last_row, last_place, of_segments } = Oldest::new(&rows, &segments, count);
    let gone = match last_row {
        Some(last) => drop_rows(tx, webhook, last).await?,
        None => Vec::new(),
    };
    if let Some(last) = last_place {
        denial_segments::advance(tx, webhook, last).await?;
    }
    let dropped = i64::try_from(gone.len()).unwrap_or(i64::MAX) + of_segments;
    // A dropped delivery passes on the number that it should have reported.
    let unreported = dropped + gone.iter().map(|(_, unreported)| unreported).sum::<i64>();
    execute!(tx, COUNT, &tx.tenant, webhook, dropped, unreported)?;
    tx.writes.dropped_denials += dropped.unsigned_abs();
    Ok(gone.into_iter().map(|(event, _)| event).collect())
}

/// The oldest deliveries that wait.
#[derive(Debug, Default, PartialEq, Eq)]
struct Oldest {
    /// The newest event of them that has a row.
    last_row: Option<Uuid>,
    /// The last place of them in a segment.
    last_place: Option<Place>,
    /// The number of those in segments.
    of_segments: i64,
}

impl Oldest {
    /// Returns the `count` oldest deliveries of those in rows and in segments. An event that has a row is older than the
    /// segment that it left.
    fn new(mut rows: &[Uuid], segments: &[Segment], count: i64) -> Self {
        let (mut oldest, mut left) = (Self::default(), count);
        for segment in segments {
            oldest.take_rows(&mut rows, &mut left, Some(segment.id));
            let taken = segment.waiting().min(left);
            if taken > 0 {
                let index = segment.gone + taken - 1;
                oldest.last_place = Some(Place { segment: segment.id, index });
                oldest.of_segments += taken;
                left -= taken;
            }
        }
        oldest.take_rows(&mut rows, &mut left, None);
        oldest
    }

    /// Takes up to `left` of the `rows`, as far as they are before the event `end`.
    fn take_rows(&mut self, rows: &mut &[Uuid], left: &mut i64, end: Option<Uuid>) {
        while let Some((row, rest)) = rows.split_first()
            && *left > 0
            && end.is_none_or(|end| *row < end)
        {
            self.last_row = Some(*row);
            *left -= 1;
            *rows = rest;
        }
    }
}

/// Deletes the rows of waiting deliveries up to the event `last`, with their attempts. Returns the event of each, and the
/// dropped denials that it reports.
async fn drop_rows(tx: &mut Tx, webhook: Uuid, last: Uuid) -> Result<Vec<(Uuid, i64)>, StoreError> {
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE tenant_id = $1 AND delivery_id IN \
        (SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 AND denials \
        AND due_at IS NOT NULL AND event_id <= $3)";
    const DELIVERIES: &str = "DELETE FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND due_at IS NOT NULL AND event_id <= $3 \
        RETURNING event_id, dropped";
    // The attempts go first: their statement finds them by the deliveries.
    execute!(tx, ATTEMPTS, &tx.tenant, webhook, last)?;
    Ok(fetch_all!(tx, (Uuid, i64), DELIVERIES, &tx.tenant, webhook, last)?)
}

/// Counts `count` deliveries less that wait: they were delivered or are dead. Of these, a queue keeps as many as may wait.
pub(crate) async fn settled(tx: &mut Tx, webhook: Uuid, count: i64) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET waiting = waiting - $3, settled = settled + $3 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials RETURNING settled";
    let row = fetch_optional!(tx, (i64,), SQL, &tx.tenant, webhook, count)?;
    match row {
        Some((settled,)) => settled_denials::limit(tx, webhook, settled).await,
        None => Ok(()),
    }
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

/// Makes each queue due that has segments and is not due, unless its tenant is closed. A replica of an earlier version that
/// serves beside this one knows no segments, and releases such a queue as empty. One that is locked is in use.
pub(crate) async fn wake_forgotten(tx: &mut Tx) -> Result<(), StoreError> {
    macro_rules! wake {
        ($($lock:literal)?) => {
            concat!(
                "UPDATE webhook_lanes SET due_at = 0 WHERE denials AND (tenant_id, webhook_id) IN \
                (SELECT q.tenant_id, q.webhook_id FROM webhook_lanes q WHERE q.denials \
                AND q.due_at IS NULL AND EXISTS (SELECT 1 FROM denial_segments s \
                WHERE s.tenant_id = q.tenant_id AND s.webhook_id = q.webhook_id) \
                AND NOT EXISTS (SELECT 1 FROM tenants t WHERE t.id = q.tenant_id \
                AND (t.suspended_at IS NOT NULL OR t.deleting_at IS NOT NULL))"
                $(, $lock)?, ")"
            )
        };
    }
    let sql = tx.either(wake!(), wake!(" FOR UPDATE OF q SKIP LOCKED"));
    tx.writes.deliveries |= execute!(tx, sql)? > 0;
    Ok(())
}

#[cfg(test)]
mod tests;
