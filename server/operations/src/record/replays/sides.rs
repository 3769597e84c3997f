//! The rules of the sides of a replay.

use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_bundle::BundleDocument;
use portcullis_replay::Side;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::plan_records;

use super::ReplayCandidate;
use crate::apply::{ApplyRequest, BundleOrigin, BundleReach, with_kinds};
use crate::content::content_at::content_at;
use crate::content::tenant_content::TenantContent;
use crate::drafts;
use crate::record::recorded_sides::compiled_side;

/// The source of the rules of a candidate. A replay that waits has no compiled rules.
#[derive(Debug)]
pub(super) enum CandidateSource {
    Draft(String),
    Revision(u64),
    /// A bundle, which takes the place of what it reaches.
    Bundle(Arc<(BundleOrigin, BundleDocument)>),
}

impl CandidateSource {
    pub(super) fn new(caller: &Manager, candidate: ReplayCandidate) -> Self {
        let (bundle, reach) = match candidate {
            ReplayCandidate::Draft(name) => return Self::Draft(name),
            ReplayCandidate::Revision(revision) => return Self::Revision(revision),
            ReplayCandidate::Bundle(bundle) => (*bundle, BundleReach::EveryOwner { prune: true }),
            ReplayCandidate::Apply(apply) => {
                let ApplyRequest { owner, prune, force, bundle, .. } = *apply;
                (bundle, BundleReach::Owner { owner, prune, force })
            }
        };
        // Records have the answers of resolvers; webhooks and cases decide nothing.
        let (resolvers, webhooks, cases) = (None, None, None);
        let bundle = BundleDocument { resolvers, webhooks, cases, users: None, ..bundle };
        let origin = BundleOrigin { reach, ..BundleOrigin::from(caller) };
        Self::Bundle(Arc::new((origin, bundle)))
    }

    /// Returns the content of `tenant` with the candidate.
    ///
    /// # Errors
    /// The candidate does not exist, or does not fit the content of the tenant.
    pub(super) async fn content(
        &self,
        app: &App,
        tenant: &str,
    ) -> Result<TenantContent, OperationError> {
        match self {
            Self::Draft(name) => drafts::candidate(app, tenant, name).await,
            Self::Revision(revision) => {
                app.read(tenant, async |tx| content_at(tx, *revision).await).await
            }
            Self::Bundle(bundle) => {
                let state = app.read(tenant, async |tx| TenantContent::load(tx).await).await?;
                let (own, bundle) = (app.clone(), Arc::clone(bundle));
                let content = app
                    .compilations
                    .run(tenant, move || with_kinds(&own, state, &bundle.0, &bundle.1));
                content.await?
            }
        }
    }

    /// Returns the rules of the candidate.
    ///
    /// # Errors
    /// As for [`CandidateSource::content`].
    pub(super) async fn side(&self, app: &App, tenant: &str) -> Result<Arc<Side>, OperationError> {
        compiled_side(app, tenant, self.content(app, tenant).await?).await
    }
}

/// Returns whether the tenant ever had an entity.
pub(super) async fn has_directory(app: &App, tenant: &str) -> Result<bool, OperationError> {
    let facts = app.read(tenant, async |tx| plan_records::facts(tx).await).await?;
    Ok(facts.directory.is_some())
}
