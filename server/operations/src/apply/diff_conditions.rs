//! The changes of named conditions.

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::Invalid;
use portcullis_engine::invalid::Problems;
use portcullis_model::Authorship;
use portcullis_model::named_condition::{ConditionRecord, NewCondition, exceeded_limit};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Tx, conditions};

use super::after::after;
use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::draft::Draft;
use super::execution::Execution;
use super::{named_kind, restoration};
use crate::content::tenant_content::TenantContent;

impl AppliedRecord for ConditionRecord {
    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.conditions else { return Ok(Vec::new()) };
        let find = named_kind::by_name(&state.conditions, |one: &NewCondition| &one.name);
        let create = |draft: &Draft<'_>, one: &NewCondition| Self {
            managed_by: draft.managed_by(),
            ..one.clone().into_record(context.by)
        };
        let update = |draft: &Draft<'_>, old: &Self, one: &NewCondition| {
            let mut new = old.clone().with(one.clone(), context.by);
            if old.written().is_ok_and(|written| written == one.when.condition) {
                // An export writes trees as expressions.
                new.condition = old.condition.clone();
            }
            let fields = old.content(context.domain).changes(&new.content(context.domain));
            Some((Self { managed_by: draft.managed_by(), ..new }, fields))
        };
        let lists = (&*state.conditions, &**wanted, context.prune);
        let writes = named_kind::diff(draft, lists, find, create, update);
        let sizes = after(&state.conditions, &writes).into_iter().map(Self::bytes);
        match exceeded_limit(sizes) {
            Some(limit) => Err(Invalid::expected("/bundle/conditions", limit).into()),
            None => Ok(writes),
        }
    }

    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        _: &str,
    ) -> Vec<&'s Self> {
        let names = bundle.conditions.iter().flatten().map(|one| &*one.name);
        named_kind::read(&state.conditions, owner, names)
    }

    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::CONDITION)
    }

    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let sign = |one: &mut Self| {
            (one.updated_by, one.updated_at) = (Some(by.actor.clone()), Some(by.at));
        };
        let writes = restoration::diff(&present.conditions, &past.conditions, sign);
        Ok(restoration::new_ones(writes, |one| (one.updated_by, one.updated_at) = (None, None)))
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        _: &Execution<'_>,
    ) -> Result<(), OperationError> {
        let stored: Vec<&Self> = writes.iter().filter_map(RecordWrite::after).collect();
        let gone = writes.iter().filter(|write| write.after().is_none());
        let gone: Vec<&Self> = gone.filter_map(RecordWrite::before).collect();
        if !stored.is_empty() {
            conditions::store(tx, &stored).await?;
        }
        if !gone.is_empty() {
            conditions::delete(tx, &gone).await?;
        }
        Ok(())
    }
}
