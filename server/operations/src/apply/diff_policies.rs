//! The changes of policies.

use std::collections::HashMap;

use portcullis_bundle::SentPolicy;
use portcullis_engine::Policy;
use portcullis_model::apply::ObjectKind;
use portcullis_model::policy::{NewPolicy, PolicyRecord};
use portcullis_storage::bulk::RecordWrite;
use uuid::Uuid;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use super::named_kind::NamedKind;
use crate::content::tenant_content::TenantContent;

pub(super) const POLICIES: NamedKind<PolicyRecord> = NamedKind {
    kind: ObjectKind::Policy,
    name: |policy| &policy.name,
    managed_by: |policy| policy.managed_by.as_deref(),
};

/// Returns the writes that make the policies of the owner `wanted`.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    wanted: &[SentPolicy],
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<PolicyRecord>> {
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
        (new.updated_by, new.updated_at) = (Some(context.by.actor.clone()), Some(context.by.at));
        if is_same_in_another_format(old, &sent.policy) {
            (new.format, new.rule_data) = (old.format, old.rule_data.clone());
        }
        let fields = match new.has_content_of(old) {
            true => Vec::new(),
            false => content::from_policy(old).changes(&content::from_policy(&new)),
        };
        Some((new, fields))
    };
    POLICIES.diff(draft, (&state.policies, wanted, context.prune), find, create, update)
}

/// Returns whether the stored policy has the wanted condition in another format: an export writes trees as expressions.
fn is_same_in_another_format(old: &PolicyRecord, wanted: &NewPolicy) -> bool {
    old.format != wanted.rule_data.format
        && Policy::stored_condition(old.format, old.rule_data.text())
            .is_ok_and(|condition| condition == wanted.rule_data.condition)
}
