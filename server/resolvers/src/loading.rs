//! Tenants' resolvers that are in the store and not in memory: since the service has just started, or because another
//! replica wrote them.
//!
//! A check that asks one waits for it, no longer than for an answer of it. Whoever waits for the same resolver waits
//! for one load, which goes on when nobody waits any more. A failed one stays out of service, with its cause in the
//! record and in every explanation, until `upkeep.rs` tries it again.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, join_all};
use portcullis_engine::{AttributeRequest, Check, ResolverRef};
use portcullis_resolver_host::{CallError, Digest, LoadError, Module};
use tokio::sync::watch;
use uuid::Uuid;

use super::{Asked, BindError, Bound, DISABLED, Standing, sealing};
use crate::service::ResolverService;
use portcullis_model::resolver::StoredResolver;
use portcullis_storage::encryption::CryptoError;
use portcullis_storage::{StoreError, Tx, resolvers};

/// The loads under way.
#[derive(Default)]
pub struct Loading(Mutex<HashMap<Key, Load>>);

type Key = (String, ResolverRef);

/// A load under way.
#[derive(Clone)]
pub(super) struct Load {
    pub(super) done: Shared<BoxFuture<'static, ()>>,
    /// How long a check may wait for it, once that is known.
    patience: watch::Receiver<Option<Duration>>,
}

/// Why a resolver cannot be loaded; completes "resolver `geo` could not be loaded: …".
#[derive(Debug, thiserror::Error)]
pub enum LoadFailure {
    /// The log says why.
    #[error("the store is not available")]
    Store(#[from] StoreError),
    /// The key is not there any more.
    #[error("its secrets cannot be read: {0}")]
    Secrets(#[from] CryptoError),
    /// The module is not admitted any more.
    #[error("{0}")]
    Module(#[from] LoadError),
    /// The manifest does not fit the module any more.
    #[error("{0}")]
    Manifest(#[from] BindError),
}

impl LoadFailure {
    /// Whether the resolver is as good as it was, and the next attempt may do better.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Module(error) => is_passing(error),
            Self::Secrets(_) | Self::Manifest(_) => false,
        }
    }
}

/// Whether it is the moment that is at fault, and not the module.
pub(super) fn is_passing(error: &LoadError) -> bool {
    let of_a_call = |error: &CallError| matches!(error, CallError::Busy(_) | CallError::Host);
    match error {
        LoadError::Slow(_) | LoadError::Host => true,
        LoadError::Describe(error) => of_a_call(error),
        _ => false,
    }
}

impl ResolverService {
    /// Answers what `check` asks of resolvers, those included that must be loaded first. Never fails.
    pub async fn ask(&self, tenant: &str, check: &Check<'_>, asks: &[AttributeRequest]) -> Asked {
        let missing = asks.iter().filter_map(|ask| ask.resolver);
        let missing = missing.filter(|reference| !self.parts().registry.knows(tenant, *reference));
        join_all(missing.map(|reference| self.wait_for_resolver(tenant, reference))).await;
        self.parts().registry.ask(tenant, check, asks).await
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
    pub(super) fn load_resolver(&self, tenant: &str, reference: ResolverRef) -> Load {
        let key = (tenant.to_owned(), reference);
        let mut loads = self.parts().loading.loads();
        if let Some(load) = loads.get(&key).filter(|load| load.done.peek().is_none()) {
            return load.clone();
        }
        let (known, patience) = watch::channel(None);
        let service = self.clone();
        let its_key = key.clone();
        let task = tokio::spawn(async move {
            let (tenant, reference) = &its_key;
            service.load_now(tenant, *reference, &known).await;
            service.parts().loading.loads().remove(&its_key);
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
        let known = |timeout| patience.send(Some(timeout));
        match self.bound_resolver(tenant, reference.id, known).await {
            Ok(Some((stored, bound))) if stored.enabled => {
                self.parts().registry.put(tenant, stored.reference(), bound);
            }
            Ok(Some((stored, _))) => {
                self.parts().registry.suspend(tenant, stored.reference(), DISABLED)
            }
            Ok(None) => self.parts().registry.suspend(tenant, reference, "is deleted"),
            Err(failure) => {
                let why = format!("could not be loaded: {failure}");
                if !self.is_known_to_fail(tenant, reference, &why) {
                    let cause = failure.source().map(tracing::field::display);
                    tracing::error!(error = %failure, cause, id = %reference.id, "cannot load a resolver");
                }
                self.parts().registry.fail(tenant, reference, &why);
            }
        }
    }

    /// Whether the last load failed in the same way, and has been told of.
    fn is_known_to_fail(&self, tenant: &str, reference: ResolverRef, why: &str) -> bool {
        let status = self.parts().registry.status(tenant, reference.id);
        self.parts().registry.knows(tenant, reference)
            && status.is_some_and(|status| status.standing == Standing::Idle(why.into()))
    }

    /// The resolver of this id as the store has it, ready to be called; `None` if there is none. `patience` is told of
    /// the time limit of its calls as soon as that is known.
    async fn bound_resolver<R>(
        &self,
        tenant: &str,
        id: Uuid,
        patience: impl FnOnce(Duration) -> R,
    ) -> Result<Option<(StoredResolver, Bound)>, LoadFailure> {
        let mut tx = self.parts().store.read(tenant).await?;
        let Some(stored) = resolvers::find(&mut tx, id).await? else { return Ok(None) };
        patience(stored.manifest.limits.timeout);
        let sealed = resolvers::secrets(&mut tx, id).await?.unwrap_or_default();
        let module = self.module_in(tenant, tx, &stored).await?;
        let manifest = stored.manifest.clone();
        let manifest = manifest.with_secrets(sealing::open(&self.parts().keys, &stored, &sealed)?);
        let bound = self.parts().registry.bind(tenant, module, &manifest)?;
        Ok(Some((stored, bound)))
    }

    /// The resolver of this id as the store has it, to be tried out; `None` if there is none.
    pub async fn resolver_to_try(
        &self,
        tenant: &str,
        id: Uuid,
    ) -> Result<Option<(StoredResolver, Bound)>, LoadFailure> {
        self.bound_resolver(tenant, id, |_| ()).await
    }

    /// The module that the resolver of this id has, to be bound anew; `None` if there is no such resolver.
    pub async fn module_of_resolver(
        &self,
        tenant: &str,
        id: Uuid,
    ) -> Result<Option<Arc<Module>>, LoadFailure> {
        let mut tx = self.parts().store.read(tenant).await?;
        let Some(stored) = resolvers::find(&mut tx, id).await? else { return Ok(None) };
        self.module_in(tenant, tx, &stored).await.map(Some)
    }

    /// The module of `stored`, which `tx` has read: the one in memory, or else the one in the store.
    async fn module_in(
        &self,
        tenant: &str,
        mut tx: Tx,
        stored: &StoredResolver,
    ) -> Result<Arc<Module>, LoadFailure> {
        let sha256 = &stored.module.sha256;
        let digest = Digest::parse(sha256);
        if let Some(module) = digest.and_then(|digest| self.parts().registry.admitted(&digest)) {
            tx.end().await?;
            return Ok(module);
        }
        let bytes = resolvers::module(&mut tx, sha256).await?;
        tx.end().await?;
        let bytes = bytes.ok_or(StoreError::Corrupt { what: "resolvers.sha256" })?;
        Ok(self.parts().registry.admit(tenant, bytes.into()).await?)
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
