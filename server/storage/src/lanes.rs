//! The table of lanes: the queue of each webhook's deliveries, which one worker at a time serves.
//!
//! Whoever writes a delivery locks its lane afterwards, whoever serves a lane locks it first: so neither
//! misses what the other one wrote.

use std::time::Duration;

use sqlx::FromRow;
use uuid::Uuid;

use super::{Inner, StoreError, Tx, execute, fetch_all, fetch_optional};
use portcullis_model::Timestamp;

/// Replicas' clocks may differ by so much. What lies further in the future than anybody could have meant was
/// written before somebody put the clock back.
const CLOCK_SLACK: Duration = Duration::from_secs(60);

/// A lane that was claimed.
#[derive(Clone, Debug, FromRow)]
pub struct Lane {
    #[sqlx(rename = "tenant_id")]
    pub tenant: String,
    #[sqlx(rename = "webhook_id")]
    pub webhook: Uuid,
    /// Tells this claim from every other one.
    fence: i64,
    pub slow: bool,
}

/// Who claims lanes, when, and on which terms.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'t> {
    pub holder: &'t str,
    pub now: Timestamp,
    /// How long a lane is held without a renewal.
    pub lease: Duration,
    /// The longest that a delivery waits for its next attempt.
    pub longest_wait: Duration,
}

impl Terms<'_> {
    fn lease_end(&self) -> i64 {
        self.now.after(self.lease).millis()
    }

    /// Nobody's lease ends later.
    fn last_lease_end(&self) -> i64 {
        self.now.after(self.lease + CLOCK_SLACK).millis()
    }

    /// No delivery is due later.
    pub(super) fn last_due(&self) -> i64 {
        self.now.after(self.longest_wait + CLOCK_SLACK).millis()
    }

    /// Whether a time at which something is due is still to come.
    pub fn is_ahead(&self, due: i64) -> bool {
        due > self.now.millis() && due <= self.last_due()
    }
}

/// The lane of a new webhook.
pub(super) async fn insert(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO webhook_lanes (tenant_id, webhook_id) VALUES ($1, $2)";
    execute!(tx, SQL, &tx.tenant, webhook)?;
    Ok(())
}

pub(super) async fn delete(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM webhook_lanes WHERE tenant_id = $1 AND webhook_id = $2";
    execute!(tx, SQL, &tx.tenant, webhook)?;
    Ok(())
}

/// Notes that a delivery has its first attempt to come, which no clock holds up.
pub(super) async fn has_first_attempt(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    has_attempt_at(tx, webhook, 0).await
}

/// Notes that a delivery is due at `due_at`.
pub(super) async fn has_attempt_at(
    tx: &mut Tx,
    webhook: Uuid,
    due_at: i64,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes \
        SET due_at = CASE WHEN due_at < $3 THEN due_at ELSE $3 END \
        WHERE tenant_id = $1 AND webhook_id = $2";
    execute!(tx, SQL, &tx.tenant, webhook, due_at)?;
    Ok(())
}

/// When there is something to claim for `holder`; a time that has passed means now, `None` never.
pub async fn next_due(tx: &mut Tx, holder: &str) -> Result<Option<i64>, StoreError> {
    const SQL: &str = "SELECT MIN(CASE WHEN holder IS NULL OR lease_until < due_at THEN due_at \
        ELSE lease_until END) FROM webhook_lanes \
        WHERE due_at IS NOT NULL AND (holder IS NULL OR holder <> $1)";
    let row = fetch_optional!(tx, (Option<i64>,), SQL, holder)?;
    Ok(row.and_then(|(due,)| due))
}

/// Claims up to `limit` lanes that are due and that nobody serves, `slow` ones or others, those first that
/// have not been served for longest. A lease of the holder's own never ends: a task of its own is at work.
pub async fn claim(
    tx: &mut Tx,
    terms: &Terms<'_>,
    slow: bool,
    limit: usize,
) -> Result<Vec<Lane>, StoreError> {
    const SQLITE: &str = "UPDATE webhook_lanes \
        SET holder = $1, fence = fence + 1, lease_until = $3 \
        WHERE (tenant_id, webhook_id) IN (SELECT tenant_id, webhook_id FROM webhook_lanes \
        WHERE (due_at <= $2 OR due_at > $4) AND slow = $6 AND (holder IS NULL \
        OR holder <> $1 AND (lease_until <= $2 OR lease_until > $5)) ORDER BY lease_until LIMIT $7) \
        RETURNING tenant_id, webhook_id, fence, slow";
    // A lane that somebody else is about to change can wait: whoever changes it says so.
    const POSTGRES: &str = "UPDATE webhook_lanes \
        SET holder = $1, fence = fence + 1, lease_until = $3 \
        WHERE (tenant_id, webhook_id) IN (SELECT tenant_id, webhook_id FROM webhook_lanes \
        WHERE (due_at <= $2 OR due_at > $4) AND slow = $6 AND (holder IS NULL \
        OR holder <> $1 AND (lease_until <= $2 OR lease_until > $5)) ORDER BY lease_until LIMIT $7 \
        FOR UPDATE SKIP LOCKED) \
        RETURNING tenant_id, webhook_id, fence, slow";
    let sql = match &tx.inner {
        Inner::Sqlite(_) => SQLITE,
        Inner::Postgres(_) => POSTGRES,
    };
    let rows = fetch_all!(
        tx,
        Lane,
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

/// Prolongs the lease; false when somebody else has claimed the lane since, or it is gone. Locks it until
/// the end of the transaction.
pub async fn renew(tx: &mut Tx, lane: &Lane, terms: &Terms<'_>) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET lease_until = $5 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND holder = $3 AND fence = $4";
    let renewed =
        execute!(tx, SQL, &tx.tenant, lane.webhook, terms.holder, lane.fence, terms.lease_end(),)?;
    Ok(renewed > 0)
}

/// Gives back a lane whose lease was renewed in this transaction.
pub async fn release(
    tx: &mut Tx,
    lane: &Lane,
    slow: bool,
    now: Timestamp,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE webhook_lanes SET holder = NULL, lease_until = $3, slow = $4, \
        due_at = (SELECT MIN(d.due_at) FROM webhook_deliveries d \
        WHERE d.tenant_id = $1 AND d.webhook_id = $2) WHERE tenant_id = $1 AND webhook_id = $2";
    execute!(tx, SQL, &tx.tenant, lane.webhook, now.millis(), slow)?;
    Ok(())
}

/// Gives back every lane that a process held which `place` names: it is not there any more.
pub async fn release_all(tx: &mut Tx, place: &str) -> Result<u64, StoreError> {
    // One after the other in the order in which whoever writes an event locks them, so that nobody waits for
    // somebody who waits for them.
    const HELD: &str = "SELECT tenant_id, webhook_id FROM webhook_lanes WHERE holder IS NOT NULL \
        AND substr(holder, 1, length($1)) = $1 ORDER BY tenant_id, webhook_id";
    const SQL: &str = "UPDATE webhook_lanes SET holder = NULL WHERE tenant_id = $1 \
        AND webhook_id = $2 AND substr(holder, 1, length($3)) = $3";
    let mut released = 0;
    for (tenant, webhook) in fetch_all!(tx, (String, Uuid), HELD, place)? {
        released += execute!(tx, SQL, tenant, webhook, place)?;
    }
    Ok(released)
}

#[cfg(test)]
mod tests;
