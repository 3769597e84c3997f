//! The chain of the manifest: each row has the hash of the row before, so that nobody takes one out unseen. A row with the cause
//! `pruned` stands for rows that the service took out.

use portcullis_model::Timestamp;
use portcullis_storage::decision_files::{self, FileRow};
use portcullis_storage::encryption::{KeyRing, MAC_BYTES};
use portcullis_storage::{StoreError, Tx};
use sha2::{Digest, Sha256};

/// The cause of a row that stands for removed ones: `records` has their number, `sha256` the hash before the first of them,
/// `hash` the hash of the last.
const PRUNED: &str = "pruned";

/// A change of the files.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// `sealed`, `erased` or `expired`.
    pub(crate) cause: &'static str,
    pub(crate) path: Option<String>,
    pub(crate) replaces: Option<String>,
    /// Milliseconds since the epoch.
    pub(crate) at: i64,
    pub(crate) records: i64,
    pub(crate) bytes: i64,
    pub(crate) sha256: Vec<u8>,
}

/// Appends the events. Other processes wait until the transaction ends.
pub(crate) async fn append(
    tx: &mut Tx,
    keys: &KeyRing,
    events: impl IntoIterator<Item = Event>,
) -> Result<(), StoreError> {
    decision_files::lock(tx).await?;
    let last = decision_files::last(tx).await?;
    let (mut seq, mut hash) = last.map_or((0, Vec::new()), |row| (row.seq, row.hash));
    for event in events {
        seq += 1;
        let mut row = FileRow {
            seq,
            cause: event.cause.to_owned(),
            path: event.path,
            replaces: event.replaces,
            created_at: event.at,
            records: event.records,
            bytes: event.bytes,
            sha256: event.sha256,
            hash: Vec::new(),
            mac: Vec::new(),
            gone_at: None,
            deleted: false,
        };
        row.hash = hash_of(&hash, &row);
        row.mac = keys.authenticate(&parts(&row.hash)).to_vec();
        decision_files::append(tx, &row).await?;
        hash = row.hash;
    }
    Ok(())
}

/// Returns the hash of a row that follows one with the hash `before`.
fn hash_of(before: &[u8], row: &FileRow) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(before);
    let fields = [
        row.seq.to_string(),
        row.cause.clone(),
        row.path.clone().unwrap_or_default(),
        row.replaces.clone().unwrap_or_default(),
        row.created_at.to_string(),
        row.records.to_string(),
        row.bytes.to_string(),
        hex::encode(&row.sha256),
    ];
    for field in fields {
        hash.update(field.as_bytes());
        // Ends the field, so that its last characters cannot move into the next one.
        hash.update([0]);
    }
    hash.finalize().to_vec()
}

/// Returns the first row that `row` is about.
pub(crate) fn first(row: &FileRow) -> i64 {
    // In a row that somebody changed, `records` can be any number.
    if is_pruned(row) { row.seq.saturating_sub(row.records).saturating_add(1) } else { row.seq }
}

/// Returns whether the row stands for removed ones.
pub(crate) fn is_pruned(row: &FileRow) -> bool {
    row.cause == PRUNED
}

/// Returns whether the row follows one with the hash `before`.
pub(crate) fn follows(before: &[u8], row: &FileRow) -> bool {
    if is_pruned(row) { row.sha256 == before } else { hash_of(before, row) == row.hash }
}

/// Returns whether a key of the service signed the row.
pub(crate) fn is_signed(keys: &KeyRing, row: &FileRow) -> bool {
    let Ok(mac) = <[u8; MAC_BYTES]>::try_from(&*row.mac) else { return false };
    if is_pruned(row) {
        // `hash` is that of the last removed row, so the content of this row is signed beside it.
        return keys.is_authentic(&pruned_parts(&hash_of(&row.sha256, row), &row.hash), &mac);
    }
    keys.is_authentic(&parts(&row.hash), &mac)
}

/// Returns a row that stands for the rows from `first` to `last`. The first of them follows the hash `before`.
pub(crate) fn pruned(
    keys: &KeyRing,
    (first, before): (i64, &[u8]),
    last: &FileRow,
    at: Timestamp,
) -> FileRow {
    let mut row = FileRow {
        seq: last.seq,
        cause: PRUNED.to_owned(),
        path: None,
        replaces: None,
        created_at: at.millis(),
        records: last.seq - first + 1,
        bytes: 0,
        sha256: before.to_vec(),
        hash: last.hash.clone(),
        mac: Vec::new(),
        gone_at: None,
        deleted: false,
    };
    row.mac = keys.authenticate(&pruned_parts(&hash_of(&row.sha256, &row), &row.hash)).to_vec();
    row
}

fn parts(hash: &[u8]) -> [&[u8]; 2] {
    [b"decision files", hash]
}

fn pruned_parts<'p>(own: &'p [u8], last: &'p [u8]) -> [&'p [u8]; 3] {
    [b"pruned decision files", own, last]
}
