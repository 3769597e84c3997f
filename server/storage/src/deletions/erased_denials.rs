//! Erases the denied checks of persons that wait for webhooks, or that webhooks were sent.

use uuid::Uuid;

use crate::decisions::decision_erasures;
use crate::decisions::denied_persons::{DeniedPersons, Left};
use crate::delivery::delivered_denials::DeliveredRow;
use crate::delivery::delivery_queues::{self, QueueId};
use crate::delivery::denial_segments::SegmentRow;
use crate::delivery::{delivery_rows, denial_rows};
use crate::store::Store;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all};
use crate::transactions::tx::Tx;

/// The rows of many denials that one transaction reads.
const SEGMENTS: i64 = 8;
/// The rows of single denials that one transaction reads.
const ROWS: i64 = 256;

/// Erases the deliveries of the denied checks of persons to every webhook of `tenant`, in short transactions, each of which
/// counts what it took.
///
/// # Errors
/// The database failed: some may be left.
pub async fn erase(
    store: &Store,
    tenant: &str,
    persons: DeniedPersons<'_>,
) -> Result<(), StoreError> {
    let webhooks = store.read(tenant, async |tx| delivery_queues::with_denials(tx).await).await?;
    for webhook in webhooks {
        // In the direction in which denials move: one that leaves its place meanwhile is met in the next.
        for place in [Place::Segments, Place::Delivered, Place::Rows] {
            let mut after = Uuid::nil();
            // A look only reads: most rows are about other persons, and the queue is not locked for them.
            while let Some((next, has_some)) =
                store.read(tenant, async |tx| place.look(tx, webhook, after, persons).await).await?
            {
                if has_some {
                    let part = (place, after, next);
                    store.repeated(|| erase_part(store, tenant, webhook, part, persons)).await?;
                }
                after = next;
            }
        }
    }
    Ok(())
}

/// A table that has denials.
#[derive(Clone, Copy)]
enum Place {
    Segments,
    Delivered,
    Rows,
}

impl Place {
    /// Looks at the next rows of `webhook` after the id `after`. Returns the last one's id and whether some denial of them is
    /// about one of the persons; `None` at the end.
    async fn look(
        self,
        tx: &mut Tx,
        webhook: Uuid,
        after: Uuid,
        persons: DeniedPersons<'_>,
    ) -> Result<Option<(Uuid, bool)>, StoreError> {
        match self {
            Self::Segments => {
                denial_rows::look::<SegmentRow>(tx, webhook, after, SEGMENTS, persons).await
            }
            Self::Delivered => {
                denial_rows::look::<DeliveredRow>(tx, webhook, after, SEGMENTS, persons).await
            }
            Self::Rows => {
                let rows = rows(tx, webhook, (after, Uuid::max()), ROWS).await?;
                let has_some = rows.iter().any(|row| persons.find(row.event, &row.body).is_some());
                Ok(rows.last().map(|last| (last.event, has_some)))
            }
        }
    }
}

/// Erases the denials of the rows after `after` up to `last`, and counts them.
async fn erase_part(
    store: &Store,
    tenant: &str,
    webhook: Uuid,
    (place, after, last): (Place, Uuid, Uuid),
    persons: DeniedPersons<'_>,
) -> Result<(), StoreError> {
    const COUNT: &str = "UPDATE webhook_lanes SET waiting = waiting - $3, settled = settled - $4, \
        dropped = dropped + $5 WHERE tenant_id = $1 AND webhook_id = $2 AND denials";
    let mut tx = store.write_as(tenant).await?;
    let queue = QueueId { webhook, denials: true };
    match place {
        // Whoever serves the queue sends them no more, and goes on.
        Place::Delivered => delivery_queues::lock(&mut tx, queue).await?,
        // It has read the denials by their places: it must write nothing more, and read again.
        Place::Segments | Place::Rows => delivery_queues::take_away(&mut tx, queue).await?,
    }
    let bounds = (after, last);
    let left = match place {
        Place::Segments => {
            denial_rows::erase::<SegmentRow>(&mut tx, webhook, bounds, persons).await?
        }
        Place::Delivered => {
            denial_rows::erase::<DeliveredRow>(&mut tx, webhook, bounds, persons).await?
        }
        Place::Rows => erase_rows(&mut tx, webhook, bounds, persons).await?,
    };
    execute!(tx, COUNT, tenant, webhook, left.waiting, left.settled, left.unreported)?;
    for (person, erased) in left.by_person {
        decision_erasures::count_deliveries(&mut tx, person, erased).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// A denial in rows of its own.
struct OwnRow {
    delivery: Uuid,
    event: Uuid,
    is_over: bool,
    was_sent: bool,
    /// The dropped denials that it reports.
    dropped: i64,
    body: Vec<u8>,
}

/// Lists up to `limit` denials in rows of their own whose events are after the first and up to the last one.
async fn rows(
    tx: &mut Tx,
    webhook: Uuid,
    (after, last): (Uuid, Uuid),
    limit: i64,
) -> Result<Vec<OwnRow>, StoreError> {
    const SQL: &str = "SELECT d.id, d.event_id, d.due_at IS NULL, EXISTS (SELECT 1 \
        FROM webhook_attempts a WHERE a.tenant_id = $1 AND a.delivery_id = d.id), d.dropped, e.body \
        FROM webhook_deliveries d JOIN webhook_events e ON e.tenant_id = $1 AND e.id = d.event_id \
        WHERE d.tenant_id = $1 AND d.webhook_id = $2 AND d.denials AND d.event_id > $3 \
        AND d.event_id <= $4 ORDER BY d.event_id LIMIT $5";
    let found = fetch_all!(tx, OwnColumns, SQL, &tx.tenant, webhook, after, last, limit)?;
    Ok(found.into_iter().map(own_row).collect())
}

/// The columns of an [`OwnRow`], in its order.
type OwnColumns = (Uuid, Uuid, bool, bool, i64, Vec<u8>);

fn own_row((delivery, event, is_over, was_sent, dropped, body): OwnColumns) -> OwnRow {
    OwnRow { delivery, event, is_over, was_sent, dropped, body }
}

async fn erase_rows<'p>(
    tx: &mut Tx,
    webhook: Uuid,
    bounds: (Uuid, Uuid),
    persons: DeniedPersons<'p>,
) -> Result<Left<'p>, StoreError> {
    const ATTEMPTS: &str = "DELETE FROM webhook_attempts WHERE tenant_id = $1 AND delivery_id = $2";
    const DELIVERY: &str = "DELETE FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2";
    let (mut left, mut events) = (Left::default(), Vec::new());
    for row in rows(tx, webhook, bounds, i64::MAX).await? {
        let Some(person) = persons.find(row.event, &row.body) else { continue };
        execute!(tx, ATTEMPTS, &tx.tenant, row.delivery)?;
        execute!(tx, DELIVERY, &tx.tenant, row.delivery)?;
        left.settled += i64::from(row.is_over);
        left.waiting += i64::from(!row.is_over);
        left.count(person, row.was_sent);
        // What was sent has reported its number. Otherwise the next delivery has to.
        left.unreported += if row.was_sent { 0 } else { row.dropped };
        events.push(row.event);
    }
    delivery_rows::delete_unsent(tx, &events).await?;
    Ok(left)
}
