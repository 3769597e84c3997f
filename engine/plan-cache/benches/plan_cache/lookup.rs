//! Bar 8: finding a plan.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::Result;
use portcullis_workloads::measure::{Variant, compare, median, thread_time};
use portcullis_workloads::report::{Bar, Group};

use crate::lookups::{Cache, revision};

/// The number of lookups of one thread in one turn.
const LOOKUPS: usize = 20_000;
/// The number of wanted turns, and the maximum number of attempts.
const TURNS: usize = 11;
const MAX_TURNS: usize = 300;

type Key = (String, String);

pub(crate) fn lookup(group: &mut Group<'_>) -> Result<()> {
    let cache = Cache::new(u64::MAX);
    let keys: Vec<Key> = (0..1_000)
        .map(|index| (format!("tenant-{}", index % 10), format!("document-{index:04}:read")))
        .collect();
    for key in &keys {
        find(&cache, key);
    }
    let samples = compare(vec![
        Variant::new("one of 1,000 keys", keys.len(), |index| find(&cache, &keys[index])),
        Variant::new("one hot key", 1, |_| find(&cache, &keys[0])),
    ]);
    for sample in &samples {
        group.measurement(&sample.name, sample.ns(), " ns", Bar::AtMost(30.0));
    }
    for (name, keys) in [("1,000 keys", &keys[..]), ("one hot key", &keys[..1])] {
        let turns: Vec<f64> =
            (0..MAX_TURNS).filter_map(|_| scaling(&cache, keys)).take(TURNS).collect();
        if turns.len() < TURNS {
            eprintln!(
                "{name}: two threads hardly ever ran at the same time, for want of a free core"
            );
        }
        let what = format!("{name}: two threads / one, {} turns", turns.len());
        group.measurement(what, median(turns), "", Bar::AtLeast(1.8));
    }
    Ok(())
}

/// Returns the throughput of two threads relative to one; `None` if they did not run at the same time.
fn scaling(cache: &Cache, keys: &[Key]) -> Option<f64> {
    let (one, _) = slowest_of(1, cache, keys);
    let (two, undisturbed) = slowest_of(2, cache, keys);
    undisturbed.then(|| 2.0 * one.as_secs_f64() / two.as_secs_f64())
}

fn find(cache: &Cache, (tenant, resource): &Key) -> u64 {
    revision(cache, tenant, resource)
}

/// Returns the CPU time of the slowest of `threads` threads that look plans up at the same time, and whether each had
/// its own core.
fn slowest_of(threads: usize, cache: &Cache, keys: &[Key]) -> (Duration, bool) {
    let barrier = Barrier::new(threads);
    let work = || {
        barrier.wait();
        let (wall, start) = (Instant::now(), thread_time());
        for key in keys.iter().cycle().take(LOOKUPS) {
            std::hint::black_box(find(cache, key));
        }
        let took = thread_time() - start;
        // With a core of its own, a thread takes hardly longer by the clock than of the processor.
        (took, wall.elapsed() < took.mul_f64(1.1))
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ran = running.into_iter().filter_map(|thread| thread.join().ok());
        ran.reduce(|a, b| (a.0.max(b.0), a.1 && b.1)).unwrap_or_default()
    })
}
