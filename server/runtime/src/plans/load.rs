//! Loads plans from the store.

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_engine::condition::NamedConditions;
use portcullis_engine::{
    Condition, Plan, PlanChanges, Policy, ResolverRef, RoleInclusions, Rule, TenantFacts,
};
use portcullis_fairness::{run_apart, run_to_end};
use portcullis_plan_cache::{CachedPlan, OutdatedPlan, OwnPatterns, WILDCARD};
use portcullis_storage::plan_records::{
    self, StoredFacts, StoredPolicies, StoredPolicy, StoredRules,
};
use portcullis_storage::{
    HistoryPosition, ReadSource, Store, StoreError, Tx, conditions, entities, policies, resolvers,
    rules, tenants,
};
use tokio::runtime::Handle;

/// The most resource patterns of a tenant that are kept so that resources without any share plans. They take 80 KiB, and
/// about 40 ms to read. With more, each resource has its own plan.
const MAX_PATTERNS: u16 = 10_000;

/// From this number of policies on, a second thread saves more time than its start takes.
const MANY_POLICIES: usize = 500;
/// Bytes of stored rules from which on a second thread saves time, too: the bytes of about 2,000 rules.
const MANY_RULE_BYTES: usize = 200_000;

/// The resolvers of a tenant, by namespace.
pub(super) type Resolvers = HashMap<String, ResolverRef>;

/// A plan with the place in the tenant's history of the snapshot that it was read in.
#[derive(Debug)]
pub(super) struct LoadedPlan {
    pub(super) plan: Plan,
    /// The patterns of the tenant, if the plan is the one of `*` and they are known.
    pub(super) own: Option<Arc<OwnPatterns>>,
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
    let loading = load_within((), store, tenant, resource, Known::default());
    async move { Ok(loading.await?.plan) }
}

/// The plans in memory of which a new one can be made.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The plan as it was before known changes.
    pub(super) outdated: Option<OutdatedPlan>,
    /// The plan of a broader pattern, with which the new one can share rules and policies.
    pub(super) broader: Option<Arc<CachedPlan>>,
}

/// Loads a plan as [`load`] does, from those in memory as far as that is possible. Drops `turn` when the load ends, even if
/// nobody waits for it any more.
pub(super) fn load_within<T: Send + 'static>(
    turn: T,
    store: &Store,
    tenant: &str,
    resource: &str,
    known: Known,
) -> impl Future<Output = Result<LoadedPlan, StoreError>> + use<T> {
    let (store, tenant, resource) = (store.clone(), tenant.to_owned(), resource.to_owned());
    async move {
        let runtime = Handle::current();
        let loaded = run_apart(move || {
            let _turn = turn;
            runtime.block_on(load_snapshot(store, tenant, resource, known))
        });
        loaded.await?
    }
}

/// Reads the rules and the revision in one snapshot, so that they belong together. Of an outdated plan it reads only the
/// rules and policies that changed, unless the tenant has changed again since.
async fn load_snapshot(
    store: Store,
    tenant: String,
    resource: String,
    Known { outdated, broader }: Known,
) -> Result<LoadedPlan, StoreError> {
    let (mut tx, position, source) = store.read_recent(&tenant).await?;
    let revision = position.revision;
    let broader = broader.as_deref();
    // A broader plan that changed before or after the snapshot would mix the rules of two revisions.
    let broader = broader.filter(|plan| plan.is_valid_at(plan.plan().resource(), revision));
    let broader = broader.map(CachedPlan::plan);
    // The known changes lead to exactly this revision: at another one some would be missing, or not yet there.
    let outdated = outdated.filter(|plan| plan.revision == revision);
    let changed = match &outdated {
        Some(outdated) => read_changes(&mut tx, outdated, revision, broader).await?,
        None => None,
    };
    let (plan, own) = match (changed, outdated) {
        (Some(plan), Some(outdated)) => {
            tx.end().await?;
            (plan, outdated.plan.own_patterns().cloned())
        }
        _ => {
            let own = match resource == WILDCARD {
                true => read_patterns(&mut tx, revision).await?,
                false => None,
            };
            (read_whole(tx, &resource, revision, broader).await?, own)
        }
    };
    Ok(LoadedPlan { plan, own, position, source })
}

/// Reads the plan of `resource`, without what `broader` has.
async fn read_whole(
    mut tx: Tx,
    resource: &str,
    revision: u64,
    broader: Option<&Plan>,
) -> Result<Plan, StoreError> {
    let pattern = broader.map(Plan::resource);
    let rules = plan_records::rules(&mut tx, resource, pattern).await?;
    let (rules, rest) = tokio::join!(read_rules(rules), fetch_policies(tx, resource, broader));
    let (rules, (records, names, (facts, resolvers))) = (rules?, rest?);
    let policies = read_conditions(&records.list()?, &names);
    let plan = Plan::compile_with(resource, revision, &rules, policies, facts, |namespace| {
        resolvers.get(namespace).copied()
    });
    Ok(match broader {
        Some(broader) => plan.over(broader),
        None => plan,
    })
}

/// Returns the facts as plans have them, and the resolvers by namespace.
pub(super) fn facts_of(stored: StoredFacts) -> (TenantFacts, Resolvers) {
    let StoredFacts {
        resolvers,
        directory,
        roles,
        sources,
        datetimes,
        relations,
        recording,
        terms,
    } = stored;
    let inclusions = RoleInclusions::new(roles);
    let facts =
        TenantFacts { directory, inclusions, sources, datetimes, relations, recording, terms };
    (facts, resolvers)
}

/// Reads stored rules, on a second thread while the database reads the policies, if they are many.
async fn read_rules(rules: StoredRules) -> Result<Vec<Rule>, StoreError> {
    if rules.bytes() < MANY_RULE_BYTES {
        return rules.list();
    }
    run_apart(move || rules.list()).await?
}

/// The policies of a resource, the named conditions if they may use some, and the facts about the tenant.
type Fetched = (StoredPolicies, NamedConditions, (Arc<TenantFacts>, Resolvers));

/// Reads the policies of a resource, without what `broader` has, and what their plan needs beside them. Ends the transaction.
async fn fetch_policies(
    mut tx: Tx,
    resource: &str,
    broader: Option<&Plan>,
) -> Result<Fetched, StoreError> {
    let policies = read_policies(&mut tx, resource, broader).await?;
    let names = names_for(&mut tx, &policies).await?;
    let facts = match broader {
        // What changes the facts touches every plan. Only policies have resolvers.
        Some(broader) if policies.are_none() => (broader.shared_facts(), Resolvers::new()),
        _ => {
            let (facts, resolvers) = facts_of(plan_records::facts(&mut tx).await?);
            (Arc::new(facts), resolvers)
        }
    };
    tx.end().await?;
    Ok((policies, names, facts))
}

/// Reads the named conditions, if the policies may use some.
pub(super) async fn names_for(
    tx: &mut Tx,
    policies: &StoredPolicies,
) -> Result<NamedConditions, StoreError> {
    match policies.may_name_conditions() {
        true => conditions::named(tx).await,
        false => Ok(NamedConditions::default()),
    }
}

/// Reads the policies of a resource, without what `broader` has.
pub(super) async fn read_policies(
    tx: &mut Tx,
    resource: &str,
    broader: Option<&Plan>,
) -> Result<StoredPolicies, StoreError> {
    let policies = plan_records::policies(tx, resource, broader.map(Plan::resource)).await?;
    // A plan with its own policies shares none.
    match !policies.are_none() && broader.is_some_and(Plan::has_policies) {
        true => plan_records::policies(tx, resource, None).await,
        false => Ok(policies),
    }
}

/// Reads the conditions of policies, which may use `names`, on a second thread, too, if they are many.
pub(super) fn read_conditions(
    records: &[StoredPolicy<'_>],
    names: &NamedConditions,
) -> Vec<Policy> {
    if records.len() < MANY_POLICIES {
        return read_here(records, names);
    }
    let (first, second) = records.split_at(records.len() / 2);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| read_here(second, names));
        let mut policies = read_here(first, names);
        match second.join() {
            Ok(second) => policies.extend(second),
            // The load fails as if its own thread had failed.
            Err(failed) => std::panic::resume_unwind(failed),
        }
        policies
    })
}

fn read_here(records: &[StoredPolicy<'_>], names: &NamedConditions) -> Vec<Policy> {
    records.iter().map(|record| record.policy(names)).collect()
}

/// Reads what changed of a plan; `None` if the plan must be read whole.
async fn read_changes(
    tx: &mut Tx,
    outdated: &OutdatedPlan,
    revision: u64,
    broader: Option<&Plan>,
) -> Result<Option<Plan>, StoreError> {
    let rules = rules::by_ids(tx, &outdated.changed.rules).await?;
    let policies = policies::by_ids(tx, &outdated.changed.policies).await?;
    let resolvers = resolvers::for_plans(tx).await?;
    // Which attributes are date-times matters to conditions that order texts alone.
    let conditions =
        policies.iter().filter_map(|(_, policy)| policy.as_ref()?.condition.as_ref().ok());
    let datetimes = match conditions.into_iter().any(Condition::orders_texts) {
        true => plan_records::facts(tx).await?.datetimes,
        false => Arc::default(),
    };
    let changes = PlanChanges { rules, policies, datetimes };
    Ok(outdated
        .plan
        .plan()
        .with_changes(revision, changes, broader, |namespace| resolvers.get(namespace).copied()))
}

/// Reads the patterns of the tenant; `None` if they are too many.
async fn read_patterns(tx: &mut Tx, revision: u64) -> Result<Option<Arc<OwnPatterns>>, StoreError> {
    // One more than fits tells that they are too many.
    let patterns = plan_records::patterns(tx, MAX_PATTERNS + 1).await?;
    let known = patterns.len() <= usize::from(MAX_PATTERNS);
    Ok(known.then(|| Arc::new(OwnPatterns::new(patterns, revision))))
}

/// Reads the revision of `tenant`, in its own task for the same reason.
pub(super) async fn read_revisions(
    store: &Store,
    tenant: &str,
) -> Result<PresentRevisions, StoreError> {
    let (store, tenant) = (store.clone(), tenant.to_owned());
    let reading = async move {
        let mut tx = store.begin_read(&tenant).await?;
        let rules = tenants::revision(&mut tx).await?;
        let entities = entities::state(&mut tx).await?.position;
        tx.end().await?;
        Ok(PresentRevisions { rules, entities })
    };
    run_to_end(reading).await?
}

/// The revision of the rules and the place in the history of the entities of a tenant, in one snapshot.
#[derive(Clone, Debug)]
pub(crate) struct PresentRevisions {
    pub(crate) rules: u64,
    pub(crate) entities: HistoryPosition,
}
