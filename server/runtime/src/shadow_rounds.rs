//! Keeps comparisons with drafts in shadow up to date with the store, and stores their counts (`docs/semantics.md`, section
//! 18.3).

use std::sync::Arc;
use std::time::Duration;

use portcullis_model::shadow::ShadowReport;
use portcullis_storage::shadows::ShadowRow;
use portcullis_storage::{StoreError, shadows};

use crate::app::App;
use crate::shadows::Shadow;

/// The time between two reads of the drafts that other replicas put into shadow.
const READ_PAUSE: Duration = Duration::from_secs(2);
/// The reads after which counts are stored.
const STORE_AFTER: u32 = 5;
/// The most tenants whose checks are compared.
const MAX_SHADOWS: i64 = 10_000;
/// The most comparisons whose counts are stored in one transaction.
const AT_ONCE: usize = 64;

impl App {
    /// Follows the drafts in shadow, and stores counts, for as long as the process runs.
    pub(crate) async fn follow_shadows(&self) {
        loop {
            for _ in 0..STORE_AFTER {
                tokio::time::sleep(READ_PAUSE).await;
                if let Err(error) = self.read_shadows().await {
                    tracing::warn!(%error, "cannot read the drafts in shadow");
                }
            }
            self.store_shadow_counts().await;
        }
    }

    async fn read_shadows(&self) -> Result<(), StoreError> {
        // Held from the read on, so that what an earlier read found never replaces what a later one found.
        let _following = self.shadows.following.lock().await;
        let rows = self.store.read_all(async |tx| shadows::all(tx, MAX_SHADOWS).await).await?;
        self.shadows.follow(&rows);
        Ok(())
    }

    /// Begins the comparison with the draft that a tenant has in shadow now, or ends the one before.
    ///
    /// # Errors
    /// The store failed.
    pub async fn reread_shadow(&self, tenant: &str) -> Result<Option<Arc<Shadow>>, StoreError> {
        let _following = self.shadows.following.lock().await;
        let row = self.store.read(tenant, async |tx| shadows::find(tx).await).await?;
        match row {
            Some(row) => self.shadows.begin(&row),
            None => self.shadows.end(tenant),
        }
        Ok(self.shadows.get(tenant))
    }

    /// Stores the counts of all comparisons. What cannot be stored is stored the next time.
    pub async fn store_shadow_counts(&self) {
        let _storing = self.shadows.storing.lock().await;
        let all = self.shadows.all();
        for some in all.chunks(AT_ONCE) {
            let taken = some.iter().map(|shadow| (shadow, shadow.counts.take()));
            let taken: Vec<_> = taken.filter(|(_, report)| !report.is_empty()).collect();
            if taken.is_empty() {
                continue;
            }
            if let Err(error) = self.store.repeated(|| self.add_counts(&taken)).await {
                tracing::warn!(%error, "cannot store the counts of drafts in shadow");
                taken.into_iter().for_each(|(shadow, report)| shadow.counts.put_back(report));
            }
        }
    }

    async fn add_counts(&self, reports: &[(&Arc<Shadow>, ShadowReport)]) -> Result<(), StoreError> {
        let mut tx = self.store.write_all().await?;
        for (shadow, report) in reports {
            // Other replicas add their counts to the same row.
            let mut all = shadows::lock_counts(&mut tx, &shadow.tenant, shadow.id).await?;
            all.merge(report.clone());
            shadows::store_counts(&mut tx, &shadow.tenant, shadow.id, &all).await?;
        }
        tx.commit().await.map(drop)
    }

    /// Returns the counts of the comparison with a draft: this process's own, and what the others stored last.
    ///
    /// # Errors
    /// The store failed.
    pub async fn shadow_report(&self, row: &ShadowRow) -> Result<ShadowReport, StoreError> {
        // While this is held, no counts are taken from memory and not yet stored.
        let _storing = self.shadows.storing.lock().await;
        let stored = self.store.read(&row.tenant_id, async |tx| {
            shadows::counts(tx, &row.tenant_id, row.shadow_id).await
        });
        let mut report = stored.await?;
        // The comparison in memory may be an earlier one, which this process has not ended yet.
        let own = self.shadows.get(&row.tenant_id).filter(|own| own.id == row.shadow_id);
        if let Some(own) = own {
            report.merge(own.counts.report());
        }
        Ok(report)
    }
}
