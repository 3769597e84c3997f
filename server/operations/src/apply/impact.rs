//! The decisions that an apply changes (`docs/semantics.md`, section 2.13).

use std::time::Duration;

use portcullis_bundle::Rulebook;
use portcullis_bundle::matrix::{DecisionSet, impact};
use portcullis_model::apply::ImpactReport;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::searches::Awaited;
use tokio::time::Instant;

use super::after::after;
use super::guards::rulebook;
use super::plan::ApplyPlan;
use super::writes::Writes;
use crate::content::tenant_content::TenantContent;

/// The longest time of one comparison. A resource that began is compared.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Returns the decisions of roles that differ before and after the plan. It takes long, so it takes the turn of a search, and
/// ends when its time is over or nobody waits for it.
///
/// # Errors
/// Too many searches of the tenant wait.
pub(super) async fn report(
    app: &App,
    tenant: &str,
    state: &TenantContent,
    plan: &ApplyPlan,
) -> Result<ImpactReport, OperationError> {
    let before = Content::new(state, &Writes::default());
    let after = Content::new(state, &plan.writes);
    let compared = app.searches.run(tenant, async move |awaited: Awaited| {
        // The time begins with the turn, not with the wait for it.
        let until = Instant::now() + MAX_TIME;
        Ok(impact(&before.set(), &after.set(), || awaited.is_until(until)))
    });
    compared.await
}

/// The part of a tenant's content that decides.
struct Content {
    rulebook: Rulebook,
    resources: Vec<String>,
}

impl Content {
    fn new(state: &TenantContent, writes: &Writes) -> Self {
        let resources = after(&state.resources, &writes.resources);
        let names = resources.into_iter().map(|record| record.registration.name.clone());
        let resources = names.collect();
        Self { rulebook: rulebook(state, writes), resources }
    }

    fn set(&self) -> DecisionSet<'_> {
        let names = self.resources.iter().map(|name| &**name);
        DecisionSet::new(&self.rulebook, names)
    }
}
