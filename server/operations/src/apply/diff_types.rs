//! The changes of declared types.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::Problems;
use portcullis_model::Authorship;
use portcullis_model::types::{NewType, TypeRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Tx, types};

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::draft::Draft;
use super::execution::Execution;
use super::{named_kind, restoration};
use crate::content::tenant_content::TenantContent;

impl AppliedRecord for TypeRecord {
    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.types else { return Ok(Vec::new()) };
        let find = named_kind::by_name(&state.types, |declared: &NewType| &declared.kind);
        let create = |draft: &Draft<'_>, declared: &NewType| TypeRecord {
            managed_by: draft.managed_by(),
            ..declared.clone().into_record(context.by)
        };
        let update = |draft: &Draft<'_>, old: &TypeRecord, declared: &NewType| {
            let new = old.clone().with(declared.clone(), context.by);
            let fields = old.content(context.domain).changes(&new.content(context.domain));
            Some((TypeRecord { managed_by: draft.managed_by(), ..new }, fields))
        };
        let lists = (&*state.types, &**wanted, context.prune);
        Ok(named_kind::diff(draft, lists, find, create, update))
    }

    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        _: &str,
    ) -> Vec<&'s Self> {
        let names = bundle.types.iter().flatten().map(|one| &*one.kind);
        named_kind::read(&state.types, owner, names)
    }

    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::TYPE)
    }

    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let sign = |one: &mut Self| {
            (one.updated_by, one.updated_at) = (Some(by.actor.clone()), Some(by.at));
        };
        let writes = restoration::diff(&present.types, &past.types, sign);
        Ok(restoration::new_ones(writes, |one| (one.updated_by, one.updated_at) = (None, None)))
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
