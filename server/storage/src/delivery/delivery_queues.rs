//! The table of delivery queues, `webhook_lanes`. Each webhook has two: one for denied checks, and one for all other events. One
//! delivery worker at a time serves a queue. So no flood of denied checks delays another event.
//!
//! A transaction that writes a delivery locks the queue last. A delivery worker locks the queue first and reads the
//! deliveries after that. So neither misses a write of the other.
//!
//! # The order of locks
//!
//! Every transaction that waits for a lock of these tables takes its locks in one order, so that no two transactions wait
//! for each other:
//!
//! 1. the row of the tenant, locked by each transaction of a caller and by each change of the tenant's state;
//! 2. the queues, in the order of tenant, webhook and `denials`, also both queues of one webhook;
//! 3. rows of segments, deliveries and attempts, which only the holder of their queue's lock changes;
//! 4. rows of events, in the order of their ids: the denial of a check is one event for several webhooks.
//!
//! A delivery worker skips the first step, though each event that it inserts refers to the tenant. So nobody locks the row
//! of a tenant that has queues as if its key changed: the reference would wait for it. The claim of queues, the retention
//! and the removal of events without a delivery belong to no tenant's order, so that they skip locked rows and never wait.

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_model::Timestamp;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, row};
use crate::transactions::tx::Tx;

/// The largest difference of two replicas' clocks. A time that lies further in the future than any replica writes
/// was written before a clock was put back, and counts as past.
const CLOCK_SLACK: Duration = Duration::from_secs(60);

/// Names a delivery queue of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueId {
    pub webhook: Uuid,
    /// Whether it is the queue of denied checks.
    pub denials: bool,
}

row! {
    /// A delivery queue that a delivery worker has claimed.
    #[derive(Clone, Debug)]
    pub struct DeliveryQueue {
        pub tenant: String,
        pub webhook: Uuid,
        /// Whether it is the queue of denied checks.
        pub denials: bool,
        /// The number of this claim; each claim of the queue raises it.
        fence: i64,
        /// The last attempt failed or took long.
        pub slow: bool,
    }
}

impl DeliveryQueue {
    /// Returns its name within the tenant.
    pub fn id(&self) -> QueueId {
        QueueId { webhook: self.webhook, denials: self.denials }
    }
}

/// The terms of a claim of delivery queues.
#[derive(Clone, Copy, Debug)]
pub struct ClaimTerms<'t> {
    /// Names the delivery worker.
    pub holder: &'t str,
    pub now: Timestamp,
    /// The time for which a queue is held without a renewal.
    pub lease: Duration,
    /// The longest time that a delivery waits for its next attempt.
    pub longest_wait: Duration,
}

impl ClaimTerms<'_> {
    fn lease_end(&self) -> i64 {
        self.now.after(self.lease).millis()
    }

    /// The latest end of a lease that any replica can have written.
    fn last_lease_end(&self) -> i64 {
        self.now.after(self.lease + CLOCK_SLACK).millis()
    }

    /// The latest time of an attempt that any replica can have written.
    pub(crate) fn last_due(&self) -> i64 {
        self.now.after(self.longest_wait + CLOCK_SLACK).millis()
    }

    /// Tells whether the time `due` is still to come.
    pub fn is_ahead(&self, due: i64) -> bool {
        due > self.now.millis() && due <= self.last_due()
    }
}

/// Inserts the queues of a new webhook.
pub(crate) async fn insert(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO webhook_lanes (tenant_id, webhook_id, denials) \
        VALUES ($1, $2, FALSE), ($1, $2, TRUE)";
    execute!(tx, SQL, &tx.tenant, webhook)?;
    Ok(())
}

/// Deletes the queues of a webhook.
pub(crate) async fn delete(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    const SQL: &str =
        "DELETE FROM webhook_lanes WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3";
    // In the order of locks.
    for denials in [false, true] {
        execute!(tx, SQL, &tx.tenant, webhook, denials)?;
    }
    Ok(())
}

/// The deliveries that a transaction adds to a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added {
    count: i64,
    /// Their newest event.
    last_event: Uuid,
}

impl Added {
    /// Counts one delivery of `event` more in `queue`. Events come in their order.
    pub(crate) fn count(added: &mut BTreeMap<QueueId, Self>, queue: QueueId, event: Uuid) {
        let added = added.entry(queue).or_insert(Self { count: 0, last_event: event });
        added.count += 1;
        added.last_event = event;
    }
}

/// Makes the queue due now for the first attempts of the `added` deliveries, which are stored already. Such an attempt
/// waits for no clock. Returns the number of denials that wait.
///
/// A queue that a delivery worker holds needs no notification: the worker finds the deliveries when it locks the queue
/// the next time, and another one when the lease is over.
pub(crate) async fn add(tx: &mut Tx, queue: QueueId, added: Added) -> Result<i64, StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET due_at = CASE WHEN due_at < 0 OR EXISTS \
        (SELECT 1 FROM tenants WHERE id = $1 AND (suspended_at IS NOT NULL OR deleting_at IS NOT NULL)) \
        THEN due_at ELSE 0 END, waiting = waiting + $4, last_event = $5 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3 \
        RETURNING waiting, holder IS NOT NULL";
    // Only the queue of denied checks has a limit on those that wait.
    let counted = if queue.denials { added.count } else { 0 };
    let row = fetch_optional!(
        tx,
        (i64, bool),
        SQL,
        &tx.tenant,
        queue.webhook,
        queue.denials,
        counted,
        added.last_event,
    )?;
    let (waiting, is_held) = row.unwrap_or_default();
    tx.writes.deliveries |= !is_held;
    Ok(waiting)
}

/// Makes the queue due at `due_at`, unless it is due earlier or its tenant is closed.
pub(crate) async fn schedule_attempt(
    tx: &mut Tx,
    queue: QueueId,
    due_at: i64,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes \
        SET due_at = CASE WHEN due_at < $4 THEN due_at ELSE $4 END \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3 \
        AND NOT EXISTS (SELECT 1 FROM tenants \
        WHERE id = $1 AND (suspended_at IS NOT NULL OR deleting_at IS NOT NULL))";
    execute!(tx, SQL, &tx.tenant, queue.webhook, queue.denials, due_at)?;
    Ok(())
}

/// Pauses every queue of the tenant: no delivery worker can claim it, and one that holds it writes nothing more.
pub(crate) async fn pause(tx: &mut Tx, tenant: &str) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET due_at = NULL, holder = NULL, fence = fence + 1 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3";
    for QueueId { webhook, denials } in all(tx, tenant).await? {
        execute!(tx, SQL, tenant, webhook, denials)?;
    }
    Ok(())
}

/// Takes a queue away from the delivery worker that holds it, which writes nothing more. Another claim serves it anew.
pub(crate) async fn take_away(tx: &mut Tx, queue: QueueId) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET holder = NULL, fence = fence + 1 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3";
    execute!(tx, SQL, &tx.tenant, queue.webhook, queue.denials)?;
    tx.writes.deliveries = true;
    Ok(())
}

/// Locks a queue and leaves it to the delivery worker that holds it.
pub(crate) async fn lock(tx: &mut Tx, queue: QueueId) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET fence = fence \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3";
    execute!(tx, SQL, &tx.tenant, queue.webhook, queue.denials)?;
    Ok(())
}

/// Lists the webhooks of the transaction's tenant that have a queue of denied checks.
pub(crate) async fn with_denials(tx: &mut Tx) -> Result<Vec<Uuid>, StoreError> {
    let tenant = tx.tenant.clone();
    let denials = all(tx, &tenant).await?.into_iter().filter(|queue| queue.denials);
    Ok(denials.map(|queue| queue.webhook).collect())
}

/// Makes every queue of the tenant due when its first pending delivery is.
pub(crate) async fn resume(tx: &mut Tx, tenant: &str) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET due_at = CASE WHEN denials AND EXISTS (SELECT 1 \
        FROM denial_segments s WHERE s.tenant_id = $1 AND s.webhook_id = $2) THEN 0 ELSE \
        (SELECT MIN(d.due_at) FROM webhook_deliveries d WHERE d.tenant_id = $1 \
        AND d.webhook_id = $2 AND d.denials = $3) END \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3";
    // One by one, as in `pause`: a single statement would lock the queues in any order.
    for QueueId { webhook, denials } in all(tx, tenant).await? {
        execute!(tx, SQL, tenant, webhook, denials)?;
    }
    tx.writes.deliveries = true;
    Ok(())
}

/// Lists the queues of the tenant in the order of locks.
async fn all(tx: &mut Tx, tenant: &str) -> Result<Vec<QueueId>, StoreError> {
    const SQL: &str = "SELECT webhook_id, denials FROM webhook_lanes WHERE tenant_id = $1 \
        ORDER BY webhook_id, denials";
    let rows = fetch_all!(tx, (Uuid, bool), SQL, tenant)?;
    Ok(rows.into_iter().map(|(webhook, denials)| QueueId { webhook, denials }).collect())
}

/// Returns the time from which `holder` can claim a queue; a time that has passed means now, `None` means never.
pub async fn next_due(tx: &mut Tx, holder: &str) -> Result<Option<i64>, StoreError> {
    const SQL: &str = "SELECT MIN(CASE WHEN holder IS NULL OR lease_until < due_at THEN due_at \
        ELSE lease_until END) FROM webhook_lanes \
        WHERE due_at IS NOT NULL AND (holder IS NULL OR holder <> $1)";
    let row = fetch_optional!(tx, (Option<i64>,), SQL, holder)?;
    Ok(row.and_then(|(due,)| due))
}

/// Claims up to `limit` queues that are due and not held, either `slow` ones or others. The queue that waits for
/// longest comes first. A lease of `holder` itself never ends, because a task of this process serves the queue.
pub async fn claim(
    tx: &mut Tx,
    terms: &ClaimTerms<'_>,
    slow: bool,
    limit: usize,
) -> Result<Vec<DeliveryQueue>, StoreError> {
    macro_rules! claim {
        ($($lock:literal)?) => {
            concat!(
                "UPDATE webhook_lanes SET holder = $1, fence = fence + 1, lease_until = $3 \
                WHERE (tenant_id, webhook_id, denials) IN (SELECT tenant_id, webhook_id, denials \
                FROM webhook_lanes WHERE (due_at <= $2 OR due_at > $4) AND slow = $6 \
                AND (holder IS NULL OR holder <> $1 AND (lease_until <= $2 OR lease_until > $5)) \
                ORDER BY lease_until LIMIT $7"
                $(, $lock)?,
                ") RETURNING tenant_id AS tenant, webhook_id AS webhook, denials, fence, slow"
            )
        };
    }
    // A queue that another transaction locks can wait: its commit sends a notification.
    let sql = tx.either(claim!(), claim!(" FOR UPDATE SKIP LOCKED"));
    let rows = fetch_all!(
        tx,
        DeliveryQueue,
        sql,
        terms.holder,
        terms.now.millis(),
        terms.lease_end(),
        terms.last_due(),
        terms.last_lease_end(),
        slow,
        i64::try_from(limit).unwrap_or(i64::MAX),
    )?;
    Ok(rows)
}

/// Prolongs the lease and locks the queue until the end of the transaction. False if another claim took the queue over
/// or its webhook was deleted.
pub async fn renew(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    terms: &ClaimTerms<'_>,
) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET lease_until = $6 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3 AND holder = $4 AND fence = $5";
    let renewed = execute!(
        tx,
        SQL,
        &tx.tenant,
        queue.webhook,
        queue.denials,
        terms.holder,
        queue.fence,
        terms.lease_end(),
    )?;
    Ok(renewed > 0)
}

/// Releases a queue whose lease this transaction has renewed.
pub async fn release(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    slow: bool,
    now: Timestamp,
) -> Result<(), StoreError> {
    // Without a pending delivery `MIN` is NULL: nobody claims the queue until one becomes due.
    const SQL: &str = "UPDATE webhook_lanes SET holder = NULL, lease_until = $4, slow = $5, \
        due_at = CASE WHEN denials AND EXISTS (SELECT 1 FROM denial_segments s \
        WHERE s.tenant_id = $1 AND s.webhook_id = $2) THEN 0 ELSE (SELECT MIN(d.due_at) \
        FROM webhook_deliveries d WHERE d.tenant_id = $1 AND d.webhook_id = $2 \
        AND d.denials = $3) END WHERE tenant_id = $1 AND webhook_id = $2 AND denials = $3";
    execute!(tx, SQL, &tx.tenant, queue.webhook, queue.denials, now.millis(), slow)?;
    Ok(())
}

/// Releases every queue that an earlier process with the name `replica` held, and returns their number.
pub async fn release_all(tx: &mut Tx, replica: &str) -> Result<u64, StoreError> {
    // The queues are locked one by one, in the order of locks.
    const HELD: &str = "SELECT tenant_id, webhook_id, denials FROM webhook_lanes \
        WHERE holder IS NOT NULL AND substr(holder, 1, length($1)) = $1 \
        ORDER BY tenant_id, webhook_id, denials";
    const SQL: &str = "UPDATE webhook_lanes SET holder = NULL WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials = $3 AND substr(holder, 1, length($4)) = $4";
    let mut released = 0;
    for (tenant, webhook, denials) in fetch_all!(tx, (String, Uuid, bool), HELD, replica)? {
        released += execute!(tx, SQL, tenant, webhook, denials, replica)?;
    }
    Ok(released)
}

#[cfg(test)]
mod tests;
