//! The secrets of a tenant's resolver, as the store keeps them: they decrypt in that resolver's row alone.

use portcullis_model::resolver::{Secrets, StoredResolver};
use portcullis_storage::encryption::{Context, CryptoError, KeyRing};

/// Encrypts the secrets of `resolver`.
pub fn seal(
    keys: &KeyRing,
    resolver: &StoredResolver,
    secrets: &Secrets,
) -> Result<Vec<u8>, CryptoError> {
    keys.encrypt(context(resolver), &secrets.to_plain())
}

/// Decrypts what [`seal`] gave for the same resolver.
pub fn open(
    keys: &KeyRing,
    resolver: &StoredResolver,
    sealed: &[u8],
) -> Result<Secrets, CryptoError> {
    let plain = keys.decrypt(context(resolver), sealed)?;
    Secrets::from_plain(&plain).ok_or(CryptoError::Format)
}

fn context(resolver: &StoredResolver) -> Context<'_> {
    Context::of_resolver_secrets(&resolver.tenant_id, resolver.id)
}
