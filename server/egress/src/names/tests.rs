//! Lookups with a service of names that the test makes slow, and with the clock of the test.

use std::net::Ipv4Addr;

use tokio::task::JoinHandle;

use super::*;

/// The time of a lookup of a name that begins with `slow`.
const HANG: Duration = Duration::from_secs(30);

/// The names that were looked up, in order.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    /// Looks up a name: `slow…` after [`HANG`], `endless…` never, any other at once.
    fn look_up(&self, name: String) -> Lookup {
        self.0.lock().push(name.clone());
        Box::pin(async move {
            match &name {
                name if name.starts_with("slow") => tokio::time::sleep(HANG).await,
                name if name.starts_with("endless") => std::future::pending().await,
                name if name.starts_with("broken") => panic!("a fault"),
                name if name.starts_with("unknown") => {
                    return Err(io::Error::other("no such name"));
                }
                _ => {}
            }
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        })
    }

    fn names(&self) -> Names {
        let asked = self.clone();
        Names::new(move |name| asked.look_up(name))
    }

    fn count(&self) -> usize {
        self.0.lock().len()
    }
}

async fn resolve(names: &Names, tenant: &str, name: &str) -> Found {
    names.resolve(tenant.into(), name.to_owned()).await
}

/// Begins to resolve a name, and returns when that waits.
async fn begin(names: &Names, tenant: &str, name: String) -> JoinHandle<Found> {
    let (names, tenant) = (names.clone(), tenant.to_owned());
    let task = tokio::spawn(async move { names.resolve(tenant.as_str().into(), name).await });
    tokio::task::yield_now().await;
    task
}

async fn begin_many(names: &Names, tenant: &str, kind: &str, count: usize) {
    for number in 0..count {
        begin(names, tenant, format!("{kind}-{tenant}-{number}")).await;
    }
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn slow_names_of_one_tenant_delay_no_other() {
    let names = Asked::default().names();
    begin_many(&names, "noisy", "endless", 50).await;
    let began = Instant::now();
    resolve(&names, "quiet", "quick").await.expect("it is found");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_lookup_that_nobody_waits_for_any_more_keeps_its_place() {
    let asked = Asked::default();
    let names = asked.names();
    for round in 0..3 {
        begin_many(&names, "noisy", &format!("endless-{round}"), 10).await;
        tokio::time::sleep(MAX_WAIT).await;
        assert!(matches!(resolve(&names, "noisy", "quick").await, Err(NameError::Late)));
        let NameUse { lookups, names, .. } = names.measure();
        assert_eq!((lookups, names, asked.count()), (MAX_OF_TENANT, MAX_OF_TENANT, MAX_OF_TENANT));
    }
    assert_eq!(names.measure().late, 33);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_was_slow_leaves_the_places_to_others() {
    let asked = Asked::default();
    let names = asked.names();
    begin_many(&names, "acme", "slow", MAX_OF_TENANT).await;
    tokio::time::sleep(HANG + Duration::from_millis(1)).await;
    let NameUse { lookups, slow_names, .. } = names.measure();
    assert_eq!((lookups, slow_names), (0, MAX_OF_TENANT));
    // Now they wait for each other, and for nothing else.
    begin_many(&names, "acme", "slow", MAX_OF_TENANT).await;
    let NameUse { lookups, slow_lookups, .. } = names.measure();
    assert_eq!((lookups, slow_lookups), (0, MAX_SLOW_OF_TENANT));
    let began = Instant::now();
    resolve(&names, "acme", "quick").await.expect("it is found");
    assert_eq!(began.elapsed(), Duration::ZERO);
    tokio::time::sleep(HANG + SLOW_FOR).await;
    assert_eq!(names.measure().slow_names, 0, "they are forgotten");
    begin_many(&names, "acme", "slow", MAX_OF_TENANT).await;
    assert_eq!(names.measure().lookups, MAX_OF_TENANT);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_answers_again_is_slow_no_more() {
    let asked = Asked::default();
    let names = asked.names();
    names.0.slow_names.add("quick".to_owned());
    assert_eq!(names.measure().slow_names, 1);
    resolve(&names, "acme", "quick").await.expect("it is found");
    assert_eq!(names.measure().slow_names, 0);
    let failed = resolve(&names, "acme", "unknown").await.expect_err("there is none");
    assert_eq!(failed.to_string(), "no such name");
    assert_eq!(names.measure().slow_names, 0, "a failure that is quick takes no place");
}

#[tokio::test(start_paused = true)]
async fn slow_names_of_all_tenants_have_a_few_places() {
    let asked = Asked::default();
    let names = asked.names();
    for number in 0..MAX_SLOW_LOOKUPS + 4 {
        let name = format!("endless-{number}");
        names.0.slow_names.add(name.clone());
        begin(&names, &format!("tenant-{number}"), name).await;
    }
    let NameUse { lookups, slow_lookups, .. } = names.measure();
    assert_eq!((lookups, slow_lookups), (0, MAX_SLOW_LOOKUPS));
    resolve(&names, "tenant-0", "quick").await.expect("it is found");
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_for_a_name_of_a_tenant_share_a_lookup() {
    let asked = Asked::default();
    let names = asked.names();
    let mut waiting = Vec::new();
    for tenant in ["acme", "acme", "bolt", "acme"] {
        waiting.push(begin(&names, tenant, "slow".to_owned()).await);
    }
    assert_eq!(asked.count(), 2, "one for each tenant");
    tokio::time::sleep(HANG - Duration::from_secs(1)).await;
    // The first ones gave up, and the lookup goes on.
    let last = begin(&names, "acme", "slow".to_owned()).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    last.await.expect("no panic").expect("it is found");
    for one in waiting {
        assert!(matches!(one.await.expect("no panic"), Err(NameError::Late)));
    }
    assert_eq!(asked.count(), 2);
    for _ in 0..2 {
        resolve(&names, "acme", "quick").await.expect("it is found");
    }
    assert_eq!(asked.count(), 4, "each request has an answer of its own time");
}

#[tokio::test(start_paused = true)]
async fn too_many_names_of_a_tenant_are_refused() {
    let asked = Asked::default();
    let names = asked.names();
    begin_many(&names, "noisy", "endless", MAX_NAMES_OF_TENANT).await;
    assert!(matches!(resolve(&names, "noisy", "quick").await, Err(NameError::Busy)));
    resolve(&names, "quiet", "quick").await.expect("it is found");
    assert_eq!(names.measure().refused, 1);
}

#[tokio::test(start_paused = true)]
async fn names_that_tenants_look_up_leave_no_entry() {
    let asked = Asked::default();
    let names = asked.names();
    for number in 0..1_000 {
        let name = if number % 100 == 0 { "broken" } else { "quick" };
        let found = resolve(&names, &format!("tenant-{number}"), name).await;
        assert_eq!(found.is_err(), name == "broken");
    }
    let nothing =
        NameUse { lookups: 0, slow_lookups: 0, names: 0, slow_names: 0, late: 0, refused: 0 };
    assert_eq!(names.measure(), nothing);
    assert_eq!(names.0.quick.tenants(), 0);
}
