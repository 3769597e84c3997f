//! The records that the writer takes at once.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use crate::frame::Kind;
use crate::lost::Lost;
use crate::minimisation::Minimisation;

/// Bytes of the records that wait for the writer. It takes them every few milliseconds, so that they are the records of a
/// stall of the disk. There are two buffers; memory that was never used costs nothing.
pub(crate) const MAX_BYTES: usize = 8 * 1024 * 1024;
/// The most records that wait for the writer. Most have 500 bytes and more.
pub(crate) const MAX_RECORDS: usize = MAX_BYTES / 256;

/// Records that one write brings to disk, and those who wait for it.
#[derive(Debug, Default)]
pub(crate) struct Group {
    outcome: OnceLock<Result<(), Lost>>,
    settled: Notify,
}

impl Group {
    pub(crate) fn settle(&self, outcome: Result<(), Lost>) {
        let _ = self.outcome.set(outcome);
        self.settled.notify_waiters();
    }

    pub(crate) async fn wait(&self) -> Result<(), Lost> {
        let mut settled = std::pin::pin!(self.settled.notified());
        // From here on no notification is missed.
        settled.as_mut().enable();
        if let Some(outcome) = self.outcome.get() {
            return *outcome;
        }
        settled.await;
        self.outcome.get().copied().unwrap_or(Err(Lost::Closed))
    }
}

/// A frame in the buffer.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) place: Range<usize>,
    pub(crate) kind: Kind,
    pub(crate) minimisation: Option<Arc<Minimisation>>,
}

/// The records that the writer takes at once.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) group: Arc<Group>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(MAX_BYTES),
            entries: Vec::with_capacity(MAX_RECORDS),
            group: Arc::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.group = Arc::default();
    }

    /// Returns how many records of the batch nobody waits for.
    pub(crate) fn unawaited(&self) -> u64 {
        self.entries.iter().filter(|entry| entry.kind == Kind::Async).count() as u64
    }
}
