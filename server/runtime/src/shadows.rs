//! The comparisons of checks with drafts in shadow, and the plans of these drafts (`docs/semantics.md`, section 18.3).

use std::collections::{BTreeSet, HashSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::RandomState;
use parking_lot::Mutex;
use portcullis_plan_cache::{CachedPlan, NewPlan, PlanCache};
use portcullis_storage::shadows::ShadowRow;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::plans::PlanError;
use crate::shadow_counts::ShadowCounts;

/// The most resources that wait for their plans. Further ones wait until a check names them again.
const MAX_WANTED: usize = 256;

/// The comparisons of this process.
#[derive(Debug)]
pub struct Shadows {
    /// The plans of the drafts.
    cache: PlanCache<PlanError>,
    /// Readers take no lock.
    by_tenant: papaya::HashMap<Box<str>, Arc<Shadow>, RandomState>,
    /// Held while a comparison begins or ends, so that no plan of an earlier one stays.
    changing: Mutex<()>,
    /// Held from a read of drafts in shadow until the comparisons follow it, so that no earlier read undoes a later one.
    pub(crate) following: tokio::sync::Mutex<()>,
    /// Held while counts are stored or shown, so that none is missing and none is there twice.
    pub(crate) storing: tokio::sync::Mutex<()>,
    wake: Notify,
}

/// The comparison of the checks of a tenant with a draft.
#[derive(Debug)]
pub struct Shadow {
    pub tenant: Box<str>,
    /// The name of the draft.
    pub draft: Box<str>,
    /// Identifies the comparison.
    pub id: Uuid,
    pub counts: ShadowCounts,
    has_other_relations: AtomicBool,
    /// The reason why the draft cannot be compiled.
    fault: Mutex<Option<String>>,
    wanted: Mutex<WantedState>,
}

/// The plans and entities that checks wait for.
#[derive(Debug, Default)]
pub struct WantedPlans {
    pub resources: BTreeSet<Box<str>>,
    /// The entities of the tenant.
    pub entities: bool,
    /// The plans of all resources and patterns that the draft has, as far as there is room.
    pub everything: bool,
}

#[derive(Debug, Default)]
struct WantedState {
    wanted: WantedPlans,
    /// Whether somebody compiles them.
    is_taken: bool,
}

impl WantedPlans {
    /// Wants all plans, before any check does.
    pub fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    fn is_nothing(&self) -> bool {
        self.resources.is_empty() && !self.entities && !self.everything
    }
}

impl Shadows {
    /// Makes no comparisons. Their plans are in `cache`.
    pub fn new(cache: PlanCache<PlanError>) -> Self {
        Self {
            cache,
            by_tenant: papaya::HashMap::default(),
            changing: Mutex::default(),
            following: tokio::sync::Mutex::default(),
            storing: tokio::sync::Mutex::default(),
            wake: Notify::default(),
        }
    }

    /// Returns the comparison of a tenant.
    pub fn get(&self, tenant: &str) -> Option<Arc<Shadow>> {
        self.by_tenant.pin().get(tenant).cloned()
    }

    /// Returns every comparison, in the order of tenants.
    pub(crate) fn all(&self) -> Vec<Arc<Shadow>> {
        let mut all: Vec<_> = self.by_tenant.pin().values().cloned().collect();
        all.sort_unstable_by(|one, other| one.tenant.cmp(&other.tenant));
        all
    }

    /// Begins a comparison in place of the one before, unless it is under way.
    pub(crate) fn begin(&self, row: &ShadowRow) {
        let _changing = self.changing.lock();
        let known = self.by_tenant.pin();
        let tenant = &*row.tenant_id;
        if known.get(tenant).is_none_or(|known| known.id != row.shadow_id) {
            // Before the comparison is there: a check that finds it must not find the plans of the one before.
            self.cache.drop_plans(tenant);
            known.insert(tenant.into(), Arc::new(Shadow::new(row)));
        }
        self.cache.set_shadow(tenant, true);
    }

    /// Ends the comparison of a tenant.
    pub(crate) fn end(&self, tenant: &str) {
        let _changing = self.changing.lock();
        if self.by_tenant.pin().remove(tenant).is_some() {
            self.cache.set_shadow(tenant, false);
            self.cache.drop_plans(tenant);
        }
    }

    /// Begins and ends comparisons, so that they match `rows`. A tenant without checks begins none.
    pub(crate) fn follow(&self, rows: &[ShadowRow]) {
        for row in rows.iter().filter(|row| self.cache.latest(&row.tenant_id).is_some()) {
            self.begin(row);
        }
        let tenants: HashSet<&str> = rows.iter().map(|row| &*row.tenant_id).collect();
        for ended in self.all().iter().filter(|one| !tenants.contains(&*one.tenant)) {
            self.end(&ended.tenant);
        }
    }

    /// Calls `use_it` with the plan of a comparison that decides `resource`, no older than revision `at_least`. `None` if it is
    /// not in memory or outdated: then it is compiled soon.
    pub fn with_plan<T>(
        &self,
        shadow: &Shadow,
        resource: &str,
        at_least: u64,
        use_it: impl FnOnce(&CachedPlan) -> T,
    ) -> Option<T> {
        if let Some(own) = self.cache.hot().get(&shadow.tenant, resource, at_least) {
            return Some(use_it(own));
        }
        if let Some(shared) = self.cache.find(&shadow.tenant, resource, at_least) {
            return Some(use_it(&shared));
        }
        self.want(shadow, |wanted| {
            if wanted.resources.len() < MAX_WANTED {
                wanted.resources.insert(resource.into());
            }
        });
        None
    }

    /// Has the entities of the tenant loaded soon.
    pub fn want_entities(&self, shadow: &Shadow) {
        self.want(shadow, |wanted| wanted.entities = true);
    }

    fn want(&self, shadow: &Shadow, note: impl FnOnce(&mut WantedPlans)) {
        let mut state = shadow.wanted.lock();
        note(&mut state.wanted);
        // Who has taken it looks again before it gives it back, and need not be woken.
        if !state.is_taken {
            self.wake.notify_one();
        }
    }

    /// Waits until a check wants something. Returns the comparisons that do, each to one caller until it calls
    /// [`Shadow::next_wanted`] in vain.
    pub async fn wanting(&self) -> Vec<Arc<Shadow>> {
        // A permit of `notify_one` stays, so that nothing that is wanted between two waits is missed.
        self.wake.notified().await;
        let mut all = self.all();
        all.retain(|shadow| {
            let mut state = shadow.wanted.lock();
            !state.wanted.is_nothing() && !mem::replace(&mut state.is_taken, true)
        });
        all
    }

    /// Keeps plans of a comparison that was compiled, by resource or pattern, unless the comparison is over.
    pub fn keep(&self, shadow: &Shadow, plans: Vec<(String, NewPlan)>) {
        let _changing = self.changing.lock();
        // A comparison that began during the compilation has another id.
        if self.get(&shadow.tenant).is_some_and(|present| present.id == shadow.id) {
            for (resource, plan) in plans {
                self.cache.keep(&shadow.tenant, &resource, plan);
            }
        }
    }

    /// Returns the number of comparisons, of their plans, and of the bytes of these.
    pub(crate) fn measure(&self) -> (usize, usize, u64) {
        let size = self.cache.size();
        (self.by_tenant.len(), size.plans, size.bytes)
    }
}

impl Shadow {
    fn new(row: &ShadowRow) -> Self {
        Self {
            tenant: (*row.tenant_id).into(),
            draft: (*row.name).into(),
            id: row.shadow_id,
            counts: ShadowCounts::default(),
            has_other_relations: AtomicBool::new(false),
            fault: Mutex::default(),
            wanted: Mutex::default(),
        }
    }

    /// Returns what checks want; `None` if they want nothing, and then somebody else may take it next.
    pub fn next_wanted(&self) -> Option<WantedPlans> {
        let mut state = self.wanted.lock();
        if state.wanted.is_nothing() {
            state.is_taken = false;
            return None;
        }
        Some(mem::take(&mut state.wanted))
    }

    /// Notes whether the relations of the draft mean something else than the present ones.
    pub fn note_relations(&self, differ: bool) {
        self.has_other_relations.store(differ, Ordering::Relaxed);
    }

    /// Returns whether the relations of the draft mean something else than the present ones.
    pub fn has_other_relations(&self) -> bool {
        self.has_other_relations.load(Ordering::Relaxed)
    }

    /// Notes why the draft could not be compiled; `None` if it was.
    pub fn note_fault(&self, fault: Option<String>) {
        *self.fault.lock() = fault;
    }

    /// Returns why the draft could not be compiled the last time; `None` if it was.
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::Plan;

    use super::*;

    fn row(id: u128) -> ShadowRow {
        let (tenant_id, name) = ("acme".to_owned(), "d".to_owned());
        ShadowRow { tenant_id, name, shadow_id: Uuid::from_u128(id) }
    }

    fn plan(resource: &str) -> Vec<(String, NewPlan)> {
        vec![(resource.to_owned(), Plan::compile(resource, 1, &[], []).into())]
    }

    fn is_there(shadows: &Shadows, shadow: &Shadow, resource: &str) -> bool {
        shadows.with_plan(shadow, resource, 1, |plan| plan.plan().resource() == resource)
            == Some(true)
    }

    #[tokio::test]
    async fn a_comparison_has_the_plans_of_its_draft_alone() {
        let live = PlanCache::new(1 << 20);
        let shadows = Shadows::new(live.beside(1 << 20));
        shadows.begin(&row(1));
        let first = shadows.get("acme").expect("it began");
        assert!(!is_there(&shadows, &first, "doc:read"));
        assert_eq!(shadows.wanting().await.len(), 1);
        let wanted = first.next_wanted().expect("the plan is wanted");
        assert_eq!(wanted.resources, BTreeSet::from(["doc:read".into()]));
        assert!(first.next_wanted().is_none());
        shadows.keep(&first, plan("doc:read"));
        assert!(is_there(&shadows, &first, "doc:read"));
        // A change of the live rules makes it outdated.
        let touched = portcullis_engine::ResourcePattern::Exact("doc:read".to_owned());
        live.publish("acme", 2, vec![touched.into()]);
        assert!(!is_there(&shadows, &first, "doc:read"));
        shadows.begin(&row(2));
        let second = shadows.get("acme").expect("it began");
        shadows.keep(&first, plan("doc:write"));
        assert!(!is_there(&shadows, &second, "doc:write"), "of the comparison before");
        shadows.end("acme");
        assert!(shadows.get("acme").is_none());
        assert_eq!(shadows.measure(), (0, 0, 0));
    }

    #[test]
    fn what_is_wanted_is_bounded() {
        let shadows = Shadows::new(PlanCache::new(0));
        shadows.begin(&row(1));
        let shadow = shadows.get("acme").expect("it began");
        for number in 0..2 * MAX_WANTED {
            assert!(!is_there(&shadows, &shadow, &format!("doc-{number}:read")));
        }
        assert_eq!(shadow.next_wanted().map(|wanted| wanted.resources.len()), Some(MAX_WANTED));
    }

    #[test]
    fn comparisons_follow_the_store() {
        let live = PlanCache::new(1 << 20);
        let shadows = Shadows::new(live.beside(1 << 20));
        shadows.follow(&[row(1)]);
        assert!(shadows.get("acme").is_none(), "nobody checks");
        live.keep("acme", "doc:read", Plan::compile("doc:read", 1, &[], []).into());
        shadows.follow(&[row(1)]);
        let is_shadowed = |live: &PlanCache<PlanError>| {
            live.hot().get("acme", "doc:read", 1).is_some_and(CachedPlan::has_shadow)
        };
        assert!(is_shadowed(&live));
        shadows.follow(&[]);
        assert!(!is_shadowed(&live) && shadows.get("acme").is_none());
    }
}
