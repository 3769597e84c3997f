//! The changes of policies.

use std::collections::HashMap;

use portcullis_bundle::{BundleDocument, Form, SentPolicy};
use portcullis_engine::invalid::Problems;
use portcullis_engine::{Format, Policy};
use portcullis_model::SignedRecord;
use portcullis_model::policy::{NewPolicy, PolicyRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::{Records, StoreError, Tx, policies};
use serde_json::Value;

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::named_kind::{self, NamedRecord, Updated};

impl AppliedRecord for PolicyRecord {
    const HAS_EMPTY_PART: bool = true;

    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, .. } = planning;
        let Some(wanted) = &bundle.policies else { return Ok(Vec::new()) };
        let mut stored: HashMap<&str, Vec<&PolicyRecord>> = HashMap::new();
        for policy in &state.policies {
            stored.entry(&*policy.name).or_default().push(policy);
        }
        let lists = (&*state.policies, &**wanted);
        let writes = named_kind::diff(
            draft,
            lists,
            |draft, SentPolicy { policy: wanted, .. }| {
                // A policy of the owner goes before others, one of the same resource before others, and then the oldest.
                let ranked = stored.get(&*wanted.name)?.iter().min_by_key(|policy| {
                    let is_own = draft.is_own(policy.managed_by.as_deref());
                    (!is_own, policy.resource != wanted.resource)
                });
                ranked.copied()
            },
            context,
        );
        Ok(writes)
    }

    fn named_in(bundle: &BundleDocument) -> Vec<&str> {
        bundle.policies.iter().flatten().map(|sent| &*sent.policy.name).collect()
    }

    /// An expression is its `when`.
    fn content(&self, _: &str) -> Content {
        let content = Content::new(self, Form::POLICY);
        match (self.format, expression(self)) {
            (Format::Expression, Some(when)) => {
                content.without(&["format", "rule_data"]).with("when", &when)
            }
            _ => content,
        }
    }

    async fn exported<'t>(
        tx: &'t mut Tx,
        owner: Option<&'t str>,
    ) -> Result<Records<'t, Self>, StoreError> {
        Ok(policies::by_name(tx, owner))
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> Result<(), OperationError> {
        Ok(bulk::write_policies(tx, writes, execution.by).await?)
    }
}

impl NamedRecord for PolicyRecord {
    type Wanted = SentPolicy;

    fn created(sent: &SentPolicy, context: &PlanContext<'_>) -> Self {
        let id = context.ids.next(context.by.at);
        sent.policy.clone().into_record(id, context.tenant, context.by)
    }

    fn updated(&self, sent: &SentPolicy, context: &PlanContext<'_>) -> Option<Updated<Self>> {
        // A new policy takes the place of one of another resource.
        if self.resource != sent.policy.resource {
            return None;
        }
        let mut new = Self {
            created_by: self.created_by.clone(),
            created_at: self.created_at,
            ..sent
                .policy
                .clone()
                .into_record(self.id, context.tenant, context.by)
                .signed(context.by)
        };
        // The stored text stays, so that an export that is applied again changes nothing.
        if is_same_in_another_format(self, &sent.policy) {
            (new.format, new.rule_data) = (self.format, self.rule_data.clone());
        }
        let fields = match new.has_content_of(self) {
            true => Vec::new(),
            false => self.changes(&new, context.domain),
        };
        Some((new, fields))
    }
}

fn expression(policy: &PolicyRecord) -> Option<String> {
    let rule_data: Value = serde_json::from_str(policy.rule_data.text()).ok()?;
    Some(rule_data.get("expression")?.as_str()?.to_owned())
}

/// Returns whether the stored policy has the wanted condition in another format: an export writes trees as expressions.
fn is_same_in_another_format(old: &PolicyRecord, wanted: &NewPolicy) -> bool {
    old.format != wanted.rule_data.format
        && Policy::stored_condition(old.format, old.rule_data.text())
            .is_ok_and(|condition| condition == wanted.rule_data.condition)
}
