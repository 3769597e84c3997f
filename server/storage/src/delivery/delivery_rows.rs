//! Writes many rows of events, deliveries and attempts at a time: PostgreSQL gets each column as an array, so that one
//! statement with one round trip takes any number of rows.

use portcullis_model::Timestamp;
use portcullis_model::delivery::AttemptRecord;
use uuid::Uuid;

use crate::delivery::delivery_queues::QueueId;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_optional};
use crate::transactions::row_lists::{Rows, write_rows};
use crate::transactions::tx::{Inner, Tx};

/// An event that is not stored yet.
pub(crate) struct NewEvent {
    pub(crate) id: Uuid,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Timestamp,
}

/// A delivery that is not stored yet.
pub(crate) struct NewDelivery {
    pub(crate) id: Uuid,
    pub(crate) queue: QueueId,
    pub(crate) event: Uuid,
}

/// The state of a delivery after an attempt.
pub(crate) struct Outcome {
    pub(crate) delivery: Uuid,
    /// The round of the attempt. A redelivery that a client requested meanwhile has another one.
    pub(crate) round: i64,
    pub(crate) failures: i64,
    /// The time of the next attempt; `None` if the delivery is over.
    pub(crate) due_at: Option<i64>,
}

/// Returns the values of one column.
pub(crate) fn column<'r, R, V>(rows: &'r [R], value: impl Fn(&'r R) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

/// Inserts events, which come in the order of their ids. One may exist already, if it had no row to itself before: it
/// stays locked, so that nobody deletes it before it has its delivery.
pub(crate) async fn insert_events(tx: &mut Tx, events: &[NewEvent]) -> Result<(), StoreError> {
    const ROWS: Rows = Rows {
        head: "INSERT INTO webhook_events (tenant_id, id, type, body, created_at)",
        values: 4,
        tail: "ON CONFLICT DO NOTHING",
    };
    // The update changes nothing, but locks the row, which `DO NOTHING` does not.
    const POSTGRES: &str = "INSERT INTO webhook_events (tenant_id, id, type, body, created_at) \
        SELECT $1, id, type, body, created_at FROM UNNEST(CAST($2 AS UUID[]), CAST($3 AS TEXT[]), \
        CAST($4 AS BYTEA[]), CAST($5 AS BIGINT[])) AS new (id, type, body, created_at) \
        ON CONFLICT (tenant_id, id) DO UPDATE SET type = excluded.type";
    if let Inner::Postgres(connection) = &mut tx.inner {
        let query = sqlx::query(POSTGRES)
            .bind(&tx.tenant)
            .bind(column(events, |one| one.id))
            .bind(column(events, |one| one.kind))
            .bind(column(events, |one| &*one.body))
            .bind(column(events, |one| one.at.millis()));
        query.execute(&mut **connection).await?;
        return Ok(());
    }
    write_rows!(tx, ROWS, events, one => one.id, one.kind, &*one.body, one.at.millis());
    Ok(())
}

/// Inserts deliveries whose first attempt is due. Their events are stored.
pub(crate) async fn insert_deliveries(
    tx: &mut Tx,
    deliveries: &[NewDelivery],
) -> Result<(), StoreError> {
    const ROWS: Rows = Rows {
        head: "INSERT INTO webhook_deliveries \
            (tenant_id, id, webhook_id, denials, event_id, due_at)",
        values: 5,
        tail: "",
    };
    const POSTGRES: &str = "INSERT INTO webhook_deliveries \
        (tenant_id, id, webhook_id, denials, event_id, due_at) \
        SELECT $1, id, webhook_id, denials, event_id, 0 FROM UNNEST(CAST($2 AS UUID[]), \
        CAST($3 AS UUID[]), CAST($4 AS BOOLEAN[]), CAST($5 AS UUID[])) \
        AS new (id, webhook_id, denials, event_id)";
    if let Inner::Postgres(connection) = &mut tx.inner {
        let query = sqlx::query(POSTGRES)
            .bind(&tx.tenant)
            .bind(column(deliveries, |one| one.id))
            .bind(column(deliveries, |one| one.queue.webhook))
            .bind(column(deliveries, |one| one.queue.denials))
            .bind(column(deliveries, |one| one.event));
        query.execute(&mut **connection).await?;
        return Ok(());
    }
    write_rows!(tx, ROWS, deliveries, one =>
        one.id, one.queue.webhook, one.queue.denials, one.event, 0_i64);
    Ok(())
}

/// Stores the outcomes of attempts that were made until `now`, and returns the deliveries concerned. It leaves alone a
/// delivery of another round, and one that is over: the answer to an earlier commit was lost.
pub(crate) async fn settle(
    tx: &mut Tx,
    outcomes: &[Outcome],
    now: Timestamp,
) -> Result<Vec<Uuid>, StoreError> {
    const SQLITE: &str = "UPDATE webhook_deliveries SET due_at = $4, failures = $5, \
        settled_at = CASE WHEN CAST($4 AS BIGINT) IS NULL THEN CAST($6 AS BIGINT) END \
        WHERE tenant_id = $1 AND id = $2 AND round = $3 AND due_at IS NOT NULL RETURNING id";
    // Without statistics, PostgreSQL would read all deliveries of the tenant to join them: it knows the index by the list.
    const POSTGRES: &str = "UPDATE webhook_deliveries AS stored SET due_at = new.due_at, \
        failures = new.failures, settled_at = CASE WHEN new.due_at IS NULL THEN CAST($6 AS BIGINT) END \
        FROM UNNEST(CAST($2 AS UUID[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
        CAST($5 AS BIGINT[])) AS new (id, round, due_at, failures) \
        WHERE stored.tenant_id = $1 AND stored.id = ANY (CAST($2 AS UUID[])) \
        AND stored.id = new.id AND stored.round = new.round \
        AND stored.due_at IS NOT NULL RETURNING stored.id";
    if let Inner::Postgres(connection) = &mut tx.inner {
        let query = sqlx::query_scalar(POSTGRES)
            .bind(&tx.tenant)
            .bind(column(outcomes, |one| one.delivery))
            .bind(column(outcomes, |one| one.round))
            .bind(column(outcomes, |one| one.due_at))
            .bind(column(outcomes, |one| one.failures))
            .bind(now.millis());
        return Ok(query.fetch_all(&mut **connection).await?);
    }
    let mut settled = Vec::with_capacity(outcomes.len());
    for Outcome { delivery, round, failures, due_at } in outcomes {
        let row = fetch_optional!(
            tx,
            (Uuid,),
            SQLITE,
            &tx.tenant,
            delivery,
            round,
            due_at,
            failures,
            now.millis()
        )?;
        settled.extend(row.map(|(id,)| id));
    }
    Ok(settled)
}

/// Inserts attempts to deliver to `webhook`. One may exist already, if the answer to an earlier commit was lost.
pub(crate) async fn insert_attempts(
    tx: &mut Tx,
    webhook: Uuid,
    attempts: &[&AttemptRecord],
) -> Result<(), StoreError> {
    const ROWS: Rows = Rows {
        head: "INSERT INTO webhook_attempts (tenant_id, webhook_id, id, delivery_id, retry_count, \
            http_status, response_body, error, duration_ms, state, attempted_at, next_attempt_at)",
        values: 11,
        tail: "ON CONFLICT DO NOTHING",
    };
    const POSTGRES: &str = "INSERT INTO webhook_attempts (tenant_id, webhook_id, id, delivery_id, \
        retry_count, http_status, response_body, error, duration_ms, state, attempted_at, \
        next_attempt_at) SELECT $1, $2, id, delivery_id, retry_count, http_status, response_body, \
        error, duration_ms, state, attempted_at, next_attempt_at FROM UNNEST(CAST($3 AS UUID[]), \
        CAST($4 AS UUID[]), CAST($5 AS BIGINT[]), CAST($6 AS BIGINT[]), CAST($7 AS TEXT[]), \
        CAST($8 AS TEXT[]), CAST($9 AS BIGINT[]), CAST($10 AS TEXT[]), CAST($11 AS BIGINT[]), \
        CAST($12 AS BIGINT[])) AS new (id, delivery_id, retry_count, http_status, response_body, \
        error, duration_ms, state, attempted_at, next_attempt_at) ON CONFLICT DO NOTHING";
    let next = |one: &AttemptRecord| one.next_attempt_at.map(Timestamp::millis);
    if let Inner::Postgres(connection) = &mut tx.inner {
        let query = sqlx::query(POSTGRES)
            .bind(&tx.tenant)
            .bind(webhook)
            .bind(column(attempts, |one| one.id))
            .bind(column(attempts, |one| one.delivery_id))
            .bind(column(attempts, |one| one.retry_count))
            .bind(column(attempts, |one| one.http_status))
            .bind(column(attempts, |one| one.response_body.as_deref()))
            .bind(column(attempts, |one| one.error.as_deref()))
            .bind(column(attempts, |one| one.duration_ms))
            .bind(column(attempts, |one| one.state.into_str()))
            .bind(column(attempts, |one| one.attempted_at.millis()))
            .bind(column(attempts, |one| next(one)));
        query.execute(&mut **connection).await?;
        return Ok(());
    }
    write_rows!(tx, ROWS, attempts, one =>
        webhook,
        one.id,
        one.delivery_id,
        one.retry_count,
        one.http_status,
        one.response_body.as_deref(),
        one.error.as_deref(),
        one.duration_ms,
        one.state.into_str(),
        one.attempted_at.millis(),
        next(one),
    );
    Ok(())
}

/// Deletes the events that have no delivery left, except one to which another transaction adds a delivery now.
/// The retention deletes what stays.
pub(crate) async fn delete_unsent(tx: &mut Tx, events: &[Uuid]) -> Result<(), StoreError> {
    const SQLITE: &str = "DELETE FROM webhook_events WHERE tenant_id = $1 AND id = $2 AND NOT EXISTS \
        (SELECT 1 FROM webhook_deliveries d INDEXED BY webhook_deliveries_by_event \
        WHERE d.tenant_id = $1 AND d.event_id = $2)";
    // The second statement sees every delivery that was added before the lock.
    const LOCK: &str = "SELECT id FROM webhook_events WHERE tenant_id = $1 AND id = ANY ($2) \
        FOR UPDATE SKIP LOCKED";
    const POSTGRES: &str = "DELETE FROM webhook_events e WHERE e.tenant_id = $1 AND e.id = ANY ($2) \
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d \
        WHERE d.tenant_id = $1 AND d.event_id = e.id)";
    if let Inner::Postgres(connection) = &mut tx.inner {
        let lock = sqlx::query_scalar(LOCK).bind(&tx.tenant).bind(events);
        let locked: Vec<Uuid> = lock.fetch_all(&mut **connection).await?;
        sqlx::query(POSTGRES).bind(&tx.tenant).bind(locked).execute(&mut **connection).await?;
        return Ok(());
    }
    for event in events {
        execute!(tx, SQLITE, &tx.tenant, event)?;
    }
    Ok(())
}
