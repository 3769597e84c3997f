//! What every handler can reach.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Metrics;
use crate::plans::Plans;
use crate::uploads::Uploads;
use portcullis_auth::{Authenticator, Mode};
use portcullis_egress::EgressConfig;
use portcullis_model::Authorship;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::provider::ProviderRecord;
use portcullis_resolvers::ResolverService;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Notice, Store, StoreError, Tx, providers};
use portcullis_webhooks::Webhooks;

/// How often the registered identity providers are read: other replicas change them too, and must be
/// heard within a second.
const PROVIDER_INTERVAL: Duration = Duration::from_millis(800);

/// Pause before the store is asked again to tell of changes.
const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// The wired service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// What an [`App`] is made of.
#[derive(Debug)]
pub struct Parts {
    pub store: Store,
    pub plans: Plans,
    pub mode: Mode,
    pub authenticator: Authenticator,
    pub manager_roles: Vec<String>,
    /// Encrypts secrets at rest.
    pub keys: KeyRing,
    /// Where requests of ours may go.
    pub egress: EgressConfig,
    pub webhooks: Webhooks,
    pub resolvers: ResolverService,
    pub uploads: Uploads,
    pub metrics: Metrics,
    pub clock: Clock,
    pub ids: Ids,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// `actor` as the author of a change that happens now.
    pub fn authored_by(&self, actor: &str) -> Authorship {
        Authorship { actor: actor.to_owned(), at: self.clock.now().into() }
    }

    /// Commits `tx`: what it changed counts for every check from now on, and is on its way to webhooks. Gives
    /// the tenant's revision.
    pub async fn commit(&self, tx: Tx) -> Result<u64, StoreError> {
        let committed = self.plans.commit(tx).await?;
        self.webhooks.committed(committed.wrote).await;
        Ok(committed.revision)
    }

    /// Takes over the identity providers that are registered now; nothing to do in `selfhost` mode.
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

    /// Starts what keeps this process up to date with what others write.
    pub fn keep_up(&self) {
        let app = self.clone();
        tokio::spawn(async move { app.plans.poll().await });
        let app = self.clone();
        tokio::spawn(async move { app.webhooks.poll().await });
        let app = self.clone();
        tokio::spawn(async move { app.resolvers.reconcile().await });
        let app = self.clone();
        tokio::spawn(async move { app.listen().await });
        let app = self.clone();
        tokio::spawn(async move { app.resolvers.watch_operator_resolvers().await });
        let app = self.clone();
        tokio::spawn(async move {
            loop {
                if let Err(error) = app.reload_providers().await {
                    tracing::warn!(%error, "cannot read the identity providers");
                }
                tokio::time::sleep(PROVIDER_INTERVAL).await;
            }
        });
    }

    /// Takes note of what other replicas commit, as they do; ends at once on SQLite, which has none.
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
                Some(Notice::Change(change)) => self.plans.heard(&change),
                Some(Notice::Webhooks) => self.webhooks.heard_of_webhooks().await,
                Some(Notice::Deliveries) => self.webhooks.wake(),
                // A lost connection may have lost notices: whoever polls finds what is missing.
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
