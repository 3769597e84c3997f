//! The store of the files at rest: a folder, which all replicas share.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use portcullis_fairness::{Stopping, run_apart};

/// The place of the files.
#[derive(Clone, Debug)]
pub(crate) struct Objects(Arc<PathBuf>);

/// The reason why a file cannot be written, read or deleted.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    #[error("`{0}`: {1}")]
    File(PathBuf, io::Error),
    #[error(transparent)]
    Stopping(#[from] Stopping),
}

impl Objects {
    /// Opens the folder. Makes it if it is missing.
    pub(crate) fn open(folder: &Path) -> Result<Self, ObjectError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| ObjectError::File(folder.to_owned(), error))?;
        Ok(Self(Arc::new(folder.to_owned())))
    }

    /// Calls `work` with the path of a file on a thread that may block.
    async fn with<T: Send + 'static>(
        &self,
        path: &str,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, ObjectError> {
        let file = self.0.join(path);
        run_apart(move || work(&file).map_err(|error| ObjectError::File(file, error))).await?
    }

    /// Writes a file, in place of an earlier one. It is on disk when this returns.
    pub(crate) async fn put(&self, path: &str, bytes: Bytes) -> Result<(), ObjectError> {
        self.with(path, move |file| write(file, &bytes)).await
    }

    /// Reads a whole file; `None` if there is none.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Bytes>, ObjectError> {
        self.with(path, |file| match std::fs::read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(read?.into())),
        })
        .await
    }

    /// Deletes a file, if there is one.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), ObjectError> {
        self.with(path, |file| match std::fs::remove_file(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
        .await
    }

    /// Reads a range of a file. Blocks.
    pub(crate) fn read(&self, path: &str, range: Range<u64>) -> Result<Bytes, ObjectError> {
        let file = self.0.join(path);
        read(&file, range).map_err(|error| ObjectError::File(file, error))
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let beside = path.with_extension(format!("{:08x}", fastrand::u32(..)));
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    // The names of new folders, too: `date=…` and `tenant=…` above it.
    for folder in folder.ancestors().take(3) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn read(path: &Path, range: Range<u64>) -> io::Result<Bytes> {
    let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or_default();
    let mut bytes = vec![0; length];
    File::open(path)?.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes.into())
}
