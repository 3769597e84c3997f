//! The changes of roles that include others.

use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::apply::ObjectKind;
use portcullis_model::role::{NewRole, RoleRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;

use super::after::after;
use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use super::named_kind::NamedKind;
use crate::content::roles::{graph, must_be_few};
use crate::content::tenant_content::TenantContent;

pub(super) const ROLES: NamedKind<RoleRecord> = NamedKind {
    kind: ObjectKind::Role,
    name: |role| &role.name,
    managed_by: |role| role.managed_by.as_deref(),
};

/// Returns the writes that make the roles of the owner `wanted`.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    wanted: &[NewRole],
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<RoleRecord>> {
    let find = ROLES.by_name(&state.roles, |role: &NewRole| &role.name);
    let create = |draft: &Draft<'_>, role: &NewRole| RoleRecord {
        managed_by: draft.managed_by(),
        ..role.clone().into_record(context.by)
    };
    let update = |draft: &Draft<'_>, old: &RoleRecord, role: &NewRole| {
        let new = old.clone().with_includes(role.includes.clone(), context.by);
        let fields = content::from_role(old).changes(&content::from_role(&new));
        Some((RoleRecord { managed_by: draft.managed_by(), ..new }, fields))
    };
    ROLES.diff(draft, (&state.roles, wanted, context.prune), find, create, update)
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
