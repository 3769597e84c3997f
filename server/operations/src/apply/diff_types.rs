//! The changes of declared types.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::Problems;
use portcullis_model::types::{NewType, TypeRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Tx, types};

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::named_kind::{self, NamedRecord, Updated};

impl AppliedRecord for TypeRecord {
    const COMES_BACK_UNSIGNED: bool = true;

    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.types else { return Ok(Vec::new()) };
        let find = named_kind::by_name(&state.types, |declared: &NewType| &declared.kind);
        Ok(named_kind::diff(draft, (&state.types, wanted), find, context))
    }

    fn named_in(bundle: &BundleDocument) -> Vec<&str> {
        bundle.types.iter().flatten().map(|one| &*one.kind).collect()
    }

    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::TYPE)
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        _: &Execution<'_>,
    ) -> Result<(), OperationError> {
        for write in writes {
            match write {
                RecordWrite::Insert(new) | RecordWrite::Update { new, .. } => {
                    types::store(tx, new).await?;
                }
                RecordWrite::Delete(old) => _ = types::delete(tx, &old.kind).await?,
            }
        }
        Ok(())
    }
}

impl NamedRecord for TypeRecord {
    type Wanted = NewType;

    fn created(wanted: &NewType, context: &PlanContext<'_>) -> Self {
        wanted.clone().into_record(context.by)
    }

    fn updated(&self, wanted: &NewType, context: &PlanContext<'_>) -> Option<Updated<Self>> {
        let new = self.clone().with(wanted.clone(), context.by);
        let fields = self.changes(&new, context.domain);
        Some((new, fields))
    }
}
