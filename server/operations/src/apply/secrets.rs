//! The secrets of webhooks that an apply replaces.

use std::collections::HashSet;

use portcullis_model::wanted_webhook::WantedWebhook;
use portcullis_storage::encryption::{Context, KeyRing};
use portcullis_storage::{StoreError, Tx, webhooks};
use uuid::Uuid;

use crate::content::tenant_content::TenantContent;

/// Returns the ids of the stored webhooks whose secret is not the one that the bundle has for their URL, or cannot be
/// decrypted.
pub(super) async fn changed(
    tx: &mut Tx,
    keys: &KeyRing,
    state: &TenantContent,
    wanted: &[WantedWebhook],
) -> Result<HashSet<Uuid>, StoreError> {
    let mut changed = HashSet::new();
    for webhook in wanted {
        let Some(secret) = &webhook.secret else { continue };
        for stored in state.webhooks.iter().filter(|stored| stored.url == webhook.url) {
            let encrypted = webhooks::secret(tx, stored.id).await?.unwrap_or_default();
            let context = Context::for_webhook_secret(&stored.tenant_id, stored.id);
            let is_same =
                keys.decrypt(context, &encrypted).is_ok_and(|plain| plain == secret.as_bytes());
            if !is_same {
                changed.insert(stored.id);
            }
        }
    }
    Ok(changed)
}
