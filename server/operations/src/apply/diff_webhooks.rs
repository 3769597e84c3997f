//! The changes of webhooks.

use std::collections::HashSet;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::apply::{FieldChange, ObjectKind};
use portcullis_model::wanted_webhook::WantedWebhook;
use portcullis_model::webhook::WebhookRecord;
use portcullis_storage::bulk::RecordWrite;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use crate::tenant_content::TenantContent;

const KIND: ObjectKind = ObjectKind::Webhook;

/// Returns the writes that make the webhooks of the owner `wanted`. Notes each new one that has no secret.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    wanted: &[WantedWebhook],
    context: &PlanContext<'_>,
    problems: &mut Problems,
) -> Vec<RecordWrite<WebhookRecord>> {
    let (mut writes, mut met_ids) = (Vec::new(), HashSet::new());
    let root = Place::root();
    let (bundle, list) = (root.key("bundle"), "webhooks");
    let list = bundle.key(list);
    for (index, webhook) in wanted.iter().enumerate() {
        let same_url = state.webhooks.iter().filter(|known| known.url == webhook.url);
        let meant = same_url.min_by_key(|known| !draft.is_own(known.managed_by.as_deref()));
        if let Some(old) = meant {
            met_ids.insert(old.id);
            writes.extend(update_existing(draft, old, webhook, context));
            continue;
        }
        if webhook.secret.is_none() {
            let what = "a secret, because the tenant has no webhook with this `url`";
            problems.expected(&list.index(index).key("secret"), what);
        }
        draft.create(KIND, webhook.url.clone());
        writes.push(RecordWrite::Insert(new_record(draft, webhook, context)));
    }
    for old in state.webhooks.iter().filter(|_| context.prune) {
        if draft.is_own(old.managed_by.as_deref()) && !met_ids.contains(&old.id) {
            draft.delete(KIND, old.url.clone());
            writes.push(RecordWrite::Delete(old.clone()));
        }
    }
    writes
}

fn update_existing(
    draft: &mut Draft<'_>,
    old: &WebhookRecord,
    wanted: &WantedWebhook,
    context: &PlanContext<'_>,
) -> Option<RecordWrite<WebhookRecord>> {
    let managed_by = old.managed_by.as_deref();
    if !draft.may_change(KIND, &old.url, managed_by) {
        return None;
    }
    let new = WebhookRecord {
        events: wanted.events.clone(),
        updated_at: Some(context.by.at),
        managed_by: draft.managed_by(),
        ..old.clone()
    };
    let mut fields = content::of_webhook(old).changes(&content::of_webhook(&new));
    if wanted.secret.is_some() && context.changed_secrets.contains(&old.id) {
        fields.push(FieldChange::new("/secret".to_owned(), None, None));
    }
    let is_written = draft.meet(KIND, old.url.clone(), managed_by, fields);
    is_written.then(|| RecordWrite::Update { old: old.clone(), new })
}

fn new_record(
    draft: &Draft<'_>,
    wanted: &WantedWebhook,
    context: &PlanContext<'_>,
) -> WebhookRecord {
    WebhookRecord {
        id: context.ids.next(context.by.at),
        url: wanted.url.clone(),
        events: wanted.events.clone(),
        tenant_id: context.tenant.to_owned(),
        created_by: context.by.actor.clone(),
        created_at: context.by.at,
        updated_at: None,
        managed_by: draft.managed_by(),
    }
}
