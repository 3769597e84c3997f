//! The table of delivered denials: each row has the denials of one batch that were delivered at the first attempt, with
//! these attempts. Its rows are in the order of the attempts. A denial that is delivered again moves into its own rows.

use portcullis_model::Timestamp;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use portcullis_model::page::MAX_PAGE_BYTES;
use portcullis_model::webhook::EventType;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::decisions::denied_persons::Left;
use crate::delivery::delivery_rows;
use crate::delivery::denial_rows::DenialRow;
use crate::delivery::denial_segments::{self, MovedDenial};
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, fetch_optional};
use crate::transactions::ordered_ids::OrderedIds;
use crate::transactions::tx::Tx;

const ATTEMPTS: StoreError = StoreError::Corrupt { what: "delivered_denials.attempts" };

/// The only attempt of a delivery, as a row keeps it.
#[derive(Debug, Serialize, Deserialize)]
struct Attempt {
    id: Uuid,
    delivery: Uuid,
    event: Uuid,
    status: Option<i64>,
    answer: Option<String>,
    millis: i64,
    at: i64,
}

impl Attempt {
    fn record(self) -> AttemptRecord {
        AttemptRecord {
            id: self.id,
            delivery_id: self.delivery,
            event_id: self.event,
            event_type: EventType::AccessDenied.into_str().to_owned(),
            retry_count: 0,
            http_status: self.status,
            response_body: self.answer,
            error: None,
            duration_ms: self.millis,
            state: DeliveryState::Delivered,
            attempted_at: Timestamp::from_millis(self.at),
            next_attempt_at: None,
        }
    }
}

/// The numbers of a row.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) id: Uuid,
    /// The denials of the row.
    pub(crate) total: i64,
    pub(crate) settled_at: i64,
}

/// Stores denials that were delivered at the first attempt until `now`: the body and the attempt of each, in the order of
/// the attempts. An attempt gets another id if its own is less than one of the rows before.
pub(crate) async fn insert(
    tx: &mut Tx,
    webhook: Uuid,
    delivered: &[(&[u8], &AttemptRecord)],
    now: Timestamp,
) -> Result<(), StoreError> {
    const LATEST: &str = "SELECT last_attempt FROM delivered_denials \
        WHERE tenant_id = $1 AND webhook_id = $2 ORDER BY id DESC LIMIT 1";
    const SQL: &str = "INSERT INTO delivered_denials (tenant_id, webhook_id, id, last_attempt, \
        first_delivery, last_delivery, total, attempts, bodies, settled_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let latest = fetch_optional!(tx, (Uuid,), LATEST, &tx.tenant, webhook)?;
    let mut order = OrderedIds::after(latest.map(|(id,)| id));
    let attempts = delivered.iter().map(|(_, one)| Attempt {
        id: order.keep(one.id, one.attempted_at),
        delivery: one.delivery_id,
        event: one.event_id,
        status: one.http_status,
        answer: one.response_body.clone(),
        millis: one.duration_ms,
        at: one.attempted_at.millis(),
    });
    let attempts: Vec<Attempt> = attempts.collect();
    let (Some(first), Some(last)) = (attempts.first(), attempts.last()) else { return Ok(()) };
    let deliveries = attempts.iter().map(|one| one.delivery);
    let bodies: Vec<&[u8]> = delivered.iter().map(|(body, _)| *body).collect();
    execute!(
        tx,
        SQL,
        &tx.tenant,
        webhook,
        first.id,
        last.id,
        // The denials are in the order of their attempts, so that any of them may have the least or the greatest id.
        deliveries.clone().min(),
        deliveries.max(),
        i64::try_from(attempts.len()).unwrap_or(i64::MAX),
        serde_json::to_vec(&attempts).map_err(|_| ATTEMPTS)?,
        // Each body is JSON.
        [b"[".as_slice(), &bodies.join(&b','), b"]"].concat(),
        now.millis(),
    )?;
    Ok(())
}

/// Lists the attempts before the id `before`, newest first: `limit` or more, or as many as fill a page, or all.
pub(crate) async fn attempts(
    tx: &mut Tx,
    webhook: Uuid,
    before: Uuid,
    limit: i64,
) -> Result<Vec<AttemptRecord>, StoreError> {
    const SIZES: &str = "SELECT id, total, CAST(octet_length(attempts) AS BIGINT) \
        FROM delivered_denials WHERE tenant_id = $1 AND webhook_id = $2 AND id < $3 \
        ORDER BY id DESC LIMIT $4";
    const SQL: &str = "SELECT attempts FROM delivered_denials WHERE tenant_id = $1 \
        AND webhook_id = $2 AND id < $3 AND id >= $4 ORDER BY id DESC";
    // One more than has to fill the page, because all attempts of the newest row may come later.
    let rows = limit.saturating_add(1);
    let rows = fetch_all!(tx, (Uuid, i64, i64), SIZES, &tx.tenant, webhook, before, rows)?;
    // A byte of an answer takes six in JSON at most.
    let most = i64::try_from(6 * MAX_PAGE_BYTES).unwrap_or(i64::MAX);
    let (mut oldest, mut count, mut bytes) = (before, 0, 0);
    for (index, (id, total, size)) in rows.into_iter().enumerate() {
        oldest = id;
        // Of the newest row, no attempt may be before: a row keeps the id of its first attempt after that is erased.
        if index > 0 {
            count += total;
            bytes += size;
        }
        if count >= limit || bytes > most {
            break;
        }
    }
    let mut listed = Vec::new();
    for (attempts,) in fetch_all!(tx, (Vec<u8>,), SQL, &tx.tenant, webhook, before, oldest)? {
        let attempts: Vec<Attempt> = serde_json::from_slice(&attempts).map_err(|_| ATTEMPTS)?;
        let newest_first = attempts.into_iter().rev().filter(|one| one.id < before);
        listed.extend(newest_first.map(Attempt::record));
    }
    Ok(listed)
}

/// Moves a delivery of `webhook` with its attempt into its own rows, and returns its event. `None` if it is in no row
/// of this table.
pub(crate) async fn move_to_rows(
    tx: &mut Tx,
    webhook: Uuid,
    delivery: Uuid,
) -> Result<Option<Uuid>, StoreError> {
    const FIND: &str = "SELECT id, attempts, bodies, settled_at FROM delivered_denials \
        WHERE tenant_id = $1 AND webhook_id = $2 AND first_delivery <= $3 AND last_delivery >= $3";
    const SETTLED: &str = "UPDATE webhook_deliveries SET due_at = NULL, settled_at = $3 \
        WHERE tenant_id = $1 AND id = $2";
    type Found = (Uuid, Vec<u8>, Vec<u8>, i64);
    for (id, attempts, bodies, settled_at) in
        fetch_all!(tx, Found, FIND, &tx.tenant, webhook, delivery)?
    {
        let mut denials = denials(&attempts, &bodies)?;
        let place = denials.iter().position(|(attempt, _)| attempt.delivery == delivery);
        // The bounds of a row do not say that the delivery is in it.
        let Some(place) = place else { continue };
        let (attempt, body) = denials.remove(place);
        replace(tx, webhook, id, denials).await?;
        let (event, body) = (attempt.event, body.get().as_bytes().to_vec());
        let moved = vec![MovedDenial { delivery, event, body }];
        denial_segments::insert_rows(tx, webhook, moved).await?;
        execute!(tx, SETTLED, &tx.tenant, delivery, settled_at)?;
        delivery_rows::insert_attempts(tx, webhook, &[&attempt.record()]).await?;
        return Ok(Some(event));
    }
    Ok(None)
}

/// A row: the attempt and the body of each denial.
pub(crate) struct DeliveredRow {
    id: Uuid,
    denials: Vec<(Attempt, Box<RawValue>)>,
}

impl DenialRow for DeliveredRow {
    async fn between(
        tx: &mut Tx,
        webhook: Uuid,
        (after, last): (Uuid, Uuid),
        limit: i64,
    ) -> Result<Vec<Self>, StoreError> {
        const SQL: &str = "SELECT id, attempts, bodies FROM delivered_denials WHERE tenant_id = $1 \
            AND webhook_id = $2 AND id > $3 AND id <= $4 ORDER BY id LIMIT $5";
        type Found = (Uuid, Vec<u8>, Vec<u8>);
        let rows = fetch_all!(tx, Found, SQL, &tx.tenant, webhook, after, last, limit)?;
        let mut found = Vec::with_capacity(rows.len());
        for (id, attempts, bodies) in rows {
            found.push(Self { id, denials: denials(&attempts, &bodies)? });
        }
        Ok(found)
    }

    fn id(&self) -> Uuid {
        self.id
    }

    fn denials(&self) -> impl Iterator<Item = (Uuid, &[u8])> {
        self.denials.iter().map(|(attempt, body)| (attempt.event, body.get().as_bytes()))
    }

    async fn erase<'p>(
        self,
        tx: &mut Tx,
        webhook: Uuid,
        persons: &[Option<&'p [u8]>],
        left: &mut Left<'p>,
    ) -> Result<(), StoreError> {
        for person in persons.iter().flatten() {
            left.settled += 1;
            left.count(person, true);
        }
        let kept = self.denials.into_iter().zip(persons).filter(|(_, person)| person.is_none());
        replace(tx, webhook, self.id, kept.map(|(denial, _)| denial).collect()).await
    }
}

/// Reads the denials of a row: the attempt and the body of each.
fn denials(attempts: &[u8], bodies: &[u8]) -> Result<Vec<(Attempt, Box<RawValue>)>, StoreError> {
    let attempts: Vec<Attempt> = serde_json::from_slice(attempts).map_err(|_| ATTEMPTS)?;
    let bodies: Vec<Box<RawValue>> =
        serde_json::from_slice(bodies).map_err(StoreError::corrupt("delivered_denials.bodies"))?;
    Ok(attempts.into_iter().zip(bodies).collect())
}

/// Gives a row these denials; one without any goes.
async fn replace(
    tx: &mut Tx,
    webhook: Uuid,
    id: Uuid,
    denials: Vec<(Attempt, Box<RawValue>)>,
) -> Result<(), StoreError> {
    const REPLACE: &str = "UPDATE delivered_denials SET attempts = $4, bodies = $5, total = $6 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3";
    const DELETE: &str = "DELETE FROM delivered_denials \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3 AND total = 0";
    let total = i64::try_from(denials.len()).unwrap_or(i64::MAX);
    let (attempts, bodies): (Vec<Attempt>, Vec<Box<RawValue>>) = denials.into_iter().unzip();
    let attempts = serde_json::to_vec(&attempts).map_err(|_| ATTEMPTS)?;
    let bodies = serde_json::to_vec(&bodies).map_err(|_| ATTEMPTS)?;
    execute!(tx, REPLACE, &tx.tenant, webhook, id, attempts, bodies, total)?;
    execute!(tx, DELETE, &tx.tenant, webhook, id)?;
    Ok(())
}

/// Counts the delivered denials of `webhook`.
pub(crate) async fn count(tx: &mut Tx, webhook: Uuid) -> Result<i64, StoreError> {
    const SQL: &str = "SELECT CAST(COALESCE(SUM(total), 0) AS BIGINT) FROM delivered_denials \
        WHERE tenant_id = $1 AND webhook_id = $2";
    let row = fetch_optional!(tx, (i64,), SQL, &tx.tenant, webhook)?;
    Ok(row.map_or(0, |(count,)| count))
}

/// Lists up to `limit` of the oldest rows of `webhook`.
pub(crate) async fn oldest(
    tx: &mut Tx,
    webhook: Uuid,
    limit: i64,
) -> Result<Vec<Numbers>, StoreError> {
    const SQL: &str = "SELECT id, total, settled_at FROM delivered_denials \
        WHERE tenant_id = $1 AND webhook_id = $2 ORDER BY id LIMIT $3";
    let rows = fetch_all!(tx, (Uuid, i64, i64), SQL, &tx.tenant, webhook, limit)?;
    Ok(rows.into_iter().map(numbers).collect())
}

fn numbers((id, total, settled_at): (Uuid, i64, i64)) -> Numbers {
    Numbers { id, total, settled_at }
}

/// Deletes the rows of `webhook` up to `last`, and returns the number of their denials.
pub(crate) async fn delete_to(tx: &mut Tx, webhook: Uuid, last: Uuid) -> Result<i64, StoreError> {
    const SQL: &str = "DELETE FROM delivered_denials \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id <= $3 RETURNING total";
    let deleted = fetch_all!(tx, (i64,), SQL, &tx.tenant, webhook, last)?;
    Ok(deleted.into_iter().map(|(total,)| total).sum())
}
