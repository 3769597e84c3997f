//! The resolvers of the served tenants, as if each tenant had sent them to the API.

use std::net::SocketAddr;

use anyhow::{Context, anyhow};
use bytes::Bytes;
use http::HeaderMap;
use url::Url;

use super::directory;
use super::folders;
use super::tenants::{ServedTenant, Source};
use portcullis_bundle::{Bundle, SampleResolver, embedded_resolver_file};
use portcullis_egress::EgressConfig;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::{Manifest, SentSecrets, WantedResolver};
use portcullis_model::{Authorship, SignedRecord};
use portcullis_runtime::app::App;
use portcullis_storage::resolvers;

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

/// Returns the resolvers of a tenant with their modules, whose endpoints may be the directory at `base_url`.
pub(super) async fn wanted(
    app: &App,
    tenant: &ServedTenant,
    base_url: &str,
) -> anyhow::Result<Vec<WantedResolver>> {
    let mut all = Vec::with_capacity(tenant.bundle.resolvers.len());
    for SampleResolver { module, manifest, .. } in &tenant.bundle.resolvers {
        let mut manifest = manifest.clone();
        if is_sample(&manifest) {
            move_directory(&mut manifest, &directory::url(base_url)?);
        }
        let bytes = component(&tenant.source, module)?;
        // Outside of any transaction: the first compilation takes seconds.
        let admitted = app.resolvers.admit(&tenant.bundle.tenant, bytes.clone()).await;
        let admitted = admitted.with_context(|| format!("resolver `{module}`"))?;
        all.push(WantedResolver {
            manifest,
            secrets: SentSecrets::Given,
            sha256: admitted.digest.to_string(),
            module: Some(bytes.into()),
            enabled: true,
        });
    }
    Ok(all)
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
        record = record.signed(by);
        // A record is stored as a whole, with its secrets.
        let secrets = resolvers::secrets(&mut tx, record.id).await?.unwrap_or_default();
        is_changed |= resolvers::store(&mut tx, &record, &secrets, None).await?;
    }
    if is_changed {
        app.commit_as_operator(tx).await?;
    } else {
        tx.end().await?;
    }
    Ok(())
}
