//! The rules of the sides of a replay.

use std::collections::HashSet;
use std::sync::Arc;

use portcullis_auth::Manager;
use portcullis_bundle::BundleDocument;
use portcullis_replay::Side;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::plan_records;

use super::ReplayCandidate;
use crate::apply::{PlanContext, Writes, after, plan};
use crate::content_at::content_at;
use crate::drafts;
use crate::recorded_sides::side;
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
        let mut tx = app.store.read(caller.tenant()).await?;
        let side = match candidate {
            ReplayCandidate::Draft(name) => side(&drafts::candidate(app, &mut tx, &name).await?),
            ReplayCandidate::Revision(revision) => {
                let content = content_at(&mut tx, revision).await?;
                side(&content)
            }
            ReplayCandidate::Bundle(bundle) => {
                let state = TenantContent::load(&mut tx).await?;
                // Records have the answers of resolvers; webhooks and cases decide nothing.
                let (resolvers, webhooks, cases) = (None, None, None);
                let bundle = BundleDocument { resolvers, webhooks, cases, users: None, ..*bundle };
                with_bundle(app, caller, &state, &bundle)?
            }
        };
        tx.end().await?;
        Ok(Self(Arc::new(side)))
    }
}

/// Returns the rules of a tenant after a bundle takes the place of the kinds that it names.
fn with_bundle(
    app: &App,
    caller: &Manager,
    state: &TenantContent,
    bundle: &BundleDocument,
) -> Result<Side, OperationError> {
    let context = PlanContext {
        tenant: caller.tenant(),
        owner: None,
        prune: true,
        force: true,
        domain: caller.domain(),
        by: &app.authored_by(caller.actor()),
        ids: &app.ids,
        resolvers: &[],
        operator: &app.resolvers.operator_resolvers(),
        changed_secrets: &HashSet::new(),
    };
    let plan = plan(state, bundle, &context)?;
    let Writes { rules, policies, roles, types, .. } = &plan.writes;
    let (rules, policies) = (
        after(&state.rules, rules, |rule| rule.id),
        after(&state.policies, policies, |policy| policy.id),
    );
    let (roles, types) = (
        after(&state.roles, roles, |role| &*role.name),
        after(&state.types, types, |record| &*record.kind),
    );
    Ok(side(&TenantContent {
        rules: rules.into_iter().cloned().collect(),
        policies: policies.into_iter().cloned().collect(),
        roles: roles.into_iter().cloned().collect(),
        types: types.into_iter().cloned().collect(),
        resolvers: state.resolvers.clone(),
        settings: bundle.settings.clone().unwrap_or_else(|| state.settings.clone()),
        ..TenantContent::default()
    }))
}

/// Returns whether the tenant ever had an entity.
pub(super) async fn has_directory(app: &App, tenant: &str) -> Result<bool, OperationError> {
    let mut tx = app.store.read(tenant).await?;
    let facts = plan_records::facts(&mut tx).await?;
    tx.end().await?;
    Ok(facts.directory.is_some())
}
