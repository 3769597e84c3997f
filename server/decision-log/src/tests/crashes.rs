//! Files that a crash left, and disks that are full.

use std::sync::Arc;

use portcullis_model::clock::Clock;

use super::*;
use crate::Lost;
use crate::segment::Segment;

/// Appends `records` to a new log of `folder`, and returns the bytes of its file.
async fn written(folder: &Path, records: usize) -> Vec<u8> {
    let (log, _) = open(folder);
    let (ids, json) = (Numbered::default(), attributes());
    for _ in 0..records {
        log.append(&denial(ids.next(), "dana", sent(&json)), None).expect("is kept");
    }
    log.close().await.expect("closes");
    std::fs::read(file_of(folder)).expect("reads")
}

fn file_of(folder: &Path) -> std::path::PathBuf {
    Segment::numbers(folder).expect("lists").remove(0).1
}

#[tokio::test]
async fn a_torn_end_is_cut_at_every_byte_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = written(folder.path(), 3).await;
    let path = file_of(folder.path());
    let frame = (whole.len() - 16) / 3;
    // The ends of the file, and each byte of the last frame that another one replaces.
    let torn = (16..whole.len()).step_by(37).map(|end| whole[..end].to_vec());
    let changed = (whole.len() - frame..whole.len()).step_by(29).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        bytes
    });
    for bytes in torn.chain(changed) {
        std::fs::write(&path, &bytes).expect("writes");
        let (log, metrics) = open(folder.path());
        let sound = if bytes.len() < whole.len() { (bytes.len() - 16) / frame } else { 2 };
        let found = all(&log).await.len();
        assert_eq!(
            (found, metrics.lost(Lost::Killed)),
            (sound, 3 - sound as u64),
            "{}",
            bytes.len()
        );
        drop(log);
        for (_, path) in Segment::numbers(folder.path()).expect("lists") {
            std::fs::remove_file(path).expect("removes");
        }
    }
}

#[tokio::test]
async fn a_gap_is_counted_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = written(folder.path(), 3).await;
    std::fs::write(file_of(folder.path()), &whole[..whole.len() - 1]).expect("writes");
    let lost: Vec<u64> = (0..2).map(|_| open(folder.path()).1.lost(Lost::Killed)).collect();
    assert_eq!(lost, [1, 0]);
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused_and_two_processes_do_not_share_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let again = DecisionLog::open(config(folder.path(), u64::MAX), LogMetrics::default());
    assert!(matches!(again, Err(LogOpenError::InUse(_))));
    log.close().await.expect("closes");
    drop(log);
    std::fs::write(folder.path().join("00000000000000000007.wal"), [b'x'; 64]).expect("writes");
    let error = DecisionLog::open(config(folder.path(), u64::MAX), LogMetrics::default());
    let error = error.expect_err("is refused").to_string();
    assert!(error.contains("is not a write-ahead file of this version"), "{error}");
}

#[tokio::test]
async fn a_full_disk_loses_what_it_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let metrics = LogMetrics::default();
    let log = DecisionLog::open(config(folder.path(), 2_048), metrics.clone()).expect("opens");
    let (ids, json) = (Numbered::default(), attributes());
    let mut kept = 0;
    for _ in 0..10 {
        let pending = log.append_durably(&denial(ids.next(), "dana", sent(&json)), None);
        match pending.expect("is taken").written().await {
            Ok(()) => kept += 1,
            Err(cause) => assert_eq!(cause, Lost::DiskFull),
        }
    }
    assert!((1..10).contains(&kept));
    assert_eq!((all(&log).await.len() as u64, metrics.lost(Lost::DiskFull)), (kept, 10 - kept));
}

#[tokio::test]
async fn a_day_begins_a_file_and_a_clock_that_is_set_back_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let day = Arc::new(AtomicI64::new(0));
    let of_clock = Arc::clone(&day);
    let instant = move || {
        let millis = NOON + of_clock.load(Ordering::Relaxed) * 24 * 60 * 60 * 1_000;
        Timestamp::from_millis(millis).to_string().parse().expect("an instant")
    };
    let config = LogConfig { clock: Clock::new(instant), ..config(folder.path(), u64::MAX) };
    let log = DecisionLog::open(config, LogMetrics::default()).expect("opens");
    let (ids, json) = (Numbered::default(), attributes());
    let mut files = Vec::new();
    for at in [0, -3, 1, 0, 1] {
        day.store(at, Ordering::Relaxed);
        let pending = log.append_durably(&denial(ids.next(), "dana", sent(&json)), None);
        pending.expect("is taken").written().await.expect("is written");
        files.push(Segment::numbers(folder.path()).expect("lists").len());
    }
    assert_eq!(files, [1, 1, 2, 2, 2]);
    assert_eq!(all(&log).await.len(), 5);
}
