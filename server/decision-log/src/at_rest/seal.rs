//! Seals a finished write-ahead file: upload, manifest, then the file may go. Each step can be repeated.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use portcullis_fairness::run_apart;
use portcullis_model::Timestamp;
use portcullis_storage::decision_files::{self, PartRow};
use portcullis_storage::tenant_settings;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::archive::{Archive, ArchiveError};
use super::chain::{self, Event};
use super::excluded::ErasedRecords;
use super::rows::{Rows, UnsortedRows};
use super::{uploads, writer};
use crate::segment::Segment;
use crate::segment_texts::SegmentTexts;

/// Tenants with fewer bytes in a write-ahead file share one file: many small tenants must not make as many objects.
const OWN_FILE: usize = 1024 * 1024;
/// The most sealed bytes of a tenant.
const MAX_TENANT: i64 = 1 << 30;

/// A file that is written, with the part of each tenant.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) path: String,
    pub(crate) bytes: Bytes,
    pub(crate) sha256: Vec<u8>,
    /// Without the instant at which they go.
    pub(crate) parts: Vec<PartRow>,
}

impl Archive {
    /// Seals the records of a finished write-ahead file of the process `replica`. A repetition makes the same files.
    pub(crate) async fn seal(
        &self,
        segment: Arc<Segment>,
        replica: &str,
        now: Timestamp,
    ) -> Result<(), ArchiveError> {
        let from = Arc::clone(&segment);
        let tenants = run_apart(move || tenants_of(&from)).await??;
        let excluded = self.excluded(&tenants).await?;
        let (archive, replica) = (self.clone(), replica.to_owned());
        let written = run_apart(move || {
            let (mut rows, mut erased) = (UnsortedRows::default(), ErasedRecords::default());
            // Nothing ends the reading at a text that cannot be read: the error is kept until its end.
            let (mut texts, mut read) = (SegmentTexts::new(&segment, usize::MAX), Ok(()));
            segment.read(segment.length(), |frame| {
                let record = (frame.tenant, frame.id, frame.json);
                if excluded.has(&archive, record, &mut erased) {
                    return;
                }
                match texts.of(&frame) {
                    Ok(Some(texts)) => rows.add(frame.tenant, frame.id, frame.json, &texts),
                    Ok(None) => {}
                    Err(error) => read = Err(error),
                }
            })?;
            read?;
            Ok::<_, ArchiveError>((write_files(&rows.sorted(), &replica)?, erased))
        });
        let (files, erased) = written.await??;
        if erased.of_tenants > 0 {
            // A clock that went far back before the tenant was made leaves out records of a tenant that exists.
            let records = erased.of_tenants;
            tracing::warn!(records, "decisions of tenants that are gone are not sealed");
        }
        let (mut new, mut is_repetition) = (Vec::new(), false);
        for file in files {
            let known =
                self.store().read_all(async |tx| decision_files::find(tx, &file.path).await);
            // An earlier try named the file, and could not remove its write-ahead file.
            if known.await?.is_some() {
                is_repetition = true;
            } else {
                uploads::store(self, &file.path, file.bytes.clone(), now).await?;
                new.push(file);
            }
        }
        // The transaction that named a file counted, too.
        let erased = if is_repetition { ErasedRecords::default() } else { erased };
        self.note(&new, &erased, now).await
    }

    /// Writes the manifest.
    async fn note(
        &self,
        files: &[NewFile],
        erased: &ErasedRecords,
        now: Timestamp,
    ) -> Result<(), ArchiveError> {
        if files.is_empty() && erased.is_empty() {
            return Ok(());
        }
        let mut tx = self.store().write_all().await?;
        for file in files {
            uploads::name(&mut tx, &file.path).await?;
        }
        let events: Vec<Event> = files.iter().map(|file| file.event("sealed", None, now)).collect();
        chain::append(&mut tx, self.keys(), events).await?;
        for file in files {
            for part in &file.parts {
                let keep = tenant_settings::keeps_decisions(&mut tx, &part.tenant_id).await?;
                let expires_at = part.last_at.saturating_add(keep);
                let part = PartRow { expires_at, ..part.clone() };
                decision_files::add_part(&mut tx, &part).await?;
                decision_files::shrink(&mut tx, &part.tenant_id, MAX_TENANT).await?;
            }
        }
        erased.note(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// Returns the tenants with records in a write-ahead file. Blocks.
fn tenants_of(segment: &Segment) -> io::Result<BTreeSet<String>> {
    let mut tenants = BTreeSet::new();
    segment.read(segment.length(), |frame| {
        // `insert` alone would copy the name for each record.
        if !tenants.contains(frame.tenant) {
            tenants.insert(frame.tenant.to_owned());
        }
    })?;
    Ok(tenants)
}

impl NewFile {
    /// Writes the records of `tenants`. `name` makes the path from the smallest id.
    pub(crate) fn write(
        rows: &Rows,
        tenants: &[String],
        name: impl FnOnce(Uuid) -> String,
    ) -> Result<Option<Self>, ArchiveError> {
        let ids = tenants.iter().flat_map(|tenant| rows.ids(tenant));
        let Some(first) = ids.min() else { return Ok(None) };
        let bytes = Bytes::from(writer::write(rows, tenants)?);
        let path = name(first);
        let total: usize = tenants.iter().map(|tenant| rows.bytes(tenant)).sum();
        let size = number(bytes.len());
        let parts = tenants.iter().filter_map(|tenant| {
            let (first_id, last_id) = (rows.ids(tenant).min()?, rows.ids(tenant).max()?);
            let share = bytes.len() as f64 * rows.bytes(tenant) as f64 / total.max(1) as f64;
            Some(PartRow {
                tenant_id: tenant.clone(),
                first_id,
                path: path.clone(),
                last_id,
                records: number(rows.ids(tenant).count()),
                #[expect(clippy::cast_possible_truncation, reason = "at most the bytes of a file")]
                bytes: share as i64,
                file_bytes: size,
                last_at: Timestamp::from_id(last_id).millis(),
                expires_at: 0,
            })
        });
        let parts = parts.collect();
        let sha256 = Sha256::digest(&bytes).to_vec();
        Ok(Some(Self { path, bytes, sha256, parts }))
    }

    /// Returns the event that the file was written, in place of another one.
    pub(crate) fn event(
        &self,
        cause: &'static str,
        replaces: Option<String>,
        now: Timestamp,
    ) -> Event {
        Event {
            cause,
            path: Some(self.path.clone()),
            replaces,
            at: now.millis(),
            records: self.parts.iter().map(|part| part.records).sum(),
            bytes: number(self.bytes.len()),
            sha256: self.sha256.clone(),
        }
    }
}

/// Writes one file for each tenant with much, and one for all others.
fn write_files(rows: &Rows, replica: &str) -> Result<Vec<NewFile>, ArchiveError> {
    let tenants = rows.tenants().map(str::to_owned);
    let (large, small): (Vec<String>, Vec<String>) =
        tenants.partition(|tenant| rows.bytes(tenant) >= OWN_FILE);
    let mut files = Vec::new();
    for tenant in large {
        let tenants = std::slice::from_ref(&tenant);
        files.extend(NewFile::write(rows, tenants, |first| path(&tenant, first, replica))?);
    }
    files.extend(NewFile::write(rows, &small, |first| path(SHARED, first, replica))?);
    Ok(files)
}

/// The place of a tenant's id in the path of a file that several share.
const SHARED: &str = "_shared";

fn path(tenant: &str, first: Uuid, replica: &str) -> String {
    let (tenant, day) = (folder_name(tenant), Timestamp::from_id(first).to_string());
    // An instant begins with its date, as in `2025-01-31T…`.
    let day = day.get(..10).unwrap_or_default();
    format!("tenant={tenant}/date={day}/{first}-{replica}.parquet")
}

/// Returns the id of a tenant as a part of a path, or the hash of one that would be too long.
fn folder_name(tenant: &str) -> String {
    /// The characters that a part of a path cannot have.
    const UNSAFE: AsciiSet = CONTROLS.add(b'/').add(b'\\').add(b'%').add(b':');
    /// The most bytes of a name, with `tenant=`, are 255.
    const MAX: usize = 240;
    let name = utf8_percent_encode(tenant, &UNSAFE).to_string();
    if name.len() > MAX { hex::encode(Sha256::digest(tenant)) } else { name }
}

fn number(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
