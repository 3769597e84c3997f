//! `portcullis tenants`: lists, suspends, resumes and deletes tenants without a running service.

use std::io::Write;

use portcullis_config::Variables;
use portcullis_model::clock::Clock;
use portcullis_operations::tenant_states::{self, StateChange};
use portcullis_operations::tenants;
use portcullis_runtime::erasure;

use crate::operator::OfflineOperator;

/// The most tenants that are read at a time.
const PAGE: i64 = 500;

/// Prints each tenant as a line of JSON, by id. A tenant that is not active has a `state`.
pub async fn list(variables: &Variables) -> anyhow::Result<()> {
    let operator = OfflineOperator::open(variables).await?;
    let mut out = std::io::stdout();
    let mut after = String::new();
    loop {
        let records = tenants::list_offline(&operator.store, &after, PAGE).await?;
        let Some(last) = records.last() else { break };
        after.clone_from(&last.id);
        for record in &records {
            writeln!(out, "{}", serde_json::to_string(record)?)?;
        }
    }
    operator.store.close().await;
    Ok(())
}

/// Changes the state of `tenant`, and prints the state. A deletion runs to its end.
pub async fn change(
    variables: &Variables,
    tenant: &str,
    change: StateChange,
) -> anyhow::Result<()> {
    let operator = OfflineOperator::open(variables).await?;
    let tenant = operator.tenant(tenant).await?;
    let OfflineOperator { store, origin, by, .. } = &operator;
    let changed = tenant_states::change_offline(store, (origin, by), &tenant, change).await;
    let record = changed?;
    let state = record.state.map_or("active", |state| state.into_str());
    if change == StateChange::Delete {
        erasure::erase_marked(store, Clock::system().now().into()).await?;
        writeln!(std::io::stdout(), "the tenant `{tenant}` is deleted")?;
    } else {
        writeln!(std::io::stdout(), "the tenant `{tenant}` is {state}")?;
    }
    store.close().await;
    Ok(())
}
