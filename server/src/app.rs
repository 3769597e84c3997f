//! What every handler can reach.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::Authenticator;
use crate::clock::Clock;
use crate::config::Mode;
use crate::crypto::KeyRing;
use crate::egress::Rules;
use crate::http::Uploads;
use crate::ids::Ids;
use crate::metrics::Metrics;
use crate::model::Authorship;
use crate::model::provider::ProviderRecord;
use crate::plans::Plans;
use crate::resolvers::{Admissions, Loading, Resolvers};
use crate::storage::{Notice, Store, StoreError, Tx, providers};
use crate::webhooks::Webhooks;

/// How often the registered identity providers are read: other replicas change them too, and must be
/// heard within a second.
const PROVIDER_INTERVAL: Duration = Duration::from_millis(800);

/// Pause before the store is asked again to tell of changes.
const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// The wired service. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct App(Arc<Parts>);

/// What an [`App`] is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) plans: Plans,
    pub(crate) mode: Mode,
    pub(crate) authenticator: Authenticator,
    pub(crate) manager_roles: Vec<String>,
    /// Encrypts secrets at rest.
    pub(crate) keys: KeyRing,
    /// Where requests of ours may go.
    pub(crate) egress: Rules,
    pub(crate) webhooks: Webhooks,
    pub(crate) resolvers: Resolvers,
    pub(crate) loading: Loading,
    pub(crate) admissions: Admissions,
    pub(crate) uploads: Uploads,
    pub(crate) metrics: Metrics,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// `actor` as the author of a change that happens now.
    pub(crate) fn authored_by(&self, actor: &str) -> Authorship {
        Authorship { actor: actor.to_owned(), at: self.clock.now().into() }
    }

    /// Commits `tx`: what it changed counts for every check from now on, and is on its way to webhooks. Gives
    /// the tenant's revision.
    pub(crate) async fn commit(&self, tx: Tx) -> Result<u64, StoreError> {
        let committed = self.plans.commit(tx).await?;
        self.webhooks.committed(committed.wrote).await;
        Ok(committed.revision)
    }

    /// Takes over the identity providers that are registered now; nothing to do in `selfhost` mode.
    pub(crate) async fn reload_providers(&self) -> Result<(), StoreError> {
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
    pub(crate) fn keep_up(&self) {
        let app = self.clone();
        tokio::spawn(async move { app.plans.poll().await });
        let app = self.clone();
        tokio::spawn(async move { app.webhooks.poll().await });
        let app = self.clone();
        tokio::spawn(async move { app.keep_resolvers().await });
        let app = self.clone();
        tokio::spawn(async move { app.listen().await });
        let app = self.clone();
        tokio::spawn(async move { app.resolvers.watch().await });
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
