//! The changes of resources.

use portcullis_model::apply::ObjectKind;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_storage::bulk::RecordWrite;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use super::named_kind::NamedKind;
use crate::content::tenant_content::TenantContent;

pub(super) const RESOURCES: NamedKind<ResourceRecord> = NamedKind {
    kind: ObjectKind::Resource,
    name: |record| &record.registration.name,
    managed_by: |record| record.managed_by.as_deref(),
};

/// Returns the writes that make the resources of the owner `wanted`.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    wanted: &[Registration],
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<ResourceRecord>> {
    let find = RESOURCES.by_name(&state.resources, |wanted: &Registration| &wanted.name);
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
        let fields =
            content::from_resource(&old.registration).changes(&content::from_resource(wanted));
        Some((new, fields))
    };
    RESOURCES.diff(draft, (&state.resources, wanted, context.prune), find, create, update)
}
