//! The changes of roles that include others.

use std::collections::{HashMap, HashSet};

use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::apply::ObjectKind;
use portcullis_model::role::{NewRole, RoleRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;

use super::after::after;
use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use crate::roles::{graph, must_be_few};
use crate::tenant_content::TenantContent;

const KIND: ObjectKind = ObjectKind::Role;

/// Returns the writes that make the roles of the owner `wanted`.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    wanted: &[NewRole],
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<RoleRecord>> {
    let stored: HashMap<&str, &RoleRecord> =
        state.roles.iter().map(|role| (&*role.name, role)).collect();
    let mut writes = Vec::new();
    for role in wanted {
        match stored.get(&*role.name) {
            Some(old) => writes.extend(update_existing(draft, old, role, context)),
            None => {
                draft.create(KIND, role.name.clone());
                let managed_by = draft.managed_by();
                let new = RoleRecord { managed_by, ..role.clone().into_record(context.by) };
                writes.push(RecordWrite::Insert(new));
            }
        }
    }
    if context.prune {
        let names: HashSet<&str> = wanted.iter().map(|role| &*role.name).collect();
        for old in &state.roles {
            if draft.is_own(old.managed_by.as_deref()) && !names.contains(&*old.name) {
                draft.delete(KIND, old.name.clone());
                writes.push(RecordWrite::Delete(old.clone()));
            }
        }
    }
    writes
}

fn update_existing(
    draft: &mut Draft<'_>,
    old: &RoleRecord,
    wanted: &NewRole,
    context: &PlanContext<'_>,
) -> Option<RecordWrite<RoleRecord>> {
    let managed_by = old.managed_by.as_deref();
    if !draft.may_change(KIND, &old.name, managed_by) {
        return None;
    }
    let mut new = old.clone().with_includes(wanted.includes.clone(), context.by);
    new.managed_by = draft.managed_by();
    let fields = content::of_role(old).changes(&content::of_role(&new));
    let is_written = draft.meet(KIND, old.name.clone(), managed_by, fields);
    is_written.then(|| RecordWrite::Update { old: old.clone(), new })
}

/// Notes the `wanted` roles that include themselves after `writes`, directly or by roles that stay.
///
/// # Errors
/// The tenant has too many roles then.
pub(super) fn check(
    state: &TenantContent,
    writes: &[RecordWrite<RoleRecord>],
    wanted: &[NewRole],
    problems: &mut Problems,
) -> Result<(), OperationError> {
    let roles = graph(after(&state.roles, writes, |role| &*role.name));
    must_be_few(&roles)?;
    let root = Place::root();
    let at = root.key("bundle");
    roles.note_circles(wanted, &at.key("roles"), problems);
    Ok(())
}
