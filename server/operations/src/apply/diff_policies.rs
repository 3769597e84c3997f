//! The changes of policies.

use std::collections::{HashMap, HashSet};

use portcullis_bundle::SentPolicy;
use portcullis_engine::Policy;
use portcullis_model::apply::ObjectKind;
use portcullis_model::policy::{NewPolicy, PolicyRecord};
use portcullis_storage::bulk::RecordWrite;
use uuid::Uuid;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use crate::tenant_content::TenantContent;

const KIND: ObjectKind = ObjectKind::Policy;

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
    let (mut writes, mut met_ids) = (Vec::new(), HashSet::new());
    for SentPolicy { policy, .. } in wanted {
        let candidates = stored.get(&*policy.name).map(Vec::as_slice).unwrap_or_default();
        match find_existing(draft, candidates, policy) {
            Some(old) => {
                met_ids.insert(old.id);
                update_existing(draft, old, policy, context, &mut writes);
            }
            None => create(draft, policy, context, &mut writes),
        }
    }
    if context.prune {
        delete_others(draft, state, &met_ids, &mut writes);
    }
    writes
}

/// Returns the stored policy that a name means: one of the owner before others, one of the same resource before others,
/// the oldest of those.
fn find_existing<'s>(
    draft: &Draft<'_>,
    candidates: &[&'s PolicyRecord],
    wanted: &NewPolicy,
) -> Option<&'s PolicyRecord> {
    let rank = |policy: &&&PolicyRecord| {
        (!draft.is_own(policy.managed_by.as_deref()), policy.resource != wanted.resource)
    };
    candidates.iter().min_by_key(rank).copied()
}

fn update_existing(
    draft: &mut Draft<'_>,
    old: &PolicyRecord,
    wanted: &NewPolicy,
    context: &PlanContext<'_>,
    writes: &mut Vec<RecordWrite<PolicyRecord>>,
) {
    let managed_by = old.managed_by.as_deref();
    if !draft.may_change(KIND, &old.name, managed_by) {
        return;
    }
    if old.resource != wanted.resource {
        draft.replace(KIND, old.name.clone());
        writes.push(RecordWrite::Delete(old.clone()));
        create(draft, wanted, context, writes);
        return;
    }
    let mut new = record(draft, old.id, wanted, context);
    (new.created_by, new.created_at) = (old.created_by.clone(), old.created_at);
    (new.updated_by, new.updated_at) = (Some(context.by.actor.clone()), Some(context.by.at));
    if is_same_in_another_format(old, wanted) {
        (new.format, new.rule_data) = (old.format, old.rule_data.clone());
    }
    let fields = match new.has_content_of(old) {
        true => Vec::new(),
        false => content::of_policy(old).changes(&content::of_policy(&new)),
    };
    if draft.meet(KIND, old.name.clone(), managed_by, fields) {
        writes.push(RecordWrite::Update { old: old.clone(), new });
    }
}

/// Returns whether the stored policy has the wanted condition in another format: an export writes trees as expressions.
fn is_same_in_another_format(old: &PolicyRecord, wanted: &NewPolicy) -> bool {
    old.format != wanted.rule_data.format
        && Policy::stored_condition(old.format, old.rule_data.text())
            .is_ok_and(|condition| condition == wanted.rule_data.condition)
}

fn create(
    draft: &mut Draft<'_>,
    wanted: &NewPolicy,
    context: &PlanContext<'_>,
    writes: &mut Vec<RecordWrite<PolicyRecord>>,
) {
    draft.create(KIND, wanted.name.clone());
    let id = context.ids.next(context.by.at);
    writes.push(RecordWrite::Insert(record(draft, id, wanted, context)));
}

fn delete_others(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    met: &HashSet<Uuid>,
    writes: &mut Vec<RecordWrite<PolicyRecord>>,
) {
    for old in &state.policies {
        if draft.is_own(old.managed_by.as_deref()) && !met.contains(&old.id) {
            draft.delete(KIND, old.name.clone());
            writes.push(RecordWrite::Delete(old.clone()));
        }
    }
}

/// Returns the record of a policy that is new.
fn record(
    draft: &Draft<'_>,
    id: Uuid,
    wanted: &NewPolicy,
    context: &PlanContext<'_>,
) -> PolicyRecord {
    PolicyRecord {
        id,
        tenant_id: context.tenant.to_owned(),
        name: wanted.name.clone(),
        description: wanted.description.clone(),
        resource: wanted.resource.clone(),
        effect: wanted.effect,
        format: wanted.rule_data.format,
        rule_data: wanted.rule_data.json.clone(),
        priority: wanted.priority,
        enabled: wanted.enabled,
        created_by: context.by.actor.clone(),
        created_at: context.by.at,
        updated_by: None,
        updated_at: None,
        managed_by: draft.managed_by(),
    }
}
