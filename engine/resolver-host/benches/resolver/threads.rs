//! How calls share threads: nothing that they have in common must hold them up.

use std::time::Instant;

use anyhow::{Result, ensure};
use portcullis_workloads::measure::median;
use portcullis_workloads::report::{Bar, Group};

use crate::environment::{Bench, request};

/// Calls of one turn, and how many of them are under way at once.
const CALLS: usize = 4_000;
const AT_ONCE: usize = 8;

/// Turns, of which the median counts.
const TURNS: usize = 7;

pub(crate) fn threads(group: &mut Group<'_>) -> Result<()> {
    let one = calls_per_second(1)?;
    let two = calls_per_second(2)?;
    group.figure("calls per second, one thread", one, "", Bar::Shown);
    group.figure("calls per second, two threads", two, "", Bar::Shown);
    group.figure("two threads / one", two / one, "", Bar::Shown);
    Ok(())
}

/// By wall time: the processors must be free.
fn calls_per_second(threads: usize) -> Result<f64> {
    let bench = Bench::with_threads(threads)?;
    let resolver = bench.load(portcullis_test_guests::component("directory")?)?;
    let some_calls = || async {
        for _ in 0..CALLS / AT_ONCE {
            let outcome = bench.host.resolve(&resolver, request()).await;
            ensure!(outcome.result.is_ok(), "{outcome:?}");
        }
        Ok(())
    };
    let turn = || -> Result<f64> {
        let begun = Instant::now();
        let all = futures_util::future::try_join_all((0..AT_ONCE).map(|_| some_calls()));
        bench.runtime.block_on(all)?;
        Ok(CALLS as f64 / begun.elapsed().as_secs_f64())
    };
    Ok(median((0..TURNS).map(|_| turn()).collect::<Result<_>>()?))
}
