//! Files that are stored before the manifest names them. Each is noted first, so that it does not stay if the manifest never
//! names it.

use std::time::Duration;

use bytes::Bytes;
use portcullis_model::Timestamp;
use portcullis_storage::{Tx, decision_uploads};

use super::archive::{Archive, ArchiveError};

/// The time after which a file that the manifest does not name is removed. It is much longer than an upload.
const UNNAMED: Duration = Duration::from_secs(60 * 60);
/// The most files of one round.
const ROUND: i64 = 100;

/// Stores a file that the manifest is to name.
pub(crate) async fn store(
    archive: &Archive,
    path: &str,
    bytes: Bytes,
    now: Timestamp,
) -> Result<(), ArchiveError> {
    let mut tx = archive.store().write_all().await?;
    let has_begun = decision_uploads::begin(&mut tx, path, now).await?;
    tx.commit().await?;
    if !has_begun {
        return Err(ArchiveError::Unnamed);
    }
    archive.put(path, bytes).await
}

/// Notes that the transaction names the file.
///
/// # Errors
/// The file is being removed, because it was stored too long ago.
pub(crate) async fn name(tx: &mut Tx, path: &str) -> Result<(), ArchiveError> {
    if decision_uploads::end(tx, path).await? { Ok(()) } else { Err(ArchiveError::Unnamed) }
}

/// Removes files that were stored long ago and that the manifest does not name.
pub(crate) async fn remove_unnamed(archive: &Archive, now: Timestamp) -> Result<(), ArchiveError> {
    let before = Timestamp::from_millis(now.millis() - UNNAMED.as_millis() as i64);
    let left = archive.store().read_all(async |tx| decision_uploads::left(tx, before, ROUND).await);
    for path in left.await? {
        let mut tx = archive.store().write_all().await?;
        let leaves = decision_uploads::leave(&mut tx, &path, before).await?;
        tx.commit().await?;
        if leaves {
            archive.delete(&path).await?;
        }
        // Last: until then nobody stores a file at the path, which would be deleted with the old one.
        let mut tx = archive.store().write_all().await?;
        decision_uploads::forget(&mut tx, &path).await?;
        tx.commit().await?;
    }
    Ok(())
}
