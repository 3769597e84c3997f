//! The files of a SQLite database: only their owner may read and write them.

use std::ffi::OsString;
use std::fs::{OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The rights of the owner to read and write.
pub(crate) const OWNER_ONLY: u32 = 0o600;
/// The rights of all other users.
const OTHERS: u32 = 0o007;
/// The files beside the database: the log of writes, and its index. SQLite gives them the rights of the database.
const BESIDE: [&str; 2] = [LOG, "-shm"];
/// The end of the name of the log of writes.
const LOG: &str = "-wal";

/// Creates the file of a database for its owner only. If it exists and every user may read or write it, its rights come
/// from the umask of an earlier version, and are withdrawn. The rights of a group stay, because somebody chose them.
pub(crate) fn make_private(database: &Path) {
    let new = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(database);
    match new {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            withdraw(database);
            BESIDE.iter().for_each(|suffix| withdraw(&beside(database, suffix)));
        }
        // Opening the database fails next, with its own message.
        Err(_) => {}
    }
}

/// Returns the path of the log of writes of a database.
pub(crate) fn log_of(database: &Path) -> PathBuf {
    beside(database, LOG)
}

/// Returns the path of the file that has the newest commit of a database.
pub(crate) fn newest_of(database: &Path) -> PathBuf {
    beside(database, "-newest")
}

fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    name.into()
}

fn withdraw(path: &Path) {
    let Ok(metadata) = path.metadata() else { return };
    if !metadata.is_file() || metadata.permissions().mode() & OTHERS == 0 {
        return;
    }
    let file = path.display();
    match std::fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY)) {
        Ok(()) => tracing::warn!("every user had access to `{file}`; now only its owner has"),
        Err(error) => tracing::warn!(%error, "every user has access to `{file}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("a file").permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_private_and_a_chosen_group_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("portcullis.db");
        make_private(&database);
        assert_eq!(mode(&database), 0o600);
        let wal = beside(&database, "-wal");
        std::fs::write(&wal, "").expect("writes");
        for (before, after) in [(0o644, 0o600), (0o666, 0o600), (0o660, 0o660), (0o640, 0o640)] {
            for path in [&database, &wal] {
                std::fs::set_permissions(path, Permissions::from_mode(before)).expect("sets");
            }
            make_private(&database);
            assert_eq!((mode(&database), mode(&wal)), (after, after), "{before:o}");
        }
    }

    #[tokio::test]
    async fn every_file_of_an_open_database_is_private() {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("portcullis.db");
        let store = crate::Store::open(&format!("sqlite://{}", database.display())).await;
        let store = store.expect("opens");
        for path in [database.clone(), beside(&database, "-wal"), beside(&database, "-shm")] {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
        store.close().await;
    }
}
