//! The store of the sealed files and their manifest.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use moka::sync::Cache;
use parking_lot::Mutex;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use portcullis_fairness::Stopping;
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Store, StoreError};

use super::damaged::DamagedRows;
use super::objects::{ObjectError, Objects};
use super::place::RecordPlace;
use super::ranges::RemoteObject;

/// Bytes of the metadata of files that are kept in memory.
const METADATA: u64 = 32 * 1024 * 1024;

/// The sealed files: a store of objects, and the manifest in the database that names them. Cheap to clone.
#[derive(Clone)]
pub struct Archive(Arc<Inner>);

struct Inner {
    store: Store,
    keys: KeyRing,
    objects: Objects,
    metadata: Cache<String, Arc<ParquetMetaData>>,
    /// Bytes that queries read of the store.
    read: Arc<AtomicU64>,
    damaged: Arc<DamagedRows>,
}

/// The reason why sealed files cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("the store of the decision log failed: {0}")]
    Objects(#[from] ObjectError),
    #[error("the manifest of the decision log cannot be used: {0}")]
    Manifest(#[from] StoreError),
    #[error("a file of the decision log cannot be used: {0}")]
    File(#[from] ParquetError),
    #[error("a write-ahead file of the decision log cannot be read: {0}")]
    Buffer(#[from] io::Error),
    #[error("the log has no store: set `DECISION_LOG_URL`")]
    NoStore,
    #[error("decisions are recorded faster than they are sealed")]
    Busy,
    #[error("{0} replicas did not erase their decisions about persons")]
    Silent(usize),
    /// A file was removed before the manifest named it: the next try stores it anew.
    #[error("a file of the decision log was removed before its manifest named it")]
    Unnamed,
    /// The tenant erased so many persons that another one cannot be noted.
    #[error("too many persons are erased: {0}")]
    TooManyErasures(i64),
    /// The erasure goes on.
    #[error("the erasure is not done yet")]
    Erasing,
    #[error(transparent)]
    Stopping(#[from] Stopping),
}

impl Archive {
    /// Opens the store at `place`.
    ///
    /// # Errors
    /// The folder cannot be made, or a variable of the bucket cannot be read.
    pub fn open(place: &RecordPlace, store: Store, keys: KeyRing) -> Result<Self, ArchiveError> {
        let objects = place.open()?;
        let metadata = Cache::builder()
            .max_capacity(METADATA)
            .weigher(|_: &String, metadata: &Arc<ParquetMetaData>| {
                u32::try_from(metadata.memory_size()).unwrap_or(u32::MAX)
            })
            .build();
        let (read, damaged) = (Arc::default(), Arc::default());
        Ok(Self(Arc::new(Inner { store, keys, objects, metadata, read, damaged })))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn keys(&self) -> &KeyRing {
        &self.0.keys
    }

    /// Returns the rows that cannot be read.
    pub(crate) fn damaged(&self) -> &DamagedRows {
        &self.0.damaged
    }

    /// Returns how many bytes queries read of the store.
    pub fn bytes_read(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }

    /// Writes a file, in place of an earlier one.
    pub(crate) async fn put(&self, path: &str, bytes: Bytes) -> Result<(), ArchiveError> {
        Ok(self.0.objects.put(path, bytes).await?)
    }

    /// Reads a whole file; `None` if it does not exist.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Bytes>, ArchiveError> {
        Ok(self.0.objects.get(path).await?)
    }

    /// Deletes a file, if there is one.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), ArchiveError> {
        // What is remembered of the file goes first. If the deletion fails, it is read again.
        self.0.metadata.invalidate(path);
        self.0.damaged.forget(path);
        Ok(self.0.objects.delete(path).await?)
    }

    /// Returns the file at `path`, which has `bytes` bytes, to be read by ranges on a thread that may block.
    pub(crate) fn object(&self, path: &str, bytes: u64) -> RemoteObject {
        let (objects, path) = (self.0.objects.clone(), path.to_owned());
        let (read, damaged) = (Arc::clone(&self.0.read), Arc::clone(&self.0.damaged));
        RemoteObject { objects, path, bytes, ahead: Mutex::default(), read, damaged }
    }

    /// Returns the metadata of a file, which `read` reads if they are not known.
    pub(crate) fn metadata(
        &self,
        path: &str,
        read: impl FnOnce() -> Result<ParquetMetaData, ParquetError>,
    ) -> Result<Arc<ParquetMetaData>, Arc<ParquetError>> {
        // Readers that need the same metadata at once share one read. The cache keeps no error.
        self.0.metadata.try_get_with_by_ref(path, || read().map(Arc::new))
    }
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("objects", &self.0.objects).finish_non_exhaustive()
    }
}
