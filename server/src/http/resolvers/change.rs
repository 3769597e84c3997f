//! The update of a resolver: its manifest, its module, or both.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::HeaderMap;
use portcullis_engine::resolver::Module;
use uuid::Uuid;

use super::{NOT_FOUND, admit, bind, is_installed, taken};
use crate::app::App;
use crate::error::ApiError;
use crate::http::body::JsonBody;
use crate::http::etag;
use crate::http::upload::{self, Upload};
use crate::model::Authorship;
use crate::model::resolver::{ManifestUpdate, ModuleRecord, StoredResolver};
use crate::resolvers::{DISABLED, namespaces, sealing};
use crate::storage::{Tx, resolvers};

/// How often an update begins anew since somebody else has replaced the module in between.
const ATTEMPTS: usize = 5;

/// The body of an update.
#[derive(Debug)]
pub(in crate::http) enum Change {
    Manifest(JsonBody),
    Upload(Upload),
}

impl<S: Send + Sync> FromRequest<S> for Change {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if upload::is_upload(&request) {
            Upload::from_request(request, state).await.map(Self::Upload)
        } else {
            JsonBody::from_request(request, state).await.map(Self::Manifest)
        }
    }
}

impl Change {
    pub(super) fn read(self, app: &App) -> Result<Changes, ApiError> {
        match self {
            Self::Manifest(body) => {
                let update = ManifestUpdate::parse(&body.parse()?, &app.egress)?;
                Ok(Changes { update, module: None, at: "" })
            }
            Self::Upload(upload) => {
                let update = upload.manifest(|json| ManifestUpdate::parse(json, &app.egress))?;
                let update = update.unwrap_or_default();
                Ok(Changes { update, module: upload.module, at: "/manifest" })
            }
        }
    }
}

/// What is to change.
#[derive(Debug)]
pub(super) struct Changes {
    update: ManifestUpdate,
    module: Option<Bytes>,
    /// Where the manifest stands in the body.
    at: &'static str,
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
        if let Some(bytes) = &self.module {
            let module = admit(app, bytes.clone()).await?;
            let made = self.attempt(app, tenant, id, headers, by, module).await?;
            return made.ok_or(NOT_FOUND);
        }
        for _ in 0..ATTEMPTS {
            let module = app.module_of_resolver(tenant, id).await?.ok_or(NOT_FOUND)?;
            if let Some(made) = self.attempt(app, tenant, id, headers, by, module).await? {
                return Ok(made);
            }
        }
        let what = "others are replacing the module of this resolver; try again later";
        Err(ApiError::Conflict(what.to_owned()))
    }

    /// Makes the changes with this module; `None` if it is neither a new one nor the resolver's any more.
    async fn attempt(
        &self,
        app: &App,
        tenant: &str,
        id: Uuid,
        headers: &HeaderMap,
        by: &Authorship,
        module: Arc<Module>,
    ) -> Result<Option<(StoredResolver, u64)>, ApiError> {
        let mut tx = app.store.write(tenant, by.at.millis()).await?;
        let old = resolvers::find(&mut tx, id).await?.ok_or(NOT_FOUND)?;
        etag::check(headers, &old)?;
        let about = ModuleRecord::of(&module);
        if self.module.is_none() && about.sha256 != old.module.sha256 {
            return Ok(None);
        }
        let sealed = resolvers::secrets(&mut tx, id).await?.ok_or(NOT_FOUND)?;
        let manifest = old.manifest.clone().with_secrets(sealing::open(&app.keys, &old, &sealed)?);
        let old_secrets = manifest.secrets.clone();
        let applied = self.update.clone().applied_to(manifest);
        let manifest = applied.map_err(|invalid| invalid.under(self.at))?;
        let bound = bind(app, module, &manifest, self.at)?;
        let mut new = StoredResolver {
            manifest: manifest.without_secrets(),
            enabled: self.update.enabled.unwrap_or(old.enabled),
            module: about,
            ..old.clone()
        };
        if new == old && manifest.secrets == old_secrets {
            return Ok(Some((new, app.commit(tx).await?)));
        }
        new.version += 1;
        new.updated_by = Some(by.actor.clone());
        new.updated_at = Some(by.at);
        self.must_fit(app, &mut tx, &old, &new).await?;
        let secrets = sealing::seal(&app.keys, &new, &manifest.secrets)?;
        let module = self.module.as_deref();
        if !resolvers::update(&mut tx, &new, &secrets, module).await? {
            return Err(taken(&new.manifest.namespace));
        }
        let revision = app.commit(tx).await?;
        if new.enabled {
            app.resolvers.put(tenant, new.reference(), bound);
        } else {
            app.resolvers.suspend(tenant, new.reference(), DISABLED);
        }
        if new.module.sha256 != old.module.sha256 {
            app.forget_module(&old.module.sha256).await;
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
        Err(ApiError::StillRead(what, readers))
    }
}
