//! The changes of webhooks.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::apply::FieldChange;
use portcullis_model::wanted_webhook::WantedWebhook;
use portcullis_model::webhook::WebhookRecord;
use portcullis_model::{Authorship, SignedRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::encryption::Context;
use portcullis_storage::{Tx, webhooks};
use serde_json::Value;

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::named_kind::{self, NamedRecord, Updated};
use crate::content::tenant_content::TenantContent;

impl AppliedRecord for WebhookRecord {
    const HAS_EMPTY_PART: bool = true;

    /// Notes each new webhook that has no secret.
    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        problems: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.webhooks else { return Ok(Vec::new()) };
        let root = Place::root();
        let list = root.key("bundle");
        let list = list.key("webhooks");
        for (index, webhook) in wanted.iter().enumerate() {
            if let Some(expected) = expected_secret(state, webhook, context) {
                problems.expected(&list.index(index).key("secret"), expected);
            }
        }
        let lists = (&*state.webhooks, &**wanted);
        let writes = named_kind::diff(
            draft,
            lists,
            |draft, webhook| {
                let same_url = state.webhooks.iter().filter(|known| known.url == webhook.url);
                // Several webhooks may have one URL: one of the owner goes first.
                same_url.min_by_key(|known| !draft.is_own(known.managed_by.as_deref()))
            },
            context,
        );
        Ok(writes)
    }

    fn named_in(bundle: &BundleDocument) -> Vec<&str> {
        bundle.webhooks.iter().flatten().map(|one| &*one.url).collect()
    }

    /// Without its secret.
    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::WEBHOOK).with("secret", &Value::Null)
    }

    /// Webhooks have no history: they stay as they are.
    fn restored(
        _: &TenantContent,
        _: &TenantContent,
        _: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        Ok(Vec::new())
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> Result<(), OperationError> {
        for write in writes {
            write_webhook(tx, write, execution).await?;
        }
        Ok(())
    }
}

impl NamedRecord for WebhookRecord {
    type Wanted = WantedWebhook;

    fn created(wanted: &WantedWebhook, context: &PlanContext<'_>) -> Self {
        Self {
            id: context.ids.next(context.by.at),
            url: wanted.url.clone(),
            events: wanted.events.clone(),
            tenant_id: context.tenant.to_owned(),
            created_by: context.by.actor.clone(),
            created_at: context.by.at,
            updated_at: None,
            managed_by: None,
        }
    }

    fn updated(&self, wanted: &WantedWebhook, context: &PlanContext<'_>) -> Option<Updated<Self>> {
        let new = Self { events: wanted.events.clone(), ..self.clone().signed(context.by) };
        let mut fields = self.changes(&new, context.domain);
        // Contents have no secret, so that another one does not show.
        if wanted.secret.is_some() && context.changed_secrets.contains(&self.id) {
            fields.push(FieldChange::new("/secret".to_owned(), None, None));
        }
        Some((new, fields))
    }
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

async fn write_webhook(
    tx: &mut Tx,
    write: &RecordWrite<WebhookRecord>,
    execution: &Execution<'_>,
) -> Result<(), OperationError> {
    let Some(new) = write.after() else {
        if let Some(old) = write.before() {
            webhooks::delete(tx, old.id).await?;
        }
        return Ok(());
    };
    let wanted = execution.webhooks.iter().find(|webhook| webhook.url == new.url);
    let secret = wanted.and_then(|webhook| webhook.secret.as_ref());
    let secret = secret.map(|secret| {
        let context = Context::for_webhook_secret(&new.tenant_id, new.id);
        execution.keys.encrypt(context, secret.as_bytes())
    });
    let secret = secret.transpose()?;
    match write.before() {
        Some(_) => webhooks::update(tx, new, secret.as_deref()).await?,
        // A new one without secret is refused by the plan.
        None => webhooks::insert(tx, new, &secret.unwrap_or_default()).await?,
    }
    Ok(())
}
