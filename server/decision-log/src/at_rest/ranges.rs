//! Ranges of a file at rest, for a reader that blocks.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::objects::Objects;

/// A file that is read by ranges. For threads that may block.
#[derive(Debug)]
pub(crate) struct RemoteObject {
    pub(crate) objects: Objects,
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// A range that was read ahead, and its start.
    pub(crate) ahead: Mutex<Option<(u64, Bytes)>>,
    /// Bytes that were read of the store.
    pub(crate) read: Arc<AtomicU64>,
}

impl RemoteObject {
    /// Reads a range with one request; what follows is served from it.
    pub(crate) fn read_ahead(&self, start: u64, length: u64) -> Result<(), ParquetError> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = self.fetch(start, length)?;
        *self.ahead.lock() = Some((start, bytes));
        Ok(())
    }

    fn fetch(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let range = start..(start + length as u64).min(self.bytes);
        let fetched = self.objects.read(&self.path, range);
        let bytes = fetched.map_err(|error| ParquetError::External(Box::new(error)))?;
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
        let ahead = self.ahead.lock().clone();
        if let Some((from, bytes)) = ahead
            && let Some(offset) = start.checked_sub(from).and_then(|at| usize::try_from(at).ok())
            && let Some(end) = offset.checked_add(length).filter(|end| *end <= bytes.len())
        {
            return Ok(bytes.slice(offset..end));
        }
        self.fetch(start, length)
    }
}
