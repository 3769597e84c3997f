//! Plans of earlier revisions, for questions about the past (`docs/semantics.md`, section 16.5).

use std::collections::BTreeSet;
use std::sync::Arc;

use portcullis_bundle::Rulebook;
use portcullis_engine::resource::split_resource;
use portcullis_engine::{ResourcePattern, TenantFacts};
use portcullis_fairness::Turn;
use portcullis_model::page::{Listed, Page};
use portcullis_model::resource::ResourceRecord;
use portcullis_plan_cache::CachedPlan;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::plan_records;
use portcullis_storage::verbs::VerbChunk;

use crate::content::content_at::content_at;
use crate::content::content_rulebook::rulebook;
use crate::content::tenant_content::TenantContent;

/// The content of a tenant at an earlier revision, and the plans that it makes. Entities and the tuples and types of
/// relations are the present ones, and so are the resolvers, except which of them there were.
#[derive(Debug)]
pub(crate) struct PastRules<'a> {
    app: &'a App,
    tenant: &'a str,
    content: Arc<TenantContent>,
    rules: Arc<Rulebook>,
    /// The content takes memory, as an upload does.
    _turn: Turn,
}

impl<'a> PastRules<'a> {
    /// Reads the content of `tenant` at `revision`, if a question names one.
    ///
    /// # Errors
    /// The same as [`Self::load`].
    pub(crate) async fn read(
        app: &'a App,
        tenant: &'a str,
        revision: Option<u64>,
    ) -> Result<Option<Self>, OperationError> {
        match revision {
            Some(revision) => Self::load(app, tenant, revision).await.map(Some),
            None => Ok(None),
        }
    }

    /// Reads the content of `tenant` at `revision`.
    ///
    /// # Errors
    /// The revision is not kept, too many requests of the tenant wait for this much memory, or the store failed.
    pub(crate) async fn load(
        app: &'a App,
        tenant: &'a str,
        revision: u64,
    ) -> Result<Self, OperationError> {
        let turn = app.uploads.begin(tenant).await?;
        let mut tx = app.store.begin_read(tenant).await?;
        let present = plan_records::facts(&mut tx).await?;
        let content = content_at(&mut tx, revision).await?;
        tx.end().await?;
        let compiled = app.compilations.run(tenant, move || {
            let rules = rulebook(&content, present.directory.is_some());
            // Tuples are the present ones, and mean what the present types say.
            let relations = rules.facts().relations.as_ref().and(present.relations);
            let facts = TenantFacts { relations, ..(**rules.facts()).clone() };
            // A resolver that is deleted since gives no answers.
            let resolvers = content.resolvers.iter().filter_map(|one| {
                let namespace = &one.manifest.namespace;
                Some((namespace.clone(), *present.resolvers.get(namespace)?))
            });
            let rules = rules.with_facts(facts).with_resolvers(resolvers.collect());
            (Arc::new(content), Arc::new(rules))
        });
        let (content, rules) = compiled.await?;
        Ok(Self { app, tenant, content, rules, _turn: turn })
    }

    /// Returns the revision.
    pub(crate) fn revision(&self) -> u64 {
        self.content.revision
    }

    /// Returns the plan that decided `resource`.
    ///
    /// # Errors
    /// Too many requests of the tenant wait for a turn to compile.
    pub(crate) async fn plan(&self, resource: &str) -> Result<Arc<CachedPlan>, OperationError> {
        let (rules, revision) = (Arc::clone(&self.rules), self.revision());
        let resource = resource.to_owned();
        let compiled = self.app.compilations.run(self.tenant, move || {
            Arc::new(CachedPlan::from_past(rules.plan(&resource).renamed(&resource, revision)))
        });
        compiled.await
    }

    /// Returns a page of the resources that were registered, by id.
    pub(crate) fn resources(&self, page: Page) -> Listed<ResourceRecord> {
        let after = self.content.resources.iter().filter(|one| one.id > page.after);
        let mut records: Vec<&ResourceRecord> = after.collect();
        records.sort_unstable_by_key(|one| one.id);
        let limit = usize::try_from(page.limit).unwrap_or_default();
        let more = records.len() > limit;
        Listed { records: records.into_iter().take(limit).cloned().collect(), more }
    }

    /// Returns the verbs of the type `name` after `after` that resources, rules or enabled policies named, in order.
    pub(crate) fn verbs(&self, name: &str, after: &str) -> VerbChunk {
        let content = &self.content;
        let enabled = content.policies.iter().filter(|policy| policy.enabled);
        let patterns = content.rules.iter().map(|rule| &rule.tuple.obj);
        let patterns = patterns.chain(enabled.map(|policy| &policy.resource));
        let exact = patterns.filter_map(|pattern| match pattern {
            ResourcePattern::Exact(name) => Some(&**name),
            ResourcePattern::Any | ResourcePattern::Name(_) => None,
        });
        let registered = content.resources.iter().map(|one| &*one.registration.name);
        let named = registered.chain(exact).filter_map(split_resource);
        let named = named.filter(|(of, _)| *of == name).map(|(_, verb)| verb);
        // A rule for every verb names those that it means by its action.
        let tuples = content.rules.iter().map(|rule| &rule.tuple);
        let of_every_verb = tuples.filter(|tuple| match &tuple.obj {
            ResourcePattern::Any => true,
            ResourcePattern::Name(of) => of == name,
            ResourcePattern::Exact(_) => false,
        });
        let verbs = named.chain(of_every_verb.map(|tuple| &*tuple.act));
        let verbs: BTreeSet<&str> = verbs.filter(|verb| *verb != "*" && *verb > after).collect();
        VerbChunk { verbs: verbs.into_iter().map(str::to_owned).collect(), next: None }
    }
}
