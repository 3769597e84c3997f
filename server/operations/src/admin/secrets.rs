//! The re-encryption of secrets at rest (`docs/semantics.md`, section 7.10).

use std::collections::BTreeMap;

use portcullis_decision_log::sign_manifest_anew;
use portcullis_model::Timestamp;
use portcullis_model::audit::{AuditAction, Origin};
use portcullis_storage::encryption::{KeyId, KeyRing};
use portcullis_storage::secrets::{self, COLUMNS, Position, ReencryptedRows, SecretColumn};
use portcullis_storage::{Store, StoreError};
use uuid::Uuid;

/// The outcome of a re-encryption.
#[derive(Debug, PartialEq, Eq)]
pub struct ReencryptionReport {
    /// The number of values that this run encrypted with the first key.
    pub reencrypted: usize,
    /// The number of rows of the manifest of recorded decisions that this run signed with the first key.
    pub signed: usize,
    /// The number of values in the database by the id of their key.
    pub by_key: BTreeMap<KeyId, u64>,
}

/// Encrypts every secret with the first key of the ring, and signs the manifest of recorded decisions with it, in small transactions. A run after a crash does the rest. A
/// value that cannot be decrypted stays, and the report counts it.
pub async fn reencrypt(
    store: &Store,
    keys: &KeyRing,
    by: &Origin,
    now: Timestamp,
) -> Result<ReencryptionReport, StoreError> {
    let mut reencrypted = 0;
    for column in &COLUMNS {
        reencrypted += reencrypt_column(store, column, keys).await?;
    }
    let signed = sign_manifest_anew(store, keys).await?;
    let mut by_key = BTreeMap::new();
    let mut tx = store.write_all().await?;
    for column in &COLUMNS {
        secrets::count(&mut tx, column, &mut by_key).await?;
    }
    tx.attribute_to(by, now);
    tx.audit(AuditAction::SecretsReencrypted, hexadecimal(keys.first_id()));
    tx.commit().await?;
    Ok(ReencryptionReport { reencrypted, signed, by_key })
}

async fn reencrypt_column(
    store: &Store,
    column: &SecretColumn,
    keys: &KeyRing,
) -> Result<usize, StoreError> {
    let mut after: Position = (String::new(), Uuid::nil());
    let mut reencrypted = 0;
    loop {
        let mut tx = store.write_all().await?;
        let step = secrets::reencrypt(&mut tx, column, keys, &after, column.batch).await?;
        tx.commit().await?;
        let ReencryptedRows { reencrypted: changed, last } = step;
        reencrypted += changed;
        let Some(last) = last else { return Ok(reencrypted) };
        after = last;
    }
}

/// Returns a key id as text.
pub fn hexadecimal(id: KeyId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
