//! The write-ahead files of a process: one that grows, and those that wait until their records are sealed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use portcullis_model::Timestamp;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::lost::Lost;
use crate::metrics::LogMetrics;
use crate::permissions;
use crate::segment::Segment;
use crate::shares::Shares;

/// The most bytes of a file. The more records are sealed together, the fewer bytes a query by subject reads of each.
const MAX_SEGMENT: u64 = 96 * 1024 * 1024;
/// The files that fit into the folder: it is emptied file by file.
const FILES: u64 = 8;

/// The name of the file that a process locks while it uses the folder.
const LOCK: &str = "lock";
/// The name of the file with the name of the folder.
const REPLICA: &str = "replica";

/// The write-ahead files.
#[derive(Debug)]
pub(crate) struct Segments {
    folder: PathBuf,
    max_bytes: u64,
    metrics: LogMetrics,
    files: Mutex<Files>,
    /// The bytes of all frames, by tenant.
    room: Mutex<Shares>,
    /// A name of the folder, which no other one has.
    replica: String,
    /// A file got its last frame.
    finished: Notify,
    /// No other process uses the folder while it is open.
    _lock: File,
}

#[derive(Debug)]
struct Files {
    /// Files that get no more frames, oldest first.
    closed: Vec<Arc<Segment>>,
    current: Arc<Segment>,
}

/// The reason why the write-ahead files cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum LogOpenError {
    /// Another process has the folder.
    #[error(
        "another process uses the folder `{0}` of the decision log: give each replica its own \
         `DECISION_LOG_BUFFER`"
    )]
    InUse(PathBuf),
    #[error("cannot open the folder `{0}` of the decision log: {1}")]
    Io(PathBuf, io::Error),
}

impl Segments {
    /// Opens the folder, which it makes if it is missing, and begins a file. Cuts torn files, and counts what a kill lost.
    pub(crate) fn open(
        folder: PathBuf,
        max_bytes: u64,
        metrics: LogMetrics,
    ) -> Result<Self, LogOpenError> {
        let failed = |error| LogOpenError::Io(folder.clone(), error);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let lock = File::create(folder.join(LOCK)).map_err(failed)?;
        // The system frees the lock when the process ends, also by a kill.
        if lock.try_lock().is_err() {
            return Err(LogOpenError::InUse(folder));
        }
        let (closed, next) = recover(&folder, &metrics).map_err(failed)?;
        let current = Segment::create(&folder, next, &metrics).map_err(failed)?;
        let mut room = Shares::new(max_bytes);
        // What is not sealed yet counts against the shares of its tenants, as before the start.
        closed.iter().for_each(|segment| segment.take_room(&mut room));
        let room = Mutex::new(room);
        let files = Mutex::new(Files { closed, current });
        let replica = replica(&folder).map_err(failed)?;
        permissions::withdraw_all(&folder, is_own);
        let finished = Notify::new();
        let segments =
            Self { folder, max_bytes, metrics, files, room, replica, finished, _lock: lock };
        segments.measure();
        Ok(segments)
    }

    /// Returns the file that grows.
    pub(crate) fn current(&self) -> Arc<Segment> {
        Arc::clone(&self.files.lock().current)
    }

    /// Returns all files, newest first.
    pub(crate) fn newest_first(&self) -> Vec<Arc<Segment>> {
        let files = self.files.lock();
        let closed = files.closed.iter().rev();
        std::iter::once(&files.current).chain(closed).map(Arc::clone).collect()
    }

    /// Begins the next file. The one that grew gets no more frames.
    pub(crate) fn rotate(&self) -> io::Result<Arc<Segment>> {
        // Only the writer rotates, so that the number is still the next one below.
        let next = Segment::create(&self.folder, self.current().number + 1, &self.metrics)?;
        let mut files = self.files.lock();
        let before = std::mem::replace(&mut files.current, Arc::clone(&next));
        files.closed.push(before);
        drop(files);
        self.finished.notify_waiters();
        Ok(next)
    }

    /// Returns the name of the folder.
    pub(crate) fn replica(&self) -> &str {
        &self.replica
    }

    /// Resolves when a file got its last frame after this call.
    pub(crate) fn finished(&self) -> Notified<'_> {
        self.finished.notified()
    }

    /// Returns the oldest file that gets no more frames.
    pub(crate) fn oldest(&self) -> Option<Arc<Segment>> {
        self.files.lock().closed.first().map(Arc::clone)
    }

    /// Deletes a file whose records are sealed. Who reads it reads on.
    pub(crate) fn remove(&self, segment: &Segment) -> io::Result<()> {
        std::fs::remove_file(&segment.path)?;
        // On disk first, so that a crash does not bring back a file whose room others took.
        File::open(&self.folder)?.sync_all()?;
        self.files.lock().closed.retain(|closed| closed.number != segment.number);
        segment.give_back(&mut self.room());
        self.measure();
        Ok(())
    }

    /// Returns whether the file that grows began on a day before the day of `now`.
    pub(crate) fn is_of_an_earlier_day(&self, now: Timestamp) -> bool {
        let first = self.current().extent().ids.map(|(first, _)| first);
        first.is_some_and(|first| day(Timestamp::from_id(first)) < day(now))
    }

    /// Returns the bytes after which the next file begins.
    pub(crate) fn max_segment(&self) -> u64 {
        (self.max_bytes / FILES).min(MAX_SEGMENT)
    }

    /// Returns the room for frames. Each tenant has a share of it.
    pub(crate) fn room(&self) -> MutexGuard<'_, Shares> {
        self.room.lock()
    }

    /// Measures the files, for the metric.
    pub(crate) fn measure(&self) {
        let files = self.files.lock();
        let closed: u64 = files.closed.iter().map(|segment| segment.length()).sum();
        let bytes = closed + files.current.length();
        self.metrics.buffered.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}

/// Returns the day of an instant, since the epoch.
fn day(instant: Timestamp) -> i64 {
    /// Milliseconds of a day.
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    instant.millis().div_euclid(DAY)
}

/// Returns whether a file of the folder with this name is the service's own.
fn is_own(name: &str) -> bool {
    name == LOCK || name == REPLICA || Segment::has_name(name)
}

/// Returns the name of the folder, which it gets at the first start.
fn replica(folder: &Path) -> io::Result<String> {
    let path = folder.join(REPLICA);
    // A crash during the first start can leave an empty file.
    if let Ok(name) = std::fs::read_to_string(&path)
        && !name.is_empty()
    {
        return Ok(name);
    }
    let name = format!("{:08x}", fastrand::u32(..));
    std::fs::write(&path, &name)?;
    File::open(&path)?.sync_all()?;
    Ok(name)
}

/// Recovers the files of the last process, and deletes those without a record. Returns them, and the number of the next one. What
/// cannot be read is counted and left where it is.
fn recover(folder: &Path, metrics: &LogMetrics) -> io::Result<(Vec<Arc<Segment>>, u64)> {
    let (mut kept, mut next) = (Vec::new(), 0);
    for (number, path) in Segment::numbers(folder)? {
        // The number of a file that cannot be read stays taken, too.
        next = number + 1;
        let (segment, found) = match Segment::recover(number, path.clone(), metrics) {
            Ok(recovered) => recovered,
            Err(error) => {
                metrics.lose(Lost::Damaged, 1);
                let path = path.display();
                tracing::error!(%path, %error, "a write-ahead file cannot be read: move it away, or repair it and start again");
                continue;
            }
        };
        metrics.lose(Lost::Killed, found.lost);
        if found.lost > 0 || found.cut > 0 {
            tracing::warn!(
                lost = found.lost,
                bytes = found.cut,
                "the last process was killed: decisions that were not on disk are lost"
            );
        }
        match found.records {
            0 => std::fs::remove_file(&segment.path)?,
            _ => kept.push(segment),
        }
    }
    Ok((kept, next))
}
