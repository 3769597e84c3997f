//! The holders of service keys (`docs/semantics.md`, section 6.8).

use std::sync::Arc;

use chrono::{DateTime, Utc};
use portcullis_auth::{AuthError, VerifiedKey};
use portcullis_model::service_key::PresentedKey;
use portcullis_runtime::app::App;

/// Verifies `key` at `now` without the store. `None` if the store must be read: the key is not in memory, or the memory
/// was not compared with the store within `MAX_STALENESS`.
pub fn verify_cached(
    app: &App,
    key: &PresentedKey,
    now: DateTime<Utc>,
) -> Option<Result<Arc<VerifiedKey>, AuthError>> {
    // The store tells then whether the tenant is open.
    if !app.tenant_freshness.is_proved() {
        return None;
    }
    let verified = app.service_keys.verify_cached(key, now.into())?;
    Some(verified.and_then(|key| {
        app.must_serve(key.tenant())?;
        app.closed_tenants.must_be_open(key.tenant())?;
        Ok(key)
    }))
}

/// Verifies `key` at `now` by the store.
///
/// # Errors
/// The key is refused, its tenant is closed or not the one of `SINGLE_TENANT`, or the store failed.
pub async fn verify(
    app: &App,
    key: &PresentedKey,
    now: DateTime<Utc>,
) -> Result<Arc<VerifiedKey>, AuthError> {
    app.metrics.key_reads.inc();
    let verified = app.service_keys.verify(key, now.into()).await?;
    app.must_serve(verified.tenant())?;
    Ok(verified)
}
