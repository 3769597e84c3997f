//! The content that the operator keeps in files, as `portcullis dev` does.

use std::collections::HashSet;

use portcullis_bundle::BundleDocument;
use portcullis_model::Authorship;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use tokio::time::Instant;

use super::execute::execute;
use super::execution::Execution;
use super::guards::GuardWrites;
use super::judged_plan::activate;
use super::plan::{ApplyPlan, PlanContext, plan};
use super::ready::{find_modules, make_ready};
use crate::content::tenant_content::TenantContent;

/// Replaces the content of `tenant` with the content of `bundle`, whoever owns it, and returns the plan of it. No gate
/// of the tenant binds the operator. Rules without a domain are in the domain `tenant`.
///
/// Modules must be in memory before `ready_by`.
///
/// # Errors
/// A resolver is refused, the policies do not fit the resolvers, or the store failed. Then nothing is written.
pub async fn apply_as_operator(
    app: &App,
    tenant: &str,
    bundle: &BundleDocument,
    by: &Authorship,
    ready_by: Instant,
) -> Result<ApplyPlan, OperationError> {
    let wanted = bundle.resolvers.as_deref().unwrap_or_default();
    // Before the transaction, because the admission of a module takes seconds.
    let found = find_modules(app, tenant, wanted, ready_by).await?;
    let mut tx = app.store.write(tenant, by.at.millis()).await?;
    let state = TenantContent::load(&mut tx).await?;
    let ready = make_ready(app, &mut tx, &state, wanted, &found).await?;
    let context = PlanContext {
        tenant,
        owner: None,
        prune: true,
        force: true,
        domain: tenant,
        by,
        ids: &app.ids,
        resolvers: &ready,
        operator: &app.resolvers.operator_resolvers(),
        changed_secrets: &HashSet::new(),
    };
    let mut plan = plan(&state, bundle, &context)?;
    let guards = GuardWrites::new(bundle, &state, tenant)?;
    guards.add_to(&mut plan, &state);
    if plan.changes.is_empty() {
        tx.end().await?;
        return Ok(plan);
    }
    let execution = Execution { keys: &app.keys, by, resolvers: &ready, webhooks: &[] };
    execute(&mut tx, &plan, &execution).await?;
    guards.store(&mut tx, by).await?;
    app.commit_as_operator(tx).await?;
    activate(app, tenant, &plan, ready).await;
    Ok(plan)
}

#[cfg(test)]
mod tests;
