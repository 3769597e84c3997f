//! The sample tenants' resolvers, as if each tenant had sent them to the API.

use std::net::SocketAddr;

use anyhow::Context;
use bytes::Bytes;
use http::HeaderMap;
use url::Url;

use super::directory;
use portcullis_bundle::{Bundle, SampleResolver, embedded_resolver_file};
use portcullis_egress::EgressConfig;
use portcullis_model::Authorship;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::{Manifest, StoredResolver};
use portcullis_operations::app::App;
use portcullis_resolvers::{Bound, module_record, sealing};
use portcullis_storage::{Tx, resolvers};

/// The endpoint that is a directory of ours.
const DIRECTORY: &str = "directory";

/// What resolvers may ask: the service itself, where the directory is, and what everybody may.
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

/// A resolver that is ready to be stored and put into service.
pub(super) struct Ready {
    record: StoredResolver,
    secrets: Vec<u8>,
    module: &'static [u8],
    bound: Bound,
}

/// Compiles a tenant's resolvers, which takes a while the first time; none of that in a transaction.
pub(super) async fn prepare(
    app: &App,
    bundle: &Bundle,
    base_url: &str,
    by: &Authorship,
) -> anyhow::Result<Vec<Ready>> {
    let mut ready = Vec::new();
    for SampleResolver { module: name, manifest, .. } in &bundle.resolvers {
        let module = embedded_resolver_file(&format!("{name}/{name}.wasm"))
            .with_context(|| format!("there is no resolver `{name}`"))?;
        let mut manifest = manifest.clone();
        move_directory(&mut manifest, &directory::url(base_url)?);
        let admitted = app.resolvers.admit(&bundle.tenant, Bytes::from_static(module)).await?;
        let (id, about) = (app.ids.next(by.at), module_record(&admitted));
        let record = StoredResolver::new(id, &bundle.tenant, &manifest, about, by);
        let secrets = sealing::seal(&app.keys, &record, &manifest.secrets)?;
        let bound = app.resolvers.bind(&bundle.tenant, admitted, &manifest)?;
        ready.push(Ready { record, secrets, module, bound });
    }
    Ok(ready)
}

/// Stores resolvers in the transaction's tenant.
pub(super) async fn store(tx: &mut Tx, ready: &[Ready]) -> anyhow::Result<()> {
    for Ready { record, secrets, module, .. } in ready {
        resolvers::insert(tx, record, secrets, module).await?;
    }
    Ok(())
}

/// Puts resolvers that are stored into service.
pub(super) fn put(app: &App, ready: Vec<Ready>) {
    for Ready { record, bound, .. } in ready {
        app.resolvers.put(&record.tenant_id, record.reference(), bound);
    }
}

/// Points the endpoint of a manifest to the directory; whether it pointed elsewhere.
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
