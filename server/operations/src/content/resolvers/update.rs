//! The update of a resolver: its manifest, its module, or both.

use std::sync::Arc;

use bytes::Bytes;
use portcullis_auth::Manager;
use portcullis_model::resolver::{ManifestUpdate, Secrets, StoredResolver};
use portcullis_model::{Authorship, SignedRecord};
use portcullis_resolver_host::Module;
use portcullis_resolvers::{LoadFailure, module_record, namespaces, secrets};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, resolvers};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::admission::{admit, bind, still_compiling};
use super::{NOT_FOUND, is_of_operator, must_be_free, must_be_own, taken};
use crate::changes::gated_writes::GatedWrite;
use crate::changes::ownership::ChangeTerms;
use crate::changes::written::Written;
use crate::content::types::declared;

/// The number of times that an update starts again because another request replaced the module in between.
const ATTEMPTS: usize = 5;

/// The change of a resolver.
#[derive(Debug)]
pub struct ResolverChange {
    pub update: ManifestUpdate,
    /// The new module, if the module changes.
    pub module: Option<Bytes>,
    /// The JSON pointer of the manifest in the body.
    pub at: &'static str,
}

/// Updates a resolver of the caller's tenant. Calls in flight finish on the version before.
///
/// The module must be in memory before `ready_by`, as for [`super::create`].
///
/// # Errors
/// The tenant has no such resolver, the precondition fails, the module is refused or does not fit the manifest, an
/// enabled policy reads an attribute that is removed, the time is over, or the store failed.
pub async fn update(
    app: &App,
    caller: &Manager,
    id: Uuid,
    terms: &ChangeTerms,
    change: &ResolverChange,
    ready_by: Instant,
) -> Result<Written<StoredResolver>, OperationError> {
    let tenant = caller.tenant();
    must_be_own(app, tenant, id)?;
    let by = app.authored_by(caller.actor());
    let mut module = match &change.module {
        Some(bytes) => Some(admit(app, tenant, bytes.clone(), ready_by).await?),
        None => None,
    };
    let attempt = Attempt { app, caller, id, terms, change, by: &by };
    let mut write = GatedWrite::new(app, caller, &by);
    for _ in 0..ATTEMPTS {
        let made = attempt.make_judged(&mut write, module.clone()).await;
        if let (Some(module), true) = (&module, made.is_err()) {
            app.resolvers.forget_module(&module.digest.to_string()).await;
        }
        if let Some(written) = made? {
            return Ok(written);
        }
        // Outside of the transaction, because a compilation takes seconds. The resolver may get another module meanwhile.
        module = Some(stored_module(app, tenant, id, ready_by).await?);
    }
    let what = "another request is replacing the module of this resolver; try again later";
    Err(OperationError::Conflict(what.to_owned()))
}

/// Returns the module that the resolver has. It is loaded in its own task, because no `begin` may be cancelled.
pub(crate) async fn stored_module(
    app: &App,
    tenant: &str,
    id: Uuid,
    ready_by: Instant,
) -> Result<Arc<Module>, OperationError> {
    let (app, tenant) = (app.clone(), tenant.to_owned());
    let found = tokio::spawn(async move { app.resolvers.module(&tenant, id).await });
    // The task goes on after the timeout, so that a later request finds the module in memory.
    let found = timeout_at(ready_by, found).await.map_err(|_| still_compiling())?;
    let found = found.map_err(|error| OperationError::Internal(error.into()))??;
    found.ok_or(NOT_FOUND)
}

/// Returns the secrets of a resolver; `None` if they cannot be decrypted and are not needed. A resolver with such secrets can
/// be disabled, and keeps them as they are, until a change replaces them.
///
/// # Errors
/// The secrets are needed and cannot be decrypted.
pub(crate) fn stored_secrets(
    app: &App,
    stored: &StoredResolver,
    encrypted: &[u8],
    are_needed: bool,
) -> Result<Option<Secrets>, OperationError> {
    match secrets::decrypt(&app.keys, stored, encrypted) {
        Ok(secrets) => Ok(Some(secrets)),
        Err(error) if are_needed => Err(LoadFailure::from(error).into()),
        Err(_) => Ok(None),
    }
}

/// One attempt to make a change.
struct Attempt<'a> {
    app: &'a App,
    caller: &'a Manager,
    id: Uuid,
    terms: &'a ChangeTerms,
    change: &'a ResolverChange,
    by: &'a Authorship,
}

/// The end of one attempt.
enum Made {
    Written(Box<Written<StoredResolver>>),
    /// Nothing is written: the change was judged, and is to be made again.
    Judged,
    /// Nothing is written: the module is not the one of the resolver any more.
    OutdatedModule,
}

impl Made {
    /// Returns the end of an attempt whose commit returned `revision`.
    fn committed(new: StoredResolver, revision: Option<u64>) -> Self {
        revision
            .map_or(Self::Judged, |revision| Self::Written(Box::new(Written::new(new, revision))))
    }
}

impl Attempt<'_> {
    /// Makes the change with this module, which is the new one or the one of the resolver.
    ///
    /// Returns `None` if the module is neither, or if it is missing and needed. A disabled resolver needs none, so that
    /// a manager can disable a resolver that is broken, and repair it.
    async fn make_judged(
        &self,
        write: &mut GatedWrite<'_>,
        module: Option<Arc<Module>>,
    ) -> Result<Option<Written<StoredResolver>>, OperationError> {
        loop {
            match self.make(write, module.clone()).await? {
                Made::Written(written) => return Ok(Some(*written)),
                Made::OutdatedModule => return Ok(None),
                Made::Judged => {}
            }
        }
    }

    async fn make(
        &self,
        write: &mut GatedWrite<'_>,
        module: Option<Arc<Module>>,
    ) -> Result<Made, OperationError> {
        let Self { app, caller, id, change, by, .. } = self;
        let tenant = caller.tenant();
        let mut tx = write.begin().await?;
        let old = resolvers::find(&mut tx, *id).await?.ok_or(NOT_FOUND)?;
        self.terms.check(caller, Some(&old), old.managed_by.as_deref())?;
        let enabled = change.update.enabled.unwrap_or(old.enabled);
        let about = module.as_deref().map_or_else(|| old.module.clone(), module_record);
        let is_outdated = change.module.is_none() && about.sha256 != old.module.sha256;
        if is_outdated || (enabled && module.is_none()) {
            return Ok(Made::OutdatedModule);
        }
        let encrypted = resolvers::secrets(&mut tx, *id).await?.ok_or(NOT_FOUND)?;
        let replaces_secrets = change.update.secrets.is_some();
        let read = stored_secrets(app, &old, &encrypted, enabled && !replaces_secrets)?;
        let is_readable = read.is_some();
        let old_secrets = read.unwrap_or_else(|| old.manifest.secrets.unread());
        let manifest = old.manifest.clone().with_secrets(old_secrets.clone());
        let applied = change.update.clone().applied_to(manifest);
        let manifest = applied.map_err(|invalid| invalid.under(change.at))?;
        let module = module.filter(|_| enabled);
        let binding =
            module.map(|module| bind(app, tenant, module, &manifest, change.at)).transpose()?;
        let mut new = StoredResolver {
            manifest: manifest.without_secrets(),
            enabled,
            module: about,
            ..old.clone()
        };
        // Secrets that cannot be read are replaced even if the new ones have the same names.
        let repairs_secrets = replaces_secrets && !is_readable;
        if new == old && manifest.secrets == old_secrets && !repairs_secrets {
            let revision = write.commit(tx).await?;
            return Ok(Made::committed(new, revision));
        }
        new.version += 1;
        new = new.signed(by);
        self.must_fit(&mut tx, &old, &new).await?;
        let encrypted = match is_readable || replaces_secrets {
            true => secrets::encrypt(&app.keys, &new, &manifest.secrets)?,
            false => encrypted,
        };
        if !resolvers::store(&mut tx, &new, &encrypted, change.module.as_deref()).await? {
            return Err(taken(&new.manifest.namespace));
        }
        let Some(revision) = write.commit(tx).await? else { return Ok(Made::Judged) };
        // After the commit: no check uses a version that was not stored.
        match binding {
            Some(binding) => app.resolvers.activate(tenant, new.reference(), binding),
            None => app.resolvers.disable(tenant, new.reference()),
        }
        if new.module.sha256 != old.module.sha256 {
            app.resolvers.forget_module(&old.module.sha256).await;
        }
        Ok(Made::committed(new, Some(revision)))
    }

    /// Refuses the namespace of an operator resolver or of relations, and a change that removes attributes that enabled policies
    /// read.
    async fn must_fit(
        &self,
        tx: &mut Tx,
        old: &StoredResolver,
        new: &StoredResolver,
    ) -> Result<(), OperationError> {
        let (before, after) = (&old.manifest.namespace, &new.manifest.namespace);
        if before != after && is_of_operator(self.app, after) {
            return Err(taken(after));
        }
        if before != after {
            must_be_free(after, declared(tx).await?.relations())?;
        }
        let readers = namespaces::readers_without(tx, old, new).await?;
        if readers.is_empty() {
            return Ok(());
        }
        let what = format!(
            "enabled policies read attributes of `{before}` that this change removes or gives another kind"
        );
        Err(OperationError::StillRead(what, readers))
    }
}
