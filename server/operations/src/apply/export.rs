//! The content of a tenant as a bundle (`docs/semantics.md`, section 10.7).

use portcullis_auth::Manager;
use portcullis_model::settings::TenantSettings;
use serde::Serialize;
use serde_json::value::RawValue;

use super::content::{self, Content};
use super::diff_rules::key;
use super::state::TenantContent;
use crate::app::App;
use crate::error::OperationError;
use portcullis_model::rule::RuleOrigin;

/// The content of a tenant, and its revision.
#[derive(Debug, Serialize)]
pub struct Export {
    pub revision: u64,
    pub bundle: ExportedBundle,
}

/// The content of a tenant as a bundle: each list is sorted by the identity of its objects.
#[derive(Debug, Serialize)]
pub struct ExportedBundle {
    resources: Vec<Content>,
    rules: Vec<Content>,
    policies: Vec<Content>,
    resolvers: Vec<Content>,
    webhooks: Vec<Content>,
    settings: TenantSettings,
    cases: Vec<Box<RawValue>>,
    users: Vec<Box<RawValue>>,
}

/// Returns the content of the caller's tenant; with `owner` only the objects of this owner.
///
/// # Errors
/// The tenant has too much content, or the store failed.
pub async fn export(
    app: &App,
    caller: &Manager,
    owner: Option<&str>,
) -> Result<Export, OperationError> {
    let mut tx = app.store.read(caller.tenant()).await?;
    let state = TenantContent::load(&mut tx).await?;
    tx.end().await?;
    let revision = state.revision;
    Ok(Export { revision, bundle: bundle(state, owner, caller.domain()) })
}

fn bundle(mut state: TenantContent, owner: Option<&str>, domain: &str) -> ExportedBundle {
    let is_selected =
        |managed_by: &Option<String>| owner.is_none() || managed_by.as_deref() == owner;
    state.resources.retain(|one| is_selected(&one.managed_by));
    state.resources.sort_unstable_by(|a, b| a.registration.name.cmp(&b.registration.name));
    let is_explicit = |origin: RuleOrigin| origin == RuleOrigin::Explicit;
    state.rules.retain(|one| is_explicit(one.origin) && is_selected(&one.managed_by));
    state.rules.sort_by_cached_key(|rule| key(&rule.tuple));
    state.policies.retain(|one| is_selected(&one.managed_by));
    // Stable: the oldest of a name comes first.
    state.policies.sort_by(|a, b| a.name.cmp(&b.name));
    state.resolvers.retain(|one| is_selected(&one.managed_by));
    state.resolvers.sort_by(|a, b| a.manifest.namespace.cmp(&b.manifest.namespace));
    state.webhooks.retain(|one| is_selected(&one.managed_by));
    state.webhooks.sort_by(|a, b| a.url.cmp(&b.url));
    let raw = |text: String| RawValue::from_string(text).ok();
    ExportedBundle {
        resources: state
            .resources
            .iter()
            .map(|one| content::of_resource(&one.registration))
            .collect(),
        rules: state.rules.iter().map(|rule| content::of_rule(rule, domain)).collect(),
        policies: state.policies.iter().map(content::of_policy).collect(),
        resolvers: state.resolvers.iter().map(content::of_resolver).collect(),
        webhooks: state.webhooks.iter().map(content::of_webhook).collect(),
        settings: state.settings,
        cases: state.guards.case_texts.into_iter().filter_map(raw).collect(),
        users: state.guards.user_texts.into_iter().filter_map(raw).collect(),
    }
}
