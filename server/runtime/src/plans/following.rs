//! Follows the changes of other processes: publishes their revisions, and notices where the database lost commits
//! (`docs/semantics.md`, section 2.9).

use std::collections::HashMap;

use portcullis_storage::changes::TenantChange;
use portcullis_storage::{HistoryPosition, StoreError, tenants};

use crate::plans::Plans;

/// Most tenants of one comparison with the store. Their ids are one parameter of a statement.
const MAX_COMPARED: usize = 1_000;

impl Plans {
    /// Publishes changes that the stream names and nobody has published: changes of other processes whose notification
    /// is late or lost. They may touch anything.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn catch_up(&self, changes: &[TenantChange]) -> Result<(), StoreError> {
        let behind = changes.iter().filter(|change| {
            let latest = self.cache.latest(&change.tenant);
            latest.is_some_and(|latest| latest < change.position.revision)
                // A place that is not later than the known one, and not that one, may be of another history.
                || (latest.is_some() && !self.histories.is_at(&change.tenant, &change.position))
        });
        let mut tenants: Vec<Box<str>> =
            behind.map(|change| change.tenant.as_str().into()).collect();
        // An epoch that could not begin gets another attempt with each read.
        tenants.append(&mut self.histories.take_unsettled());
        self.compare(&tenants).await
    }

    /// Compares the revision of every tenant that has plans with the store, as after lost changes.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn compare_all(&self) -> Result<(), StoreError> {
        self.tidy();
        // `tidy` has kept the places of these tenants, so that they are compared below.
        self.histories.take_unsettled();
        self.compare(&self.histories.tenants()).await
    }

    /// Drops the places in histories of tenants that have no plans any more.
    pub(crate) fn tidy(&self) {
        self.histories.retain(|tenant| self.cache.latest(tenant).is_some());
    }

    /// Publishes the present revisions of `tenants`, and begins an epoch of each that lost commits.
    async fn compare(&self, tenants: &[Box<str>]) -> Result<(), StoreError> {
        for tenants in tenants.chunks(MAX_COMPARED) {
            // Taken before the read, so that a commit during it does not look lost.
            let known: Vec<_> = tenants.iter().map(|tenant| self.histories.last(tenant)).collect();
            let found =
                self.store.read_all(async |tx| tenants::positions(tx, tenants).await).await?;
            let mut found: HashMap<_, _> = found.into_iter().collect();
            for (tenant, before) in tenants.iter().zip(known) {
                let Some(position) = found.remove(&**tenant) else {
                    // It is deleted, or its creation was lost. Else nobody has written yet.
                    if before.is_some_and(|before| before.revision > 0) {
                        self.forget(tenant);
                    }
                    continue;
                };
                self.note_read(tenant, before.as_ref(), position).await;
            }
        }
        Ok(())
    }

    /// Notes the place of `tenant` in its history, which was read when `before` was known.
    async fn note_read(
        &self,
        tenant: &str,
        before: Option<&HistoryPosition>,
        position: HistoryPosition,
    ) {
        self.publish_present(tenant, position.revision);
        let continuity = self.histories.note_read(tenant, before, position);
        if let Err(error) = self.follow(tenant, continuity).await {
            tracing::warn!(tenant, %error, "cannot begin an epoch after lost changes");
            self.histories.add_unsettled(tenant);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
