//! The update of a resolver: its manifest, its module, or both.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::HeaderMap;
use portcullis_resolver_host::Module;
use uuid::Uuid;

use super::{NOT_FOUND, admit, bind, is_installed, still_compiling, taken};
use crate::body::JsonBody;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::etag;
use crate::upload::{self, Incoming};
use portcullis_model::Authorship;
use portcullis_model::resolver::{ManifestUpdate, StoredResolver};
use portcullis_operations::app::App;
use portcullis_operations::error::OperationError;
use portcullis_resolvers::{DISABLED, LoadFailure, module_record, namespaces, sealing};
use portcullis_storage::{Tx, resolvers};

/// How often an update begins anew since somebody else has replaced the module in between.
const ATTEMPTS: usize = 5;

/// The body of an update.
#[derive(Debug)]
pub(crate) enum Change {
    Manifest(JsonBody, Deadline),
    Upload(Box<Incoming>),
}

impl<S: Send + Sync> FromRequest<S> for Change {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if upload::is_upload(&request) {
            Incoming::from_request(request, state).await.map(Box::new).map(Self::Upload)
        } else {
            let deadline = Deadline::of(request.extensions());
            Ok(Self::Manifest(JsonBody::from_request(request, state).await?, deadline))
        }
    }
}

impl Change {
    pub(super) async fn read(self, app: &App, tenant: &str) -> Result<Changes, ApiError> {
        match self {
            Self::Manifest(body, deadline) => {
                let update = ManifestUpdate::parse(&body.parse()?, &app.egress.rules)?;
                Ok(Changes { update, module: None, at: "", deadline })
            }
            Self::Upload(upload) => {
                let deadline = upload.deadline;
                let upload = upload.read(&app.uploads, tenant).await?;
                let update =
                    upload.manifest(|json| ManifestUpdate::parse(json, &app.egress.rules))?;
                let update = update.unwrap_or_default();
                Ok(Changes { update, module: upload.module, at: "/manifest", deadline })
            }
        }
    }
}

/// What is to change.
pub(super) struct Changes {
    update: ManifestUpdate,
    module: Option<Bytes>,
    /// Where the manifest stands in the body.
    at: &'static str,
    /// That of the request.
    deadline: Deadline,
}

impl Changes {
    /// Makes the changes, and gives the record and the tenant's revision.
    pub(super) async fn make(
        self,
        app: &App,
        tenant: &str,
        id: Uuid,
        headers: &HeaderMap,
        by: &Authorship,
    ) -> Result<(StoredResolver, u64), ApiError> {
        let mut module = None;
        if let Some(bytes) = &self.module {
            module = Some(admit(app, tenant, bytes.clone(), self.deadline).await?);
        }
        for _ in 0..ATTEMPTS {
            let made = self.attempt(app, tenant, id, headers, by, module.clone()).await;
            if let (Some(module), true) = (&module, made.is_err()) {
                app.resolvers.forget_module(&module.digest().to_string()).await;
            }
            if let Some(made) = made? {
                return Ok(made);
            }
            module = Some(self.present_module(app, tenant, id).await?);
        }
        let what = "others are replacing the module of this resolver; try again later";
        Err(OperationError::Conflict(what.to_owned()).into())
    }

    /// The module that the resolver has. In a task of its own: no `begin` may be cancelled.
    async fn present_module(
        &self,
        app: &App,
        tenant: &str,
        id: Uuid,
    ) -> Result<Arc<Module>, ApiError> {
        let (app, tenant) = (app.clone(), tenant.to_owned());
        let found =
            tokio::spawn(async move { app.resolvers.module_of_resolver(&tenant, id).await });
        let found = self.deadline.bound(found).await.ok_or_else(still_compiling)?;
        let found = found.map_err(|error| OperationError::Internal(error.into()))??;
        Ok(found.ok_or(NOT_FOUND)?)
    }

    /// Makes the changes with this module, which is a new one or the resolver's; `None` if it is neither, or missing
    /// where it is needed. A resolver that is disabled needs none: what is broken can be switched off, and mended.
    async fn attempt(
        &self,
        app: &App,
        tenant: &str,
        id: Uuid,
        headers: &HeaderMap,
        by: &Authorship,
        module: Option<Arc<Module>>,
    ) -> Result<Option<(StoredResolver, u64)>, ApiError> {
        let mut tx = app.store.write(tenant, by.at.millis()).await?;
        let old = resolvers::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
        etag::check(headers, &old)?;
        let enabled = self.update.enabled.unwrap_or(old.enabled);
        let about = module.as_deref().map_or_else(|| old.module.clone(), module_record);
        let is_stale = self.module.is_none() && about.sha256 != old.module.sha256;
        if is_stale || (enabled && module.is_none()) {
            return Ok(None);
        }
        let sealed = resolvers::secrets(&mut tx, id).await?.ok_or(NOT_FOUND)?;
        let known = sealing::open(&app.keys, &old, &sealed);
        let is_known = known.is_ok();
        let stay_unread = self.update.secrets.is_none() && !is_known;
        let manifest = match known {
            Err(error) if stay_unread && enabled => return Err(LoadFailure::from(error).into()),
            Err(_) => old.manifest.clone().with_secrets(old.manifest.secrets.unread()),
            Ok(secrets) => old.manifest.clone().with_secrets(secrets),
        };
        let old_secrets = manifest.secrets.clone();
        let applied = self.update.clone().applied_to(manifest);
        let manifest = applied.map_err(|invalid| invalid.under(self.at))?;
        let bind = |module| bind(app, tenant, module, &manifest, self.at);
        let bound = module.filter(|_| enabled).map(bind).transpose()?;
        let mut new = StoredResolver {
            manifest: manifest.without_secrets(),
            enabled,
            module: about,
            ..old.clone()
        };
        if new == old && manifest.secrets == old_secrets && (stay_unread || is_known) {
            return Ok(Some((new, app.commit(tx).await?)));
        }
        new.version += 1;
        new.updated_by = Some(by.actor.clone());
        new.updated_at = Some(by.at);
        self.must_fit(app, &mut tx, &old, &new).await?;
        let secrets = match stay_unread {
            true => sealed,
            false => sealing::seal(&app.keys, &new, &manifest.secrets)?,
        };
        let module = self.module.as_deref();
        if !resolvers::update(&mut tx, &new, &secrets, module).await? {
            return Err(taken(&new.manifest.namespace));
        }
        let revision = app.commit(tx).await?;
        match bound {
            Some(bound) => app.resolvers.put(tenant, new.reference(), bound),
            None => app.resolvers.suspend(tenant, new.reference(), DISABLED),
        }
        if new.module.sha256 != old.module.sha256 {
            app.resolvers.forget_module(&old.module.sha256).await;
        }
        Ok(Some((new, revision)))
    }

    /// Refuses a namespace that is the operator's, and what would take from enabled policies what they read.
    async fn must_fit(
        &self,
        app: &App,
        tx: &mut Tx,
        old: &StoredResolver,
        new: &StoredResolver,
    ) -> Result<(), ApiError> {
        let (before, after) = (&old.manifest.namespace, &new.manifest.namespace);
        if before != after && is_installed(app, after) {
            return Err(taken(after));
        }
        let readers = namespaces::readers_without(tx, old, new).await?;
        if readers.is_empty() {
            return Ok(());
        }
        let what = format!(
            "enabled policies read attributes of `{before}` that would be gone, or of another kind"
        );
        Err(OperationError::StillRead(what, readers).into())
    }
}
