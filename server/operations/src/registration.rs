//! Registers a resource and keeps the rules of its default roles (`docs/semantics.md`, section 3.7).
//!
//! Only the difference to what was registered before counts. So a service that registers everything
//! again at each start never resurrects a rule that an operator removed, and never overwrites one that
//! an operator changed.

use portcullis_model::Authorship;
use portcullis_model::ids::Ids;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::rule::RuleOrigin;
use portcullis_storage::{StoreError, Tx, resources, rules};

/// Stores `registration` in the transaction's tenant; its default roles get their rules in `domain`.
/// Gives the record, and whether it is new.
pub async fn register(
    tx: &mut Tx,
    registration: Registration,
    domain: &str,
    by: &Authorship,
    ids: &Ids,
) -> Result<(ResourceRecord, bool), StoreError> {
    let stored = resources::find_by_name(tx, &registration.name).await?;
    let created = stored.is_none();
    let record = ResourceRecord {
        id: stored.as_ref().map_or_else(|| ids.next(by.at), |stored| stored.id),
        tenant_id: tx.tenant().to_owned(),
        registration,
        created_at: stored.as_ref().map_or(by.at, |stored| stored.created_at),
        updated_at: stored.as_ref().map(|_| by.at),
    };
    resources::upsert(tx, &record, by).await?;
    let registration = &record.registration;
    let before = stored.as_ref().map_or(&[][..], |stored| &stored.registration.default_roles);
    let now = &registration.default_roles;
    for role in now.iter().filter(|role| !before.contains(role)) {
        let rule = registration.default_rule(role, domain);
        rules::insert(tx, &rule.into_record(ids.next(by.at), RuleOrigin::DefaultRole, by)).await?;
    }
    for role in before.iter().filter(|role| !now.contains(role)) {
        let tuple = registration.default_rule(role, domain).tuple;
        let rule = rules::find_by_tuple(tx, &tuple).await?;
        if let Some(rule) = rule.filter(|rule| rule.origin == RuleOrigin::DefaultRole) {
            rules::delete(tx, &rule, by).await?;
        }
    }
    Ok((record, created))
}
