//! Stores a tenant that is kept as files.

use portcullis_model::Authorship;
use portcullis_model::ids::Ids;
use portcullis_model::rule::RuleOrigin;
use portcullis_operations::registration::register;
use portcullis_storage::{StoreError, Tx, policies, rules};

use crate::Bundle;

/// Stores a tenant that is kept as files in the transaction's tenant.
pub async fn store(
    tx: &mut Tx,
    bundle: &Bundle,
    by: &Authorship,
    ids: &Ids,
) -> Result<(), StoreError> {
    // The bundle's order: explicit rules first, so that a default role makes no second rule.
    for rule in &bundle.rules {
        rules::insert(tx, &rule.clone().into_record(ids.next(by.at), RuleOrigin::Explicit, by))
            .await?;
    }
    for policy in &bundle.policies {
        let record = policy.clone().into_record(ids.next(by.at), &bundle.tenant, by);
        policies::insert(tx, &record).await?;
    }
    for resource in &bundle.resources {
        register(tx, resource.clone(), &bundle.tenant, by, ids).await?;
    }
    Ok(())
}
