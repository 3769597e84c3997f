//! Stores the tenants that `portcullis dev` serves.

use portcullis_operations::folders::ObjectChange;
use portcullis_runtime::app::App;
use portcullis_storage::tenants;

use super::resolvers;
use super::tenants::ServedTenant;

/// The author of the stored records.
const ACTOR: &str = "portcullis dev";

/// Stores a sample tenant, unless it already has data: the changes of a user stay.
pub(super) async fn store_sample(
    app: &App,
    tenant: &ServedTenant,
    base_url: &str,
) -> anyhow::Result<()> {
    let by = app.authored_by(ACTOR);
    let name = &tenant.bundle.tenant;
    let mut tx = app.store.write(name, by.at.millis()).await?;
    let is_new = tenants::revision(&mut tx).await? == 0;
    tx.end().await?;
    if is_new {
        make_equal(app, tenant, base_url).await?;
        return Ok(());
    }
    resolvers::follow(app, name, base_url, &by).await
}

/// Makes what the tenant has stored equal to its files, in one transaction, and returns the changes.
pub(super) async fn make_equal(
    app: &App,
    tenant: &ServedTenant,
    base_url: &str,
) -> anyhow::Result<Vec<ObjectChange>> {
    let by = app.authored_by(ACTOR);
    let name = &tenant.bundle.tenant;
    let update = resolvers::prepare(app, tenant, base_url, &by).await?;
    let mut tx = app.store.write(name, by.at.millis()).await?;
    resolvers::store(&mut tx, &update).await?;
    let mut changes = update.changes.clone();
    changes.extend(
        portcullis_operations::folders::apply(&mut tx, &tenant.bundle, &by, &app.ids).await?,
    );
    if changes.is_empty() {
        tx.end().await?;
    } else {
        app.commit_as_operator(tx).await?;
    }
    resolvers::activate(app, name, update).await;
    Ok(changes)
}

/// Removes everything that decides from a tenant whose files are gone.
pub(super) async fn clear(app: &App, tenant: &str) -> anyhow::Result<()> {
    let by = app.authored_by(ACTOR);
    let update = resolvers::removal(app, tenant).await?;
    let mut tx = app.store.write(tenant, by.at.millis()).await?;
    resolvers::store(&mut tx, &update).await?;
    portcullis_operations::folders::clear(&mut tx, &by, &app.ids).await?;
    app.commit_as_operator(tx).await?;
    resolvers::activate(app, tenant, update).await;
    Ok(())
}
