//! The secrets of a tenant's resolver in the store. They can be decrypted only as secrets of the same resolver.

use portcullis_model::resolver::{Secrets, StoredResolver};
use portcullis_storage::encryption::{Context, CryptoError, KeyRing};

/// Encrypts the secrets of `resolver`.
pub fn encrypt(
    keys: &KeyRing,
    resolver: &StoredResolver,
    secrets: &Secrets,
) -> Result<Vec<u8>, CryptoError> {
    keys.encrypt(context(resolver), &secrets.to_plain())
}

/// Decrypts what [`encrypt`] returned for the same resolver.
pub fn decrypt(
    keys: &KeyRing,
    resolver: &StoredResolver,
    encrypted: &[u8],
) -> Result<Secrets, CryptoError> {
    let plain = keys.decrypt(context(resolver), encrypted)?;
    Secrets::from_plain(&plain).ok_or(CryptoError::Format)
}

fn context(resolver: &StoredResolver) -> Context<'_> {
    Context::for_resolver_secrets(&resolver.tenant_id, resolver.id)
}
