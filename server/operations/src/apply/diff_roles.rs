//! The changes of roles that include others.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::Authorship;
use portcullis_model::role::{NewRole, RoleRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Tx, roles};

use super::after::after;
use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::draft::Draft;
use super::execution::{Execution, ROLES};
use super::{named_kind, restoration};
use crate::content::roles::{graph, must_be_few, must_not_be_entities};
use crate::content::tenant_content::TenantContent;

impl AppliedRecord for RoleRecord {
    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        problems: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.roles else { return Ok(Vec::new()) };
        let find = named_kind::by_name(&state.roles, |role: &NewRole| &role.name);
        let create = |draft: &Draft<'_>, role: &NewRole| RoleRecord {
            managed_by: draft.managed_by(),
            ..role.clone().into_record(context.by)
        };
        let update = |draft: &Draft<'_>, old: &RoleRecord, role: &NewRole| {
            let new = old.clone().with_includes(role.includes.clone(), context.by);
            let fields = old.content(context.domain).changes(&new.content(context.domain));
            Some((RoleRecord { managed_by: draft.managed_by(), ..new }, fields))
        };
        let lists = (&*state.roles, &**wanted, context.prune);
        let writes = named_kind::diff(draft, lists, find, create, update);
        check(state, &writes, wanted, problems)?;
        Ok(writes)
    }

    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        _: &str,
    ) -> Vec<&'s Self> {
        let names = bundle.roles.iter().flatten().map(|one| &*one.name);
        named_kind::read(&state.roles, owner, names)
    }

    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::ROLE)
    }

    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let sign = |one: &mut Self| {
            (one.updated_by, one.updated_at) = (Some(by.actor.clone()), Some(by.at));
        };
        let writes = restoration::diff(&present.roles, &past.roles, sign);
        Ok(restoration::new_ones(writes, |one| (one.updated_by, one.updated_at) = (None, None)))
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
