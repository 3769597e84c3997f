//! The way of a record from a check to the writer: a bounded buffer in memory.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::batch::{Batch, BatchEntry, MAX_BYTES, MAX_RECORDS, Pending};
use crate::decision::RecordedDecision;
use crate::frame::{self, Kind, MAX_WRITTEN};
use crate::left_out::LeftOutCounts;
use crate::lost::Lost;
use crate::metrics::LogMetrics;
use crate::minimisation::Minimisation;
use crate::segment::Segment;
use crate::shared::{SharedText, whole_bytes};
use crate::shares::Account;

/// The time that the writer gathers records for one write, unless somebody waits for it.
const GATHER: Duration = Duration::from_millis(5);
/// Records by which the mark of the file runs ahead: to write it takes as long as two records. After a kill, at most so
/// many records more are counted as lost.
const AHEAD: u64 = 64;

/// The buffer that checks fill and the writer empties.
#[derive(Debug)]
pub(crate) struct Buffer {
    state: Mutex<BufferState>,
    changed: Condvar,
}

#[derive(Debug)]
struct BufferState {
    batch: Batch,
    /// The number of `batch`, from 1.
    turn: u64,
    segment: Arc<Segment>,
    /// Asynchronous records in the segment and in `batch`.
    accepted: u64,
    /// The mark of the segment, which is never smaller than `accepted`.
    mark: u64,
    /// Somebody waits for the batch, or a quarter of the room is taken.
    urgent: bool,
    left_out: LeftOutCounts,
    /// Somebody wants to read everything that was added so far.
    flushing: bool,
    /// The writer is to begin the next file.
    rotating: bool,
    closing: bool,
}

impl Buffer {
    /// Makes a buffer whose records go to the empty `segment`.
    pub(crate) fn new(segment: Arc<Segment>, metrics: LogMetrics) -> Self {
        let state = BufferState {
            batch: Batch::new(),
            turn: 1,
            segment,
            accepted: 0,
            mark: 0,
            urgent: false,
            left_out: LeftOutCounts::new(metrics),
            flushing: false,
            rotating: false,
            closing: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Adds a record, within the share of its tenant. Returns what waits until it is on disk, if somebody wants to.
    pub(crate) fn add(
        &self,
        decision: &RecordedDecision<'_>,
        kind: Kind,
        minimisation: Option<&Minimisation>,
    ) -> Result<Option<Pending>, Lost> {
        thread_local! {
            static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        FRAME.with_borrow_mut(|frame| {
            frame.clear();
            let mut uses = Vec::new();
            frame::begin(frame, (kind, decision.id, decision.tenant), |out| {
                uses = decision.encode(minimisation, out);
            });
            frame::refer(frame, &uses);
            frame::finish(frame);
            let texts = uses.into_iter().map(|one| one.text).collect();
            self.add_frame(frame, texts, kind, Account::of(decision.tenant))
        })
    }

    fn add_frame(
        &self,
        frame: &[u8],
        texts: Vec<Arc<SharedText>>,
        kind: Kind,
        account: Account,
    ) -> Result<Option<Pending>, Lost> {
        if whole_bytes(frame, texts.iter().map(|shared| &shared.text)) > MAX_WRITTEN {
            return Err(Lost::TooLarge);
        }
        // The frame is complete here, so that the lock is held for a copy only.
        let mut state = self.state.lock();
        let was_waiting = state.batch.entries.is_empty();
        let was_urgent = state.urgent;
        let pending = state.add(frame, texts, kind, account)?;
        // The writer waits only for a first record or an urgent one: others need not wake it.
        let wakes = was_waiting || state.urgent != was_urgent;
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
        Ok(pending)
    }

    /// Counts an allow that has no record.
    pub(crate) fn leave_out(&self, decision: &RecordedDecision<'_>) {
        let mut state = self.state.lock();
        let wakes = !state.closing && (state.left_out.count(decision) || state.left_out.is_due());
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// Returns what waits until everything that was added so far is in the file; `None` if the buffer is closed.
    pub(crate) fn flush(&self) -> Option<Pending> {
        let mut state = self.state.lock();
        let place = state.batch.entries.len();
        let group =
            (!state.closing).then(|| Pending { group: Arc::clone(&state.batch.group), place });
        (state.urgent, state.flushing) = (true, true);
        drop(state);
        self.changed.notify_one();
        group
    }

    /// Waits for records, or for a request to write or to begin the next file, until `deadline`, and puts the records into
    /// `into`, which is empty. False if the buffer is closed and empty.
    pub(crate) fn take(&self, into: &mut Batch, deadline: Option<Instant>) -> bool {
        let mut state = self.state.lock();
        while !state.has_work() {
            let due = [deadline, state.left_out.due()].into_iter().flatten().min();
            match (state.closing, due) {
                // A closed buffer accepts nothing, so that no work can follow.
                (true, _) => return false,
                (false, None) => self.changed.wait(&mut state),
                (false, Some(due)) => {
                    let late = self.changed.wait_until(&mut state, due).timed_out();
                    // The empty batch lets the writer bring to disk what it has written.
                    if late && deadline == Some(due) {
                        return true;
                    }
                }
            }
        }
        // A deadline that passes meanwhile is late by `GATHER` at most.
        let gathered = Instant::now() + GATHER;
        while !state.urgent && !state.rotating && !state.closing {
            if self.changed.wait_until(&mut state, gathered).timed_out() {
                break;
            }
        }
        // The two batches change places, so that neither allocates again.
        std::mem::swap(&mut state.batch, into);
        state.turn += 1;
        if state.has_counts_to_write() {
            state.left_out.drain(into);
        }
        (state.urgent, state.flushing) = (false, false);
        state.lower_mark();
        true
    }

    /// Gives the records of `batch`, which was taken, and those that follow to the empty segment `next`.
    pub(crate) fn go_on(&self, next: Arc<Segment>, batch: &Batch) {
        let mut state = self.state.lock();
        let moved = batch.unawaited() + state.batch.unawaited();
        let accepted = state.accepted.saturating_sub(moved);
        let before = std::mem::replace(&mut state.segment, next);
        // No count equals this mark, so that `lower_mark` writes the real one.
        (state.accepted, state.mark) = (moved, u64::MAX);
        state.lower_mark();
        // A failure makes the next start count records as lost that are there.
        let _ = before.set_mark(accepted);
    }

    /// Takes note of asynchronous records that did not reach the disk, and that are counted as lost.
    pub(crate) fn forget(&self, lost: u64) {
        let mut state = self.state.lock();
        state.accepted = state.accepted.saturating_sub(lost);
        state.lower_mark();
    }

    /// Asks the writer to begin the next file.
    pub(crate) fn rotate(&self) {
        self.state.lock().rotating = true;
        self.changed.notify_one();
    }

    /// Returns whether the writer was asked to begin the next file, once.
    pub(crate) fn is_rotating(&self) -> bool {
        std::mem::take(&mut self.state.lock().rotating)
    }

    /// Refuses records from now on, and lets the writer end.
    pub(crate) fn close(&self) {
        self.state.lock().closing = true;
        self.changed.notify_one();
    }
}

impl BufferState {
    fn has_work(&self) -> bool {
        !self.batch.entries.is_empty()
            || self.has_counts_to_write()
            || self.flushing
            || self.rotating
    }

    fn has_counts_to_write(&self) -> bool {
        let must = self.closing || self.flushing;
        self.left_out.is_due() || (must && self.left_out.due().is_some())
    }

    fn add(
        &mut self,
        frame: &[u8],
        texts: Vec<Arc<SharedText>>,
        kind: Kind,
        account: Account,
    ) -> Result<Option<Pending>, Lost> {
        let start = self.batch.bytes.len();
        let end = start + frame.len();
        if self.closing {
            return Err(Lost::Closed);
        }
        let is_full = self.batch.entries.len() >= MAX_RECORDS;
        let apart: usize = texts.iter().map(|text| text.bytes_in(self.turn)).sum();
        if is_full || !self.batch.shares.take(account, (frame.len() + apart) as u64) {
            return Err(Lost::BufferFull);
        }
        // This comes only after the room is taken: a refused record must not make its texts free for the next one.
        texts.iter().for_each(|text| text.charge_in(self.turn));
        if kind == Kind::Async {
            if self.accepted == self.mark {
                self.mark += AHEAD;
                // Without the mark the record counts less exactly after a kill, and is as good.
                let _ = self.segment.set_mark(self.mark);
            }
            self.accepted += 1;
        }
        self.batch.bytes.extend_from_slice(frame);
        let place = self.batch.entries.len();
        self.batch.entries.push(BatchEntry {
            place: start..end,
            kind,
            account,
            decisions: 1,
            texts,
        });
        self.urgent |= kind == Kind::Durable || end > MAX_BYTES / 4;
        let group = &self.batch.group;
        Ok((kind == Kind::Durable).then(|| Pending { group: Arc::clone(group), place }))
    }

    /// Makes the mark exact.
    fn lower_mark(&mut self) {
        if self.mark != self.accepted && self.segment.set_mark(self.accepted).is_ok() {
            self.mark = self.accepted;
        }
    }
}
