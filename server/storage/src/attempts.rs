//! Lists of delivery attempts. An attempt has a row of its own, or it is in one of `delivered_denials`.

use portcullis_model::Timestamp;
use portcullis_model::delivery::AttemptRecord;
use portcullis_model::page::{Listed, Page};
use uuid::Uuid;

use crate::delivered_denials;
use crate::error::StoreError;
use crate::macros::{fetch_all, row};
use crate::paging::Fit;
use crate::tx::Tx;

row! {
    struct Row {
        id: Uuid,
        delivery_id: Uuid,
        event_id: Uuid,
        event_type: String,
        retry_count: i64,
        http_status: Option<i64>,
        response_body: Option<String>,
        error: Option<String>,
        duration_ms: i64,
        state: String,
        attempted_at: i64,
        next_attempt_at: Option<i64>,
    }
}

impl TryFrom<Row> for AttemptRecord {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id,
            delivery_id: row.delivery_id,
            event_id: row.event_id,
            event_type: row.event_type,
            retry_count: row.retry_count,
            http_status: row.http_status,
            response_body: row.response_body,
            error: row.error,
            duration_ms: row.duration_ms,
            state: row
                .state
                .parse()
                .map_err(|_| StoreError::Corrupt { what: "webhook_attempts.state" })?,
            attempted_at: Timestamp::from_millis(row.attempted_at),
            next_attempt_at: row.next_attempt_at.map(Timestamp::from_millis),
        })
    }
}

/// Lists a page of the attempts to deliver to `webhook`, newest first. A page other than the first has the attempts
/// before the id `page.after`, which is nil for the first.
pub async fn list(
    tx: &mut Tx,
    webhook: Uuid,
    page: Page,
) -> Result<Listed<AttemptRecord>, StoreError> {
    // Every attempt with a row has a delivery, and every delivery with a row an event.
    const SIZES: &str = "SELECT id, CAST(COALESCE(octet_length(response_body), 0) \
        + COALESCE(octet_length(error), 0) AS BIGINT) FROM webhook_attempts \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4";
    const SQL: &str = "SELECT a.id, a.delivery_id, d.event_id, e.type AS event_type, \
        a.retry_count, a.http_status, a.response_body, a.error, a.duration_ms, a.state, \
        a.attempted_at, a.next_attempt_at FROM webhook_attempts a \
        JOIN webhook_deliveries d ON d.tenant_id = a.tenant_id AND d.id = a.delivery_id \
        JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id \
        WHERE a.tenant_id = $1 AND a.webhook_id = $2 AND a.id < $3 ORDER BY a.id DESC LIMIT $4";
    let before = if page.after.is_nil() { Uuid::max() } else { page.after };
    let one_more = page.limit.saturating_add(1);
    let of_denials = delivered_denials::attempts(tx, webhook, before, one_more).await?;
    let mut sizes = fetch_all!(tx, (Uuid, i64), SIZES, &tx.tenant, webhook, before, one_more)?;
    let rows: Vec<Uuid> = sizes.iter().map(|(id, _)| *id).collect();
    sizes.extend(of_denials.iter().map(|one| (one.id, size(one))));
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let fit = Fit::of(page, &sizes.iter().map(|(_, size)| (*size,)).collect::<Vec<_>>());
    let fitting = usize::try_from(fit.records).unwrap_or(usize::MAX);
    let last = sizes.iter().take(fitting).next_back().map_or(before, |(id, _)| *id);
    let count = rows.iter().filter(|id| **id >= last).count();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let rows = fetch_all!(tx, Row, SQL, &tx.tenant, webhook, before, count)?;
    let rows = rows.into_iter().map(AttemptRecord::try_from);
    let mut records = rows.collect::<Result<Vec<_>, StoreError>>()?;
    records.extend(of_denials.into_iter().filter(|one| one.id >= last));
    records.sort_unstable_by_key(|one| std::cmp::Reverse(one.id));
    Ok(Listed { records, more: fit.more })
}

/// The bytes of the long members of an attempt.
fn size(attempt: &AttemptRecord) -> i64 {
    let bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    i64::try_from(bytes(&attempt.response_body) + bytes(&attempt.error)).unwrap_or(i64::MAX)
}
