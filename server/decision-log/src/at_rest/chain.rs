//! The chain of the manifest: each row has the hash of the row before, so that nobody takes one out unseen.

use portcullis_storage::decision_files::{self, FileRow};
use portcullis_storage::encryption::{KeyRing, MAC_BYTES};
use portcullis_storage::{StoreError, Tx};
use sha2::{Digest, Sha256};

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

/// Appends the events.
///
/// # Errors
/// Another process appended meanwhile: the transaction is to be repeated.
pub(crate) async fn append(
    tx: &mut Tx,
    keys: &KeyRing,
    events: impl IntoIterator<Item = Event>,
) -> Result<(), StoreError> {
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
pub(crate) fn hash_of(before: &[u8], row: &FileRow) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(before);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let fields = [
        row.seq.to_string(),
        row.cause.clone(),
        text(&row.path),
        text(&row.replaces),
        row.created_at.to_string(),
        row.records.to_string(),
        row.bytes.to_string(),
        hex::encode(&row.sha256),
    ];
    for field in fields {
        hash.update(field.as_bytes());
        hash.update([0]);
    }
    hash.finalize().to_vec()
}

/// Returns whether a key of the service signed the row.
pub(crate) fn is_signed(keys: &KeyRing, row: &FileRow) -> bool {
    let mac = <[u8; MAC_BYTES]>::try_from(&*row.mac);
    mac.is_ok_and(|mac| keys.is_authentic(&parts(&row.hash), &mac))
}

fn parts(hash: &[u8]) -> [&[u8]; 2] {
    [b"decision files", hash]
}
