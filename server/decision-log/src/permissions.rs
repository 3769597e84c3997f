//! The permissions of the files of the record: others have none. The bits of the group are the operator's.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The bits of a file that the service makes, before the operator's mask.
pub(crate) const FILE_MODE: u32 = 0o660;
/// The bits of all who are neither the owner nor in the group.
const OTHERS: u32 = 0o007;

/// Withdraws the access of others to a file or folder. Follows a link, as `set_permissions` does: its own mode is `0o777`.
fn withdraw(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    match mode & OTHERS {
        0 => Ok(()),
        _ => fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)),
    }
}

/// Withdraws the access of others to `folder` and to everything in it whose name `is_own` accepts. What fails does not prevent
/// the rest.
pub(crate) fn withdraw_all(folder: &Path, is_own: impl Fn(&str) -> bool) {
    let outcome = withdraw(folder);
    warn_of(folder, outcome.and(withdraw_entries(folder, is_own)));
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

/// Withdraws the access of others to everything in `folder` whose name `is_own` accepts. Returns the first error.
fn withdraw_entries(folder: &Path, is_own: impl Fn(&str) -> bool) -> io::Result<()> {
    let mut outcome = Ok(());
    for entry in fs::read_dir(folder)? {
        let withdrawn = entry.and_then(|entry| match entry.file_name().to_str() {
            Some(name) if is_own(name) => withdraw_below(&entry.path()),
            _ => Ok(()),
        });
        outcome = outcome.and(withdrawn);
    }
    outcome
}

/// Withdraws the access of others to `path` and to everything in it, but follows no link. Returns the first error.
fn withdraw_below(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        // Another replica deleted it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    if metadata.is_symlink() {
        return Ok(());
    }
    let outcome = withdraw(path);
    if metadata.is_dir() {
        return outcome.and(withdraw_entries(path, |_| true));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("sets");
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("is there").permissions().mode() & 0o777
    }

    #[test]
    fn a_withdrawal_through_a_link_grants_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (record, link) = (folder.path().join("record"), folder.path().join("link"));
        fs::create_dir(&record).expect("makes");
        symlink(&record, &link).expect("links");
        for (before, after) in [(0o700, 0o700), (0o755, 0o750)] {
            set_mode(&record, before);
            withdraw_all(&link, |_| true);
            assert_eq!(mode(&record), after);
            set_mode(&record, before);
            withdraw_along(folder.path(), "link");
            assert_eq!(mode(&record), after);
        }
    }

    #[test]
    fn an_entry_that_fails_does_not_prevent_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().join("own");
        // The path is longer than any that the system takes, so that its permissions cannot be read.
        let half = vec!["n".repeat(250); 12].join("/");
        for name in ["own", "other"] {
            fs::create_dir_all(folder.path().join(name).join(&half)).expect("makes");
        }
        fs::rename(folder.path().join("other"), own.join(&half).join("other")).expect("moves");
        let files: Vec<_> = (0..32).map(|number| own.join(number.to_string())).collect();
        for file in &files {
            fs::write(file, "").expect("writes");
            set_mode(file, 0o666);
        }
        let outcome = withdraw_entries(folder.path(), |_| true);
        let error = outcome.map_err(|error| error.kind());
        assert_eq!(error, Err(io::ErrorKind::InvalidFilename));
        assert!(files.iter().all(|file| mode(file) == 0o660));
    }
}
