//! The changes of resources.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::Problems;
use portcullis_model::SignedRecord;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::{Records, StoreError, Tx, resources};

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::named_kind::{self, NamedRecord, Updated};

impl AppliedRecord for ResourceRecord {
    const HAS_EMPTY_PART: bool = true;

    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.resources else { return Ok(Vec::new()) };
        let find = named_kind::by_name(&state.resources, |wanted: &Registration| &wanted.name);
        Ok(named_kind::diff(draft, (&state.resources, wanted), find, context))
    }

    fn named_in(bundle: &BundleDocument) -> Vec<&str> {
        bundle.resources.iter().flatten().map(|one| &*one.name).collect()
    }

    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::RESOURCE)
    }

    async fn exported<'t>(
        tx: &'t mut Tx,
        owner: Option<&'t str>,
    ) -> Result<Records<'t, Self>, StoreError> {
        Ok(resources::by_name(tx, owner))
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> Result<(), OperationError> {
        Ok(bulk::write_resources(tx, writes, execution.by).await?)
    }
}

impl NamedRecord for ResourceRecord {
    type Wanted = Registration;

    fn created(wanted: &Registration, context: &PlanContext<'_>) -> Self {
        Self {
            id: context.ids.next(context.by.at),
            tenant_id: context.tenant.to_owned(),
            registration: wanted.clone(),
            created_at: context.by.at,
            updated_at: None,
            managed_by: None,
        }
    }

    fn updated(&self, wanted: &Registration, context: &PlanContext<'_>) -> Option<Updated<Self>> {
        let new = Self { registration: wanted.clone(), ..self.clone().signed(context.by) };
        let fields = self.changes(&new, context.domain);
        Some((new, fields))
    }
}
