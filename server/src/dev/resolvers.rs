//! The sample tenants' resolvers, as if each tenant had sent them to the API.

use std::net::SocketAddr;

use anyhow::{Context, anyhow};
use bytes::Bytes;
use http::HeaderMap;
use url::Url;

use super::directory;
use portcullis_bundle::{Bundle, SampleResolver, embedded_resolver_file};
use portcullis_egress::EgressConfig;
use portcullis_model::Authorship;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::Manifest;
use portcullis_operations::app::App;
use portcullis_operations::resolvers::{self as operations, PreparedResolver};
use portcullis_storage::{Tx, resolvers};

/// The endpoint that is a directory of ours.
const DIRECTORY: &str = "directory";

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

/// Compiles and binds the resolvers of a tenant, outside of any transaction: the first compilation takes seconds.
pub(super) async fn prepare(
    app: &App,
    bundle: &Bundle,
    base_url: &str,
    by: &Authorship,
) -> anyhow::Result<Vec<PreparedResolver>> {
    let mut prepared = Vec::new();
    for SampleResolver { module: name, manifest, .. } in &bundle.resolvers {
        let module = embedded_resolver_file(&format!("{name}/{name}.wasm"))
            .with_context(|| format!("there is no resolver `{name}`"))?;
        let module = Bytes::from_static(module);
        let mut manifest = manifest.clone();
        move_directory(&mut manifest, &directory::url(base_url)?);
        let admitted = app.resolvers.admit(&bundle.tenant, module.clone()).await?;
        let resolver = operations::prepare(app, &bundle.tenant, &manifest, module, admitted, by);
        prepared.push(resolver.map_err(|error| anyhow!("resolver `{name}`: {error:?}"))?);
    }
    Ok(prepared)
}

/// Stores resolvers in the transaction's tenant.
pub(super) async fn store(tx: &mut Tx, prepared: &[PreparedResolver]) -> anyhow::Result<()> {
    for resolver in prepared {
        operations::insert(tx, resolver).await?;
    }
    Ok(())
}

/// Activates resolvers that are committed.
pub(super) fn activate(app: &App, prepared: Vec<PreparedResolver>) {
    for resolver in prepared {
        operations::activate(app, resolver);
    }
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
        app.commit(tx).await?;
    } else {
        tx.end().await?;
    }
    Ok(())
}
