//! The changes of named conditions.

use std::collections::HashSet;

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::Invalid;
use portcullis_engine::condition::Condition;
use portcullis_engine::invalid::Problems;
use portcullis_model::named_condition::{ConditionRecord, NewCondition, exceeded_limit};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::{Tx, conditions};

use super::after::after;
use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::named_kind::{self, NamedRecord, Updated};
use crate::content::tenant_content::TenantContent;

impl AppliedRecord for ConditionRecord {
    const COMES_BACK_UNSIGNED: bool = true;

    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.conditions else { return Ok(Vec::new()) };
        let find = named_kind::by_name(&state.conditions, |one: &NewCondition| &one.name);
        let writes = named_kind::diff(draft, (&state.conditions, wanted), find, context);
        let sizes = after(&state.conditions, &writes).into_iter().map(Self::bytes);
        match exceeded_limit(sizes) {
            Some(limit) => Err(Invalid::expected("/bundle/conditions", limit).into()),
            None => Ok(writes),
        }
    }

    fn named_in(bundle: &BundleDocument) -> Vec<&str> {
        bundle.conditions.iter().flatten().map(|one| &*one.name).collect()
    }

    /// The conditions that the policies and conditions of the bundle use, by others, too: a policy means something else when a
    /// condition behind it does.
    fn used_by(state: &TenantContent, bundle: &BundleDocument) -> HashSet<String> {
        let policies = bundle.policies.iter().flatten();
        let policies = policies.map(|sent| &sent.policy.rule_data.condition);
        let conditions = bundle.conditions.iter().flatten().map(|one| &one.when.condition);
        let names = policies.chain(conditions).flat_map(Condition::names);
        let mut used: HashSet<String> = names.map(str::to_owned).collect();
        // A condition that cannot be read uses none.
        let stored =
            state.conditions.iter().filter_map(|one| Some((&one.name, one.written().ok()?)));
        let stored: Vec<(&String, Condition)> = stored.collect();
        // What the stored ones of the same names use counts, too.
        used.extend(Self::named_in(bundle).into_iter().map(str::to_owned));
        loop {
            let known = used.len();
            for (name, condition) in &stored {
                if used.contains(*name) {
                    used.extend(condition.names().into_iter().map(str::to_owned));
                }
            }
            if used.len() == known {
                return used;
            }
        }
    }

    fn content(&self, _: &str) -> Content {
        Content::new(self, Form::CONDITION)
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

impl NamedRecord for ConditionRecord {
    type Wanted = NewCondition;

    fn created(wanted: &NewCondition, context: &PlanContext<'_>) -> Self {
        wanted.clone().into_record(context.by)
    }

    fn updated(&self, wanted: &NewCondition, context: &PlanContext<'_>) -> Option<Updated<Self>> {
        let mut new = self.clone().with(wanted.clone(), context.by);
        if self.written().is_ok_and(|written| written == wanted.when.condition) {
            // An export writes trees as expressions.
            new.condition = self.condition.clone();
        }
        let fields = self.changes(&new, context.domain);
        Some((new, fields))
    }
}
