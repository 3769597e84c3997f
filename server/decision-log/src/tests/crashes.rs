//! Files that a crash left, and disks that are full.

use std::sync::Arc;

use portcullis_model::clock::Clock;

use super::*;
use crate::Lost;
use crate::frame::{self, Kind};
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
async fn two_processes_do_not_share_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let _log = open(folder.path());
    let again = DecisionLog::open(config(folder.path(), u64::MAX), LogMetrics::default());
    assert!(matches!(again, Err(LogOpenError::InUse(_))));
}

#[tokio::test]
async fn what_cannot_be_read_at_a_start_is_counted_and_left_where_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    written(folder.path(), 3).await;
    let (file, inner) =
        (folder.path().join("00000000000000000007.wal"), folder.path().join("8.wal"));
    std::fs::write(&file, [b'x'; 64]).expect("writes");
    std::fs::create_dir(&inner).expect("makes");
    let (log, metrics) = open(folder.path());
    assert_eq!((all(&log).await.len(), metrics.lost(Lost::Damaged)), (3, 2));
    assert!(inner.is_dir() && std::fs::read(file).expect("reads") == [b'x'; 64]);
    let last = Segment::numbers(folder.path()).expect("lists").pop().map(|(number, _)| number);
    assert_eq!(last, Some(9), "no number is used twice");
}

#[tokio::test]
async fn what_is_damaged_is_counted_and_what_follows_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = written(folder.path(), 3).await;
    let (path, frame) = (file_of(folder.path()), (whole.len() - 16) / 3);
    // Each part of the frame in the middle: its length, its checksum, its head, its text.
    for at in (16 + frame..16 + 2 * frame).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        std::fs::write(&path, &bytes).expect("writes");
        let (log, metrics) = open(folder.path());
        let lost = [Lost::Damaged, Lost::Killed].map(|cause| metrics.lost(cause));
        assert_eq!((all(&log).await.len(), lost), (2, [1, 0]), "{at}");
        drop(log);
    }
    // While the log is open, each place is counted once, however many read it.
    std::fs::write(&path, &whole).expect("writes");
    let (log, metrics) = open(folder.path());
    let mut bytes = whole.clone();
    bytes[16 + 40] ^= 0x40;
    bytes[whole.len() - 1] ^= 0x40;
    std::fs::write(&path, &bytes).expect("writes");
    for _ in 0..2 {
        assert_eq!((all(&log).await.len(), metrics.lost(Lost::Damaged)), (1, 2));
    }
}

#[tokio::test]
async fn a_frame_that_is_larger_than_any_that_is_read_does_not_hide_what_follows() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = written(folder.path(), 2).await;
    let (path, end) = (file_of(folder.path()), 16 + (whole.len() - 16) / 2);
    // As an earlier version wrote it for 400,000 hashed items.
    let (mut large, id) = (Vec::new(), Numbered::default().next());
    frame::begin(&mut large, (Kind::Async, id, "bolt"), |out| out.resize(17_000_000, b'x'));
    frame::finish(&mut large);
    std::fs::write(&path, [&whole[..end], &large, &whole[end..]].concat()).expect("writes");
    let (log, metrics) = open(folder.path());
    assert_eq!((all(&log).await.len(), metrics.lost(Lost::Damaged)), (2, 1));
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
