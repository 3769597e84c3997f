//! `portcullis secrets reencrypt`: replaces an old encryption key.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use portcullis_config::Variables;
use portcullis_operations::secrets;

use crate::operator::OfflineOperator;

/// Encrypts every secret with the first key of `ENCRYPTION_KEY`, signs the manifest of recorded decisions with it, and prints the number of secrets of each key. The exit
/// code is 1 while a secret needs another key.
pub async fn reencrypt(variables: &Variables) -> anyhow::Result<ExitCode> {
    let keys = variables.encryption_keys()?;
    if keys.is_ambiguous() {
        bail!("ENCRYPTION_KEY: the first key is there twice, or has the id of another one");
    }
    let OfflineOperator { store, origin, by, .. } = OfflineOperator::open(variables).await?;
    let report = secrets::reencrypt(&store, &keys, &origin, by.at).await?;
    store.close().await;
    let mut out = std::io::stdout();
    writeln!(out, "re-encrypted {} secrets", report.reencrypted)?;
    if report.signed > 0 {
        writeln!(out, "signed {} rows of the manifest of recorded decisions anew", report.signed)?;
    }
    let mut needs_another = false;
    for (id, number) in report.by_key {
        let is_first = id == keys.first_id();
        needs_another |= !is_first;
        let about = if is_first { "the first key" } else { "still needed" };
        writeln!(out, "key {}: {number} secrets, {about}", secrets::hexadecimal(id))?;
    }
    Ok(if needs_another { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
