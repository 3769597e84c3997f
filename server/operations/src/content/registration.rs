//! Registers a resource and keeps the rules of its default roles (`docs/semantics.md`, section 3.7).
//!
//! Only the difference to the stored registration changes rules. A service may therefore register everything again at
//! each start: this never restores a rule that an operator removed, and never overwrites one that an operator changed.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use portcullis_model::Authorship;
use portcullis_model::ids::Ids;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::rule::RuleOrigin;
use portcullis_storage::{StoreError, Tx, resources, rules};

/// Stores `registration` in the transaction's tenant, and returns the record and whether it is new. The rules of the
/// default roles are in `domain`.
pub async fn register(
    tx: &mut Tx,
    registration: Registration,
    domain: &str,
    by: &Authorship,
    ids: &Ids,
) -> Result<(ResourceRecord, bool), StoreError> {
    let stored = resources::find_by_name(tx, &registration.name).await?;
    let is_new = stored.is_none();
    let record = ResourceRecord {
        id: stored.as_ref().map_or_else(|| ids.next(by.at), |stored| stored.id),
        tenant_id: tx.tenant().to_owned(),
        registration,
        created_at: stored.as_ref().map_or(by.at, |stored| stored.created_at),
        updated_at: stored.as_ref().map(|_| by.at),
        managed_by: stored.as_ref().and_then(|stored| stored.managed_by.clone()),
    };
    resources::upsert(tx, stored.as_ref(), &record, by).await?;
    let before = stored.map_or_else(Vec::new, |stored| stored.registration.default_roles);
    let roles = &record.registration.default_roles;
    for role in not_in(roles, &before) {
        let rule = record.registration.default_rule(role, domain);
        // A rule that is there already stays as it is.
        rules::insert(tx, &rule.into_record(ids.next(by.at), RuleOrigin::DefaultRole, by)).await?;
    }
    for role in not_in(&before, roles) {
        remove_default_rule(tx, &record.registration, role, domain, by).await?;
    }
    Ok((record, is_new))
}

/// Returns the `roles` that `others` do not have, in their order.
pub(crate) fn not_in<'r>(roles: &'r [String], others: &[String]) -> Vec<&'r String> {
    let others: HashSet<&String> = others.iter().collect();
    roles.iter().filter(|role| !others.contains(role)).collect()
}

/// Deletes the rule of a default role, unless an operator made it explicit.
async fn remove_default_rule(
    tx: &mut Tx,
    registration: &Registration,
    role: &str,
    domain: &str,
    by: &Authorship,
) -> Result<(), StoreError> {
    let tuple = registration.default_rule(role, domain).tuple;
    match rules::find_by_tuple(tx, &tuple).await? {
        Some(rule) if rule.origin == RuleOrigin::DefaultRole => rules::delete(tx, &rule, by).await,
        _ => Ok(()),
    }
}
