//! The resolvers of the served tenants, as if each tenant had sent them to the API.

use std::net::SocketAddr;

use anyhow::{Context, anyhow, ensure};
use bytes::Bytes;
use http::HeaderMap;
use url::Url;

use super::directory;
use super::folders;
use super::tenants::{ServedTenant, Source};
use portcullis_bundle::{Bundle, SampleResolver, embedded_resolver_file};
use portcullis_egress::EgressConfig;
use portcullis_model::Authorship;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::{Manifest, StoredResolver};
use portcullis_operations::folders::{ChangeKind, ObjectChange};
use portcullis_operations::resolvers::{self as operations, PreparedResolver};
use portcullis_resolvers::secrets;
use portcullis_runtime::app::App;
use portcullis_storage::{Tx, resolvers};

/// The endpoint that is a directory of ours.
const DIRECTORY: &str = "directory";
/// The host of that endpoint in the manifest of the sample. Any other directory is not ours.
const SAMPLE_HOST: &str = "hr.example.com";

/// Returns the egress rules of `dev`: resolvers may also call the service itself, which serves the directory.
pub(super) fn egress(address: SocketAddr) -> EgressConfig {
    let rules = EgressRules { allow_http: true, allow: vec![address.ip().into()] };
    EgressConfig { rules, ..EgressConfig::default() }
}

/// The headers with which the sample resolvers ask the directory.
pub(super) fn credentials(bundles: &[Bundle]) -> HeaderMap {
    let mut all = bundles.iter().flat_map(|bundle| &bundle.resolvers);
    let found = all.find_map(|resolver| {
        resolver.manifest.endpoints.get(DIRECTORY)?.rendered(&resolver.manifest.secrets)
    });
    found.unwrap_or_default()
}

/// A change of the resolvers of a tenant that is not stored yet.
pub(super) struct ResolverUpdate {
    removed: Vec<StoredResolver>,
    added: Vec<PreparedResolver>,
    pub(super) changes: Vec<ObjectChange>,
}

/// Compiles and binds the resolvers that differ from the stored ones, outside of any transaction: the first compilation
/// takes seconds.
pub(super) async fn prepare(
    app: &App,
    tenant: &ServedTenant,
    base_url: &str,
    by: &Authorship,
) -> anyhow::Result<ResolverUpdate> {
    let name = &tenant.bundle.tenant;
    let mut update = removal(app, name).await?;
    for SampleResolver { module, manifest, .. } in &tenant.bundle.resolvers {
        let mut manifest = manifest.clone();
        if is_sample(&manifest) {
            move_directory(&mut manifest, &directory::url(base_url)?);
        }
        let bytes = component(&tenant.source, module)?;
        let admitted = app.resolvers.admit(name, bytes.clone()).await;
        let admitted = admitted.with_context(|| format!("resolver `{module}`"))?;
        let namespace = &manifest.namespace;
        let old = update.removed.iter().position(|old| old.manifest.namespace == *namespace);
        if let Some(index) = old
            && let Some(old) = update.removed.get(index)
            && is_equal(app, old, &manifest, &admitted.digest().to_string()).await?
        {
            update.removed.remove(index);
            update.changes.retain(|change| change.name != *namespace);
            continue;
        }
        if old.is_some() {
            update.changes.retain(|change| change.name != *namespace);
        }
        let kind = if old.is_some() { ChangeKind::Changed } else { ChangeKind::Added };
        update.changes.push(ObjectChange::new(kind, "resolver", namespace));
        let prepared = operations::prepare(app, name, &manifest, bytes, admitted, by);
        update.added.push(prepared.map_err(|error| anyhow!("resolver `{module}`: {error:?}"))?);
    }
    Ok(update)
}

/// Returns the removal of all resolvers of a tenant.
pub(super) async fn removal(app: &App, tenant: &str) -> anyhow::Result<ResolverUpdate> {
    let mut tx = app.store.read(tenant).await?;
    let removed = resolvers::list(&mut tx).await?;
    tx.end().await?;
    let names = removed.iter().map(|old| &old.manifest.namespace);
    let changes = names.map(|name| ObjectChange::new(ChangeKind::Removed, "resolver", name));
    Ok(ResolverUpdate { changes: changes.collect(), removed, added: vec![] })
}

/// Stores an update in the transaction's tenant.
pub(super) async fn store(tx: &mut Tx, update: &ResolverUpdate) -> anyhow::Result<()> {
    for old in &update.removed {
        resolvers::delete(tx, old.id).await?;
    }
    for prepared in &update.added {
        ensure!(operations::insert(tx, prepared).await?, "the namespace of a resolver is taken");
    }
    Ok(())
}

/// Activates an update that is committed.
pub(super) async fn activate(app: &App, tenant: &str, update: ResolverUpdate) {
    for old in &update.removed {
        app.resolvers.remove(tenant, old.id);
    }
    for prepared in update.added {
        operations::activate(app, prepared);
    }
    for old in &update.removed {
        app.resolvers.forget_module(&old.module.sha256).await;
    }
}

/// Returns the bytes of a component.
fn component(source: &Source, module: &str) -> anyhow::Result<Bytes> {
    match source {
        Source::Embedded => embedded_resolver_file(&format!("{module}/{module}.wasm"))
            .map(Bytes::from_static)
            .with_context(|| format!("there is no resolver `{module}`")),
        Source::Folder(folder) => {
            folders::component(folder, module).map(Bytes::from).map_err(|fault| anyhow!(fault))
        }
    }
}

/// Returns whether a stored resolver has this manifest, its secrets included, and this module.
async fn is_equal(
    app: &App,
    old: &StoredResolver,
    manifest: &Manifest,
    digest: &str,
) -> anyhow::Result<bool> {
    if !old.enabled || old.module.sha256 != digest || old.manifest != manifest.without_secrets() {
        return Ok(false);
    }
    let mut tx = app.store.read(&old.tenant_id).await?;
    let encrypted = resolvers::secrets(&mut tx, old.id).await?.unwrap_or_default();
    tx.end().await?;
    // Secrets that cannot be decrypted are replaced.
    let stored = secrets::decrypt(&app.keys, old, &encrypted).ok();
    Ok(stored.is_some_and(|stored| stored == manifest.secrets))
}

/// Returns whether the endpoint of a manifest is the directory of the sample.
fn is_sample(manifest: &Manifest) -> bool {
    let endpoint = manifest.endpoints.get(DIRECTORY);
    endpoint.is_some_and(|endpoint| endpoint.url.host_str() == Some(SAMPLE_HOST))
}

/// Points the endpoint of a manifest to the directory. Returns whether the endpoint changed.
fn move_directory<S>(manifest: &mut Manifest<S>, url: &Url) -> bool {
    match manifest.endpoints.get_mut(DIRECTORY) {
        Some(endpoint) if endpoint.url != *url => {
            endpoint.url = url.clone();
            true
        }
        _ => false,
    }
}

/// Points the endpoints of stored resolvers to where the directory is now: an earlier start may have listened on
/// another port.
pub(super) async fn follow(
    app: &App,
    tenant: &str,
    base_url: &str,
    by: &Authorship,
) -> anyhow::Result<()> {
    let url = directory::url(base_url)?;
    let mut tx = app.store.write(tenant, by.at.millis()).await?;
    let mut is_changed = false;
    for mut record in resolvers::list(&mut tx).await? {
        let endpoint = record.manifest.endpoints.get(DIRECTORY);
        if endpoint.is_none_or(|endpoint| endpoint.url.path() != directory::PATH)
            || !move_directory(&mut record.manifest, &url)
        {
            continue;
        }
        record.version += 1;
        record.updated_by = Some(by.actor.clone());
        record.updated_at = Some(by.at);
        let secrets = resolvers::secrets(&mut tx, record.id).await?.unwrap_or_default();
        is_changed |= resolvers::update(&mut tx, &record, &secrets, None).await?;
    }
    if is_changed {
        app.commit_as_operator(tx).await?;
    } else {
        tx.end().await?;
    }
    Ok(())
}
