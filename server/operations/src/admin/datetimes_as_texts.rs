//! The stored policies that compare declared date-times as texts, which is undetermined.

use std::time::Duration;

use portcullis_engine::Datetimes;
use portcullis_runtime::app::App;
use portcullis_storage::{Store, StoreError, policies, types};

use super::tenants::list_offline;
use crate::content::types::compiled;

/// The pause between two rounds, each of which reads the policies of every tenant with such a declaration.
const PAUSE: Duration = Duration::from_secs(3_600);
/// The number of tenants that are read at a time.
const PAGE: u16 = 100;
/// The pause between two such pages, so that 100,000 tenants that nobody asks cost some thousandths of a core.
const PAUSE_OF_PAGE: Duration = Duration::from_secs(1);

/// The policies that compare a declared date-time by `<`, `<=`, `>` or `>=`.
#[derive(Default)]
struct Orders {
    count: i64,
    /// The tenant and the name of the first.
    first: Option<(String, String)>,
}

/// Counts the enabled policies of all tenants that compare declared date-times as texts, again and again, and logs the first of
/// them when there are others than before.
pub async fn count_datetimes_as_texts(app: App) {
    let mut logged = 0;
    loop {
        match orders(&app.store).await {
            Ok(Orders { count, first }) => {
                app.metrics.datetimes_as_texts.set(count);
                if let Some((tenant, policy)) = first.filter(|_| count != logged) {
                    tracing::warn!(
                        count,
                        tenant,
                        policy,
                        "policies compare declared date-times by the order of texts, which is undetermined: what denies \
                         so denies everybody; write `before` and `after` (DATETIMES_AS_TEXTS of `portcullis lint`)"
                    );
                }
                logged = count;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot look for policies that compare date-times as texts");
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn orders(store: &Store) -> Result<Orders, StoreError> {
    let (mut found, mut after) = (Orders::default(), String::new());
    loop {
        let tenants = list_offline(store, &after, PAGE.into()).await?;
        let is_last = tenants.len() < usize::from(PAGE);
        for tenant in tenants {
            for policy in of_tenant(store, &tenant.id).await? {
                found.first.get_or_insert_with(|| (tenant.id.clone(), policy));
                found.count += 1;
            }
            after = tenant.id;
        }
        if is_last {
            return Ok(found);
        }
        tokio::time::sleep(PAUSE_OF_PAGE).await;
    }
}

/// Returns the names of the policies of a tenant.
async fn of_tenant(store: &Store, tenant: &str) -> Result<Vec<String>, StoreError> {
    let mut tx = store.begin_read(tenant).await?;
    let declared = Datetimes::from(&compiled(&types::all(&mut tx).await?));
    let policies = match declared.is_empty() {
        true => Vec::new(),
        false => policies::for_every_plan(&mut tx).await?,
    };
    tx.end().await?;
    let ordered = policies.into_iter().filter(|policy| {
        let condition = policy.condition.as_ref().ok();
        condition.is_some_and(|own| declared.ordered_in(&policy.resource, own).is_some())
    });
    Ok(ordered.map(|policy| policy.name).collect())
}
