//! Plans for checks: loads their rules from the store, and publishes every write to the cache.

use std::sync::Arc;

use portcullis_engine::{CachedPlan, Plan, PlanCache};

use crate::storage::{Store, StoreError, Tx, policies, rules, tenants};

/// The plans of every tenant, and the only way to commit a change to their rules.
#[derive(Debug)]
pub(crate) struct Plans {
    store: Store,
    cache: PlanCache,
}

impl Plans {
    pub(crate) fn new(store: Store, max_bytes: u64) -> Self {
        Self { store, cache: PlanCache::new(max_bytes) }
    }

    /// The plan that decides `resource` in `tenant`, no older than any write acknowledged so far.
    pub(crate) async fn get(
        &self,
        tenant: &str,
        resource: &str,
    ) -> Result<Arc<CachedPlan>, Arc<StoreError>> {
        self.cache.get(tenant, resource, || self.load(tenant, resource)).await
    }

    /// Loads in a task of its own: a client that goes away must not cancel a `begin` half-way, after
    /// which sqlx could lose somebody else's write (transact-rs/sqlx#4385).
    fn load(
        &self,
        tenant: &str,
        resource: &str,
    ) -> impl Future<Output = Result<Plan, StoreError>> + use<> {
        let (store, tenant, resource) =
            (self.store.clone(), tenant.to_owned(), resource.to_owned());
        async move {
            match tokio::spawn(load(store, tenant, resource)).await {
                Ok(loaded) => loaded,
                Err(failed) => std::panic::resume_unwind(failed.into_panic()),
            }
        }
    }

    /// Commits `tx`, makes its change visible to every check from now on, and gives the tenant's
    /// revision.
    pub(crate) async fn commit(&self, tx: Tx) -> Result<u64, StoreError> {
        let committed = tx.commit().await?;
        if let Some(touched) = committed.touched {
            self.cache.publish(&committed.tenant, committed.revision, touched);
        }
        Ok(committed.revision)
    }
}

/// Reads everything in one snapshot, so that the rules are exactly those of the revision.
async fn load(store: Store, tenant: String, resource: String) -> Result<Plan, StoreError> {
    let mut tx = store.read(&tenant).await?;
    let revision = tenants::revision(&mut tx).await?;
    let rules = rules::of_plan(&mut tx, &resource).await?;
    let policies = policies::of_plan(&mut tx, &resource).await?;
    tx.end().await?;
    Ok(Plan::compile(&resource, revision, &rules, policies))
}
