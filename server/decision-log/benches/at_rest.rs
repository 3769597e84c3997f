//! Measures a million sealed records: their size, the work to seal them, and what a query by subject reads of them:
//! `cargo bench -p portcullis-decision-log --bench at_rest`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

mod hospital;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use portcullis_decision_log::{
    Archive, DecisionLog, DecisionSpan, LogConfig, LogMetrics, RawRecord, ReadLimit, RecordPlace,
    RecordedDecision,
};
use portcullis_engine::json;
use portcullis_model::clock::Clock;
use portcullis_model::decision::DecisionSelection;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::testing::TestDatabase;
use rustix::time::{ClockId, clock_gettime};
use uuid::{Builder, Uuid};

const RECORDS: usize = 1_000_000;
const SUBJECTS: usize = 10_000;
const RESOURCES: usize = 50;
/// Records between two waits for the writer.
const BURST: usize = 5_000;
/// The most of the sealed bytes that a query by subject reads.
const READ_BAR: f64 = 0.01;

#[tokio::main]
async fn main() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Clock::system());
    let database = TestDatabase::sqlite().expect("a database");
    let store = database.open().await;
    // The records of a tenant that is not in the database are not sealed.
    let tenant = store.write("hospital", 0).await.expect("begins");
    tenant.commit().await.expect("is made");
    let keys = KeyRing::generate_key().expect("a key");
    let place = RecordPlace::Folder(folder.path().join("rest"));
    let open = || {
        let keys = KeyRing::parse(&keys).expect("a key");
        let archive = Archive::open(&place, store.clone(), keys).expect("opens");
        let (buffer, max_bytes) = (folder.path().join("buffer"), u64::MAX);
        let kept = Some(archive.clone());
        let config = LogConfig { folder: buffer, max_bytes, archive: kept, clock: clock.clone() };
        (DecisionLog::open(config, LogMetrics::default()).expect("opens"), archive)
    };

    let (log, _) = open();
    let keeper = tokio::spawn(log.clone().run_maintenance());
    let (began, worked) = (Instant::now(), work());
    append_all(&log).await;
    let (appended, written) = (began.elapsed(), work() - worked);
    log.close().await.expect("sealed");
    keeper.abort();
    // It holds the folder until it ended.
    let _ = keeper.await;
    drop(log);
    let each = |time: Duration| time.as_secs_f64() * 1e6 / RECORDS as f64;
    println!(
        "{RECORDS} records: {:.2} µs of CPU each until they are sealed, in {:.1} s; {:.2} µs and {:.1} s until the last was taken",
        each(work() - worked),
        began.elapsed().as_secs_f64(),
        each(written),
        appended.as_secs_f64(),
    );

    let bytes = bytes_in(&folder.path().join("rest"));
    println!("sealed: {:.0} bytes a record", bytes as f64 / RECORDS as f64);

    let (log, archive) = open();
    let subject = Some(hospital::subject(SUBJECTS / 2));
    let selection = DecisionSelection { subject, ..DecisionSelection::default() };
    let began = Instant::now();
    let count = |count: &mut usize, _: RawRecord<'_>| {
        *count += 1;
        ControlFlow::Continue(())
    };
    let found = log
        .visit("hospital", &selection, DecisionSpan::default(), ReadLimit::none(), 0, count)
        .await;
    let (found, elapsed) = (found.expect("reads").into, began.elapsed());
    assert_eq!(found, RECORDS / SUBJECTS, "the records of one subject");
    let part = archive.bytes_read() as f64 / bytes as f64;
    let verdict = if part <= READ_BAR { "met" } else { "missed" };
    println!(
        "query by subject: {found} records in {elapsed:.0?}, {:.2} % of the bytes read, bar {:.0} %: {verdict}",
        100.0 * part,
        100.0 * READ_BAR
    );
}

/// Appends the records of subjects in turn, one a millisecond, as fast as the writer takes them.
async fn append_all(log: &DecisionLog) {
    let start = Clock::system().now().timestamp_millis().cast_unsigned() - RECORDS as u64;
    for number in 0..RECORDS {
        let id = id_at(start + number as u64, number);
        let (request_id, text) = (id.to_string(), hospital::sent(number));
        let sent = json::parse(text.as_bytes()).expect("valid");
        let (subject, resource) =
            (hospital::subject(number % SUBJECTS), format!("chart-{}:read", number % RESOURCES));
        let decision = RecordedDecision {
            request_id: &request_id,
            ..hospital::decision(id, (&subject, &resource), &sent)
        };
        if number % BURST == 0 {
            let last = log.append_durably(&decision, None).expect("is taken");
            last.written().await.expect("is written");
        } else {
            log.append(&decision, None).expect("is kept");
        }
    }
}

fn id_at(millis: u64, number: usize) -> Uuid {
    let mut random = [0; 10];
    random[..8].copy_from_slice(&(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// Returns the time that all threads of the process worked.
fn work() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("is positive")
}

fn bytes_in(folder: &std::path::Path) -> u64 {
    let entries = folder.read_dir().expect("reads").map(|entry| entry.expect("an entry"));
    let bytes = |entry: std::fs::DirEntry| match entry.metadata().expect("reads") {
        about if about.is_dir() => bytes_in(&entry.path()),
        about => about.len(),
    };
    entries.map(bytes).sum()
}
