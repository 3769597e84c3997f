//! The identity providers that are in use: the store notes them, so that the next start fetches their key sets
//! (`docs/semantics.md`, section 6.5).

use std::time::Duration;

use portcullis_storage::{StoreError, providers};

use crate::app::App;

/// The length of a round. A provider that nobody used for 60 of them is forgotten.
const ROUND: Duration = Duration::from_mins(1);
/// Most key sets that are fetched at the start, for the issuers that were used last.
const MAX_AT_START: i64 = 256;
/// Most uses that one transaction notes. Other writers of SQLite wait meanwhile.
const MAX_NOTED: usize = 500;

impl App {
    /// Fetches the key sets of the issuers that were used last, and then notes the uses of providers every minute.
    pub(crate) async fn follow_provider_uses(&self) {
        match self.issuers_used_last().await {
            Ok(issuers) => self.authenticator.warm_up(&issuers).await,
            Err(error) => tracing::warn!(%error, "cannot read the issuers that were used last"),
        }
        loop {
            tokio::time::sleep(ROUND).await;
            self.webhooks.tidy();
            let used = self.authenticator.tidy();
            for ids in used.chunks(MAX_NOTED) {
                if let Err(error) = self.note_uses(ids).await {
                    tracing::warn!(%error, "cannot note the use of identity providers");
                }
            }
        }
    }

    async fn issuers_used_last(&self) -> Result<Vec<String>, StoreError> {
        self.store.read_all(async |tx| providers::used_last(tx, MAX_AT_START).await).await
    }

    async fn note_uses(&self, ids: &[uuid::Uuid]) -> Result<(), StoreError> {
        let mut tx = self.store.write_all().await?;
        providers::note_uses(&mut tx, ids, self.clock.now().into()).await?;
        tx.commit().await.map(drop)
    }
}
