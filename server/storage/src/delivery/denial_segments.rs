//! The table of segments: each row has many denied checks that wait for their first attempt, so that the database has
//! little work with each. They leave it from the front.
//!
//! A denied check is in one place: in a segment until its first attempt, then in `delivered_denials`, if that attempt
//! delivered it, or in its own rows, as other events are. One that reports dropped denials has its own rows, too.

use portcullis_model::Timestamp;
use portcullis_model::webhook::EventType;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::decisions::denied_persons::Left;
use crate::delivery::delivery_queues::QueueId;
use crate::delivery::delivery_rows::{self, NewDelivery, NewEvent};
use crate::delivery::denial_rows::DenialRow;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all};
use crate::transactions::row_lists::{Rows, write_rows};
use crate::transactions::tx::{Inner, Tx};

/// The most denials of a segment: fewer than the delivery worker takes at a time, because it reads whole segments.
const MAX_SEGMENT: usize = 64;
/// Segments that are looked at first.
const FEW: i64 = 8;

const DENIALS: StoreError = StoreError::Corrupt { what: "denial_segments.denials" };

/// A denied check for one webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Denial {
    pub(crate) delivery: Uuid,
    pub(crate) event: Uuid,
    /// The bytes that every attempt sends.
    pub(crate) body: Box<RawValue>,
}

impl Denial {
    /// Returns `None` if `body` is not JSON, which no body is.
    pub(crate) fn new(delivery: Uuid, event: Uuid, body: &[u8]) -> Option<Self> {
        let body = RawValue::from_string(String::from_utf8(body.to_vec()).ok()?).ok()?;
        Some(Self { delivery, event, body })
    }
}

/// A segment that is not stored yet.
pub(crate) struct NewSegment {
    webhook: Uuid,
    id: Uuid,
    total: i64,
    denials: Vec<u8>,
}

impl NewSegment {
    /// Returns the segments of these denials of `webhook`, in their order.
    pub(crate) fn split(webhook: Uuid, denials: &[Denial]) -> impl Iterator<Item = Self> {
        denials.chunks(MAX_SEGMENT).filter_map(move |part| {
            let total = i64::try_from(part.len()).ok()?;
            let denials = serde_json::to_vec(part).ok()?;
            Some(Self { webhook, id: part.last()?.event, total, denials })
        })
    }
}

/// The place of a denial in the segments of a webhook. Places are in the order of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) segment: Uuid,
    pub(crate) index: i64,
}

/// A denied check that gets its own rows.
pub(crate) struct MovedDenial {
    pub(crate) delivery: Uuid,
    pub(crate) event: Uuid,
    pub(crate) body: Vec<u8>,
}

/// The numbers of a stored segment.
pub(crate) struct Segment {
    /// The id of its last event.
    pub(crate) id: Uuid,
    pub(crate) total: i64,
    /// The denials at its begin that wait here no more.
    pub(crate) gone: i64,
}

impl Segment {
    /// Returns the number of its denials that wait.
    pub(crate) fn waiting(&self) -> i64 {
        self.total - self.gone
    }
}

/// Inserts segments.
pub(crate) async fn insert(tx: &mut Tx, segments: &[NewSegment]) -> Result<(), StoreError> {
    const ROWS: Rows = Rows {
        head: "INSERT INTO denial_segments (tenant_id, webhook_id, id, total, denials)",
        values: 4,
        tail: "",
    };
    const POSTGRES: &str = "INSERT INTO denial_segments (tenant_id, webhook_id, id, total, denials) \
        SELECT $1, webhook_id, id, total, denials FROM UNNEST(CAST($2 AS UUID[]), \
        CAST($3 AS UUID[]), CAST($4 AS BIGINT[]), CAST($5 AS BYTEA[])) \
        AS new (webhook_id, id, total, denials)";
    if segments.is_empty() {
        return Ok(());
    }
    if let Inner::Postgres(connection) = &mut tx.inner {
        let query = sqlx::query(POSTGRES)
            .bind(&tx.tenant)
            .bind(delivery_rows::column(segments, |one| one.webhook))
            .bind(delivery_rows::column(segments, |one| one.id))
            .bind(delivery_rows::column(segments, |one| one.total))
            .bind(delivery_rows::column(segments, |one| &*one.denials));
        query.execute(&mut **connection).await?;
        return Ok(());
    }
    write_rows!(tx, ROWS, segments, one => one.webhook, one.id, one.total, &*one.denials);
    Ok(())
}

/// Lists the oldest segments of `webhook` that have `limit` waiting denials together, or fewer if there are no more.
pub(crate) async fn oldest(
    tx: &mut Tx,
    webhook: Uuid,
    limit: i64,
) -> Result<Vec<Segment>, StoreError> {
    // Mostly few segments have enough. Each has one denial at least.
    let few = first_segments(tx, webhook, limit.min(FEW)).await?;
    let segments = match few.iter().map(Segment::waiting).sum::<i64>() < limit {
        true if i64::try_from(few.len()) == Ok(FEW) => first_segments(tx, webhook, limit).await?,
        _ => few,
    };
    let mut before = 0;
    let needed = segments.into_iter().take_while(|segment| {
        let is_needed = before < limit;
        before += segment.waiting();
        is_needed
    });
    Ok(needed.collect())
}

/// Lists the first `count` segments of `webhook`.
async fn first_segments(
    tx: &mut Tx,
    webhook: Uuid,
    count: i64,
) -> Result<Vec<Segment>, StoreError> {
    const SQL: &str = "SELECT id, total, gone FROM denial_segments \
        WHERE tenant_id = $1 AND webhook_id = $2 ORDER BY id LIMIT $3";
    let rows = fetch_all!(tx, (Uuid, i64, i64), SQL, &tx.tenant, webhook, count)?;
    Ok(rows.into_iter().map(|(id, total, gone)| Segment { id, total, gone }).collect())
}

/// Reads the waiting denials of all segments of `webhook` up to `last`.
pub(crate) async fn read(
    tx: &mut Tx,
    webhook: Uuid,
    last: Uuid,
) -> Result<Vec<(Place, Denial)>, StoreError> {
    const SQL: &str = "SELECT id, gone, denials FROM denial_segments \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id <= $3 ORDER BY id";
    let rows = fetch_all!(tx, (Uuid, i64, Vec<u8>), SQL, &tx.tenant, webhook, last)?;
    let mut waiting = Vec::new();
    for (segment, gone, denials) in rows {
        let denials: Vec<Denial> = serde_json::from_slice(&denials).map_err(|_| DENIALS)?;
        let all = (0..).map(|index| Place { segment, index }).zip(denials);
        waiting.extend(all.filter(|(place, _)| place.index >= gone));
    }
    Ok(waiting)
}

/// Returns the first place that waits in the segments of `webhook`; `None` if no denial waits there.
pub(crate) async fn front(tx: &mut Tx, webhook: Uuid) -> Result<Option<Place>, StoreError> {
    let first = oldest(tx, webhook, 1).await?.into_iter().next();
    Ok(first.map(|Segment { id, gone, .. }| Place { segment: id, index: gone }))
}

/// Notes that the denials of `webhook` wait in its segments no more, up to the one at `last`.
pub(crate) async fn advance(tx: &mut Tx, webhook: Uuid, last: Place) -> Result<(), StoreError> {
    const DELETE: &str = "DELETE FROM denial_segments WHERE tenant_id = $1 AND webhook_id = $2 \
        AND (id < $3 OR (id = $3 AND total <= $4)) RETURNING id";
    const ADVANCE: &str = "UPDATE denial_segments SET gone = $4 \
        WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3 AND gone < $4";
    let gone = last.index + 1;
    let deleted = fetch_all!(tx, (Uuid,), DELETE, &tx.tenant, webhook, last.segment, gone)?;
    // Denials behind `last` still wait in its segment: only its front moves.
    if !deleted.contains(&(last.segment,)) {
        execute!(tx, ADVANCE, &tx.tenant, webhook, last.segment, gone)?;
    }
    Ok(())
}

/// A segment with its denials.
pub(crate) struct SegmentRow {
    id: Uuid,
    /// The number of denials at its begin that wait no more.
    gone: i64,
    denials: Vec<Denial>,
}

/// Nobody may hold the queue during an erasure: places change.
impl DenialRow for SegmentRow {
    async fn between(
        tx: &mut Tx,
        webhook: Uuid,
        (after, last): (Uuid, Uuid),
        limit: i64,
    ) -> Result<Vec<Self>, StoreError> {
        const SQL: &str = "SELECT id, gone, denials FROM denial_segments WHERE tenant_id = $1 \
            AND webhook_id = $2 AND id > $3 AND id <= $4 ORDER BY id LIMIT $5";
        type Found = (Uuid, i64, Vec<u8>);
        let rows = fetch_all!(tx, Found, SQL, &tx.tenant, webhook, after, last, limit)?;
        let mut found = Vec::with_capacity(rows.len());
        for (id, gone, denials) in rows {
            let denials = serde_json::from_slice(&denials).map_err(|_| DENIALS)?;
            found.push(Self { id, gone, denials });
        }
        Ok(found)
    }

    fn id(&self) -> Uuid {
        self.id
    }

    fn denials(&self) -> impl Iterator<Item = (Uuid, &[u8])> {
        self.denials.iter().map(|denial| (denial.event, denial.body.get().as_bytes()))
    }

    async fn erase<'p>(
        self,
        tx: &mut Tx,
        webhook: Uuid,
        persons: &[Option<&'p [u8]>],
        left: &mut Left<'p>,
    ) -> Result<(), StoreError> {
        const REPLACE: &str = "UPDATE denial_segments SET denials = $4, total = $5, gone = $6 \
            WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3";
        const DELETE: &str = "DELETE FROM denial_segments \
            WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3 AND total <= gone";
        let Self { id, gone, denials } = self;
        let (mut kept, mut total, mut kept_gone) = (Vec::new(), 0, 0);
        for (place, (denial, person)) in (0..).zip(denials.into_iter().zip(persons)) {
            let is_gone = place < gone;
            match person {
                // Those that wait here no more were counted when they left.
                Some(_) if is_gone => {}
                Some(person) => {
                    left.waiting += 1;
                    left.count(person, false);
                }
                None => {
                    total += 1;
                    kept_gone += i64::from(is_gone);
                    kept.push(denial);
                }
            }
        }
        let denials = serde_json::to_vec(&kept).map_err(|_| DENIALS)?;
        execute!(tx, REPLACE, &tx.tenant, webhook, id, denials, total, kept_gone)?;
        execute!(tx, DELETE, &tx.tenant, webhook, id)?;
        Ok(())
    }
}

/// Gives denials their own rows, in which their first attempt is due.
pub(crate) async fn insert_rows(
    tx: &mut Tx,
    webhook: Uuid,
    mut denials: Vec<MovedDenial>,
) -> Result<(), StoreError> {
    if denials.is_empty() {
        return Ok(());
    }
    // Rows of events are locked in the order of their ids.
    denials.sort_unstable_by_key(|one| one.event);
    let queue = QueueId { webhook, denials: true };
    let (mut events, mut deliveries) = (Vec::new(), Vec::new());
    for MovedDenial { delivery, event, body } in denials {
        let (kind, at) = (EventType::AccessDenied.into_str(), Timestamp::from_id(event));
        events.push(NewEvent { id: event, kind, body, at });
        deliveries.push(NewDelivery { id: delivery, queue, event });
    }
    // The event of another webhook's delivery may have its row already.
    delivery_rows::insert_events(tx, &events).await?;
    delivery_rows::insert_deliveries(tx, &deliveries).await
}
