//! The resolvers of a bundle, with their modules and secrets.
//!
//! Modules are admitted first, because that takes seconds; secrets and bindings are read and made for each snapshot.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use portcullis_engine::Invalid;
use portcullis_model::resolver::{
    Manifest, ModuleRecord, SentSecrets, StoredResolver, WantedResolver,
};
use portcullis_resolver_host::Module;
use portcullis_resolvers::{Binding, module_record};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, resolvers};
use tokio::time::Instant;

use crate::content::resolvers::admission::{admit, bind};
use crate::content::resolvers::{
    is_of_operator, must_be_free, stored_module, stored_secrets, taken,
};
use crate::content::tenant_content::TenantContent;
use crate::content::types::compiled;

/// The module of a resolver of a bundle.
#[derive(Clone, Debug)]
pub(super) struct FoundModule {
    record: ModuleRecord,
    /// Absent if the resolver is disabled and its module is stored.
    module: Option<Arc<Module>>,
    /// Absent if the module is stored.
    bytes: Option<Bytes>,
}

/// A resolver of a bundle that is ready to be written.
#[derive(Debug)]
pub struct ReadyResolver {
    /// With its secrets.
    pub manifest: Manifest,
    /// Whether its secrets are other ones than those that are stored.
    pub secrets_change: bool,
    pub enabled: bool,
    pub record: ModuleRecord,
    /// Absent if the tenant stores the module.
    pub(super) module: Option<Bytes>,
    /// Absent if the resolver is disabled.
    pub(super) binding: Option<Binding>,
}

/// Finds the modules of the resolvers: those that the tenant stores, and those that the bundle brings.
///
/// # Errors
/// A module is neither stored nor sent, or is refused, or it is not in memory before `ready_by`.
pub(super) async fn find_modules(
    app: &App,
    tenant: &str,
    wanted: &[WantedResolver],
    ready_by: Instant,
) -> Result<Vec<FoundModule>, OperationError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let stored = app.read(tenant, async |tx| resolvers::list(tx).await).await?;
    let mut found = Vec::with_capacity(wanted.len());
    for (index, wanted) in wanted.iter().enumerate() {
        let of_digest = stored.iter().filter(|one| one.module.sha256 == wanted.sha256);
        let namespace = &wanted.manifest.namespace;
        // `false` comes first: the resolver of this namespace, and else any that has the module.
        let holder = of_digest.min_by_key(|one| one.manifest.namespace != *namespace);
        let module = match holder {
            Some(holder) => stored_one(app, tenant, holder, wanted.enabled, ready_by).await,
            None => sent_one(app, tenant, wanted, ready_by).await,
        };
        found.push(module.map_err(|error| under(error, &place(index)))?);
    }
    Ok(found)
}

async fn stored_one(
    app: &App,
    tenant: &str,
    holder: &StoredResolver,
    enabled: bool,
    ready_by: Instant,
) -> Result<FoundModule, OperationError> {
    let record = holder.module.clone();
    if !enabled {
        return Ok(FoundModule { record, module: None, bytes: None });
    }
    let module = stored_module(app, tenant, holder.id, ready_by).await?;
    // The resolver may have got another module since the list was read.
    if module.digest.to_string() != record.sha256 {
        return Err(replaced());
    }
    Ok(FoundModule { record, module: Some(module), bytes: None })
}

async fn sent_one(
    app: &App,
    tenant: &str,
    wanted: &WantedResolver,
    ready_by: Instant,
) -> Result<FoundModule, OperationError> {
    let Some(bytes) = wanted.module.clone().map(Bytes::from) else {
        let expected = format!(
            "the module in base64, because the tenant stores none with the SHA-256 `{}`",
            wanted.sha256
        );
        return Err(Invalid::expected("/module", expected).into());
    };
    let module = admit(app, tenant, bytes.clone(), ready_by).await?;
    let record = module_record(&module);
    Ok(FoundModule { record, module: Some(module), bytes: Some(bytes) })
}

/// Makes the resolvers ready: merges the stored secrets, and binds the modules.
///
/// # Errors
/// A namespace is the operator's, a manifest does not fit its module or its secrets, or the store failed.
pub(super) async fn make_ready(
    app: &App,
    tx: &mut Tx,
    state: &TenantContent,
    wanted: &[WantedResolver],
    found: &[FoundModule],
) -> Result<Vec<ReadyResolver>, OperationError> {
    let stored: HashSet<&str> = state.resolvers.iter().map(|one| &*one.module.sha256).collect();
    let mut ready = Vec::with_capacity(wanted.len());
    for (index, (wanted, found)) in wanted.iter().zip(found.iter().cloned()).enumerate() {
        // The resolver that had the module may be gone since `find_modules` saw it.
        if found.bytes.is_none() && !stored.contains(&*found.record.sha256) {
            return Err(replaced());
        }
        let at = place(index);
        let namespace = &wanted.manifest.namespace;
        let old = state.resolvers.iter().find(|one| one.manifest.namespace == *namespace);
        if old.is_none() {
            must_be_free(namespace, compiled(&state.types).relations())?;
        }
        let merged = match old {
            None if is_of_operator(app, namespace) => Err(taken(namespace)),
            None => new_manifest(wanted),
            Some(old) => merged(app, tx, old, wanted).await,
        };
        let (manifest, secrets_change) = merged.map_err(|error| under(error, &at))?;
        let module = found.module.filter(|_| wanted.enabled);
        let binding =
            module.map(|module| bind(app, tx.tenant(), module, &manifest, &at)).transpose()?;
        ready.push(ReadyResolver {
            manifest,
            secrets_change,
            enabled: wanted.enabled,
            record: found.record,
            module: found.bytes,
            binding,
        });
    }
    Ok(ready)
}

fn new_manifest(wanted: &WantedResolver) -> Result<(Manifest, bool), OperationError> {
    if wanted.secrets == SentSecrets::Kept {
        let expected =
            "a value for each secret, because the tenant has no resolver of this namespace";
        return Err(Invalid::expected("/secrets", expected).into());
    }
    Ok((wanted.manifest.clone(), false))
}

/// Returns the manifest of a resolver that exists, and whether its secrets change.
async fn merged(
    app: &App,
    tx: &mut Tx,
    old: &StoredResolver,
    wanted: &WantedResolver,
) -> Result<(Manifest, bool), OperationError> {
    let encrypted = resolvers::secrets(tx, old.id).await?.unwrap_or_default();
    let stored = old.manifest.clone();
    let is_kept = wanted.secrets == SentSecrets::Kept;
    let old_secrets = stored_secrets(app, old, &encrypted, is_kept)?;
    if is_kept && wanted.manifest.without_secrets().secrets != stored.secrets {
        let expected = "the names of the secrets that are stored, or a value for each secret";
        return Err(Invalid::expected("/secrets", expected).into());
    }
    let before = old_secrets.clone().unwrap_or_else(|| stored.secrets.unread());
    let manifest = wanted.update().applied_to(stored.with_secrets(before))?;
    // Secrets that cannot be decrypted count as other ones.
    let secrets_change = old_secrets.as_ref() != Some(&manifest.secrets);
    Ok((manifest, secrets_change))
}

/// Returns the JSON pointer of a resolver of the bundle.
fn place(index: usize) -> String {
    format!("/bundle/resolvers/{index}")
}

/// Returns the error with the place of the resolver before the places in it.
fn under(error: OperationError, at: &str) -> OperationError {
    match error {
        OperationError::Invalid(invalid) => invalid.under(at).into(),
        other => other,
    }
}

fn replaced() -> OperationError {
    let what = "another request replaced a module that the bundle names; try again";
    OperationError::Conflict(what.to_owned())
}
