//! The stored content of a tenant, read whole.

use std::collections::HashMap;

use portcullis_model::policy::PolicyRecord;
use portcullis_model::resolver::StoredResolver;
use portcullis_model::resource::ResourceRecord;
use portcullis_model::role::RoleRecord;
use portcullis_model::rule::RuleRecord;
use portcullis_model::settings::TenantSettings;
use portcullis_model::types::TypeRecord;
use portcullis_model::webhook::WebhookRecord;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{
    Tx, policies, resolvers, resources, roles, rules, tenants, types, webhooks,
};

use super::bound::must_fit;
use super::stored_guards::StoredGuards;
use super::stored_settings;

/// The stored content of a tenant, each kind in order of creation.
#[derive(Debug, Default)]
pub struct TenantContent {
    pub revision: u64,
    pub resources: Vec<ResourceRecord>,
    pub rules: Vec<RuleRecord>,
    pub policies: Vec<PolicyRecord>,
    pub resolvers: Vec<StoredResolver>,
    pub webhooks: Vec<WebhookRecord>,
    /// The roles that include others, by name.
    pub roles: Vec<RoleRecord>,
    /// The declared types, by name.
    pub types: Vec<TypeRecord>,
    pub settings: TenantSettings,
    pub guards: StoredGuards,
}

impl TenantContent {
    /// Reads the content of the transaction's tenant with one statement for each kind.
    ///
    /// # Errors
    /// The content is larger than 256 MiB, or the store failed.
    pub async fn load(tx: &mut Tx) -> Result<Self, OperationError> {
        must_fit(tx).await?;
        Ok(Self {
            revision: tenants::revision(tx).await?,
            resources: resources::all(tx).await?,
            rules: rules::all(tx).await?,
            policies: policies::all(tx).await?,
            resolvers: resolvers::list(tx).await?,
            webhooks: webhooks::all(tx).await?,
            roles: roles::all(tx).await?,
            types: types::all(tx).await?,
            settings: stored_settings::settings(tx).await?,
            guards: StoredGuards::load(tx).await?,
        })
    }

    /// Returns the number of objects of `owner`, or of nobody.
    pub(crate) fn owned(&self, owner: Option<&str>) -> usize {
        let owners = (self.resources.iter().map(|record| &record.managed_by))
            .chain(self.rules.iter().map(|record| &record.managed_by))
            .chain(self.policies.iter().map(|record| &record.managed_by))
            .chain(self.resolvers.iter().map(|record| &record.managed_by))
            .chain(self.webhooks.iter().map(|record| &record.managed_by))
            .chain(self.roles.iter().map(|record| &record.managed_by))
            .chain(self.types.iter().map(|record| &record.managed_by));
        owners.filter(|known| known.as_deref() == owner).count()
    }

    /// Returns the resources by name.
    pub(crate) fn resources_by_name(&self) -> HashMap<&str, &ResourceRecord> {
        self.resources.iter().map(|one| (&*one.registration.name, one)).collect()
    }
}
