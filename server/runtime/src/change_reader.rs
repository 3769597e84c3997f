//! The place of this process in the stream of changes, and what wakes its reader.

use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_storage::changes::StreamPosition;
use tokio::sync::{Mutex, Notify};

/// The reader of the stream of changes.
#[derive(Debug, Default)]
pub struct ChangeReader {
    /// Held while changes are read and applied, so that older ones are never applied after newer ones.
    pub(crate) state: Mutex<ReaderState>,
    /// Whether changes may have been lost, so that the next read takes everything as changed.
    is_distrusted: AtomicBool,
    wake: Notify,
}

/// The place of the reader.
#[derive(Debug, Default)]
pub(crate) struct ReaderState {
    /// `None` before the first read, and after one that failed.
    pub(crate) position: Option<StreamPosition>,
    /// The reads so far.
    pub(crate) reads: u64,
}

impl ChangeReader {
    /// Has the stream read soon.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Has everything in memory compared with the store soon: changes may have been lost.
    pub(crate) fn distrust(&self) {
        self.is_distrusted.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Returns whether everything must be compared, and trusts the changes after that.
    pub(crate) fn take_distrust(&self) -> bool {
        self.is_distrusted.swap(false, Ordering::SeqCst)
    }

    /// Waits until somebody wakes the reader.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }
}
