//! Calls on two threads: nothing that they share may slow them down.
//!
//! The control is two processes of one thread each, which share nothing of ours. Each thread has its own processor and
//! its own runtime, so that no thread of the measurement helps with the calls. The bar counts processor time:
//! another process on the same processor does not matter.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use portcullis_resolver_host::BoundResolver;
use portcullis_workloads::measure::{median, thread_time};
use portcullis_workloads::report::{Bar, Group};

use crate::environment::{Bench, request};

/// The time of one turn.
const TURN: Duration = Duration::from_millis(500);

/// The number of turns, of which the median counts.
const TURNS: usize = 9;

/// The argument of a process that measures one thread, before the number of its processor and the file of the component.
pub(crate) const ONE_THREAD: &str = "--one-thread";

/// The rate of calls, by two clocks.
#[derive(Clone, Copy, Default)]
struct Rate {
    /// Calls per second of processor time.
    processor: f64,
    /// Calls per second of the clock on the wall.
    wall: f64,
}

impl Rate {
    fn sum(rates: &[Self]) -> Self {
        Self {
            processor: rates.iter().map(|rate| rate.processor).sum(),
            wall: rates.iter().map(|rate| rate.wall).sum(),
        }
    }
}

pub(crate) fn threads(group: &mut Group<'_>) -> Result<()> {
    let component = portcullis_test_guests::component("directory")?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), &component)?;
    let bench = Bench::new(None)?;
    let resolver = bench.load(component)?;
    // Not measured: code and memory are warm afterwards.
    on_threads(&bench, &resolver, 0..2)?;
    let (mut one, mut two, mut apart) = (vec![], vec![], vec![]);
    for _ in 0..TURNS {
        one.push(Rate::sum(&on_threads(&bench, &resolver, 0..1)?));
        two.push(Rate::sum(&on_threads(&bench, &resolver, 0..2)?));
        apart.push(measure_two_processes(file.path())?);
    }
    for (what, rates) in [("one thread", &one), ("two threads", &two), ("two processes", &apart)] {
        let rate = median(rates.iter().map(|rate| rate.processor).collect());
        group.measurement(format!("calls per second of a processor, {what}"), rate, "", Bar::Shown);
    }
    let ratio = |above: &[Rate], below: &[Rate], of: fn(&Rate) -> f64| {
        median(above.iter().zip(below).map(|(above, below)| of(above) / of(below)).collect())
    };
    let processor = |rate: &Rate| rate.processor;
    group.measurement("two threads / one", ratio(&two, &one, processor), "", Bar::AtLeast(1.7));
    group.measurement("two processes / one", ratio(&apart, &one, processor), "", Bar::Shown);
    let shared = ratio(&two, &apart, processor);
    group.measurement("two threads / two processes", shared, "", Bar::AtLeast(0.95));
    let by_wall = ratio(&two, &apart, |rate| rate.wall);
    group.measurement("two threads / two processes, wall clock", by_wall, "", Bar::Shown);
    Ok(())
}

/// Measures a thread on each of these processors at the same time.
fn on_threads(
    bench: &Bench,
    resolver: &BoundResolver,
    processors: std::ops::Range<usize>,
) -> Result<Vec<Rate>> {
    let barrier = Barrier::new(processors.len());
    std::thread::scope(|scope| {
        let barrier = &barrier;
        let run = |processor| {
            move || {
                let pinned = pin_to(processor);
                // Without the pin, too, because the other thread waits for this one.
                barrier.wait();
                pinned.and_then(|()| rate(bench, resolver))
            }
        };
        let running: Vec<_> = processors.map(|processor| scope.spawn(run(processor))).collect();
        let rate = |thread: std::thread::ScopedJoinHandle<'_, Result<Rate>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        running.into_iter().map(rate).collect()
    })
}

/// Pins this thread to a processor, by `taskset` of util-linux.
fn pin_to(processor: usize) -> Result<()> {
    // `<process>/task/<thread>`
    let thread = std::fs::read_link("/proc/thread-self")?;
    let thread = thread.file_name().context("a thread has a number")?;
    let mut taskset = Command::new("taskset");
    taskset.arg("-cp").arg(processor.to_string()).arg(thread).stdout(Stdio::null());
    ensure!(taskset.status()?.success(), "`taskset` does not pin the thread");
    Ok(())
}

/// Calls the resolver again and again on this thread, for one turn.
fn rate(bench: &Bench, resolver: &BoundResolver) -> Result<Rate> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (begun, used, mut calls) = (Instant::now(), thread_time(), 0.0);
        while begun.elapsed() < TURN {
            let outcome = bench.host.resolve(resolver, request()).await;
            ensure!(outcome.result.is_ok(), "{outcome:?}");
            calls += 1.0;
        }
        let used = thread_time() - used;
        Ok(Rate {
            processor: calls / used.as_secs_f64(),
            wall: calls / begun.elapsed().as_secs_f64(),
        })
    })
}

/// Runs the calls of a process that has one thread, and prints the rates.
pub(crate) fn print_rate(processor: &str, component: &str) -> Result<()> {
    let bench = Bench::new(None)?;
    let resolver = bench.load(std::fs::read(component)?)?;
    let processor = processor.parse()?;
    on_threads(&bench, &resolver, processor..processor + 1)?;
    let rate = Rate::sum(&on_threads(&bench, &resolver, processor..processor + 1)?);
    println!("{} {}", rate.processor, rate.wall);
    Ok(())
}

/// Returns the sum of the rates of two processes that run at the same time.
fn measure_two_processes(component: &Path) -> Result<Rate> {
    let start = |processor: &str| {
        let mut process = Command::new(std::env::current_exe()?);
        process.args([ONE_THREAD, processor]).arg(component).stdout(Stdio::piped()).spawn()
    };
    // Both run before one of them is waited for.
    let running = [start("0")?, start("1")?];
    let rate = |process: Child| -> Result<Rate> {
        let out = String::from_utf8(process.wait_with_output()?.stdout)?;
        let (processor, wall) = out.trim().split_once(' ').context("no rates")?;
        Ok(Rate { processor: processor.parse()?, wall: wall.parse()? })
    };
    let [first, second] = running.map(rate);
    Ok(Rate::sum(&[first?, second?]))
}
