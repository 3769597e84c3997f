//! The operator on the command line.

use anyhow::bail;
use portcullis_config::{Variables, open_existing_database, open_or_create_database};
use portcullis_model::Authorship;
use portcullis_model::audit::{ADMIN_ACTOR, CredentialKind, Origin};
use portcullis_model::clock::Clock;
use portcullis_operations::tenants;
use portcullis_storage::Store;

/// The database of a command, and the operator: whoever reaches the database is the operator.
pub(crate) struct OfflineOperator {
    pub(crate) store: Store,
    pub(crate) origin: Origin,
    pub(crate) by: Authorship,
    is_saas: bool,
    /// The only tenant that the service serves (`SINGLE_TENANT`).
    only_tenant: Option<String>,
}

impl OfflineOperator {
    /// Opens the database that the variables name. The database must exist: a new one has nothing that a command can list or
    /// change, and its file would hide that `DATABASE_URL` names another one. It must have the schema of this version: a command
    /// that migrates it would take away the way back to the version before.
    pub(crate) async fn open(variables: &Variables) -> anyhow::Result<Self> {
        Self::open_or_create(variables, false).await
    }

    /// Opens the database that the variables name, as [`Self::open`] does. A missing one is created if `creates` is true.
    pub(crate) async fn open_or_create(
        variables: &Variables,
        creates: bool,
    ) -> anyhow::Result<Self> {
        let url = variables.database_url()?;
        let is_saas = variables.is_saas()?;
        let only_tenant = variables.only_tenant()?;
        let store = match creates {
            // Only a command that creates something may make a database that does not exist.
            true => open_or_create_database(&url).await?,
            false => open_existing_database(&url).await?,
        };
        let by = Authorship { actor: ADMIN_ACTOR.to_owned(), at: Clock::system().now().into() };
        let origin = Origin::new(ADMIN_ACTOR, CredentialKind::CommandLine);
        Ok(Self { store, origin, by, is_saas, only_tenant })
    }

    /// Returns whether a tenant begins to exist with its first write, as in `selfhost` mode.
    pub(crate) fn creates_tenants(&self) -> bool {
        !self.is_saas
    }

    /// Returns the one domain of the keys of `tenant`: in `selfhost` mode, where a domain is a tenant, its own. `None` if a
    /// key may have any domain.
    pub(crate) fn key_domain<'t>(&self, tenant: &'t str) -> Option<&'t str> {
        (!self.is_saas && !self.has_one_tenant()).then_some(tenant)
    }

    /// Returns whether the service has only one tenant.
    pub(crate) fn has_one_tenant(&self) -> bool {
        self.only_tenant.is_some()
    }

    /// Refuses a tenant whose keys the service refuses: with `SINGLE_TENANT`, each but that one.
    pub(crate) fn must_serve(&self, tenant: &str) -> anyhow::Result<()> {
        match &self.only_tenant {
            Some(only) if only != tenant => {
                bail!(
                    "expected `{only}`, the only tenant of the service (SINGLE_TENANT), not `{tenant}`"
                )
            }
            _ => Ok(()),
        }
    }

    /// Returns the id of the tenant that a user names by its id, or in `saas` mode by its slug.
    ///
    /// # Errors
    /// There is no such tenant: the name may be mistyped.
    pub(crate) async fn tenant(&self, name: &str) -> anyhow::Result<String> {
        if let Some(found) = tenants::find(&self.store, name).await? {
            return Ok(found.id);
        }
        self.must_be_free(name).await?;
        bail!("there is no tenant `{name}`")
    }

    /// Refuses the id of a tenant that was deleted, until another one may have it.
    pub(crate) async fn must_be_free(&self, id: &str) -> anyhow::Result<()> {
        match tenants::forgotten_at(&self.store, id).await? {
            Some(at) => bail!(
                "the tenant `{id}` is deleted; its name is free again from {at} on, when a running service has removed the \
                 last of it"
            ),
            None => Ok(()),
        }
    }
}
