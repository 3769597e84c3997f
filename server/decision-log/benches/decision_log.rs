//! Measures what a record costs a check, and compares it with its bar: `cargo bench -p portcullis-decision-log --bench
//! decision_log`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

mod hospital;

use std::time::{Duration, Instant};

use portcullis_decision_log::{DecisionLog, LogConfig, LogMetrics};
use portcullis_engine::json;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use rustix::time::{ClockId, clock_gettime};
use uuid::Uuid;

/// Records of a measurement.
const RECORDS: usize = 400_000;
/// Records between two pauses: a service has other work than records.
const BURST: usize = 2_000;
/// Most time of an asynchronous record on the way of its check.
const APPEND_BAR: Duration = Duration::from_nanos(300);
/// The subjects of the records.
const SUBJECTS: usize = 4;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, metrics) = (Clock::system(), LogMetrics::default());
    let folder = folder.path().to_owned();
    let config = LogConfig { folder, max_bytes: u64::MAX, archive: None, clock: clock.clone() };
    let log = DecisionLog::open(config, metrics.clone()).expect("opens");
    let sent = hospital::sent(0);
    let sent = json::parse(sent.as_bytes()).expect("valid");
    let subjects: Vec<String> = (0..SUBJECTS).map(hospital::subject).collect();
    let decision = |id: Uuid, number: usize| {
        hospital::decision(id, (&subjects[number % SUBJECTS], "chart:read"), &sent)
    };
    let ids = Ids::new();
    let made: Vec<Uuid> = (0..RECORDS).map(|_| ids.next(clock.now().into())).collect();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut spent = Duration::ZERO;
    for burst in made.chunks(BURST) {
        let began = worked();
        for (n, id) in burst.iter().enumerate() {
            log.append(&decision(*id, n), None).expect("is kept");
        }
        spent += worked() - began;
        let last = log.append_durably(&decision(burst[0], 0), None).expect("is taken");
        runtime.block_on(last.written()).expect("is written");
    }
    let each = spent / u32::try_from(RECORDS).expect("fits");
    let verdict = if each <= APPEND_BAR { "met" } else { "missed" };
    println!("append: {each:?} a record, bar {APPEND_BAR:?}: {verdict}");

    let began = Instant::now();
    const DURABLE: u32 = 500;
    for id in &made[..DURABLE as usize] {
        let pending = log.append_durably(&decision(*id, 0), None).expect("is taken");
        runtime.block_on(pending.written()).expect("is written");
    }
    println!("append and wait, alone: {:?} a record", began.elapsed() / DURABLE);
}

/// Returns the time that this thread worked, without what other threads take.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().expect("is positive")
}
