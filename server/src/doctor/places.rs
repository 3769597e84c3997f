//! Folders and disks, and the place of the record of decisions.

use std::path::{Path, PathBuf};

use portcullis_config::{Config, database_file};
use portcullis_decision_log::RecordPlace;

use super::report::Report;

/// Less room than this is a warning, in bytes. A SQLite file of a million entities has some hundred MiB.
const LITTLE: u64 = 1 << 30;

/// Looks at each folder that the service writes to, and at the bucket of the record.
pub(super) async fn examine(config: &Config, report: &mut Report) {
    if let Some(file) = database_file(&config.database_url) {
        folder("DATABASE_URL", &file.with_file_name(""), LITTLE, report);
    }
    if let Some(code) = &config.resolvers.code {
        folder("RESOLVER_CODE_DIR", code, LITTLE, report);
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
    let existing = existing(path);
    let shown = existing.display();
    if let Err(fault) = tempfile::tempfile_in(&existing) {
        let text = format!("{variable}: cannot write to `{shown}`: {}", fault.kind());
        return report.wrong("disk", text);
    }
    let Ok(disk) = rustix::fs::statvfs(&existing) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let (free_mib, needed_mib) = (free >> 20, needed >> 20);
    if free < needed {
        let text = format!("{variable}: `{shown}` has room for {free_mib} MiB of {needed_mib} MiB");
        report.warning("disk", text);
    } else {
        report.fine("disk", format!("{variable}: `{shown}` has room for {free_mib} MiB"));
    }
}

/// Returns the folder, or the nearest one above it that exists.
fn existing(path: &Path) -> PathBuf {
    let found = path.ancestors().find(|path| path.is_dir());
    found.unwrap_or_else(|| Path::new(".")).to_owned()
}
