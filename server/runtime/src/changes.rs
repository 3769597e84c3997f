//! Keeps this process up to date with the changes of others, and with its own where they concern access
//! (`docs/semantics.md`, sections 2.9, 6.8 and 6.9). The cost follows the changes, not the number of tenants.

use std::collections::HashSet;
use std::time::Duration;

use portcullis_model::provider::ProviderRecord;
use portcullis_storage::StoreError;
use portcullis_storage::changes::TenantChange;
use tokio::time::Instant;

use crate::app::App;
use crate::change_reader::ReaderState;
use crate::tenant_reads::{self, News};

/// The shortest time between the end of a read and the next one, however many notifications come.
const PAUSE: Duration = Duration::from_millis(10);
/// The number of reads after which what nobody announces is looked at: rows of tenants that are gone for good.
const TIDY_READS: u64 = 64;

impl App {
    /// Reads and applies the changes since the last call. Every request that begins after the return obeys those that were
    /// committed before the call.
    ///
    /// # Errors
    /// The store failed, or did not answer within 5 s. The next call compares everything with the store.
    pub async fn catch_up(&self) -> Result<(), StoreError> {
        let mut state = self.changes.state.lock().await;
        // The proof is of this instant: what is committed during the read may be missing from it.
        let began = Instant::now();
        if self.changes.take_distrust() {
            state.position = None;
        }
        let outcome = self.read_changes(&mut state).await;
        match outcome {
            Ok(()) => {
                self.plans.prove(began);
                self.tenant_freshness.prove(began);
            }
            Err(_) => state.position = None,
        }
        outcome
    }

    /// Reads and applies changes again and again: at intervals, and when a notification says so.
    pub(crate) async fn follow_changes(&self) {
        let interval = self.plans.poll_interval();
        loop {
            if let Err(error) = self.catch_up().await {
                tracing::warn!(%error, "cannot read changes from the database");
            }
            tokio::time::sleep(PAUSE).await;
            // The interval ends the wait if no notification does.
            let _ = tokio::time::timeout(interval, self.changes.woken()).await;
        }
    }

    async fn read_changes(&self, state: &mut ReaderState) -> Result<(), StoreError> {
        let mut has_more = true;
        while has_more {
            // Taken out while it is applied: after a failure there is none, and the next read takes everything as changed.
            let news = tenant_reads::read_changes(&self.store, state.position.take()).await?;
            state.position = Some(match news {
                News::Everything(position) => {
                    has_more = false;
                    self.apply_everything().await?;
                    position
                }
                News::Changes(changes) => {
                    has_more = changes.has_more;
                    self.apply(&changes.tenants).await?;
                    changes.position
                }
            });
        }
        state.reads += 1;
        if state.reads.is_multiple_of(TIDY_READS) {
            self.plans.tidy();
            self.read_closed(&[]).await?;
        }
        Ok(())
    }

    async fn apply(&self, changes: &[TenantChange]) -> Result<(), StoreError> {
        self.resolvers.note_changes(changes.iter().map(|change| &*change.tenant));
        let access = changes.iter().filter(|change| change.concerns_access);
        let access: HashSet<&str> = access.map(|change| &*change.tenant).collect();
        if !access.is_empty() {
            let access: Vec<&str> = access.into_iter().collect();
            self.service_keys.forget_tenants(access.iter().copied());
            // Before the read below: what is read of them at this moment may be older, and is not kept.
            let remembered = self.authenticator.remembered_tenants(&access);
            let providers = self.read_closed(&remembered).await?;
            self.authenticator.apply(&access, &providers, &self.closed_tenants);
            self.webhooks.forget(access.iter().copied());
        }
        self.plans.catch_up(changes).await
    }

    /// Takes everything as changed.
    async fn apply_everything(&self) -> Result<(), StoreError> {
        self.resolvers.note_everything();
        self.read_closed(&[]).await?;
        self.service_keys.forget_all();
        self.authenticator.forget_providers(&self.closed_tenants);
        self.webhooks.forget_all();
        self.plans.compare_all().await
    }

    /// Reads and applies which tenants are closed. Returns the identity providers of `tenants`.
    async fn read_closed(&self, tenants: &[&str]) -> Result<Vec<ProviderRecord>, StoreError> {
        let snapshot = tenant_reads::read(&self.store, tenants).await?;
        let closed: HashSet<String> = snapshot.closed.into_iter().collect();
        if closed != *self.closed_tenants.all() {
            // First, so that no caller of a closed tenant fills the memory again.
            self.closed_tenants.replace(closed);
            for tenant in &*self.closed_tenants.all() {
                self.plans.forget(tenant);
                self.entities.forget(tenant);
            }
        }
        Ok(snapshot.providers)
    }
}
