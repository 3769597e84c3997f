use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};

use portcullis_engine::ResourcePattern;
use uuid::Uuid;

use super::*;
use crate::changes::{REMEMBERED_CHANGES, REMEMBERED_PATTERNS};

type Cache = PlanCache<&'static str>;

/// A store of revisions alone: a loaded plan is identified by its revision.
struct Store {
    revision: AtomicU64,
    loads: AtomicUsize,
    /// Each load takes its snapshot, reports it, and waits for a permit before it returns.
    gate: Semaphore,
    snapshot_taken: Mutex<Option<oneshot::Sender<()>>>,
}

impl Store {
    fn open() -> Self {
        Self::gated(Semaphore::MAX_PERMITS)
    }

    fn gated(permits: usize) -> Self {
        Self {
            revision: AtomicU64::new(1),
            loads: AtomicUsize::new(0),
            gate: Semaphore::new(permits),
            snapshot_taken: Mutex::default(),
        }
    }

    async fn load(&self, resource: &str) -> Result<Plan, &'static str> {
        let revision = self.revision.load(Ordering::SeqCst);
        self.loads.fetch_add(1, Ordering::SeqCst);
        if let Some(taken) = self.snapshot_taken.lock().take() {
            taken.send(()).expect("the test waits");
        }
        self.gate.acquire().await.expect("open").forget();
        Ok(Plan::compile(resource, revision, &[], []))
    }

    fn commit(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::SeqCst) + 1
    }
}

async fn get(cache: &Cache, store: &Store, resource: &str) -> Arc<CachedPlan> {
    cache.get("acme", resource, 0, || store.load(resource)).await.expect("loads cannot fail")
}

async fn revision_of(cache: &Cache, store: &Store, resource: &str) -> u64 {
    get(cache, store, resource).await.plan().revision()
}

fn exact(resource: &str) -> Vec<Touched> {
    vec![ResourcePattern::Exact(resource.to_owned()).into()]
}

/// A write is committed and published while a plan that was read before it is still being loaded.
async fn answer_after_write_during_load(cache: Cache) -> u64 {
    let (taken, snapshot_taken) = oneshot::channel();
    let store = Arc::new(Store::gated(0));
    *store.snapshot_taken.lock() = Some(taken);
    let cache = Arc::new(cache);
    let early = tokio::spawn({
        let (cache, store) = (Arc::clone(&cache), Arc::clone(&store));
        async move { revision_of(&cache, &store, "doc:read").await }
    });
    snapshot_taken.await.expect("the load began");
    cache.publish("acme", store.commit(), exact("doc:read"));
    // The write is acknowledged here. This check begins after it and joins the running load.
    let late = tokio::spawn({
        let (cache, store) = (Arc::clone(&cache), Arc::clone(&store));
        async move { revision_of(&cache, &store, "doc:read").await }
    });
    tokio::task::yield_now().await;
    store.gate.add_permits(10);
    early.await.expect("no panic");
    late.await.expect("no panic")
}

#[tokio::test]
async fn a_write_that_lands_while_a_plan_is_loading_wins() {
    assert_eq!(answer_after_write_during_load(Cache::new(1 << 20)).await, 2);
}

#[tokio::test]
async fn without_the_freshness_rule_that_write_is_missed() {
    let cache = Cache::new(1 << 20);
    cache.plans.view.ignores_freshness.store(true, Ordering::Relaxed);
    assert_eq!(answer_after_write_during_load(cache).await, 1, "the control must be stale");
}

#[tokio::test]
async fn changes_of_known_records_leave_an_outdated_plan() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    let rule = |id: u128, resource: &str| {
        let resource = ResourcePattern::parse(resource).expect("a pattern");
        vec![Touched::by_rule(Uuid::from_u128(id), resource)]
    };
    let outdated = || {
        let outdated = cache.outdated("acme", "doc:read")?;
        let ids = |ids: Vec<Uuid>| ids.into_iter().map(|id| id.as_u128()).collect::<Vec<_>>();
        let changed = outdated.changed;
        Some((outdated.revision, ids(changed.rules), ids(changed.policies)))
    };
    assert_eq!(outdated(), None, "no plan is in memory");
    revision_of(&cache, &store, "doc:read").await;
    for (id, resource) in [(7, "doc:*"), (8, "bill:read"), (7, "*")] {
        cache.publish("acme", store.commit(), rule(id, resource));
    }
    assert_eq!(outdated(), Some((4, vec![7], vec![])));
    // The next revision is not published yet.
    store.commit();
    cache.publish("acme", store.commit(), rule(9, "doc:read"));
    assert_eq!(outdated(), None);
    cache.publish("acme", 5, exact("bill:read"));
    assert_eq!(outdated(), Some((6, vec![7, 9], vec![])));
    let policy = Touched::by_policy(Uuid::from_u128(3), ResourcePattern::Any);
    cache.publish("acme", store.commit(), vec![policy]);
    assert_eq!(outdated(), Some((7, vec![7, 9], vec![3])));
    cache.publish("acme", store.commit(), exact("doc:read"));
    assert_eq!(outdated(), None, "something else changed");
    revision_of(&cache, &store, "doc:read").await;
    for id in 0..=MAX_CHANGED_RECORDS as u128 {
        cache.publish("acme", store.commit(), rule(id, "doc:read"));
    }
    assert_eq!(outdated(), None, "too many to read one by one");
    cache.forget("acme");
    assert_eq!(outdated(), None);
}

#[tokio::test]
async fn a_change_reloads_what_it_touches_and_nothing_else() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    for resource in ["doc:read", "doc:write", "bill:read"] {
        assert_eq!(revision_of(&cache, &store, resource).await, 1);
    }
    for (touched, reloaded) in [
        ("doc:read", ["doc:read"].as_slice()),
        ("doc:*", &["doc:read", "doc:write"]),
        ("*", &["doc:read", "doc:write", "bill:read"]),
        ("other:read", &[]),
    ] {
        let revision = store.commit();
        let pattern = ResourcePattern::parse(touched).expect("a pattern");
        cache.publish("acme", revision, vec![pattern.into()]);
        let before = store.loads.load(Ordering::SeqCst);
        for resource in ["doc:read", "doc:write", "bill:read"] {
            let fresh = revision_of(&cache, &store, resource).await == revision;
            assert_eq!(fresh, reloaded.contains(&resource), "{touched} and {resource}");
        }
        assert_eq!(store.loads.load(Ordering::SeqCst) - before, reloaded.len(), "{touched}");
    }
}

#[tokio::test]
async fn a_plan_that_caught_up_reports_the_later_revision() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    revision_of(&cache, &store, "doc:read").await;
    cache.publish("acme", store.commit(), exact("bill:read"));
    let cached = get(&cache, &store, "doc:read").await;
    assert_eq!((cached.plan().revision(), cached.revision()), (1, 2));
}

#[tokio::test]
async fn an_unknown_change_in_between_means_a_new_load() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    revision_of(&cache, &store, "doc:read").await;
    // Revision 2 is committed but published late; revision 3 touches another resource.
    store.commit();
    cache.publish("acme", store.commit(), exact("bill:read"));
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 3);
    cache.publish("acme", 2, exact("doc:read"));
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 3);
    assert_eq!(store.loads.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_change_that_is_published_twice_counts_once() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    revision_of(&cache, &store, "doc:read").await;
    let revision = store.commit();
    cache.publish("acme", revision, exact("bill:read"));
    cache.publish("acme", revision, vec![ResourcePattern::Any.into()]);
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 1, "still valid");
    assert_eq!(cache.latest("acme"), Some(2));
    assert_eq!(cache.latest("nobody"), None);
}

#[tokio::test]
async fn a_demanded_revision_that_was_not_published_means_a_load() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    revision_of(&cache, &store, "doc:read").await;
    let load = |at_least| cache.get("acme", "doc:read", at_least, || store.load("doc:read"));
    store.commit();
    assert_eq!(load(1).await.expect("loads").revision(), 1, "nobody demands more");
    assert_eq!(load(2).await.expect("loads").revision(), 2);
    assert_eq!(load(9).await.expect("loads").revision(), 2, "what the store has");
}

#[tokio::test]
async fn a_plan_in_memory_is_found_by_its_own_revision() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    assert!(cache.find("acme", "doc:read", 0).is_none());
    store.commit();
    revision_of(&cache, &store, "doc:read").await;
    // Revision 2 was never published here: the plan was loaded after it.
    for (at_least, is_found) in [(0, true), (2, true), (3, false)] {
        assert_eq!(cache.find("acme", "doc:read", at_least).is_some(), is_found, "{at_least}");
    }
    cache.publish("acme", store.commit(), exact("doc:read"));
    assert!(cache.find("acme", "doc:read", 0).is_none(), "it changed");
}

#[tokio::test]
async fn a_plan_that_lags_too_far_is_loaded_anew() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    revision_of(&cache, &store, "doc:read").await;
    for _ in 0..=REMEMBERED_CHANGES {
        cache.publish("acme", store.commit(), exact("bill:read"));
    }
    let last = store.revision.load(Ordering::SeqCst);
    assert_eq!(revision_of(&cache, &store, "doc:read").await, last);
}

#[tokio::test]
async fn many_checks_share_one_load() {
    let (cache, store) = (Arc::new(Cache::new(1 << 20)), Arc::new(Store::gated(0)));
    let checks: Vec<_> = (0..20)
        .map(|_| {
            let (cache, store) = (Arc::clone(&cache), Arc::clone(&store));
            tokio::spawn(async move { revision_of(&cache, &store, "doc:read").await })
        })
        .collect();
    tokio::task::yield_now().await;
    store.gate.add_permits(1);
    for check in checks {
        assert_eq!(check.await.expect("no panic"), 1);
    }
    assert_eq!(store.loads.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_failed_load_is_not_cached_and_tenants_do_not_mix() {
    let cache = Cache::new(1 << 20);
    let failed = cache.get("acme", "doc:read", 0, || async { Err::<Plan, _>("down") }).await;
    assert!(failed.is_err_and(|error| error == "down"));
    let store = Store::open();
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 1);
    cache.publish("other", 9, vec![ResourcePattern::Any.into()]);
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 1);
    assert_eq!(store.loads.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_plan_is_hot_until_a_change_touches_it() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    let hot = || cache.hot().get("acme", "doc:read", 0).map(|cached| cached.plan().revision());
    assert_eq!(hot(), None);
    revision_of(&cache, &store, "doc:read").await;
    assert_eq!(hot(), Some(1));
    cache.publish("acme", store.commit(), exact("bill:read"));
    assert_eq!(hot(), Some(1), "another resource changed");
    cache.publish("acme", store.commit(), exact("doc:read"));
    assert_eq!(hot(), None, "it changed");
    revision_of(&cache, &store, "doc:read").await;
    assert_eq!(hot(), Some(3));
    let plans = cache.hot();
    let newer = plans.get("acme", "doc:read", 4);
    assert!(newer.is_none(), "a revision that nobody knows of is not there");
    assert!(plans.get("other", "doc:read", 0).is_none(), "tenants do not mix");
}

#[tokio::test]
async fn a_check_that_goes_away_leaves_the_load_to_the_next() {
    let (cache, store) = (Arc::new(Cache::new(1 << 20)), Arc::new(Store::gated(0)));
    let begin = || {
        let (cache, store) = (Arc::clone(&cache), Arc::clone(&store));
        tokio::spawn(async move { revision_of(&cache, &store, "doc:read").await })
    };
    let (first, second) = (begin(), begin());
    while store.loads.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    first.abort();
    assert!(first.await.is_err_and(|error| error.is_cancelled()));
    store.gate.add_permits(1);
    assert_eq!(second.await.expect("no panic"), 1);
    assert_eq!(store.loads.load(Ordering::SeqCst), 2);
    assert_eq!(cache.size().loads, 0, "no load is under way");
}

#[tokio::test]
async fn invented_tenants_and_resources_leave_nothing_behind() {
    let cache = Cache::new(64 << 10);
    let store = Store::open();
    for number in 0..20_000 {
        let (tenant, resource) = (format!("tenant-{number}"), format!("doc-{number}:read"));
        let failed =
            cache.get(&tenant, &resource, 0, || async { Err::<Plan, _>("no such tenant") }).await;
        assert!(failed.is_err());
        // A write of a tenant without plans is remembered nowhere.
        cache.publish(&format!("writer-{number}"), 1, exact(&resource));
        cache.get(&tenant, &resource, 0, || store.load(&resource)).await.expect("loads");
    }
    let CacheSize { plans, bytes, tenants, loads } = cache.size();
    assert!(bytes <= 64 << 10 && plans > 0, "{plans} plans of {bytes} bytes");
    // Twice the plans in memory, and the length at which the first sweep begins.
    assert!(tenants <= 256 + 2 * plans, "{tenants} tenants, {plans} plans");
    assert_eq!(loads, 0);
}

#[tokio::test]
async fn a_log_of_many_patterns_forgets_its_oldest_changes() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    revision_of(&cache, &store, "doc:read").await;
    let patterns = |count: usize| {
        let pattern = |n| Touched::from(ResourcePattern::Exact(format!("bill-{n}:read")));
        (0..count).map(pattern).collect::<Vec<_>>()
    };
    let most = REMEMBERED_PATTERNS / 64;
    for _ in 0..most {
        cache.publish("acme", store.commit(), patterns(64));
    }
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 1, "all are remembered");
    cache.publish("acme", store.commit(), patterns(64));
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 1, "it had caught up before");
    for _ in 0..=most {
        cache.publish("acme", store.commit(), patterns(64));
    }
    let last = store.revision.load(Ordering::SeqCst);
    assert_eq!(revision_of(&cache, &store, "doc:read").await, last, "the oldest is forgotten");
}

/// Runs 10,000 writes on one thread, and checks on another. Each check notes the acknowledged revision at its start.
/// Returns the number of checks, of answers from the hot map, and of stale answers.
fn checks_during_writes(cache: Cache) -> (u64, u64, u64) {
    const WRITES: u64 = 10_000;
    let (cache, store) = (Arc::new(cache), Arc::new(Store::open()));
    let acknowledged = Arc::new(AtomicU64::new(1));
    let resources = ["doc:read", "doc:write", "bill:read"];
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    // Loaded before the first write, so that the negative control has a stale plan.
    for resource in resources {
        runtime.block_on(get(&cache, &store, resource));
    }
    let writer = std::thread::spawn({
        let (cache, store) = (Arc::clone(&cache), Arc::clone(&store));
        let acknowledged = Arc::clone(&acknowledged);
        move || {
            for write in 0..WRITES {
                let touched = if write % 8 == 0 { "doc:*" } else { "bill:read" };
                let touched = ResourcePattern::parse(touched).expect("a pattern");
                cache.publish("acme", store.commit(), vec![touched.into()]);
                acknowledged.store(store.revision.load(Ordering::SeqCst), Ordering::SeqCst);
                // Leaves time for checks: without it no plan stays hot between writes.
                for _ in 0..50 {
                    std::hint::spin_loop();
                }
            }
        }
    });
    let (mut checks, mut hot, mut stale) = (0, 0, 0);
    while !writer.is_finished() || checks < WRITES {
        for resource in resources {
            let began = acknowledged.load(Ordering::SeqCst);
            let answer = cache.hot().get("acme", resource, 0).map(revisions);
            hot += u64::from(answer.is_some());
            let (compiled_from, valid_through) = answer.unwrap_or_else(|| {
                let cached = runtime.block_on(get(&cache, &store, resource));
                revisions(&cached)
            });
            checks += 1;
            stale +=
                u64::from(valid_through < began || is_outdated(resource, compiled_from, began));
        }
    }
    writer.join().expect("no panic");
    (checks, hot, stale)
}

fn revisions(cached: &CachedPlan) -> (u64, u64) {
    (cached.plan().revision(), cached.revision())
}

/// Returns whether a write between the two revisions touches `resource`. Write `n` makes revision `n + 2`.
fn is_outdated(resource: &str, compiled_from: u64, acknowledged: u64) -> bool {
    (compiled_from + 1..=acknowledged).any(|revision| {
        let touches_docs = (revision - 2) % 8 == 0;
        resource.starts_with("doc:") == touches_docs
    })
}

#[test]
fn no_check_is_stale_while_ten_thousand_writes_go_on() {
    let (checks, hot, stale) = checks_during_writes(Cache::new(1 << 20));
    println!("{checks} checks during 10,000 writes, {hot} of them of hot plans, {stale} stale");
    assert_eq!(stale, 0);
    assert!(hot > 0, "hot plans must have been read");
}

#[test]
fn without_the_freshness_rule_checks_are_stale_under_writes() {
    let cache = Cache::new(1 << 20);
    cache.plans.view.ignores_freshness.store(true, Ordering::Relaxed);
    let (_, _, stale) = checks_during_writes(cache);
    assert!(stale > 0, "the control must be stale");
}

/// A tenant is deleted, and its name begins anew with a lower revision.
async fn revision_after_a_new_beginning(is_forgotten: bool) -> u64 {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    store.revision.store(50, Ordering::SeqCst);
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 50);
    store.revision.store(1, Ordering::SeqCst);
    if is_forgotten {
        cache.forget("acme");
        assert_eq!(cache.latest("acme"), None);
        assert!(cache.hot().get("acme", "doc:read", 0).is_none());
    }
    revision_of(&cache, &store, "doc:read").await
}

#[tokio::test]
async fn no_plan_outlives_its_tenant() {
    assert_eq!(revision_after_a_new_beginning(true).await, 1);
    assert_eq!(revision_after_a_new_beginning(false).await, 50, "the control");
}

#[tokio::test]
async fn a_store_that_lost_a_published_write_is_not_loaded_for_ever() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    assert_eq!(revision_of(&cache, &store, "doc:read").await, 1);
    cache.publish("acme", 9, exact("doc:read"));
    let load = async || match store.loads.load(Ordering::SeqCst) {
        0..10 => store.load("doc:read").await,
        _ => Err("it never ends"),
    };
    let loaded = cache.get("acme", "doc:read", 0, load).await.expect("ends");
    assert_eq!((loaded.revision(), cache.latest("acme")), (1, Some(0)));
    assert!(cache.hot().get("acme", "doc:read", 0).is_some());
    assert_eq!(store.loads.load(Ordering::SeqCst), 4, "the first one, and three of this check");
}

#[tokio::test]
async fn a_cache_beside_follows_the_same_changes() {
    let (cache, store) = (Cache::new(1 << 20), Store::open());
    let beside = cache.beside(1 << 20);
    let plan = || Plan::compile("doc:read", 1, &[], []);
    beside.keep("acme", "doc:read", plan().into());
    beside.keep("acme", "doc:write", plan().into());
    beside.keep("other", "doc:read", plan().into());
    assert!(cache.hot().get("acme", "doc:read", 1).is_none(), "the plans are others");
    cache.publish("acme", 2, exact("doc:read"));
    let is_there = |tenant: &str, resource: &str| beside.find(tenant, resource, 1).is_some();
    assert!(!is_there("acme", "doc:read"), "the change touches it");
    assert!(is_there("acme", "doc:write") && is_there("other", "doc:read"));
    store.commit();
    cache.set_shadow("acme", true);
    assert!(get(&cache, &store, "doc:read").await.has_shadow());
    cache.set_shadow("acme", false);
    assert!(!get(&cache, &store, "doc:read").await.has_shadow());
    beside.drop_plans("acme");
    assert!(!is_there("acme", "doc:write") && is_there("other", "doc:read"));
    beside.drop_plans("other");
    assert_eq!((beside.size().plans, beside.size().bytes), (0, 0));
}
