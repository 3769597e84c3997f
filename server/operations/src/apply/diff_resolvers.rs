//! The changes of resolvers.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::Problems;
use portcullis_model::apply::FieldChange;
use portcullis_model::resolver::StoredResolver;
use portcullis_model::{Authorship, SignedRecord};
use portcullis_resolvers::secrets;
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Records, StoreError, Tx, resolvers};
use serde_json::{Map, Value};

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::named_kind::{self, NamedRecord, Updated};
use super::ready::ReadyResolver;
use super::restoration;
use crate::content::resolvers::taken;
use crate::content::tenant_content::TenantContent;

impl AppliedRecord for StoredResolver {
    const HAS_EMPTY_PART: bool = true;

    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        if bundle.resolvers.is_none() {
            return Ok(Vec::new());
        }
        let find =
            named_kind::by_name(&state.resolvers, |one: &ReadyResolver| &one.manifest.namespace);
        Ok(named_kind::diff(draft, (&state.resolvers, context.resolvers), find, context))
    }

    fn named_in(bundle: &BundleDocument) -> Vec<&str> {
        bundle.resolvers.iter().flatten().map(|one| &*one.manifest.namespace).collect()
    }

    /// The values of the secrets are `null`.
    fn content(&self, _: &str) -> Content {
        let mut record = serde_json::to_value(&self.manifest).unwrap_or_default();
        let names = record["secrets"].as_array().cloned().unwrap_or_default();
        let names = names.iter().filter_map(Value::as_str);
        let secrets: Map<_, _> = names.map(|name| (name.to_owned(), Value::Null)).collect();
        record["secrets"] = secrets.into();
        record["sha256"] = (&*self.module.sha256).into();
        record["enabled"] = self.enabled.into();
        Content::new(&record, Form::RESOLVER)
    }

    async fn exported<'t>(
        tx: &'t mut Tx,
        owner: Option<&'t str>,
    ) -> Result<Records<'t, Self>, StoreError> {
        Ok(resolvers::by_namespace(tx, owner))
    }

    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        restoration::resolvers(present, past, by)
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> Result<(), OperationError> {
        for write in writes {
            write_resolver(tx, write, execution).await?;
        }
        Ok(())
    }
}

impl NamedRecord for StoredResolver {
    type Wanted = ReadyResolver;

    fn created(wanted: &ReadyResolver, context: &PlanContext<'_>) -> Self {
        let (id, record) = (context.ids.next(context.by.at), wanted.record.clone());
        let new = Self::new(id, context.tenant, &wanted.manifest, record, context.by);
        Self { enabled: wanted.enabled, ..new }
    }

    fn updated(&self, wanted: &ReadyResolver, context: &PlanContext<'_>) -> Option<Updated<Self>> {
        let mut new = Self {
            manifest: wanted.manifest.without_secrets(),
            enabled: wanted.enabled,
            module: wanted.record.clone(),
            ..self.clone().signed(context.by)
        };
        let mut fields = self.changes(&new, context.domain);
        // Contents have the names of secrets alone, so that another value of one does not show.
        let has_secrets_field = fields.iter().any(|field| field.path == "/secrets");
        if wanted.secrets_change && !has_secrets_field {
            fields.push(FieldChange::new("/secrets".to_owned(), None, None));
        }
        // The owner of a resolver does not change its answers, which the version tells apart.
        if !fields.is_empty() {
            new.version += 1;
        }
        Some((new, fields))
    }
}

async fn write_resolver(
    tx: &mut Tx,
    write: &RecordWrite<StoredResolver>,
    execution: &Execution<'_>,
) -> Result<(), OperationError> {
    let Some(new) = write.after() else {
        if let Some(old) = write.before() {
            resolvers::delete(tx, old.id).await?;
        }
        return Ok(());
    };
    let namespace = &new.manifest.namespace;
    let wanted = execution.resolvers.iter().find(|one| one.manifest.namespace == *namespace);
    let Some(wanted) = wanted else { return Ok(()) };
    let encrypted = secrets::encrypt(execution.keys, new, &wanted.manifest.secrets)?;
    let module = wanted.module.as_deref();
    let is_written = resolvers::store(tx, new, &encrypted, module).await?;
    if is_written { Ok(()) } else { Err(taken(namespace)) }
}
