//! Stores the tenants that `portcullis dev` serves.

use std::time::Duration;

use portcullis_bundle::BundleDocument;
use portcullis_operations::apply::apply_as_operator;
use portcullis_operations::folder_data;
use portcullis_runtime::app::App;
use portcullis_storage::tenants;
use tokio::time::Instant;

use super::changes::{self, ObjectChange};
use super::resolvers;
use super::tenants::ServedTenant;

/// The author of the stored records.
const ACTOR: &str = "portcullis dev";
/// The longest time until the modules of a tenant are in memory. Nobody waits for an answer.
const READY_TIME: Duration = Duration::from_mins(10);

/// Stores a sample tenant, unless it already has data: the changes of a user stay.
pub(super) async fn store_sample(
    app: &App,
    tenant: &ServedTenant,
    base_url: &str,
) -> anyhow::Result<()> {
    let by = app.authored_by(ACTOR);
    let name = &tenant.bundle.tenant;
    let mut tx = app.store.write(name, by.at.millis()).await?;
    // A tenant without a write has revision 0.
    let is_new = tenants::revision(&mut tx).await? == 0;
    tx.end().await?;
    if is_new {
        make_equal(app, tenant, base_url).await?;
        return Ok(());
    }
    resolvers::follow(app, name, base_url, &by).await
}

/// Makes what the tenant has stored equal to its files, and returns the changes of what decides.
pub(super) async fn make_equal(
    app: &App,
    tenant: &ServedTenant,
    base_url: &str,
) -> anyhow::Result<Vec<ObjectChange>> {
    let resolvers = resolvers::wanted(app, tenant, base_url).await?;
    let bundle = &tenant.bundle;
    let document = BundleDocument::new(bundle, resolvers);
    let changes = apply(app, &bundle.tenant, &document).await?;
    let entities = bundle.entities.as_deref().unwrap_or_default();
    let data = (entities, bundle.tuples.as_deref().unwrap_or_default());
    let by = app.authored_by(ACTOR);
    folder_data::store_as_operator(app, &bundle.tenant, data, &by).await?;
    Ok(changes)
}

/// Removes everything that decides from a tenant whose files are gone.
pub(super) async fn clear(app: &App, tenant: &str) -> anyhow::Result<()> {
    apply(app, tenant, &BundleDocument::empty()).await.map(drop)
}

async fn apply(
    app: &App,
    tenant: &str,
    document: &BundleDocument,
) -> anyhow::Result<Vec<ObjectChange>> {
    let by = app.authored_by(ACTOR);
    let ready_by = Instant::now() + READY_TIME;
    let plan = apply_as_operator(app, tenant, document, &by, ready_by).await?;
    Ok(changes::from_plan(&plan))
}
