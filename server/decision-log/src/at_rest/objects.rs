//! The store of the sealed files, by their paths.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutPayload};
use portcullis_fairness::run_apart;

use crate::permissions;

/// The store of the files. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    /// The folder of a store that is one.
    folder: Option<PathBuf>,
}

/// The reason why a file cannot be written, read or deleted.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    #[error("`{0}`: {1}")]
    Folder(PathBuf, io::Error),
    #[error(transparent)]
    Store(#[from] Error),
    #[error(transparent)]
    Path(#[from] object_store::path::Error),
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, folder: Option<PathBuf>) -> Self {
        Self { store, folder }
    }

    /// Writes a file, in place of an earlier one. It outlives a power cut when this returns.
    pub(crate) async fn put(&self, path: &str, bytes: Bytes) -> Result<(), ObjectError> {
        self.store.put(&Path::parse(path)?, PutPayload::from_bytes(bytes)).await?;
        if let Some(folder) = self.folder.clone() {
            let path = path.to_owned();
            // The store makes files and folders with the mask of the process.
            let _ = run_apart(move || permissions::withdraw_along(&folder, &path)).await;
        }
        Ok(())
    }

    /// Reads a whole file; `None` if it does not exist.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Bytes>, ObjectError> {
        match self.store.get(&Path::parse(path)?).await {
            Ok(found) => Ok(Some(found.bytes().await?)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a file, if there is one.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), ObjectError> {
        match self.store.delete(&Path::parse(path)?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a range of a file.
    pub(crate) async fn read(&self, path: &str, range: Range<u64>) -> Result<Bytes, ObjectError> {
        Ok(self.store.get_range(&Path::parse(path)?, range).await?)
    }
}
