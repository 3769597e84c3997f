//! Concurrent calls on several threads: nothing that they share may slow them down.

use std::time::Instant;

use anyhow::{Result, ensure};
use portcullis_workloads::measure::median;
use portcullis_workloads::report::{Bar, Group};

use crate::environment::{Bench, request};

/// The number of calls in one turn, and of concurrent calls.
const CALLS: usize = 4_000;
const AT_ONCE: usize = 8;

/// The number of turns, of which the median counts.
const TURNS: usize = 7;

pub(crate) fn threads(group: &mut Group<'_>) -> Result<()> {
    let one = calls_per_second(1)?;
    let two = calls_per_second(2)?;
    group.measurement("calls per second, one thread", one, "", Bar::Shown);
    group.measurement("calls per second, two threads", two, "", Bar::Shown);
    group.measurement("two threads / one", two / one, "", Bar::AtLeast(1.7));
    Ok(())
}

/// Measures wall time: the processors must be free.
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
