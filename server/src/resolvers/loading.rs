//! Tenants' resolvers that are in the store and not in memory: since the service has just started, or because another
//! replica wrote them.
//!
//! A check that asks one waits for it, no longer than for an answer of it. Whoever waits for the same resolver waits
//! for one load, which goes on when nobody waits any more. A failed one stays out of service, with its cause in the
//! record and in every explanation, until the next round tries it again.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, join_all};
use portcullis_engine::resolver::{Digest, LoadError};
use portcullis_engine::{Ask, Check, ResolverRef};
use tokio::sync::watch;
use uuid::Uuid;

use super::{Asked, BindError, Bound, DISABLED, Standing, sealing};
use crate::app::App;
use crate::crypto::CryptoError;
use crate::model::resolver::StoredResolver;
use crate::storage::{StoreError, resolvers};

/// How often the store is compared with what is in memory. So long a failed load is not tried again.
const INTERVAL: Duration = Duration::from_secs(5);

/// The loads under way.
#[derive(Default)]
pub(crate) struct Loading(Mutex<HashMap<Key, Load>>);

type Key = (String, ResolverRef);

/// A load under way.
#[derive(Clone)]
struct Load {
    done: Shared<BoxFuture<'static, ()>>,
    /// How long a check may wait for it, once that is known.
    patience: watch::Receiver<Option<Duration>>,
}

/// Why a resolver cannot be loaded; completes "resolver `geo` could not be loaded: …".
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the store is not available")]
    Store(#[from] StoreError),
    #[error("its secrets cannot be read: {0}")]
    Secrets(#[from] CryptoError),
    #[error("{0}")]
    Module(#[from] LoadError),
    #[error("{0}")]
    Manifest(#[from] BindError),
}

impl App {
    /// Answers what `check` asks of resolvers, those included that must be loaded first. Never fails.
    pub(crate) async fn ask(&self, tenant: &str, check: &Check<'_>, asks: &[Ask]) -> Asked {
        let missing = asks.iter().filter_map(|ask| ask.resolver);
        let missing = missing.filter(|reference| !self.resolvers.knows(tenant, *reference));
        join_all(missing.map(|reference| self.wait_for_resolver(tenant, reference))).await;
        self.resolvers.ask(tenant, check, asks).await
    }

    /// Loads a resolver, and waits until it is there, or for as long as its calls may take.
    async fn wait_for_resolver(&self, tenant: &str, reference: ResolverRef) {
        let Load { done, mut patience } = self.load_resolver(tenant, reference);
        let patience = tokio::select! {
            () = done.clone() => return,
            known = patience.wait_for(Option::is_some) => known.ok().and_then(|known| *known),
        };
        if let Some(patience) = patience {
            let _ = tokio::time::timeout(patience, done).await;
        }
    }

    /// The load of a resolver, which is under way when this returns.
    fn load_resolver(&self, tenant: &str, reference: ResolverRef) -> Load {
        let key = (tenant.to_owned(), reference);
        let mut loads = self.loading.loads();
        if let Some(load) = loads.get(&key) {
            return load.clone();
        }
        let (known, patience) = watch::channel(None);
        let app = self.clone();
        let its_key = key.clone();
        let task = tokio::spawn(async move {
            let (tenant, reference) = &its_key;
            app.load_now(tenant, *reference, &known).await;
            app.loading.loads().remove(&its_key);
        });
        let done = task.map(|_| ()).boxed().shared();
        let load = Load { done, patience };
        loads.insert(key, load.clone());
        load
    }

    async fn load_now(
        &self,
        tenant: &str,
        reference: ResolverRef,
        patience: &watch::Sender<Option<Duration>>,
    ) {
        match self
            .bound_resolver(tenant, reference.id, |timeout| patience.send(Some(timeout)))
            .await
        {
            Ok(Some((stored, bound))) if stored.enabled => {
                self.resolvers.put(tenant, stored.reference(), bound);
            }
            Ok(Some((stored, _))) => self.resolvers.suspend(tenant, stored.reference(), DISABLED),
            Ok(None) => self.resolvers.suspend(tenant, reference, "is deleted"),
            Err(failure) => {
                let cause = failure.source().map(tracing::field::display);
                tracing::error!(error = %failure, cause, id = %reference.id, "cannot load a resolver");
                let why = format!("could not be loaded: {failure}");
                self.resolvers.suspend(tenant, reference, &why);
            }
        }
    }

    /// The resolver of this id as the store has it, ready to be called; `None` if there is none.
    async fn bound_resolver<R>(
        &self,
        tenant: &str,
        id: Uuid,
        timeout: impl FnOnce(Duration) -> R,
    ) -> Result<Option<(StoredResolver, Bound)>, Failure> {
        let mut tx = self.store.read(tenant).await?;
        let Some(stored) = resolvers::find(&mut tx, id).await? else { return Ok(None) };
        timeout(stored.manifest.limits.timeout);
        let corrupt = StoreError::Corrupt { what: "resolvers.sha256" };
        let sealed = resolvers::secrets(&mut tx, id).await?.unwrap_or_default();
        let module = resolvers::module(&mut tx, &stored.module.sha256).await?.ok_or(corrupt)?;
        tx.end().await?;
        let secrets = sealing::open(&self.keys, &stored, &sealed)?;
        let module = self.resolvers.admit(module).await?;
        let manifest = stored.manifest.clone().with_secrets(secrets);
        let bound = self.resolvers.bind(module, &manifest)?;
        Ok(Some((stored, bound)))
    }

    /// The resolver of this id, to be tried out.
    pub(crate) async fn resolver_to_try(
        &self,
        tenant: &str,
        id: Uuid,
    ) -> Result<Option<(StoredResolver, Bound)>, String> {
        self.bound_resolver(tenant, id, |_| ()).await.map_err(|failure| failure.to_string())
    }

    /// Drops the compiled code of a module that was taken from a resolver, unless another one has it.
    pub(crate) async fn forget_module(&self, sha256: &str) {
        let used = async {
            let mut tx = self.store.read_all().await?;
            let used = resolvers::is_module_used(&mut tx, sha256).await?;
            tx.end().await?;
            Ok::<_, StoreError>(used)
        };
        // What cannot be found out costs some space on the disk.
        if let (Ok(false), Some(digest)) = (used.await, Digest::parse(sha256)) {
            self.resolvers.forget(&digest);
        }
    }

    /// Loads every enabled resolver, and keeps up with what other replicas write, and with loads that failed.
    pub(crate) async fn keep_resolvers(&self) {
        loop {
            if let Err(error) = self.compare_resolvers().await {
                tracing::warn!(%error, "cannot read the resolvers");
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn compare_resolvers(&self) -> Result<(), StoreError> {
        // Before the store is read: what is created meanwhile is in neither.
        let present = self.resolvers.present();
        let mut tx = self.store.read_all().await?;
        let stored = resolvers::everywhere(&mut tx).await?;
        tx.end().await?;
        let known: HashSet<(&str, Uuid)> =
            stored.iter().map(|row| (&*row.tenant, row.reference.id)).collect();
        for (tenant, id) in &present {
            if !known.contains(&(&**tenant, *id)) {
                self.resolvers.remove(tenant, *id);
            }
        }
        for row in &stored {
            if row.enabled && !self.is_ready(&row.tenant, row.reference) {
                self.load_resolver(&row.tenant, row.reference).done.await;
            }
        }
        Ok(())
    }

    fn is_ready(&self, tenant: &str, reference: ResolverRef) -> bool {
        let status = self.resolvers.status(tenant, reference.id);
        self.resolvers.knows(tenant, reference)
            && status.is_some_and(|status| matches!(status.standing, Standing::Ready(_)))
    }
}

impl Loading {
    fn loads(&self) -> MutexGuard<'_, HashMap<Key, Load>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Loading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loading").field(&self.loads().len()).finish()
    }
}
