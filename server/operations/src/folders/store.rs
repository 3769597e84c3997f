//! Stores a tenant that is kept as files.

use crate::registration::register;
use crate::{policies, rules};
use portcullis_bundle::Bundle;
use portcullis_model::Authorship;
use portcullis_model::ids::Ids;
use portcullis_model::rule::RuleOrigin;
use portcullis_storage::{StoreError, Tx, roles};

/// Stores the rules, roles, policies and resources of `bundle` in the transaction's tenant, which must be the bundle's.
pub async fn store(
    tx: &mut Tx,
    bundle: &Bundle,
    by: &Authorship,
    ids: &Ids,
) -> Result<(), StoreError> {
    // The bundle's order: explicit rules first, so that a default role makes no second rule.
    for rule in &bundle.rules {
        rules::insert(tx, rule.clone(), RuleOrigin::Explicit, by, ids).await?;
    }
    for role in bundle.roles.iter().flatten() {
        roles::store(tx, &role.clone().into_record(by)).await?;
    }
    for policy in &bundle.policies {
        policies::insert(tx, policy.clone(), by, ids).await?;
    }
    for resource in &bundle.resources {
        register(tx, resource.clone(), &bundle.tenant, by, ids).await?;
    }
    Ok(())
}
