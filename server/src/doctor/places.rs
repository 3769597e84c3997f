//! Folders and disks, and the place of the record of decisions.

use std::io::{self, Write as _};
use std::path::Path;

use portcullis_config::{Config, database_file};
use portcullis_decision_log::RecordPlace;
use portcullis_resolvers::must_be_private;

use super::report::Report;
use crate::nearest_folder::nearest_folder;

const ABOUT: &str = "disk";
/// Less room than this is a warning, in bytes. A SQLite file of a million entities has some hundred MiB.
const LITTLE: u64 = 1 << 30;
/// The bytes of a page of SQLite.
const PAGE: usize = 4 << 10;

/// Looks at each folder that the service writes to, and at the bucket of the record.
pub(super) async fn examine(config: &Config, report: &mut Report) {
    if let Some(file) = database_file(&config.database_url) {
        folder("DATABASE_URL", &file.with_file_name(""), LITTLE, report);
    }
    if let Some(code) = &config.resolvers.code {
        match must_be_private(code) {
            Err(fault) if code.exists() => {
                report.wrong(ABOUT, format!("RESOLVER_CODE_DIR: {fault}"));
            }
            // The start makes a directory that is missing.
            _ => folder("RESOLVER_CODE_DIR", code, LITTLE, report),
        }
    }
    let Some(record) = &config.decision_log else { return };
    folder("DECISION_LOG_BUFFER", &record.buffer, record.buffer_bytes, report);
    match &record.place {
        RecordPlace::Folder(path) => folder("DECISION_LOG_URL", path, LITTLE, report),
        RecordPlace::Bucket(_) => match record.place.reach().await {
            Ok(()) => report.fine("record", format!("`{}` answers", record.place)),
            Err(fault) => {
                report.wrong("record", format!("DECISION_LOG_URL `{}`: {fault}", record.place));
            }
        },
    }
}

/// Looks whether a folder, or the one in which it will be made, can be written and has room.
fn folder(variable: &str, path: &Path, needed: u64, report: &mut Report) {
    let existing = nearest_folder(path);
    let shown = existing.display();
    if let Err(fault) = write_in(&existing) {
        let text = format!("{variable}: cannot write to `{shown}`: {}", fault.kind());
        return report.wrong(ABOUT, text);
    }
    let Ok(disk) = rustix::fs::statvfs(&existing) else { return };
    // `f_bavail` leaves out the blocks that only root may use.
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let (free_mib, needed_mib) = (free >> 20, needed >> 20);
    if free < needed {
        let text = format!("{variable}: `{shown}` has room for {free_mib} MiB of {needed_mib} MiB");
        report.warning(ABOUT, text);
    } else {
        report.fine(ABOUT, format!("{variable}: `{shown}` has room for {free_mib} MiB"));
    }
}

/// Writes a page to a file of the folder that nobody sees: on a full disk an empty one can still be made.
fn write_in(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder)?.write_all(&[0; PAGE])
}
