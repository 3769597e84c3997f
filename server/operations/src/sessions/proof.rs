//! The proof of a session, and how its row is read and written.

use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::session::{SessionRecord, ValueHash, hash_of};
use portcullis_runtime::app::{App, Console};
use portcullis_runtime::error::OperationError;
use portcullis_storage::{StoreError, Tx, sessions};

/// The proof of a session: its tenant, and the hash of the cookie's value.
#[derive(Clone, Debug)]
pub struct SessionProof {
    pub tenant: String,
    hash: ValueHash,
}

impl SessionProof {
    /// Returns the proof of the cookie's value `value` in `tenant`.
    pub fn new(tenant: &str, value: &str) -> Self {
        Self { tenant: tenant.to_owned(), hash: hash_of(value) }
    }

    /// Returns the hash of the value, from which tokens of forms are made.
    pub fn hash(&self) -> &ValueHash {
        &self.hash
    }
}

/// Returns the console.
///
/// # Errors
/// It is off.
pub fn console(app: &App) -> Result<&Console, OperationError> {
    app.console.as_ref().ok_or(OperationError::NotFound("route"))
}

/// Returns the row of a session.
pub(super) async fn read(
    app: &App,
    proof: &SessionProof,
) -> Result<Option<SessionRecord>, OperationError> {
    app.read(&proof.tenant, async |tx| sessions::find(tx, &proof.hash).await).await
}

/// Runs `work` in a transaction that writes sessions of `tenant`. It waits for no other write of the tenant.
pub(super) async fn write<T>(
    app: &App,
    tenant: &str,
    work: impl AsyncFnOnce(&mut Tx) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut tx = app.store.write_as(tenant).await?;
    let done = work(&mut tx).await?;
    tx.commit().await?;
    Ok(done)
}

/// Returns the origin of what a person does in a session, or by signing in.
pub fn origin(subject: &str) -> Origin {
    Origin::new(subject, CredentialKind::Session)
}
