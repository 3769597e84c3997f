//! The changes of roles that include others.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::role::{NewRole, RoleRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Tx, roles};

use super::after::after;
use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::{Execution, ROLES};
use super::named_kind::{self, NamedRecord, Updated};
use crate::content::roles::{graph, must_be_few, must_not_be_entities};
use crate::content::tenant_content::TenantContent;

impl AppliedRecord for RoleRecord {
    const COMES_BACK_UNSIGNED: bool = true;

    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        problems: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.roles else { return Ok(Vec::new()) };
        let find = named_kind::by_name(&state.roles, |role: &NewRole| &role.name);
        let writes = named_kind::diff(draft, (&state.roles, wanted), find, context);
        check(state, &writes, wanted, problems)?;
        Ok(writes)
    }

    fn named_in(bundle: &BundleDocument) -> Vec<&str> {
        bundle.roles.iter().flatten().map(|one| &*one.name).collect()
    }

    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::ROLE)
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        _: &Execution<'_>,
    ) -> Result<(), OperationError> {
        let new = writes.iter().filter_map(RecordWrite::after);
        // An entity may have got the name since the plan was made.
        must_not_be_entities(tx, new.map(|role| (&*role.name, &*role.includes)), ROLES).await?;
        for write in writes {
            match write {
                RecordWrite::Insert(new) | RecordWrite::Update { new, .. } => {
                    roles::store(tx, new).await?;
                }
                RecordWrite::Delete(old) => _ = roles::delete(tx, &old.name).await?,
            }
        }
        Ok(())
    }
}

impl NamedRecord for RoleRecord {
    type Wanted = NewRole;

    fn created(wanted: &NewRole, context: &PlanContext<'_>) -> Self {
        wanted.clone().into_record(context.by)
    }

    fn updated(&self, wanted: &NewRole, context: &PlanContext<'_>) -> Option<Updated<Self>> {
        let new = self.clone().with_includes(wanted.includes.clone(), context.by);
        let fields = self.changes(&new, context.domain);
        Some((new, fields))
    }
}

/// Notes the `wanted` roles that include themselves after `writes`, directly or by roles that stay.
///
/// # Errors
/// The tenant has too many roles then.
fn check(
    state: &TenantContent,
    writes: &[RecordWrite<RoleRecord>],
    wanted: &[NewRole],
    problems: &mut Problems,
) -> Result<(), OperationError> {
    let roles = graph(after(&state.roles, writes));
    must_be_few(&roles)?;
    let root = Place::root();
    let at = root.key("bundle");
    roles.note_circles(wanted, &at.key("roles"), problems);
    Ok(())
}
