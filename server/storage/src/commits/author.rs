//! The author of the changes of a transaction, as audit records and revisions have it.

use portcullis_model::Timestamp;
use portcullis_model::audit::{CredentialKind, Origin};
use uuid::Uuid;

use crate::tenancy::service_keys;
use crate::transactions::error::StoreError;
use crate::transactions::tx::Tx;

/// The author of the changes of a transaction, and the origin of the apply that made them.
pub(crate) struct Author {
    pub(crate) origin: Origin,
    pub(crate) key_name: Option<String>,
    /// As JSON.
    pub(crate) source: Option<String>,
    pub(crate) at: Timestamp,
}

impl Author {
    /// Returns the author that the transaction names.
    pub(crate) async fn read(tx: &mut Tx) -> Result<Self, StoreError> {
        let origin = tx.origin.clone();
        let key = origin.key.as_deref().filter(|_| origin.credential == CredentialKind::ServiceKey);
        let key_name = match key.and_then(|key| Uuid::try_parse(key).ok()) {
            Some(key) => service_keys::find(tx, key).await?.map(|key| key.name),
            None => None,
        };
        let source = tx.source.as_ref().and_then(|source| serde_json::to_string(source).ok());
        Ok(Self { origin, key_name, source, at: tx.at })
    }
}
