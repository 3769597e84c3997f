//! `portcullis decisions verify`: compares the sealed record of decisions with its manifest (`docs/semantics.md`, section
//! 17.7).

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use portcullis_config::{Variables, open_archive};
use portcullis_decision_log::{RecordPlace, Verification};

use crate::exit;
use crate::operator::OfflineOperator;

/// Prints each erased file and each fault. The exit code is 0 if the record is whole, 1 if something is wrong or missing, and 2
/// after an error.
pub async fn verify(variables: &Variables, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    exit::judged_at_once(verify_files(variables, out).await, err)
}

async fn verify_files(variables: &Variables, out: &mut dyn Write) -> anyhow::Result<bool> {
    let settings = variables.decision_log()?;
    let settings = settings.context(
        "DECISION_LOG_URL: the place of the record is not set: give the command the variables of the service",
    )?;
    // To open a folder makes it, and an empty one would count as a whole record.
    if let RecordPlace::Folder(folder) = &settings.place {
        ensure!(
            folder.is_dir(),
            "DECISION_LOG_URL: there is no folder `{}`: give the command the variables of the service, which makes it",
            folder.display()
        );
    }
    let keys = variables.encryption_keys()?;
    let OfflineOperator { store, .. } = OfflineOperator::open(variables).await?;
    let archive = open_archive(&settings, &store, &keys)?;
    let found = archive.verify().await?;
    store.close().await;
    print(&found, out)?;
    Ok(found.findings.is_empty())
}

fn print(found: &Verification, out: &mut dyn Write) -> std::io::Result<()> {
    for erased in &found.erased {
        writeln!(out, "erased: {erased}")?;
    }
    for fault in &found.findings {
        writeln!(out, "wrong: {fault}")?;
    }
    let Verification { rows, pruned, files, records, bytes, expired, .. } = found;
    writeln!(
        out,
        "{files} files with {records} records and {bytes} bytes are as they were written; {expired} expired, {} were erased; \
         the manifest has {rows} rows, and stands for {pruned} more about files that are long gone",
        found.erased.len()
    )?;
    match found.findings.len() {
        0 => writeln!(out, "the record is whole"),
        1 => writeln!(out, "1 fault"),
        faults => writeln!(out, "{faults} faults"),
    }
}
