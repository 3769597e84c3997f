//! Deletes settled deliveries of denied checks beyond the number that a queue keeps.

use uuid::Uuid;

use crate::delivery::{delivered_denials, delivery_rows};
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional, indexed};
use crate::transactions::tx::{Statements, Tx};

/// The settled deliveries beyond the limit after which they are deleted, because this counts all that are kept.
pub(crate) const SETTLED_SLACK: i64 = 500;
/// The most rows of each table that one transaction deletes, or a few less, so that it stays short. An earlier version may
/// have left many. No queue settles as many within a millisecond.
pub(crate) const MAX_DELETED: i64 = 1_000;

/// Deletes the oldest settled deliveries of `webhook` if they may be too many. `settled` is their number or more:
/// redeliveries and the retention take some away.
pub(crate) async fn limit(tx: &mut Tx, webhook: Uuid, settled: i64) -> Result<(), StoreError> {
    const CORRECT: &str = "UPDATE webhook_lanes SET settled = $3 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    let kept = i64::from(tx.max_waiting_denials);
    if settled < kept + SETTLED_SLACK {
        return Ok(());
    }
    let settled = count_rows(tx, webhook).await? + delivered_denials::count(tx, webhook).await?;
    let deleted = delete_oldest(tx, webhook, settled - kept).await?;
    execute!(tx, CORRECT, &tx.tenant, webhook, settled - deleted)?;
    Ok(())
}

/// Counts the settled deliveries that have their own rows.
async fn count_rows(tx: &mut Tx, webhook: Uuid) -> Result<i64, StoreError> {
    const SQL: Statements = indexed!(
        "SELECT count(*) FROM webhook_deliveries",
        webhook_deliveries_of_settled_denials,
        "WHERE tenant_id = $1 AND webhook_id = $2 AND denials AND settled_at IS NOT NULL"
    );
    let sql = tx.statement(&SQL);
    let row = fetch_optional!(tx, (i64,), sql, &tx.tenant, webhook)?;
    Ok(row.map_or(0, |(count,)| count))
}

/// Deletes the `surplus` oldest settled deliveries, or fewer, and returns their number.
async fn delete_oldest(tx: &mut Tx, webhook: Uuid, surplus: i64) -> Result<i64, StoreError> {
    const TIMES: &str = "SELECT settled_at FROM webhook_deliveries WHERE tenant_id = $1 \
        AND webhook_id = $2 AND denials AND settled_at IS NOT NULL ORDER BY settled_at LIMIT $3";
    if surplus <= 0 {
        return Ok(0);
    }
    let most = surplus.min(MAX_DELETED);
    // One more than may go, because the first that stays bounds what is deleted.
    let times = fetch_all!(tx, (i64,), TIMES, &tx.tenant, webhook, most + 1)?;
    let times: Vec<i64> = times.into_iter().map(|(settled_at,)| settled_at).collect();
    let delivered = delivered_denials::oldest(tx, webhook, most).await?;
    let oldest = Oldest::new(&times, &delivered, surplus);
    let mut deleted = 0;
    if let Some(bound) = oldest.before {
        deleted += delete_rows_before(tx, webhook, bound).await?;
    }
    if let Some(last) = oldest.last {
        deleted += delivered_denials::delete_to(tx, webhook, last).await?;
    }
    Ok(deleted)
}

/// The oldest settled deliveries.
#[derive(Debug, Default, PartialEq, Eq)]
struct Oldest {
    /// Deliveries in their own rows were settled before this time.
    before: Option<i64>,
    /// The last row of others.
    last: Option<Uuid>,
}

impl Oldest {
    /// Returns the oldest deliveries, at most `surplus`: of the ones settled at `times`, in their own rows, and of the
    /// `delivered` rows of many. Each list is in order of time.
    fn new(times: &[i64], delivered: &[delivered_denials::Numbers], surplus: i64) -> Self {
        let most = usize::try_from(surplus.min(MAX_DELETED)).unwrap_or(usize::MAX);
        let (mut rows, mut left, mut last) = (0, surplus, None);
        let ends = delivered.iter().map(Some).chain([None]);
        for next in ends {
            let end = next.map_or(i64::MAX, |next| next.settled_at);
            // The single deliveries that were settled before the next row of many.
            while left > 0 && rows < most && times.get(rows).is_some_and(|time| *time < end) {
                rows += 1;
                left -= 1;
            }
            let is_next = times.get(rows).is_none_or(|time| *time >= end);
            match next.filter(|next| is_next && next.total <= left) {
                Some(next) => (last, left) = (Some(next.id), left - next.total),
                None => break,
            }
        }
        // The first row that stays, or an instant after the last one.
        let before = match rows {
            0 => None,
            _ => times.get(rows).copied().or_else(|| times.last().map(|time| time + 1)),
        };
        Self { before, last }
    }
}

/// Deletes the rows of deliveries that were settled before `instant`, with their attempts, and returns their number.
async fn delete_rows_before(tx: &mut Tx, webhook: Uuid, instant: i64) -> Result<i64, StoreError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::delivered_denials::Numbers;

    #[test]
    fn the_oldest_of_both_kinds_go() {
        let id = Uuid::from_u128;
        let row = |number, total, settled_at| Numbers { id: id(number), total, settled_at };
        let delivered = [row(1, 100, 10), row(2, 100, 20)];
        let times = [5, 6, 15, 25];
        for (surplus, before, last) in [
            (1, Some(6), None),
            (2, Some(15), None),
            (101, Some(15), None),
            (102, Some(15), Some(1)),
            (103, Some(25), Some(1)),
            (202, Some(25), Some(1)),
            (203, Some(25), Some(2)),
            (204, Some(26), Some(2)),
            (999, Some(26), Some(2)),
        ] {
            let expected = Oldest { before, last: last.map(id) };
            assert_eq!(Oldest::new(&times, &delivered, surplus), expected, "{surplus}");
        }
        let expected = Oldest { before: None, last: Some(id(1)) };
        assert_eq!(Oldest::new(&[], &delivered, 150), expected);
        // What stays of the rows is older than what follows.
        let times = vec![1; 2_000];
        let expected = Oldest { before: Some(1), last: None };
        assert_eq!(Oldest::new(&times, &delivered, 5_000), expected);
    }
}
