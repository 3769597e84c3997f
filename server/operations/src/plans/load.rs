//! Loads plans from the store.

use std::sync::Arc;

use portcullis_engine::{Plan, PlanChanges};
use portcullis_plan_cache::OutdatedPlan;
use portcullis_storage::plan_records::{self, StoredPolicy};
use portcullis_storage::{
    HistoryPosition, ReadSource, Store, StoreError, policies, resolvers, rules, tenants,
};
use tokio::runtime::Handle;

use crate::tenant_facts;

/// A plan with the place in the tenant's history of the snapshot that it was read in.
#[derive(Debug)]
pub(super) struct LoadedPlan {
    pub(super) plan: Plan,
    pub(super) position: HistoryPosition,
    pub(super) source: ReadSource,
}

/// Loads a plan on a thread that serves no requests: a plan of a thousand policies takes tens of milliseconds to read and
/// compile, for which the requests of that thread would wait. A client that goes away does not cancel the load: after
/// a cancelled `begin`, sqlx could lose another request's write (transact-rs/sqlx#4385).
pub fn load(
    store: &Store,
    tenant: &str,
    resource: &str,
) -> impl Future<Output = Result<Plan, StoreError>> + use<> {
    let loading = load_within((), store, tenant, resource, None);
    async move { Ok(loading.await?.plan) }
}

/// Loads a plan as [`load`] does, from an outdated one if that is possible. Drops `turn` when the load ends, even if nobody
/// waits for it any more.
pub(super) fn load_within<T: Send + 'static>(
    turn: T,
    store: &Store,
    tenant: &str,
    resource: &str,
    outdated: Option<OutdatedPlan>,
) -> impl Future<Output = Result<LoadedPlan, StoreError>> + use<T> {
    let (store, tenant, resource) = (store.clone(), tenant.to_owned(), resource.to_owned());
    async move {
        let runtime = Handle::current();
        let loading = tokio::task::spawn_blocking(move || {
            let loaded = runtime.block_on(load_snapshot(store, tenant, resource, outdated));
            drop(turn);
            loaded
        });
        match loading.await {
            Ok(loaded) => loaded,
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }
}

/// Reads the rules and the revision in one snapshot, so that they belong together. Of an outdated plan it reads only the
/// rules and policies that changed, unless the tenant has changed again since.
async fn load_snapshot(
    store: Store,
    tenant: String,
    resource: String,
    outdated: Option<OutdatedPlan>,
) -> Result<LoadedPlan, StoreError> {
    let (mut tx, position, source) = store.read_recent(&tenant).await?;
    if let Some(outdated) = outdated.filter(|plan| plan.revision == position.revision) {
        let rules = rules::of_ids(&mut tx, &outdated.changed.rules).await?;
        let policies = policies::of_ids(&mut tx, &outdated.changed.policies).await?;
        let resolvers = resolvers::of_plans(&mut tx).await?;
        tx.end().await?;
        let resolver = |namespace: &str| resolvers.get(namespace).copied();
        let changes = PlanChanges { rules, policies };
        let plan = outdated.plan.plan().with_changes(position.revision, changes, resolver);
        return Ok(LoadedPlan { plan, position, source });
    }
    let rules = plan_records::rules(&mut tx, &resource).await?;
    let records = plan_records::policies(&mut tx, &resource).await?;
    let resolvers = resolvers::of_plans(&mut tx).await?;
    let facts = tenant_facts::read(&mut tx).await?;
    tx.end().await?;
    let policies = records.into_iter().map(StoredPolicy::policy);
    let resolver = |namespace: &str| resolvers.get(namespace).copied();
    let plan = Plan::compile_with(&resource, position.revision, &rules, policies, resolver);
    let plan = plan.with_facts(Arc::new(facts));
    Ok(LoadedPlan { plan, position, source })
}

/// Reads the revision of `tenant`, in a task of its own for the same reason.
pub(super) async fn read_revision(store: &Store, tenant: &str) -> Result<u64, StoreError> {
    let (store, tenant) = (store.clone(), tenant.to_owned());
    let reading = tokio::spawn(async move {
        let mut tx = store.read(&tenant).await?;
        let revision = tenants::revision(&mut tx).await?;
        tx.end().await?;
        Ok(revision)
    });
    match reading.await {
        Ok(revision) => revision,
        Err(failed) => std::panic::resume_unwind(failed.into_panic()),
    }
}
