//! The records that the writer takes at once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use crate::frame::Kind;
use crate::lost::Lost;
use crate::shared::SharedText;
use crate::shares::{Account, Shares};

/// Bytes of the records that wait for the writer, of which one tenant has half at most. It takes them every few milliseconds, so
/// that they are the records of a stall of the disk. There are two buffers; memory that was never used costs nothing.
pub(crate) const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The most records that wait for the writer. Most have 500 bytes and more.
pub(crate) const MAX_RECORDS: usize = MAX_BYTES / 256;

/// Records that one write brings to disk, and those who wait for it.
#[derive(Debug, Default)]
pub(crate) struct Group {
    outcome: OnceLock<Outcome>,
    settled: Notify,
}

/// The fate of the records of a batch.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All are written but these, by their places in the batch.
    Written(BTreeMap<usize, Lost>),
    /// None is written.
    Lost(Lost),
}

impl Outcome {
    /// Returns what became of the record at this place.
    pub(crate) fn of(&self, place: usize) -> Result<(), Lost> {
        match self {
            Self::Written(but) => but.get(&place).map_or(Ok(()), |cause| Err(*cause)),
            Self::Lost(cause) => Err(*cause),
        }
    }
}

impl Group {
    pub(crate) fn settle(&self, outcome: Outcome) {
        // The writer settles each batch once.
        let _ = self.outcome.set(outcome);
        self.settled.notify_waiters();
    }

    /// Waits until it is known what became of the record at this place.
    pub(crate) async fn wait(&self, place: usize) -> Result<(), Lost> {
        let mut settled = std::pin::pin!(self.settled.notified());
        // From here on no notification is missed.
        settled.as_mut().enable();
        if let Some(outcome) = self.outcome.get() {
            return outcome.of(place);
        }
        settled.await;
        self.outcome.get().map_or(Err(Lost::Closed), |outcome| outcome.of(place))
    }
}

/// A record that is on its way to the disk.
#[derive(Debug)]
#[must_use = "the record may be lost until it is written"]
pub struct Pending {
    pub(crate) group: Arc<Group>,
    /// The place of the record in its batch.
    pub(crate) place: usize,
}

impl Pending {
    /// Waits until the record is on disk.
    ///
    /// # Errors
    /// The cause why it is not; it is counted.
    pub async fn written(self) -> Result<(), Lost> {
        self.group.wait(self.place).await
    }
}

/// A frame in the buffer.
#[derive(Debug)]
pub(crate) struct BatchEntry {
    pub(crate) place: Range<usize>,
    pub(crate) kind: Kind,
    pub(crate) account: Account,
    /// The number of decisions that it is about: one, or those of a count.
    pub(crate) decisions: u64,
    /// The texts that the record refers to, in the order of the references.
    pub(crate) texts: Vec<Arc<SharedText>>,
}

/// The records that the writer takes at once.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) entries: Vec<BatchEntry>,
    pub(crate) shares: Shares,
    pub(crate) group: Arc<Group>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(MAX_BYTES),
            entries: Vec::with_capacity(MAX_RECORDS),
            shares: Shares::new(MAX_BYTES as u64),
            group: Arc::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.shares.clear();
        self.group = Arc::default();
    }

    /// Returns how many records of the batch nobody waits for.
    pub(crate) fn unawaited(&self) -> u64 {
        self.entries.iter().filter(|entry| entry.kind == Kind::Async).count() as u64
    }
}
