//! The changes of webhooks.

use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::apply::{FieldChange, ObjectKind};
use portcullis_model::wanted_webhook::WantedWebhook;
use portcullis_model::webhook::WebhookRecord;
use portcullis_storage::bulk::RecordWrite;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use super::named_kind::NamedKind;
use crate::content::tenant_content::TenantContent;

pub(super) const WEBHOOKS: NamedKind<WebhookRecord> = NamedKind {
    kind: ObjectKind::Webhook,
    name: |webhook| &webhook.url,
    managed_by: |webhook| webhook.managed_by.as_deref(),
};

/// Returns the writes that make the webhooks of the owner `wanted`. Notes each new one that has no secret.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    wanted: &[WantedWebhook],
    context: &PlanContext<'_>,
    problems: &mut Problems,
) -> Vec<RecordWrite<WebhookRecord>> {
    let root = Place::root();
    let list = root.key("bundle");
    let list = list.key("webhooks");
    for (index, webhook) in wanted.iter().enumerate() {
        if let Some(expected) = expected_secret(state, webhook, context) {
            problems.expected(&list.index(index).key("secret"), expected);
        }
    }
    let find = |draft: &Draft<'_>, webhook: &WantedWebhook| {
        let same_url = state.webhooks.iter().filter(|known| known.url == webhook.url);
        same_url.min_by_key(|known| !draft.is_own(known.managed_by.as_deref()))
    };
    let create = |draft: &Draft<'_>, webhook: &WantedWebhook| WebhookRecord {
        id: context.ids.next(context.by.at),
        url: webhook.url.clone(),
        events: webhook.events.clone(),
        tenant_id: context.tenant.to_owned(),
        created_by: context.by.actor.clone(),
        created_at: context.by.at,
        updated_at: None,
        managed_by: draft.managed_by(),
    };
    let update = |draft: &Draft<'_>, old: &WebhookRecord, webhook: &WantedWebhook| {
        let new = WebhookRecord {
            events: webhook.events.clone(),
            updated_at: Some(context.by.at),
            managed_by: draft.managed_by(),
            ..old.clone()
        };
        let mut fields = content::from_webhook(old).changes(&content::from_webhook(&new));
        if webhook.secret.is_some() && context.changed_secrets.contains(&old.id) {
            fields.push(FieldChange::new("/secret".to_owned(), None, None));
        }
        Some((new, fields))
    };
    WEBHOOKS.diff(draft, (&state.webhooks, wanted, context.prune), find, create, update)
}

/// Returns what is expected of the secret of a wanted webhook that has none, or one that may not be registered.
fn expected_secret(
    state: &TenantContent,
    webhook: &WantedWebhook,
    context: &PlanContext<'_>,
) -> Option<String> {
    let mut known = state.webhooks.iter().filter(|known| known.url == webhook.url).peekable();
    match &webhook.secret {
        None if known.peek().is_none() => {
            Some("a secret, because the tenant has no webhook with this `url`".to_owned())
        }
        None => None,
        // The webhook keeps the secret that it has.
        Some(_) if known.any(|known| !context.changed_secrets.contains(&known.id)) => None,
        Some(secret) => secret.refused_if_new(),
    }
}
