//! One resource with 10,000 policies and 10,000 rules.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use portcullis_engine::Effect;
use portcullis_runtime::plans::Plans;
use portcullis_storage::testing::TestDatabase;
use portcullis_storage::{Store, policies, rules};
use portcullis_workloads::measure::median;
use portcullis_workloads::report::{Bar, Group};

use crate::records::{Records, by, policy, resource, rule, write};
use crate::service::{decides, find, millis, start};

const SIZE: usize = 10_000;
const RECORDS: Records = Records { rules: SIZE, policies: SIZE, resources: 1 };
const CACHE: u64 = 512 << 20;
const STARTS: usize = 9;
/// More than a plan takes before it is compiled whole.
const CHANGES: usize = 150;
/// The pause between two checks of the other tenant.
const PAUSE: Duration = Duration::from_micros(200);

/// Times in milliseconds.
pub(crate) struct Measured {
    starts: Vec<f64>,
    policies: Vec<f64>,
    rules: Vec<f64>,
    /// Checks of another tenant during the changes, and during the loads after starts.
    others_changes: Vec<f64>,
    others_starts: Vec<f64>,
    /// A hot decision in nanoseconds: with changed policies, and with the same policies compiled together.
    changed: f64,
    whole: f64,
}

pub(crate) async fn measure(database: &TestDatabase) -> Measured {
    let store = database.open().await;
    write(&store, "acme", RECORDS).await;
    write(&store, "bolt", Records { rules: 100, policies: 100, resources: 1 }).await;
    let resource = resource(0);
    let mut starts = Vec::new();
    let others_starts = beside(&store, async {
        for _ in 0..STARTS {
            starts.push(millis(find(&start(&store, CACHE), "acme", &resource).await));
        }
    });
    let others_starts = others_starts.await;
    let plans = start(&store, CACHE);
    find(&plans, "acme", &resource).await;
    let (mut of_policies, mut of_rules) = (Vec::new(), Vec::new());
    let others_changes = beside(&store, async {
        for number in 0..CHANGES {
            change_policy(&store, &plans, number).await;
            of_policies.push(millis(find(&plans, "acme", &resource).await));
            let cached = plans.find("acme", &resource, 0).await.expect("a plan");
            assert_eq!(decides(cached.plan(), &resource, SIZE, number), Effect::Allow);
            change_rule(&store, &plans, number).await;
            of_rules.push(millis(find(&plans, "acme", &resource).await));
        }
    });
    let others_changes = others_changes.await;
    let changed = hot(&plans, &resource).await;
    let whole = start(&store, CACHE);
    let whole = hot(&whole, &resource).await;
    Measured {
        starts,
        policies: of_policies,
        rules: of_rules,
        others_changes,
        others_starts,
        changed,
        whole,
    }
}

/// Makes a policy allow instead of deny. The policies of its department with a lower clearance allow already.
async fn change_policy(store: &Store, plans: &Plans, number: usize) {
    let old = policy("acme", number, 1, Effect::Deny);
    let new = policy("acme", number, 1, Effect::Allow);
    let mut tx = store.write("acme", by().at.millis()).await.expect("begins");
    policies::update(&mut tx, &old, &new, &by()).await.expect("writes");
    tx.pass_gates();
    plans.commit(tx).await.expect("commits");
}

async fn change_rule(store: &Store, plans: &Plans, number: usize) {
    let old = rule(number, 1);
    let mut new = old.clone();
    new.effect = Effect::Deny;
    let mut tx = store.write("acme", by().at.millis()).await.expect("begins");
    assert!(rules::update(&mut tx, &old, &new, &by()).await.expect("writes"));
    tx.pass_gates();
    plans.commit(tx).await.expect("commits");
}

/// Returns the nanoseconds of a decision, the median of many.
async fn hot(plans: &Plans, resource: &str) -> f64 {
    let cached = plans.find("acme", resource, 0).await.expect("a plan");
    let decide = |clearance| {
        let began = Instant::now();
        let effect = decides(cached.plan(), resource, SIZE, clearance);
        std::hint::black_box(effect);
        began.elapsed().as_nanos() as f64
    };
    median((0..20_000).map(|number| decide(number % SIZE)).collect())
}

/// Runs `work`, and checks of another tenant meanwhile. Returns the milliseconds of each check.
async fn beside(store: &Store, work: impl Future<Output = ()>) -> Vec<f64> {
    let plans = start(store, CACHE);
    let resource = resource(0);
    find(&plans, "bolt", &resource).await;
    let is_done = AtomicBool::new(false);
    let (is_done, plans, resource) = (&is_done, &plans, &*resource);
    std::thread::scope(|threads| {
        let checks = threads.spawn(move || {
            let mut times = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                let began = Instant::now();
                let hot = plans.hot().expect("fresh");
                let cached = hot.get("bolt", resource, 0).expect("hot");
                std::hint::black_box(decides(cached.plan(), resource, 0, 1));
                times.push(millis(began.elapsed()));
                std::thread::sleep(PAUSE);
            }
            times
        });
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work));
        is_done.store(true, Ordering::Relaxed);
        checks.join().expect("no panic")
    })
}

fn p99(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}

pub(crate) fn report(group: &mut Group<'_>, database: &str, measured: &Measured) -> Result<()> {
    ensure!(measured.policies.len() == CHANGES, "some changes were not measured");
    let mut line = |what: &str, value: f64, unit, bar| {
        group.measurement(format!("{database}: {what}"), value, unit, bar);
    };
    let times = |times: &Vec<f64>| median(times.clone());
    line("first check after a start", times(&measured.starts), " ms", Bar::AtMost(60.0));
    line("first check after a changed policy", times(&measured.policies), " ms", Bar::AtMost(5.0));
    let slowest = measured.policies.iter().copied().fold(0.0, f64::max);
    line("the slowest of them", slowest, " ms", Bar::Shown);
    line("first check after a changed rule", times(&measured.rules), " ms", Bar::AtMost(5.0));
    let others = p99(measured.others_starts.clone());
    line("another tenant's checks during starts, p99", others, " ms", Bar::AtMost(2.0));
    let others = p99(measured.others_changes.clone());
    line("another tenant's checks during changes, p99", others, " ms", Bar::AtMost(2.0));
    line("a check with its JSON, changed plan", measured.changed, " ns", Bar::Shown);
    line("the same, plan compiled whole", measured.whole, " ns", Bar::Shown);
    Ok(())
}
