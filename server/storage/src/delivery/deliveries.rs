//! Deliveries: the outcomes of their attempts, and redeliveries.

use std::collections::HashSet;

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::delivery::{AttemptRecord, DeliveryState};
use uuid::Uuid;

use crate::delivery::delivery_queues::{self, DeliveryQueue, QueueId};
use crate::delivery::delivery_rows::{self, Outcome};
use crate::delivery::jobs::Job;
use crate::delivery::{delivered_denials, denial_queues, denial_segments};
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_optional, indexed};
use crate::transactions::tx::{Statements, Tx};

/// A job and its attempt.
type Made<'m> = (&'m Job, &'m AttemptRecord);

/// Stores attempts and the times of the next ones, as far as there are any. The delivery queue must be held: this
/// transaction has renewed its lease.
pub async fn record_attempts(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    made: &[Made<'_>],
    now: Timestamp,
) -> Result<(), StoreError> {
    let (of_segments, mut of_rows): (Vec<_>, Vec<_>) =
        made.iter().copied().partition(|(job, _)| job.place.is_some());
    let (delivered, moved) = leave_segments(tx, queue, of_segments, now).await?;
    of_rows.extend(moved);
    let over = delivered + record_in_rows(tx, queue, &of_rows, now).await?;
    if queue.denials && over > 0 {
        denial_queues::settled(tx, queue.webhook, over).await?;
    }
    Ok(())
}

/// Takes the denials of these first attempts out of their segments. Stores those that were delivered and returns their
/// number, and returns the others, which get their own rows. It forgets a denial that has left its segment already: it
/// was dropped meanwhile, or the answer to an earlier commit was lost.
async fn leave_segments<'m>(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    mut made: Vec<Made<'m>>,
    now: Timestamp,
) -> Result<(i64, Vec<Made<'m>>), StoreError> {
    if made.is_empty() {
        return Ok((0, Vec::new()));
    }
    let front = denial_segments::front(tx, queue.webhook).await?;
    made.retain(|(job, _)| front.is_some() && job.place >= front);
    let Some(last) = made.iter().filter_map(|(job, _)| job.place).max() else {
        return Ok((0, Vec::new()));
    };
    denial_segments::advance(tx, queue.webhook, last).await?;
    let (mut delivered, failed): (Vec<_>, Vec<_>) =
        made.into_iter().partition(|(_, attempt)| attempt.state == DeliveryState::Delivered);
    // Attempts that run at once end in any order, and the table has them in the order of their ids.
    delivered.sort_unstable_by_key(|(_, attempt)| attempt.id);
    let stored: Vec<_> = delivered.iter().map(|(job, attempt)| (&*job.body, *attempt)).collect();
    delivered_denials::insert(tx, queue.webhook, &stored, now).await?;
    let moved = failed.iter().map(|(job, _)| job.moved()).collect();
    denial_segments::insert_rows(tx, queue.webhook, moved).await?;
    Ok((i64::try_from(delivered.len()).unwrap_or(i64::MAX), failed))
}

/// Stores attempts of deliveries that have their own rows, and returns the number of those that are over.
async fn record_in_rows(
    tx: &mut Tx,
    queue: &DeliveryQueue,
    made: &[Made<'_>],
    now: Timestamp,
) -> Result<i64, StoreError> {
    if made.is_empty() {
        return Ok(0);
    }
    let outcomes: Vec<Outcome> = made.iter().map(outcome).collect();
    let written: HashSet<Uuid> =
        delivery_rows::settle(tx, &outcomes, now).await?.into_iter().collect();
    let mut attempts = Vec::with_capacity(made.len());
    for (job, attempt) in made {
        // A denial may have been dropped during the attempt.
        if written.contains(&job.delivery) || exists(tx, job.delivery).await? {
            attempts.push(*attempt);
        }
    }
    delivery_rows::insert_attempts(tx, queue.webhook, &attempts).await?;
    let over =
        outcomes.iter().filter(|one| one.due_at.is_none() && written.contains(&one.delivery));
    Ok(i64::try_from(over.count()).unwrap_or(i64::MAX))
}

/// Returns what an attempt makes of its delivery.
fn outcome((job, attempt): &Made<'_>) -> Outcome {
    Outcome {
        delivery: job.delivery,
        round: job.round,
        failures: job.failures + i64::from(attempt.state != DeliveryState::Delivered),
        due_at: attempt.next_attempt_at.map(Timestamp::millis),
    }
}

async fn exists(tx: &mut Tx, delivery: Uuid) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2";
    Ok(fetch_optional!(tx, (Uuid,), SQL, &tx.tenant, delivery)?.is_some())
}

/// Starts a delivery of `webhook` again from the beginning, at `now`, and returns the id of its event. `None` if
/// there is no such delivery.
pub async fn redeliver(
    tx: &mut Tx,
    webhook: Uuid,
    id: Uuid,
    now: Timestamp,
) -> Result<Option<Uuid>, StoreError> {
    const FIND: &str = "SELECT event_id, denials FROM webhook_deliveries \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3";
    const SQL: &str = "UPDATE webhook_deliveries SET failures = 0, round = round + 1, \
        settled_at = NULL, due_at = CASE WHEN due_at = 0 THEN 0 ELSE $3 END \
        WHERE tenant_id = $1 AND id = $2";
    let found = fetch_optional!(tx, (Uuid, bool), FIND, &tx.tenant, webhook, id)?;
    // Only denied checks can be without a row of their own.
    let denials = found.is_none_or(|(_, denials)| denials);
    // The queue is locked first, as a delivery worker does, so that the two never wait for each other.
    delivery_queues::schedule_attempt(tx, QueueId { webhook, denials }, now.millis()).await?;
    let event = match found {
        Some((event, _)) => Some(event),
        None => delivered_denials::move_to_rows(tx, webhook, id).await?,
    };
    let Some(event) = event else { return Ok(None) };
    if denials {
        denial_queues::redelivered(tx, webhook, id).await?;
    }
    execute!(tx, SQL, &tx.tenant, id, now.millis())?;
    tx.writes.deliveries = true;
    tx.audit(AuditAction::DeliveryRepeated, id);
    Ok(Some(event))
}

/// Deletes all deliveries to `webhook` and their attempts. Those in rows of many go with the row of the webhook.
pub(crate) async fn delete_of(tx: &mut Tx, webhook: Uuid) -> Result<(), StoreError> {
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE tenant_id = $1 AND webhook_id = $2";
    const DELIVERIES: Statements = indexed!(
        "DELETE FROM webhook_deliveries",
        webhook_deliveries_by_queue,
        "WHERE tenant_id = $1 AND webhook_id = $2"
    );
    execute!(tx, ATTEMPTS, &tx.tenant, webhook)?;
    let deliveries = tx.statement(&DELIVERIES);
    execute!(tx, deliveries, &tx.tenant, webhook)?;
    Ok(())
}
