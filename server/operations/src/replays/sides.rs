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
use crate::content_at::content_at;
use crate::drafts;
use crate::recorded_sides::compiled_side;
use crate::tenant_content::TenantContent;

/// The rules of a candidate.
#[derive(Clone, Debug)]
pub(super) struct CandidateSide(pub(super) Arc<Side>);

impl CandidateSide {
    /// Finds the rules of `candidate`.
    ///
    /// # Errors
    /// It does not exist, or does not fit the content of the tenant.
    pub(super) async fn find(
        app: &App,
        caller: &Manager,
        candidate: ReplayCandidate,
    ) -> Result<Self, OperationError> {
        let tenant = caller.tenant();
        let content = match candidate {
            ReplayCandidate::Draft(name) => drafts::candidate(app, tenant, &name).await?,
            ReplayCandidate::Revision(revision) => {
                app.read(tenant, async |tx| content_at(tx, revision).await).await?
            }
            ReplayCandidate::Bundle(bundle) => {
                with_bundle(app, caller, *bundle, BundleReach::EveryOwner { prune: true }).await?
            }
            ReplayCandidate::Apply(apply) => {
                let ApplyRequest { owner, prune, force, bundle, .. } = *apply;
                let reach = BundleReach::Owner { owner, prune, force };
                with_bundle(app, caller, bundle, reach).await?
            }
        };
        Ok(Self(compiled_side(app, tenant, content).await?))
    }
}

/// Returns the content of the tenant after a bundle takes the place of what it reaches.
async fn with_bundle(
    app: &App,
    caller: &Manager,
    bundle: BundleDocument,
    reach: BundleReach,
) -> Result<TenantContent, OperationError> {
    let state = app.read(caller.tenant(), async |tx| TenantContent::load(tx).await).await?;
    // Records have the answers of resolvers; webhooks and cases decide nothing.
    let (resolvers, webhooks, cases) = (None, None, None);
    let bundle = BundleDocument { resolvers, webhooks, cases, users: None, ..bundle };
    let (own, origin) = (app.clone(), BundleOrigin { reach, ..BundleOrigin::from(caller) });
    app.compilations.run(caller.tenant(), move || with_kinds(&own, state, &origin, &bundle)).await?
}

/// Returns whether the tenant ever had an entity.
pub(super) async fn has_directory(app: &App, tenant: &str) -> Result<bool, OperationError> {
    let facts = app.read(tenant, async |tx| plan_records::facts(tx).await).await?;
    Ok(facts.directory.is_some())
}
