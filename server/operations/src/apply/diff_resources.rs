//! The changes of resources.

use std::collections::HashSet;

use portcullis_model::apply::ObjectKind;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_storage::bulk::RecordWrite;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use crate::tenant_content::TenantContent;

/// Returns the writes that make the resources of the owner `wanted`.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    wanted: &[Registration],
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<ResourceRecord>> {
    let stored = state.resources_by_name();
    let mut writes = Vec::new();
    for registration in wanted {
        match stored.get(&*registration.name) {
            Some(old) => writes.extend(update_existing(draft, old, registration, context)),
            None => {
                draft.create(ObjectKind::Resource, registration.name.clone());
                writes.push(RecordWrite::Insert(new_record(draft, registration, context)));
            }
        }
    }
    if context.prune {
        let names: HashSet<&str> = wanted.iter().map(|one| &*one.name).collect();
        for old in &state.resources {
            let is_named = names.contains(&*old.registration.name);
            if draft.is_own(old.managed_by.as_deref()) && !is_named {
                draft.delete(ObjectKind::Resource, old.registration.name.clone());
                writes.push(RecordWrite::Delete(old.clone()));
            }
        }
    }
    writes
}

fn update_existing(
    draft: &mut Draft<'_>,
    old: &ResourceRecord,
    wanted: &Registration,
    context: &PlanContext<'_>,
) -> Option<RecordWrite<ResourceRecord>> {
    let (kind, managed_by) = (ObjectKind::Resource, old.managed_by.as_deref());
    if !draft.may_change(kind, &wanted.name, managed_by) {
        return None;
    }
    let fields = content::of_resource(&old.registration).changes(&content::of_resource(wanted));
    let is_written = draft.meet(kind, wanted.name.clone(), managed_by, fields);
    let new = ResourceRecord {
        registration: wanted.clone(),
        updated_at: Some(context.by.at),
        managed_by: draft.managed_by(),
        ..old.clone()
    };
    is_written.then(|| RecordWrite::Update { old: old.clone(), new })
}

fn new_record(
    draft: &Draft<'_>,
    registration: &Registration,
    context: &PlanContext<'_>,
) -> ResourceRecord {
    ResourceRecord {
        id: context.ids.next(context.by.at),
        tenant_id: context.tenant.to_owned(),
        registration: registration.clone(),
        created_at: context.by.at,
        updated_at: None,
        managed_by: draft.managed_by(),
    }
}
