//! The tuples of a source that an apply deletes because its types do not allow them any more.

use portcullis_engine::Invalid;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::DeletingWrite;
use portcullis_storage::relations::{self, TupleShape};
use portcullis_storage::{StoreError, Tx};

use crate::changes::deletions::Deletions;

/// Most of them: other writes of the tenant wait for the transaction.
const MAX_DELETED: u64 = 10_000;

/// The tuples that may go whatever part of the source they are: a small model drops a relation with all that it has.
const ALWAYS_DELETED: usize = 10;

/// The tuples of a source that the types after an apply do not allow.
#[derive(Debug, Default)]
pub(super) struct OutdatedTuples {
    source: String,
    shapes: Vec<TupleShape>,
    /// The number of tuples of the source.
    owned: usize,
}

impl OutdatedTuples {
    /// Returns the tuples of `source` that have one of these shapes.
    ///
    /// # Errors
    /// They are too many, or the store failed.
    pub(super) async fn find(
        tx: &mut Tx,
        source: Option<&str>,
        shapes: Vec<TupleShape>,
    ) -> Result<Self, OperationError> {
        let Some(source) = source.filter(|_| !shapes.is_empty()) else {
            return Ok(Self::default());
        };
        let owned = relations::count_of(tx, source).await?;
        let found = Self { source: source.to_owned(), shapes, owned };
        if found.count() > MAX_DELETED {
            let what = format!(
                "a source with at most {MAX_DELETED} tuples that the types do not allow any more, not {}; delete some with \
                 `DELETE /api/v1/relations` first",
                found.count()
            );
            return Err(Invalid::expected("/delete_tuples_of", what).into());
        }
        Ok(found)
    }

    /// Returns their number.
    pub(super) fn count(&self) -> u64 {
        self.shapes.iter().map(|shape| shape.of_source).sum()
    }

    /// Refuses to delete more of them than a few, and than this part of the tuples of the source, in percent.
    pub(super) fn must_be_few(&self, percent: u32) -> Result<(), OperationError> {
        let count = usize::try_from(self.count()).unwrap_or(usize::MAX);
        let mut deletions = Deletions::new(count, self.owned, percent);
        deletions.limit = deletions.limit.max(ALWAYS_DELETED);
        if count <= deletions.limit {
            Ok(())
        } else {
            Err(deletions.refused(DeletingWrite::Types).into())
        }
    }

    /// Deletes them, before the types change.
    pub(super) async fn delete(&self, tx: &mut Tx) -> Result<(), StoreError> {
        if self.shapes.is_empty() {
            return Ok(());
        }
        relations::delete_shapes(tx, &self.source, &self.shapes).await.map(drop)
    }
}
