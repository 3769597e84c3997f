//! Bar 11, without a store: the benefit of the plan cache.

use std::cell::Cell;

use anyhow::{Context, Result};
use fastrand::Rng;
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::report::{Bar, Group};
use portcullis_workloads::{Workload, w4};

use crate::lookups::{Cache, cached};
use crate::ours::{Source, allows, bodies, sources};

const PAIRS: usize = 100_000;
const ROOM: usize = 10_000;
const LOOKUPS: usize = 500_000;

pub(crate) fn cache(group: &mut Group<'_>) -> Result<()> {
    hit_miss_and_none(group, &w4())?;
    let ratio = zipf_hit_ratio();
    let ideal = harmonic(ROOM) / harmonic(PAIRS);
    group.measurement("Zipf over 100,000 pairs, room for 10,000: hit ratio", ratio, "", Bar::Shown);
    group.measurement(
        "… if the most frequent pairs were cached from the start",
        ideal,
        "",
        Bar::Shown,
    );
    Ok(())
}

/// Times a check of one of W4's resources, which has 50 rules and 50 policies.
fn hit_miss_and_none(group: &mut Group<'_>, workload: &Workload) -> Result<()> {
    let body = bodies(workload)?[0];
    let source = sources(workload)?.remove(body.resource).context("the resource has rules")?;
    let cache = Cache::new(u64::MAX);
    let load = || source.compile(body.resource, 1);
    let right = || [workload.requests[0].allow];
    let tenant = Cell::new(0);
    let samples = compare(vec![
        Variant::checked("hit", right(), |_| {
            Ok(allows(cached(&cache, "acme", body.resource, load).plan(), body))
        })?,
        Variant::checked("miss: compile and keep", right(), |_| {
            // A tenant without plans, each time another one.
            tenant.set(tenant.get() + 1);
            let tenant = format!("tenant-{}", tenant.get());
            Ok(allows(cached(&cache, &tenant, body.resource, load).plan(), body))
        })?,
        Variant::checked("no cache: compile per check", right(), |_| Ok(allows(&load(), body)))?,
    ]);
    group.times("50 rules, 50 policies, without a store", &samples);
    Ok(())
}

/// Returns the hit ratio of lookups whose frequency follows Zipf's law, from an empty cache on.
fn zipf_hit_ratio() -> f64 {
    let resource = |pair: usize| format!("document-{pair:06}:read");
    let source = Source::default();
    let cache = Cache::new(ROOM as u64 * weight(&source, resource));
    let sums: Vec<f64> = (1..=PAIRS)
        .scan(0.0, |sum, rank| {
            *sum += 1.0 / rank as f64;
            Some(*sum)
        })
        .collect();
    let mut rng = Rng::with_seed(11);
    let loads = Cell::new(0);
    for _ in 0..LOOKUPS {
        let place = rng.f64() * harmonic(PAIRS);
        let pair = sums.partition_point(|sum| *sum < place);
        let resource = resource(pair);
        let load = || {
            loads.set(loads.get() + 1);
            source.compile(&resource, 1)
        };
        if cache.hot().get("tenant", &resource, 0).is_none() {
            cached(&cache, "tenant", &resource, load);
        }
    }
    1.0 - f64::from(loads.get()) / LOOKUPS as f64
}

/// Returns the bytes of one plan in the cache.
fn weight(source: &Source, resource: impl Fn(usize) -> String) -> u64 {
    let cache = Cache::new(u64::MAX);
    let [first, second] = [0, 1].map(|pair| {
        let resource = resource(pair);
        cached(&cache, "tenant", &resource, || source.compile(&resource, 1));
        cache.size().bytes
    });
    // The difference leaves out what a tenant takes beside its plans.
    second - first
}

fn harmonic(count: usize) -> f64 {
    (1..=count).map(|rank| 1.0 / rank as f64).sum()
}
