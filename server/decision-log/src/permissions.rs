//! The permissions of the files of the record: others have none. The bits of the group are the operator's.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The bits of a file that the service makes, before the operator's mask.
pub(crate) const FILE_MODE: u32 = 0o660;
/// The bits of all who are neither the owner nor in the group.
const OTHERS: u32 = 0o007;

/// Withdraws the access of others to a file or folder.
fn withdraw(path: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(path)?.permissions().mode();
    match mode & OTHERS {
        0 => Ok(()),
        _ => fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)),
    }
}

/// Withdraws the access of others to `folder` and to everything in it whose name `is_own` accepts.
pub(crate) fn withdraw_all(folder: &Path, is_own: impl Fn(&str) -> bool) {
    let below = || {
        withdraw(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(&is_own) {
                withdraw_below(&entry.path())?;
            }
        }
        Ok(())
    };
    warn_of(folder, below());
}

/// Withdraws the access of others to each part of `path`, which is below `folder`.
pub(crate) fn withdraw_along(folder: &Path, path: &str) {
    let mut place = folder.to_owned();
    let along = path.split('/').try_for_each(|name| {
        place.push(name);
        withdraw(&place)
    });
    warn_of(folder, along);
}

/// Says that others may have access, but goes on: a folder may belong to another user.
fn warn_of(folder: &Path, outcome: io::Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(
            %error,
            folder = %folder.display(),
            "other users may read recorded decisions: the permissions cannot be changed"
        );
    }
}

fn withdraw_below(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        // Another replica deleted it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    if metadata.is_symlink() {
        return Ok(());
    }
    withdraw(path)?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            withdraw_below(&entry?.path())?;
        }
    }
    Ok(())
}
