//! The rows that have many denials each, of two tables: the walk that finds and erases those about persons.

use uuid::Uuid;

use crate::decisions::denied_persons::{DeniedPersons, Left};
use crate::transactions::error::StoreError;
use crate::transactions::tx::Tx;

/// A row with many denials.
pub(crate) trait DenialRow: Sized {
    /// Lists up to `limit` rows of `webhook` after the first id and up to the last one.
    async fn between(
        tx: &mut Tx,
        webhook: Uuid,
        bounds: (Uuid, Uuid),
        limit: i64,
    ) -> Result<Vec<Self>, StoreError>;

    fn id(&self) -> Uuid;

    /// Returns the event and the body of each denial.
    fn denials(&self) -> impl Iterator<Item = (Uuid, &[u8])>;

    /// Stores the row without the denials that have a person, of whom `persons` has the codes in the order of the denials. Notes
    /// what left.
    async fn erase<'p>(
        self,
        tx: &mut Tx,
        webhook: Uuid,
        persons: &[Option<&'p [u8]>],
        left: &mut Left<'p>,
    ) -> Result<(), StoreError>;
}

/// Looks at up to `limit` rows of `webhook` after the id `after`. Returns the last one's id and whether some denial of them
/// is about one of the persons; `None` at the end.
pub(crate) async fn look<R: DenialRow>(
    tx: &mut Tx,
    webhook: Uuid,
    after: Uuid,
    limit: i64,
    persons: DeniedPersons<'_>,
) -> Result<Option<(Uuid, bool)>, StoreError> {
    let rows = R::between(tx, webhook, (after, Uuid::max()), limit).await?;
    let mut denials = rows.iter().flat_map(R::denials);
    let has_some = denials.any(|(event, body)| persons.find(event, body).is_some());
    Ok(rows.last().map(|row| (row.id(), has_some)))
}

/// Erases the denials about the persons from the rows of `webhook` after the first id and up to the last one.
pub(crate) async fn erase<'p, R: DenialRow>(
    tx: &mut Tx,
    webhook: Uuid,
    bounds: (Uuid, Uuid),
    persons: DeniedPersons<'p>,
) -> Result<Left<'p>, StoreError> {
    let mut left = Left::default();
    // Without a limit, because the bounds hold what one look has read.
    for row in R::between(tx, webhook, bounds, i64::MAX).await? {
        let found: Vec<_> = row.denials().map(|(event, body)| persons.find(event, body)).collect();
        if found.iter().any(Option::is_some) {
            row.erase(tx, webhook, &found, &mut left).await?;
        }
    }
    Ok(left)
}
