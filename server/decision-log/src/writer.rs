//! The thread that brings records to disk.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_fairness::Throttle;
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;

use crate::batch::{Batch, BatchEntry, Outcome};
use crate::buffer::Buffer;
use crate::feed::Followers;
use crate::frame::{self, Kind};
use crate::lost::Lost;
use crate::metrics::LogMetrics;
use crate::segment::{self, Segment};
use crate::segments::Segments;
use crate::shared::SharedText;

/// The time after which written records are on disk, unless somebody waits for them. With the write before it and the disk's
/// own time it stays below the 100 ms of `docs/semantics.md`.
const SYNC: Duration = Duration::from_millis(60);
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// The records that have room.
#[derive(Debug, Default)]
struct Taken<'b> {
    /// With their frames.
    records: Vec<(&'b BatchEntry, &'b [u8])>,
    /// The bytes in the file that each of them takes, with the texts that no record before has.
    bytes: Vec<u64>,
    /// The texts that come into the file.
    texts: Vec<&'b SharedText>,
}

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
    /// Written records that nobody waits for and that may not be on disk yet.
    unsynced: u64,
    followers: Arc<Followers>,
    /// Frames as the file is to have them.
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
            let outcome = self.write(&batch);
            self.settle(&batch, outcome);
            if self.sync_by.is_some_and(|by| by <= Instant::now()) {
                // What is lost is counted.
                let _ = self.sync();
            }
            batch.clear();
        }
        let _ = self.sync();
    }

    /// Begins the next file if the present one is full or of another day, or if somebody asks for it.
    fn rotate_if_due(&mut self, batch: &Batch) {
        let day = day(&self.clock);
        let length = self.segment.length();
        // A clock that is set back begins no file before the present one is a day old.
        let is_full =
            length >= self.segments.max_segment() || (day > self.day && length > segment::HEAD);
        // The question comes first: it takes the request back even if the file is still empty.
        let is_asked = self.buffer.is_rotating() && length > segment::HEAD;
        if !is_asked && (!is_full || batch.entries.is_empty()) {
            return;
        }
        // What is lost is counted.
        let _ = self.sync();
        match self.segments.rotate() {
            Ok(next) => {
                self.buffer.go_on(Arc::clone(&next), batch);
                (self.segment, self.day) = (next, day);
            }
            Err(error) => tracing::warn!(%error, "cannot begin the next write-ahead file"),
        }
    }

    /// Writes the records that their tenants have room for, and brings them to disk if somebody waits for them.
    fn write(&mut self, batch: &Batch) -> Outcome {
        let (taken, lost) = self.take_room(batch);
        if taken.records.is_empty() {
            return Outcome::Written(lost);
        }
        match self.append(&taken) {
            Ok(()) => Outcome::Written(lost),
            Err(cause) => Outcome::Lost(cause),
        }
    }

    /// Takes room for the records, and lays out those that have it in `out`. Returns them, and the causes why others are lost, by
    /// their places.
    fn take_room<'b>(&mut self, batch: &'b Batch) -> (Taken<'b>, BTreeMap<usize, Lost>) {
        let (mut taken, mut lost) = (Taken::default(), BTreeMap::new());
        self.out.clear();
        let mut room = self.segments.room();
        for (place, entry) in batch.entries.iter().enumerate() {
            let frame = batch.bytes.get(entry.place.clone()).unwrap_or_default();
            let (start, known) = (self.out.len(), taken.texts.len());
            lay_out(&mut self.out, &self.segment, (entry, frame), &mut taken.texts);
            let bytes = (self.out.len() - start) as u64;
            if room.take(entry.account, bytes) {
                taken.records.push((entry, frame));
                taken.bytes.push(bytes);
            } else {
                // The file gets none of the texts that were laid out for the record.
                self.out.truncate(start);
                taken.texts.drain(known..).for_each(|text| text.set_place(None));
                lost.insert(place, Lost::DiskFull);
            }
        }
        (taken, lost)
    }

    /// Appends the frames in `out`, of records that have room, to the file.
    fn append(&mut self, taken: &Taken<'_>) -> Result<(), Lost> {
        let frames = taken
            .with_bytes()
            .map(|(entry, frame, bytes)| (frame::id(frame), entry.account, bytes));
        if let Err(error) = self.segment.append(&self.out, frames) {
            let mut room = self.segments.room();
            taken.with_bytes().for_each(|(entry, _, bytes)| room.give_back(entry.account, bytes));
            // Later records must not point to texts that are not in the file.
            taken.texts.iter().for_each(|text| text.set_place(None));
            return Err(self.lost(&error));
        }
        self.segments.measure();
        self.followers.pass_on(&taken.records);
        // If the disk fails now, the whole batch is lost with its outcome: `unsynced` has the batches before.
        if taken.count(Kind::Durable) > 0 {
            return self.sync();
        }
        self.unsynced += taken.count(Kind::Async);
        self.sync_by.get_or_insert_with(|| Instant::now() + SYNC);
        Ok(())
    }

    /// Counts what became of the records, and tells those who wait for them.
    fn settle(&self, batch: &Batch, outcome: Outcome) {
        let (mut written, mut left_out, mut unawaited) = (0, 0, 0);
        let mut lost = BTreeMap::<Lost, u64>::new();
        for (place, entry) in batch.entries.iter().enumerate() {
            match outcome.of(place) {
                Ok(()) if entry.kind == Kind::Count => left_out += entry.decisions,
                Ok(()) => written += entry.decisions,
                Err(cause) => {
                    *lost.entry(cause).or_default() += entry.decisions;
                    unawaited += u64::from(entry.kind == Kind::Async);
                }
            }
        }
        self.metrics.written.inc_by(written);
        self.metrics.left_out.inc_by(left_out);
        for (cause, records) in lost {
            self.metrics.lose(cause, records);
            self.report(records, cause, "decisions are not recorded");
        }
        if unawaited > 0 {
            self.buffer.forget(unawaited);
        }
        // This comes last, so that whoever is woken finds the losses counted.
        batch.group.settle(outcome);
    }

    /// Brings everything that was written to disk. After a failure the disk does not say which pages it lost, so that all records
    /// that nobody waits for count as lost, once.
    fn sync(&mut self) -> Result<(), Lost> {
        self.sync_by = None;
        let unsynced = std::mem::take(&mut self.unsynced);
        let Err(error) = self.segment.file.sync_data() else { return Ok(()) };
        let cause = self.lost(&error);
        if unsynced > 0 {
            self.metrics.lose(cause, unsynced);
            self.report(unsynced, cause, "decisions may be lost");
        }
        Err(cause)
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

impl<'b> Taken<'b> {
    /// Returns each record with its frame and the bytes that it takes.
    fn with_bytes(&self) -> impl Iterator<Item = (&'b BatchEntry, &'b [u8], u64)> {
        let records = self.records.iter().zip(&self.bytes);
        records.map(|(&(entry, frame), &bytes)| (entry, frame, bytes))
    }

    fn count(&self, kind: Kind) -> u64 {
        self.records.iter().filter(|(entry, _)| entry.kind == kind).count() as u64
    }
}

/// Appends a record to `out`, behind those of its texts that the file does not have, and notes these in `texts`. `out` comes to
/// the end of the file.
fn lay_out<'b>(
    out: &mut Vec<u8>,
    segment: &Segment,
    (entry, frame): (&'b BatchEntry, &[u8]),
    texts: &mut Vec<&'b SharedText>,
) {
    let mut offsets = Vec::new();
    for shared in &entry.texts {
        offsets.push(shared.offset_in(segment.number).unwrap_or_else(|| {
            let start = out.len();
            frame::append_text(out, frame, shared.text.data());
            let offset = segment.length() + start as u64;
            shared.set_place(Some((segment.number, offset)));
            texts.push(shared);
            offset
        }));
    }
    let start = out.len();
    out.extend_from_slice(frame);
    if !offsets.is_empty() {
        frame::point(&mut out[start..], offsets.into_iter());
    }
}

fn day(clock: &Clock) -> i64 {
    Timestamp::from(clock.now()).millis().div_euclid(DAY)
}
