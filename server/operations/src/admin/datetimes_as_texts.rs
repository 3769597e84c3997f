//! The stored policies that compare declared date-times as texts.

use portcullis_runtime::app::App;
use portcullis_storage::{Store, StoreError, policies, types};

use super::tenants::list_offline;
use crate::content::types::compiled;

/// The number of tenants that are read at a time.
const PAGE: i64 = 100;

/// The policies that compare a declared date-time by `<`, `<=`, `>` or `>=`.
struct Orders {
    count: usize,
    /// The tenant and the name of the first.
    first: (String, String),
}

/// Logs how many enabled policies of all tenants compare declared date-times as texts, and the first of them.
pub async fn log_datetimes_as_texts(app: App) {
    match orders(&app.store).await {
        Ok(None) => {}
        Ok(Some(Orders { count, first: (tenant, policy) })) => tracing::warn!(
            count,
            tenant,
            policy,
            "policies compare declared date-times by the order of texts; write `before` and `after` \
             (DATETIMES_AS_TEXTS of `portcullis lint`)"
        ),
        Err(error) => {
            tracing::warn!(%error, "cannot look for policies that compare date-times as texts");
        }
    }
}

async fn orders(store: &Store) -> Result<Option<Orders>, StoreError> {
    let (mut found, mut after): (Option<Orders>, _) = (None, String::new());
    loop {
        let tenants = list_offline(store, &after, PAGE).await?;
        let Some(last) = tenants.last() else { return Ok(found) };
        after.clone_from(&last.id);
        for tenant in tenants {
            for policy in of_tenant(store, &tenant.id).await? {
                let first = || Orders { count: 0, first: (tenant.id.clone(), policy) };
                found.get_or_insert_with(first).count += 1;
            }
        }
    }
}

/// Returns the names of the policies of a tenant.
async fn of_tenant(store: &Store, tenant: &str) -> Result<Vec<String>, StoreError> {
    let mut tx = store.begin_read(tenant).await?;
    let declared = compiled(&types::all(&mut tx).await?);
    let policies = match declared.is_empty() {
        true => Vec::new(),
        false => policies::for_every_plan(&mut tx).await?,
    };
    tx.end().await?;
    let ordered = policies.into_iter().filter(|policy| {
        let condition = policy.condition.as_ref().ok();
        condition.is_some_and(|own| declared.datetime_as_text(&policy.resource, own).is_some())
    });
    Ok(ordered.map(|policy| policy.name).collect())
}
