//! The chain of the manifest: each row has the hash of the row before, so that nobody takes one out unseen. A row with the cause
//! `pruned` stands for rows that the service took out.

use portcullis_model::Timestamp;
use portcullis_storage::decision_files::{self, FileRow};
use portcullis_storage::encryption::{KeyRing, MAC_BYTES};
use portcullis_storage::{Store, StoreError, Tx};
use sha2::{Digest, Sha256};

/// The cause of a row that stands for removed ones: `records` has their number, `sha256` the hash before the first of them,
/// `hash` the hash of the last.
const PRUNED: &str = "pruned";

/// Most rows that are signed anew in one transaction.
const SIGNED_AT_ONCE: i64 = 1_000;

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
        row.mac = mac_of(keys, &row);
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

/// Returns the signature of a row by the first key.
fn mac_of(keys: &KeyRing, row: &FileRow) -> Vec<u8> {
    let mac = match is_pruned(row) {
        true => keys.authenticate(&pruned_parts(&hash_of(&row.sha256, row), &row.hash)),
        false => keys.authenticate(&parts(&row.hash)),
    };
    mac.to_vec()
}

/// Signs the rows anew, by the first key, that another key of the ring signed, so that the others can go. Returns how many.
///
/// # Errors
/// The store failed. A repetition does the rest.
pub async fn sign_manifest_anew(store: &Store, keys: &KeyRing) -> Result<usize, StoreError> {
    let (mut after, mut signed) = (0, 0);
    loop {
        let mut tx = store.write_all().await?;
        let rows = decision_files::list(&mut tx, after, SIGNED_AT_ONCE).await?;
        for row in rows.iter().filter(|row| is_signed(keys, row)) {
            let mac = mac_of(keys, row);
            if mac != row.mac {
                decision_files::sign(&mut tx, row.seq, &mac).await?;
                signed += 1;
            }
        }
        tx.commit().await?;
        let Some(last) = rows.last() else { return Ok(signed) };
        after = last.seq;
    }
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
    row.mac = mac_of(keys, &row);
    row
}

fn parts(hash: &[u8]) -> [&[u8]; 2] {
    [b"decision files", hash]
}

fn pruned_parts<'p>(own: &'p [u8], last: &'p [u8]) -> [&'p [u8]; 3] {
    [b"pruned decision files", own, last]
}
