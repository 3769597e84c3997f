//! The use cases that suspend, resume and delete a tenant (`docs/semantics.md`, section 6.9).

use portcullis_model::Authorship;
use portcullis_model::audit::Origin;
use portcullis_model::tenant::{TenantRecord, TenantState};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Store, StoreError, Tx, erasure, tenants};

const NO_TENANT: OperationError = OperationError::NotFound("tenant");

/// A change of the state of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// Refuses every credential of the tenant, and pauses its deliveries.
    Suspend,
    /// Ends a suspension.
    Resume,
    /// Refuses every credential of the tenant, and deletes its data in the background.
    Delete,
}

/// Changes the state of a tenant. A change that is made already changes nothing. When this function returns, this process
/// obeys the state; others obey it within a second.
///
/// # Errors
/// There is no such tenant, it is being deleted, or the store failed.
pub async fn change(
    app: &App,
    operator: &Origin,
    tenant: &str,
    change: StateChange,
) -> Result<TenantRecord, OperationError> {
    let by = app.authored_by(&operator.actor);
    let mut tx = begin(&app.store, tenant, change).await?;
    tx.attribute_to(operator, by.at);
    let record = apply(&mut tx, tenant, change, &by).await?;
    app.commit(tx).await?;
    app.catch_up().await?;
    Ok(record)
}

/// Changes the state of a tenant in a store without a running service, as `portcullis tenants` does.
///
/// # Errors
/// The errors of [`change`].
pub async fn change_offline(
    store: &Store,
    (operator, by): (&Origin, &Authorship),
    tenant: &str,
    change: StateChange,
) -> Result<TenantRecord, OperationError> {
    let mut tx = begin(store, tenant, change).await?;
    tx.attribute_to(operator, by.at);
    let record = apply(&mut tx, tenant, change, by).await?;
    tx.commit().await?;
    Ok(record)
}

/// The audit record of a deletion outlasts the tenant, and so belongs to none.
async fn begin(store: &Store, tenant: &str, change: StateChange) -> Result<Tx, StoreError> {
    match change {
        StateChange::Delete => store.write_all().await,
        StateChange::Suspend | StateChange::Resume => store.write_as(tenant).await,
    }
}

/// Makes the change in the transaction, and returns the tenant after it.
async fn apply(
    tx: &mut Tx,
    tenant: &str,
    change: StateChange,
    by: &Authorship,
) -> Result<TenantRecord, OperationError> {
    let before = tenants::find(tx, tenant).await?.ok_or(NO_TENANT)?;
    let is_deleting = before.state == Some(TenantState::Deleting);
    let changed = match change {
        StateChange::Delete => erasure::request(tx, tenant, by.at).await?,
        _ if is_deleting => {
            return Err(OperationError::Conflict("the tenant is being deleted".to_owned()));
        }
        StateChange::Suspend => tenants::suspend(tx, by.at).await?,
        StateChange::Resume => tenants::resume(tx).await?,
    };
    if changed {
        tracing::info!(tenant, ?change, actor = %by.actor, "the state of a tenant changes");
    }
    tenants::find(tx, tenant).await?.ok_or(NO_TENANT)
}
