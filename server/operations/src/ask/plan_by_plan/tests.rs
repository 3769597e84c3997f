//! Reports on several resources, one plan at a time.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use portcullis_engine::json;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::resource::Registration;
use portcullis_model::{Authorship, Timestamp};
use portcullis_runtime::metrics::PlanMetrics;
use portcullis_runtime::plans::Plans;
use portcullis_storage::Store;
use portcullis_storage::testing::{TestDatabase, on_every_database};

use super::*;
use crate::content::registration::register;

on_every_database!(
    only_the_cache_keeps_plans,
    what_another_replica_changed_meanwhile_is_decided_again,
    an_answer_that_grows_when_it_is_decided_again_ends_the_page,
    a_page_ends_by_time_and_by_bytes,
    a_report_that_nobody_waits_for_decides_nothing,
);

const RESOURCES: [&str; 3] = ["a:read", "b:read", "c:read"];
const STALENESS: Duration = Duration::from_secs(600);

/// A resource, and the revision of the plan that decided it.
type Decision = (String, u64);

impl Weighed for Decision {
    fn weight(&self) -> usize {
        10
    }
}

/// A decision of so many bytes.
struct Bytes(usize);

impl Weighed for Bytes {
    fn weight(&self) -> usize {
        self.0
    }
}

struct Service {
    store: Store,
    plans: Plans,
    entities: EntityTables,
}

impl Service {
    /// Opens a service on a tenant in which each of [`RESOURCES`] has a rule of its own.
    async fn open(database: &TestDatabase) -> Self {
        let service = Self::beside(database.open().await);
        for resource in RESOURCES {
            service.change(resource, "reader").await;
        }
        service
    }

    /// Opens a replica on the same store.
    fn beside(store: Store) -> Self {
        let metrics = PlanMetrics::default();
        let plans = Plans::new(store.clone(), 1 << 20, STALENESS, Clock::system(), metrics);
        let entities = EntityTables::new(store.clone(), 1 << 20, STALENESS, Clock::system());
        Self { store, plans, entities }
    }

    async fn change(&self, resource: &str, role: &str) {
        let body = format!(r#"{{"name": "{resource}", "defaultRoles": ["{role}"]}}"#);
        let body = json::parse(body.as_bytes()).expect("JSON");
        let registration = Registration::parse(&body).expect("valid");
        let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
        let mut tx = self.store.write("acme", 0).await.expect("begins");
        register(&mut tx, registration, "acme", &by, &Ids::new()).await.expect("works");
        tx.pass_gates();
        self.plans.commit(tx).await.expect("commits");
    }

    fn report<'r>(&'r self, awaited: &'r Awaited) -> PlanByPlan<'r> {
        PlanByPlan {
            plans: PlanSource::Present(&self.plans),
            entities: &self.entities,
            tenant: "acme",
            at_least: 0,
            awaited,
            began: Instant::now(),
            max_bytes: 1_000,
        }
    }
}

fn decision(resource: &str, plan: &Plan, _: &NeededEntities) -> Result<Decision, OperationError> {
    Ok((resource.to_owned(), plan.revision()))
}

async fn only_the_cache_keeps_plans(database: TestDatabase) {
    let (service, waiting) = (Service::open(&database).await, Arc::new(()));
    let awaited = Awaited::while_held(&waiting);
    let mut decided_before: Vec<String> = Vec::new();
    let decide = |resource: &str, plan: &Plan, entities: &NeededEntities| {
        for before in &decided_before {
            let found = service.plans.find("acme", before, 0).now_or_never();
            let cached = found.expect("it is in memory").expect("a plan");
            assert_eq!(Arc::strong_count(&cached), 3, "moka, its view and this test have {before}");
        }
        decided_before.push(resource.to_owned());
        decision(resource, plan, entities)
    };
    let decided = service.report(&awaited).decide(&RESOURCES, decide).await.expect("decided");
    assert_eq!((decided.of_resources.len(), decided.revision), (3, 3));
}

async fn what_another_replica_changed_meanwhile_is_decided_again(database: TestDatabase) {
    let (service, waiting) = (Service::open(&database).await, Arc::new(()));
    let awaited = Awaited::while_held(&waiting);
    service.plans.find("acme", "a:read", 0).await.expect("a plan");
    // This service does not know the change of `a:read` yet. The plan of `b:read` is loaded after it.
    Service::beside(service.store.clone()).change("a:read", "writer").await;
    let mut order = Vec::new();
    let decide = |resource: &str, plan: &Plan, entities: &NeededEntities| {
        order.push(decision(resource, plan, entities)?);
        decision(resource, plan, entities)
    };
    let decided = service.report(&awaited).decide(&RESOURCES, decide).await.expect("decided");
    let named = |name: &str, revision| (name.to_owned(), revision);
    assert_eq!(order[0], named("a:read", 3));
    assert_eq!(order.last(), Some(&named("a:read", 4)));
    let all: Vec<_> = RESOURCES.iter().map(|name| named(name, 4)).collect();
    assert_eq!((decided.of_resources, decided.revision), (all, 4));
}

async fn an_answer_that_grows_when_it_is_decided_again_ends_the_page(database: TestDatabase) {
    let (service, waiting) = (Service::open(&database).await, Arc::new(()));
    let awaited = Awaited::while_held(&waiting);
    service.plans.find("acme", "a:read", 0).await.expect("a plan");
    Service::beside(service.store.clone()).change("a:read", "writer").await;
    let decide = |resource: &str, plan: &Plan, _: &NeededEntities| {
        let has_grown = resource == "a:read" && plan.revision() == 4;
        Ok(Bytes(if has_grown { 15 } else { 10 }))
    };
    let page = PlanByPlan { max_bytes: 30, ..service.report(&awaited) };
    let decided = page.decide(&RESOURCES, decide).await.expect("decided");
    let weights: Vec<usize> = decided.of_resources.iter().map(Weighed::weight).collect();
    assert_eq!((weights, decided.revision), (vec![15, 10], 4));
}

async fn a_page_ends_by_time_and_by_bytes(database: TestDatabase) {
    let (service, waiting) = (Service::open(&database).await, Arc::new(()));
    let awaited = Awaited::while_held(&waiting);
    let report = service.report(&awaited);
    let over = report.began.checked_sub(PAGE_TIME).expect("the clock runs");
    for (began, max_bytes, expected) in
        [(report.began, 30, 3), (report.began, 29, 2), (report.began, 1, 1), (over, 30, 1)]
    {
        let page = PlanByPlan { began, max_bytes, ..report };
        let decided = page.decide(&RESOURCES, decision).await.expect("decided");
        assert_eq!(decided.of_resources.len(), expected, "{max_bytes} bytes");
    }
}

async fn a_report_that_nobody_waits_for_decides_nothing(database: TestDatabase) {
    let service = Service::open(&database).await;
    let awaited = Awaited::while_held(&Arc::new(()));
    let decide = |_: &str, _: &Plan, _: &NeededEntities| -> Result<Decision, OperationError> {
        panic!("nobody waits for it")
    };
    let ended = service.report(&awaited).decide(&RESOURCES, decide).await;
    assert!(matches!(ended, Err(OperationError::NotNow(_))), "{ended:?}");
}
