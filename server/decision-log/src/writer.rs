//! The thread that brings records to disk.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_fairness::Throttle;
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;

use crate::batch::{Batch, Entry};
use crate::buffer::Buffer;
use crate::feed::Followers;
use crate::frame::{self, Kind};
use crate::lost::Lost;
use crate::metrics::LogMetrics;
use crate::segment::{self, Segment};
use crate::segments::Segments;

/// The time after which written records are on disk, unless somebody waits for them. With the write before it and the disk's
/// own time it stays below the 100 ms of `docs/semantics.md`.
const SYNC: Duration = Duration::from_millis(60);
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// Brings records to disk.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) segments: Arc<Segments>,
    pub(crate) metrics: LogMetrics,
    pub(crate) clock: Clock,
    segment: Arc<Segment>,
    /// The day of the present file, since the epoch.
    day: i64,
    /// Written records are on disk by then.
    sync_by: Option<Instant>,
    /// Written records that nobody waits for, of which the disk said nothing yet.
    unsynced: u64,
    followers: Arc<Followers>,
    out: Vec<u8>,
    /// Throttle the log lines about lost records and about the disk: every check may cause one. The metric counts the records.
    losses: Throttle,
    faults: Throttle,
}

impl Writer {
    pub(crate) fn new(
        buffer: Arc<Buffer>,
        segments: Arc<Segments>,
        metrics: LogMetrics,
        clock: Clock,
        followers: Arc<Followers>,
    ) -> Self {
        let segment = segments.current();
        let day = day(&clock);
        let (sync_by, unsynced, out) = (None, 0, Vec::new());
        let (losses, faults) = (Throttle::default(), Throttle::default());
        Self {
            buffer,
            segments,
            metrics,
            clock,
            segment,
            day,
            sync_by,
            unsynced,
            followers,
            out,
            losses,
            faults,
        }
    }

    /// Brings records to disk until the buffer is closed and empty.
    pub(crate) fn run(mut self) {
        let mut batch = Batch::new();
        while self.buffer.take(&mut batch, self.sync_by) {
            self.rotate_if_due(&batch);
            if batch.entries.is_empty() {
                batch.group.settle(Ok(()));
            } else {
                let outcome = self.write(&batch);
                self.settle(&batch, outcome);
            }
            if self.sync_by.is_some_and(|by| by <= Instant::now()) {
                self.sync_late();
            }
            batch.clear();
        }
        self.sync_late();
    }

    /// Begins the next file if the present one is full or of another day, or if somebody asks for it.
    fn rotate_if_due(&mut self, batch: &Batch) {
        let day = day(&self.clock);
        let length = self.segment.length();
        // A clock that is set back begins no file before the present one is a day old.
        let is_full =
            length >= self.segments.max_segment() || (day > self.day && length > segment::HEAD);
        let is_asked = self.buffer.is_rotating() && length > segment::HEAD;
        if !is_asked && (!is_full || batch.entries.is_empty()) {
            return;
        }
        self.sync_late();
        match self.segments.rotate() {
            Ok(next) => {
                self.buffer.go_on(Arc::clone(&next), batch);
                (self.segment, self.day) = (next, day);
            }
            Err(error) => tracing::warn!(%error, "cannot begin the next write-ahead file"),
        }
    }

    /// Writes the records, and brings them to disk if somebody waits for them.
    fn write(&mut self, batch: &Batch) -> Result<(), Lost> {
        self.out.clear();
        for entry in &batch.entries {
            let start = self.out.len();
            let frame = &batch.bytes[entry.place.clone()];
            let text_at = frame::text_at(frame);
            let text = entry.minimisation.as_ref().map(|terms| terms.apply(&frame[text_at..]));
            match text {
                None => self.out.extend_from_slice(frame),
                Some(Some(text)) => {
                    self.out.extend_from_slice(&frame[..text_at]);
                    self.out.extend_from_slice(&text);
                }
                // What cannot be minimised must not be kept.
                Some(None) => return Err(Lost::Disk),
            }
            frame::finish(&mut self.out[start..]);
        }
        self.segments.admit(self.out.len())?;
        let ids = batch.entries.iter().map(|entry| frame::id(&batch.bytes[entry.place.clone()]));
        self.segment.append(&self.out, ids).map_err(|error| self.lost(&error))?;
        self.followers.pass_on(&self.out);
        if batch.entries.iter().any(|entry| entry.kind == Kind::Durable) {
            return self.sync();
        }
        self.unsynced += batch.unawaited();
        self.sync_by.get_or_insert_with(|| Instant::now() + SYNC);
        Ok(())
    }

    fn settle(&self, batch: &Batch, outcome: Result<(), Lost>) {
        let is_record = |entry: &&Entry| entry.kind != Kind::Count;
        let records = batch.entries.iter().filter(is_record).count() as u64;
        match outcome {
            Ok(()) => {
                self.metrics.written.inc_by(records);
            }
            Err(cause) => {
                self.metrics.lose(cause, records);
                self.buffer.forget(batch.unawaited());
                self.report(records, cause, "decisions are not recorded");
            }
        }
        batch.group.settle(outcome);
    }

    fn sync(&mut self) -> Result<(), Lost> {
        self.segment.file.sync_data().map_err(|error| self.lost(&error))?;
        (self.sync_by, self.unsynced) = (None, 0);
        Ok(())
    }

    /// Brings to disk what nobody waits for.
    fn sync_late(&mut self) {
        if let Err(cause) = self.sync() {
            self.report(self.unsynced, cause, "decisions may be lost");
            // The disk does not say which pages it lost, so that they count as lost, once.
            self.metrics.lose(cause, std::mem::take(&mut self.unsynced));
            self.sync_by = None;
        }
    }

    /// Logs that records are lost.
    fn report(&self, records: u64, cause: Lost, what: &str) {
        if let Some(unwritten) = self.losses.pass(tokio::time::Instant::now()) {
            tracing::error!(records, %cause, unwritten, "{what}");
        }
    }

    /// Logs a fault of the disk, and returns the cause by which records are lost.
    fn lost(&self, error: &io::Error) -> Lost {
        if let Some(unwritten) = self.faults.pass(tokio::time::Instant::now()) {
            tracing::error!(%error, unwritten, "the write-ahead file cannot be written");
        }
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Lost::DiskFull,
            _ => Lost::Disk,
        }
    }
}

fn day(clock: &Clock) -> i64 {
    Timestamp::from(clock.now()).millis().div_euclid(DAY)
}
