//! Ranges of a sealed file, for a reader that blocks.

use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use object_store::coalesce_ranges;
use parking_lot::Mutex;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use tokio::runtime::Handle;

use super::damaged::DamagedRows;
use super::objects::{ObjectError, Objects};

/// A file that is read by ranges. For threads that may block.
#[derive(Debug)]
pub(crate) struct RemoteObject {
    pub(crate) objects: Objects,
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Ranges that were read ahead, each with its start.
    pub(crate) ahead: Mutex<Vec<(u64, Bytes)>>,
    /// Bytes that were read of the store.
    pub(crate) read: Arc<AtomicU64>,
    /// The rows of all files that cannot be read.
    pub(crate) damaged: Arc<DamagedRows>,
}

/// Returns whether a file could not be read because the store failed, and not because the file is damaged.
pub(crate) fn is_of_the_store(error: &ParquetError) -> bool {
    matches!(error, ParquetError::External(inner) if inner.is::<ObjectError>())
}

/// Ranges with fewer bytes between them are read with one request.
const NEAR: u64 = 1024;

impl RemoteObject {
    /// Reads ranges at once, as far as they were not read; what follows is served from them.
    pub(crate) fn read_ahead(&self, ranges: &[Range<u64>]) -> Result<(), ParquetError> {
        let mut missing = ranges.to_vec();
        missing.retain(|range| self.known(range).is_none());
        let read = self.fetch(&missing)?;
        let starts = missing.into_iter().map(|range| range.start);
        self.ahead.lock().extend(starts.zip(read));
        Ok(())
    }

    /// Forgets what was read ahead.
    pub(crate) fn forget(&self) {
        self.ahead.lock().clear();
    }

    /// Returns the bytes of a range if it was read ahead.
    fn known(&self, range: &Range<u64>) -> Option<Bytes> {
        self.ahead.lock().iter().find_map(|(start, bytes)| {
            let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
            let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
            (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
        })
    }

    fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, ParquetError> {
        let fetched = coalesce_ranges(ranges, |range| self.fetch_range(range), NEAR);
        // On a thread that may block.
        let fetched = Handle::current().block_on(fetched);
        fetched.map_err(|error| ParquetError::External(Box::new(error)))
    }

    async fn fetch_range(&self, range: Range<u64>) -> Result<Bytes, ObjectError> {
        let bytes = self.objects.read(&self.path, range).await?;
        self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl Length for RemoteObject {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for RemoteObject {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        /// Longer than any header of a page.
        const HEADER: u64 = 64 * 1024;
        let length = self.bytes.saturating_sub(start).min(HEADER);
        Ok(Cursor::new(self.get_bytes(start, usize::try_from(length).unwrap_or_default())?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let range = start..start.saturating_add(length as u64).min(self.bytes);
        match self.known(&range) {
            Some(bytes) => Ok(bytes),
            None => Ok(self.fetch(&[range])?.concat().into()),
        }
    }
}
