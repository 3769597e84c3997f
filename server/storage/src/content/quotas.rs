//! The numbers that quotas limit. Each tenant has them in its row, and each commit adds its changes to them, behind the
//! lock of that row. So they are exact, and no write counts records.

use portcullis_model::policy::PolicyRecord;
use portcullis_model::quota::{PerQuota, Quota, QuotaExcess};
use portcullis_model::resource::ResourceRecord;
use portcullis_model::rule::RuleRecord;
use strum::VariantArray;

use crate::transactions::error::StoreError;
use crate::transactions::json_list::to_json_list;
use crate::transactions::macros::fetch_optional;
use crate::transactions::tx::Tx;

/// The columns of a tenant's numbers, in the order of the quotas.
type Used = (i64, i64, i64, i64, i64, i64, i64, i64, i64);

/// Adds the changes of the transaction to the tenant's numbers.
///
/// # Errors
/// [`StoreError::Quota`] if a number grows beyond its quota. A tenant that is above one may keep and delete.
pub(crate) async fn settle(tx: &mut Tx) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE tenants SET used_webhooks = used_webhooks + $2, \
        used_policies = used_policies + $3, used_rules = used_rules + $4, \
        used_resources = used_resources + $5, used_service_keys = used_service_keys + $6, \
        used_resolvers = used_resolvers + $7, used_entities = used_entities + $8, \
        used_relations = used_relations + $9, used_bytes = used_bytes + $10 WHERE id = $1 \
        RETURNING used_webhooks, used_policies, used_rules, used_resources, used_service_keys, \
        used_resolvers, used_entities, used_relations, used_bytes";
    let change = std::mem::take(&mut tx.change);
    if change == PerQuota::default() {
        return Ok(());
    }
    let row = fetch_optional!(
        tx,
        Used,
        SQL,
        &tx.tenant,
        change.get(Quota::Webhooks),
        change.get(Quota::Policies),
        change.get(Quota::Rules),
        change.get(Quota::Resources),
        change.get(Quota::ServiceKeys),
        change.get(Quota::Resolvers),
        change.get(Quota::Entities),
        change.get(Quota::Relations),
        change.get(Quota::StoredBytes),
    )?;
    let used: [i64; 9] = row.ok_or(StoreError::Corrupt { what: "tenants.id" })?.into();
    // Bytes of plans are not among them: `plan_sizes.rs` counts them for each pattern.
    for (quota, used) in Quota::VARIANTS.iter().copied().zip(used) {
        let added = change.get(quota);
        // What does not grow is not refused, also beyond a quota that was lowered.
        let exceeded = tx
            .quotas
            .get(quota)
            .filter(|limit| added > 0 && u64::try_from(used).is_ok_and(|used| used > *limit));
        if let Some(limit) = exceeded {
            let used = u64::try_from(used - added).unwrap_or(0);
            return Err(StoreError::Quota(QuotaExcess { quota, limit, used, pattern: None }));
        }
    }
    Ok(())
}

/// Returns the bytes of a policy that count.
pub(crate) fn policy_bytes(policy: &PolicyRecord) -> i64 {
    let description = policy.description.as_deref().unwrap_or_default();
    let resource = policy.resource.to_string();
    bytes(&[&policy.name, description, &resource, policy.rule_data.text()])
}

/// Returns the bytes of a rule that count.
pub(crate) fn rule_bytes(rule: &RuleRecord) -> i64 {
    let tuple = &rule.tuple;
    bytes(&[&tuple.sub, &tuple.dom, &tuple.obj.to_string(), &tuple.act])
}

/// Returns the bytes of a resource that count.
pub(crate) fn resource_bytes(resource: &ResourceRecord) -> i64 {
    let registration = &resource.registration;
    let display_name = registration.display_name.as_deref().unwrap_or_default();
    let service_name = registration.service_name.as_deref().unwrap_or_default();
    let default_roles = to_json_list(&registration.default_roles);
    bytes(&[&registration.name, display_name, service_name, &default_roles])
}

fn bytes(texts: &[&str]) -> i64 {
    let sum: usize = texts.iter().map(|text| text.len()).sum();
    i64::try_from(sum).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
