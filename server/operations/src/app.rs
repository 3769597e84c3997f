//! The wired service, which every use case takes.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Metrics;
use crate::plans::Plans;
use crate::uploads::Uploads;
use portcullis_auth::{Authenticator, Mode};
use portcullis_egress::EgressConfig;
use portcullis_limits::CallerLimits;
use portcullis_model::Authorship;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::provider::ProviderRecord;
use portcullis_resolvers::ResolverService;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Notice, Store, StoreError, Tx, providers};
use portcullis_webhooks::Webhooks;

/// The time between two reads of the registered identity providers. A change on another replica counts here
/// within a second.
const PROVIDER_INTERVAL: Duration = Duration::from_millis(800);

/// The pause before the next attempt to listen for changes.
const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// The wired service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
#[derive(Debug)]
pub struct Parts {
    pub store: Store,
    pub plans: Plans,
    pub mode: Mode,
    pub authenticator: Authenticator,
    pub manager_roles: Vec<String>,
    /// Encrypts secrets at rest.
    pub keys: KeyRing,
    /// CallerLimits the addresses of outgoing requests.
    pub egress: EgressConfig,
    pub webhooks: Webhooks,
    pub resolvers: ResolverService,
    pub uploads: Uploads,
    pub limits: CallerLimits,
    pub metrics: Metrics,
    pub clock: Clock,
    pub ids: Ids,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the authorship of a change that `actor` makes now.
    pub fn authored_by(&self, actor: &str) -> Authorship {
        Authorship { actor: actor.to_owned(), at: self.clock.now().into() }
    }

    /// Commits `tx` and returns the tenant's revision. Every check that begins after the return sees the change,
    /// and the delivery of its events has begun.
    ///
    /// # Errors
    /// [`StoreError::Quota`] if the tenant would have more than a quota allows; else the database failed.
    pub async fn commit(&self, tx: Tx) -> Result<u64, StoreError> {
        let committed = self.plans.commit(tx).await.inspect_err(|error| {
            if let StoreError::Quota(excess) = error {
                self.metrics.quotas.refused(excess.quota);
            }
        })?;
        self.webhooks.committed(committed.writes).await;
        Ok(committed.revision)
    }

    /// Returns the metrics of the process, as `GET /metrics` shows them.
    pub fn render_metrics(&self) -> String {
        let own = [("uploads", self.uploads.tenants()), ("write_turns", self.store.writers())];
        let maps = self.plans.measure().into_iter().chain(self.resolvers.entries());
        let maps = maps.chain(self.limits.entries()).chain(self.webhooks.entries());
        for (map, entries) in maps.chain(own) {
            self.metrics.set_entries(map, entries);
        }
        self.metrics.render()
    }

    /// Reads the identity providers that are registered now. Does nothing in `selfhost` mode.
    pub async fn reload_providers(&self) -> Result<(), StoreError> {
        if let Authenticator::Saas(registered) = &self.authenticator {
            registered.reload(self.registered_providers()).await?;
        }
        Ok(())
    }

    async fn registered_providers(&self) -> Result<Vec<ProviderRecord>, StoreError> {
        let mut tx = self.store.read_all().await?;
        let records = providers::list_all(&mut tx).await?;
        tx.end().await?;
        Ok(records)
    }

    /// Starts the tasks that keep this process up to date with the writes of others.
    pub fn keep_up(&self) {
        let app = self.clone();
        tokio::spawn(async move { app.plans.poll().await });
        let app = self.clone();
        tokio::spawn(async move { app.webhooks.poll().await });
        let app = self.clone();
        tokio::spawn(async move { app.resolvers.reconcile().await });
        let app = self.clone();
        tokio::spawn(async move { app.resolvers.watch_operator_resolvers().await });
        let app = self.clone();
        tokio::spawn(async move { app.listen().await });
        let app = self.clone();
        tokio::spawn(async move { app.poll_providers().await });
    }

    async fn poll_providers(&self) {
        loop {
            if let Err(error) = self.reload_providers().await {
                tracing::warn!(%error, "cannot read the identity providers");
            }
            tokio::time::sleep(PROVIDER_INTERVAL).await;
        }
    }

    /// Handles the notifications of other replicas. Ends at once on SQLite, which has no replicas.
    async fn listen(&self) {
        loop {
            match self.listen_once().await {
                Ok(()) => return,
                Err(error) => tracing::warn!(%error, "cannot listen for changes"),
            }
            tokio::time::sleep(LISTEN_PAUSE).await;
        }
    }

    async fn listen_once(&self) -> Result<(), StoreError> {
        let Some(mut notices) = self.store.notices().await? else { return Ok(()) };
        loop {
            match notices.next().await? {
                Some(Notice::Revision(notice)) => self.plans.publish(&notice),
                Some(Notice::Webhooks) => self.webhooks.reload().await,
                Some(Notice::Deliveries) => self.webhooks.wake(),
                // A lost connection may have lost notices. The polling tasks find the changes.
                None => {}
            }
        }
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
