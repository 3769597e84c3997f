//! Bar 8: finding a plan.

use std::sync::Barrier;
use std::time::Duration;

use anyhow::Result;
use portcullis_engine::PlanCache;
use portcullis_workloads::measure::{Variant, compare, median, thread_time};
use portcullis_workloads::report::{Bar, Group};

use crate::ours::revision;

/// Lookups of one thread in one turn.
const LOOKUPS: usize = 100_000;
const TURNS: usize = 21;

type Key = (String, String);

pub(crate) fn lookup(group: &mut Group<'_>) -> Result<()> {
    let cache = PlanCache::new(u64::MAX);
    let keys: Vec<Key> = (0..1_000)
        .map(|index| (format!("tenant-{}", index % 10), format!("document-{index:04}:read")))
        .collect();
    // Once to load it, once to make it hot.
    for key in keys.iter().chain(&keys) {
        find(&cache, key);
    }
    let samples = compare(vec![
        Variant::new("one of 1,000 keys", keys.len(), |index| find(&cache, &keys[index])),
        Variant::new("one hot key", 1, |_| find(&cache, &keys[0])),
    ]);
    for sample in &samples {
        group.figure(&sample.name, sample.ns(), " ns", Bar::AtMost(30.0));
    }
    for (name, keys) in [("1,000 keys", &keys[..]), ("one hot key", &keys[..1])] {
        let turn = || {
            let [one, two] = [1, 2].map(|threads| slowest_of(threads, &cache, keys));
            2.0 * one.as_secs_f64() / two.as_secs_f64()
        };
        let scaling = median((0..TURNS).map(|_| turn()).collect());
        group.figure(format!("{name}: two threads / one"), scaling, "", Bar::AtLeast(1.8));
    }
    Ok(())
}

fn find(cache: &PlanCache, (tenant, resource): &Key) -> u64 {
    revision(cache, tenant, resource)
}

/// CPU time of the slowest of `threads` threads that look plans up at the same time.
fn slowest_of(threads: usize, cache: &PlanCache, keys: &[Key]) -> Duration {
    let barrier = Barrier::new(threads);
    let work = || {
        barrier.wait();
        let start = thread_time();
        for key in keys.iter().cycle().take(LOOKUPS) {
            std::hint::black_box(find(cache, key));
        }
        thread_time() - start
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).max().unwrap_or_default()
    })
}
