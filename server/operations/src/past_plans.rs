//! Plans of earlier revisions, for questions about the past (`docs/semantics.md`, section 16.5).

use std::sync::Arc;

use portcullis_engine::TenantFacts;
use portcullis_plan_cache::CachedPlan;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::plan_records;

use crate::content_at::content_at;
use crate::content_rulebook::rulebook;

/// Returns the plan that decided `resource` in `tenant` at `revision`. Entities and the tuples and types of relations are the
/// present ones, and so are the resolvers, except which of them there were.
///
/// # Errors
/// The revision is not kept, too many requests of the tenant wait for this much memory, or the store failed.
pub(crate) async fn past_plan(
    app: &App,
    tenant: &str,
    revision: u64,
    resource: &str,
) -> Result<Arc<CachedPlan>, OperationError> {
    let _turn = app.uploads.begin(tenant).await?;
    let mut tx = app.store.read(tenant).await?;
    let present = plan_records::facts(&mut tx).await?;
    let content = content_at(&mut tx, revision).await?;
    tx.end().await?;
    let resource = resource.to_owned();
    let compile = move || {
        let rules = rulebook(&content, present.directory.is_some());
        let relations = rules.facts().relations.as_ref().and(present.relations);
        let facts = TenantFacts { relations, ..(**rules.facts()).clone() };
        let namespaces = content.resolvers.iter().map(|one| &one.manifest.namespace);
        let known =
            |namespace: &String| Some((namespace.clone(), *present.resolvers.get(namespace)?));
        let rules = rules.with_facts(facts).with_resolvers(namespaces.filter_map(known).collect());
        CachedPlan::of_past(rules.plan(&resource).renamed(&resource, revision))
    };
    Ok(Arc::new(app.compilations.run(tenant, compile).await?))
}
