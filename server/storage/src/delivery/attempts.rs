//! Lists of delivery attempts. An attempt has its own row, or it is in one of `delivered_denials`.

use portcullis_model::delivery::AttemptRecord;
use portcullis_model::page::{Listed, Page};
use uuid::Uuid;

use crate::delivery::delivered_denials;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{fetch_all, records, select, stored};
use crate::transactions::paging::Fit;
use crate::transactions::tx::Tx;

stored! {
    AttemptRecord as Row of "webhook_attempts" {
        id, delivery_id, event_id, event_type, retry_count, http_status, response_body, error,
        duration_ms, state, attempted_at, next_attempt_at,
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
    const SQL: &str = select!(
        "FROM webhook_attempts JOIN (SELECT d.tenant_id, d.id AS delivery_id, d.event_id, \
        e.type AS event_type FROM webhook_deliveries d \
        JOIN webhook_events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id) AS sent \
        USING (tenant_id, delivery_id) \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4"
    );
    let before = if page.after.is_nil() { Uuid::max() } else { page.after };
    let one_more = page.limit.saturating_add(1);
    // Each source alone may fill the page, so that both are asked for all of it and one more.
    let of_denials = delivered_denials::attempts(tx, webhook, before, one_more).await?;
    let mut sizes = fetch_all!(tx, (Uuid, i64), SIZES, &tx.tenant, webhook, before, one_more)?;
    let rows: Vec<Uuid> = sizes.iter().map(|(id, _)| *id).collect();
    sizes.extend(of_denials.iter().map(|one| (one.id, size(one))));
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let fit = Fit::new(page.limit, &sizes.iter().map(|(_, size)| (*size,)).collect::<Vec<_>>());
    let fitting = usize::try_from(fit.records).unwrap_or(usize::MAX);
    // The oldest attempt of the page. Without any, no id is at or after `before`, and the page is empty.
    let last = sizes.iter().take(fitting).next_back().map_or(before, |(id, _)| *id);
    let count = rows.iter().filter(|id| **id >= last).count();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let mut records: Vec<AttemptRecord> =
        records(fetch_all!(tx, Row, SQL, &tx.tenant, webhook, before, count)?)?;
    records.extend(of_denials.into_iter().filter(|one| one.id >= last));
    records.sort_unstable_by_key(|one| std::cmp::Reverse(one.id));
    Ok(Listed { records, more: fit.more })
}

/// The bytes of the long members of an attempt.
fn size(attempt: &AttemptRecord) -> i64 {
    let texts = attempt.response_body.iter().chain(&attempt.error);
    i64::try_from(texts.map(String::len).sum::<usize>()).unwrap_or(i64::MAX)
}
