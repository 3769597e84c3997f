//! The changes of policies.

use std::collections::HashMap;

use portcullis_bundle::{BundleDocument, Form, SentPolicy};
use portcullis_engine::invalid::Problems;
use portcullis_engine::{Format, Policy};
use portcullis_model::Authorship;
use portcullis_model::policy::{NewPolicy, PolicyRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::{Records, StoreError, Tx, policies};
use serde_json::Value;
use uuid::Uuid;

use super::applied_record::{AppliedRecord, Planning};
use super::content::Content;
use super::draft::Draft;
use super::execution::Execution;
use super::{named_kind, restoration};
use crate::content::tenant_content::TenantContent;

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
        // A policy of the owner goes before others, one of the same resource before others, and then the oldest.
        let find = |draft: &Draft<'_>, SentPolicy { policy: wanted, .. }: &SentPolicy| {
            let rank = |policy: &&&PolicyRecord| {
                (!draft.is_own(policy.managed_by.as_deref()), policy.resource != wanted.resource)
            };
            stored.get(&*wanted.name)?.iter().min_by_key(rank).copied()
        };
        let record = |draft: &Draft<'_>, id: Uuid, wanted: &NewPolicy| PolicyRecord {
            managed_by: draft.managed_by(),
            ..wanted.clone().into_record(id, context.tenant, context.by)
        };
        let create = |draft: &Draft<'_>, sent: &SentPolicy| {
            record(draft, context.ids.next(context.by.at), &sent.policy)
        };
        let update = |draft: &Draft<'_>, old: &PolicyRecord, sent: &SentPolicy| {
            if old.resource != sent.policy.resource {
                return None;
            }
            let mut new = record(draft, old.id, &sent.policy);
            (new.created_by, new.created_at) = (old.created_by.clone(), old.created_at);
            (new.updated_by, new.updated_at) =
                (Some(context.by.actor.clone()), Some(context.by.at));
            if is_same_in_another_format(old, &sent.policy) {
                (new.format, new.rule_data) = (old.format, old.rule_data.clone());
            }
            let fields = match new.has_content_of(old) {
                true => Vec::new(),
                false => old.content(context.domain).changes(&new.content(context.domain)),
            };
            Some((new, fields))
        };
        let lists = (&*state.policies, &**wanted, context.prune);
        Ok(named_kind::diff(draft, lists, find, create, update))
    }

    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        _: &str,
    ) -> Vec<&'s Self> {
        let names = bundle.policies.iter().flatten().map(|sent| &*sent.policy.name);
        named_kind::read(&state.policies, owner, names)
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

    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let sign = |one: &mut Self| {
            (one.updated_by, one.updated_at) = (Some(by.actor.clone()), Some(by.at));
        };
        Ok(restoration::diff(&present.policies, &past.policies, sign))
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> Result<(), OperationError> {
        Ok(bulk::write_policies(tx, writes, execution.by).await?)
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
