//! The changes of resources.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::Problems;
use portcullis_model::Authorship;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::{Records, StoreError, Tx, resources};

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::draft::Draft;
use super::execution::Execution;
use super::{named_kind, restoration};
use crate::content::tenant_content::TenantContent;

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
        let create = |draft: &Draft<'_>, wanted: &Registration| ResourceRecord {
            id: context.ids.next(context.by.at),
            tenant_id: context.tenant.to_owned(),
            registration: wanted.clone(),
            created_at: context.by.at,
            updated_at: None,
            managed_by: draft.managed_by(),
        };
        let update = |draft: &Draft<'_>, old: &ResourceRecord, wanted: &Registration| {
            let new = ResourceRecord {
                registration: wanted.clone(),
                updated_at: Some(context.by.at),
                managed_by: draft.managed_by(),
                ..old.clone()
            };
            let fields = old.content(context.domain).changes(&new.content(context.domain));
            Some((new, fields))
        };
        let lists = (&*state.resources, &**wanted, context.prune);
        Ok(named_kind::diff(draft, lists, find, create, update))
    }

    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        _: &str,
    ) -> Vec<&'s Self> {
        let names = bundle.resources.iter().flatten().map(|one| &*one.name);
        named_kind::read(&state.resources, owner, names)
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

    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let sign = |one: &mut Self| one.updated_at = Some(by.at);
        Ok(restoration::diff(&present.resources, &past.resources, sign))
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> Result<(), OperationError> {
        Ok(bulk::write_resources(tx, writes, execution.by).await?)
    }
}
