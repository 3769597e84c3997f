//! Events that somebody can cause often: some get an audit record of their own, and the others are counted.

use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;
use portcullis_model::Timestamp;

/// The time for which events of one kind are counted together.
pub(crate) const WINDOW_MILLIS: i64 = 60_000;
/// The most audit records of one kind of event in a window.
pub(crate) const RECORDS_PER_WINDOW: u32 = 10;

/// The events of one kind.
#[derive(Debug, Default)]
pub(crate) struct AuditWindow {
    state: Mutex<WindowState>,
    /// The events without their own record. The next record counts them.
    uncounted: AtomicI64,
}

#[derive(Debug, Default)]
struct WindowState {
    began: i64,
    records: u32,
}

impl AuditWindow {
    /// Returns the number of events that a record at `at` stands for; `None` if this event gets no record.
    pub(crate) fn count(&self, at: Timestamp) -> Option<i64> {
        let mut state = self.state.lock();
        // The clock may be put back.
        if !(0..WINDOW_MILLIS).contains(&(at.millis() - state.began)) {
            *state = WindowState { began: at.millis(), records: 0 };
        }
        if state.records >= RECORDS_PER_WINDOW {
            self.uncounted.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        state.records += 1;
        Some(self.uncounted.swap(0, Ordering::Relaxed) + 1)
    }

    /// Counts the events of a record that was not written again.
    pub(crate) fn give_back(&self, count: i64) {
        self.uncounted.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns whether the window is over at `at` and has nothing to tell.
    pub(crate) fn is_over(&self, at: Timestamp) -> bool {
        let age = at.millis() - self.state.lock().began;
        !(0..WINDOW_MILLIS).contains(&age) && self.uncounted.load(Ordering::Relaxed) == 0
    }
}
