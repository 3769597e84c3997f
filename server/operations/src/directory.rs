//! The supply of checks from the directory (`docs/semantics.md`, section 12.5).

use std::sync::Arc;

use portcullis_engine::entities::EntityTable;
use portcullis_engine::{Check, DirectoryNeeds, KnownEntities, Plan, Supply};
use portcullis_runtime::app::App;
use portcullis_runtime::entity_tables::{EntitiesError, EntityTables, LoadedEntities};
use portcullis_runtime::metrics::CheckKind;

/// Returns the parts of the directory that a check of this kind by `plan` needs. The legacy check reads no attributes.
fn needs(plan: &Plan, kind: CheckKind) -> DirectoryNeeds {
    let needs = plan.directory_needs();
    match kind {
        CheckKind::Combined => needs,
        CheckKind::Legacy => DirectoryNeeds { roles: needs.roles, ..DirectoryNeeds::default() },
    }
}

/// Returns whether a check of this kind by `plan` needs the entities of the tenant.
fn needs_entities(plan: &Plan, kind: CheckKind) -> bool {
    plan.facts().is_some_and(|facts| facts.directory.is_some()) && needs(plan, kind).any()
}

/// The entities that a check needs, as far as they are known.
#[derive(Debug)]
pub enum NeededEntities {
    /// The tenant has none, or none are needed.
    Unneeded,
    /// The entities of the tenant.
    Loaded(Arc<LoadedEntities>),
}

impl NeededEntities {
    /// Returns the entities that a check of this kind by `plan` needs, if they are in memory and up to date.
    ///
    /// # Errors
    /// [`EntitiesError::TooStale`]
    pub(crate) fn ready(
        app: &App,
        tenant: &str,
        plan: &Plan,
        kind: CheckKind,
    ) -> Result<Option<Self>, EntitiesError> {
        if !needs_entities(plan, kind) {
            return Ok(Some(Self::Unneeded));
        }
        Ok(app.entities.ready(tenant)?.map(Self::Loaded))
    }

    /// Returns the entities that a check of this kind by `plan` needs. Loads them if necessary.
    ///
    /// # Errors
    /// The store failed, or the entities do not fit into memory.
    pub(crate) async fn load(
        app: &App,
        tenant: &str,
        plan: &Plan,
        kind: CheckKind,
    ) -> Result<Self, EntitiesError> {
        Self::load_for(app, tenant, std::iter::once(plan), kind).await
    }

    /// Returns the entities that checks of this kind by `plans` need. Loads them if necessary.
    ///
    /// # Errors
    /// The store failed, or the entities do not fit into memory.
    pub(crate) async fn load_for<'p>(
        app: &App,
        tenant: &str,
        plans: impl Iterator<Item = &'p Plan>,
        kind: CheckKind,
    ) -> Result<Self, EntitiesError> {
        let mut needed = Self::Unneeded;
        for plan in plans {
            needed.load_if_needed(&app.entities, tenant, plan, kind).await?;
        }
        Ok(needed)
    }

    /// Loads the entities of the tenant if a check of this kind by `plan` needs them and they are not here yet.
    ///
    /// # Errors
    /// The store failed, or the entities do not fit into memory.
    pub(crate) async fn load_if_needed(
        &mut self,
        tables: &EntityTables,
        tenant: &str,
        plan: &Plan,
        kind: CheckKind,
    ) -> Result<(), EntitiesError> {
        if matches!(self, Self::Unneeded) && needs_entities(plan, kind) {
            *self = Self::Loaded(tables.table(tenant).await?);
        }
        Ok(())
    }

    /// Returns the entities of the tenant of `plan`, whether a check needs them or not. Loads them if necessary.
    ///
    /// # Errors
    /// The store failed, or the entities do not fit into memory.
    pub(crate) async fn load_all(
        app: &App,
        tenant: &str,
        plan: &Plan,
    ) -> Result<Self, EntitiesError> {
        if plan.facts().is_none_or(|facts| facts.directory.is_none()) {
            return Ok(Self::Unneeded);
        }
        Ok(Self::Loaded(app.entities.table(tenant).await?))
    }

    /// Returns the entities, if they are loaded.
    pub(crate) fn table(&self) -> Option<&EntityTable> {
        match self {
            Self::Loaded(loaded) => Some(&loaded.table),
            Self::Unneeded => None,
        }
    }

    /// Returns the revision of the entities, if they are loaded.
    pub fn revision(&self) -> Option<u64> {
        match self {
            Self::Loaded(loaded) => Some(loaded.position.revision),
            Self::Unneeded => None,
        }
    }

    /// Returns what completes `check` of this kind by `plan`; `None` if it is complete as it was sent.
    pub fn supply<'s>(
        &'s self,
        plan: &'s Plan,
        kind: CheckKind,
        check: &Check<'s>,
    ) -> Option<Supply<'s>> {
        let facts = plan.facts()?;
        let needs = needs(plan, kind);
        let known = match self {
            Self::Loaded(loaded) => KnownEntities::find(&loaded.table, check, needs),
            Self::Unneeded => KnownEntities::default(),
        };
        Some(Supply::new(facts, known, check, needs))
    }
}

/// Returns `check` with what completes it.
pub fn completed<'s>(supply: Option<&'s Supply<'s>>, check: Check<'s>) -> Check<'s> {
    supply.map_or(check, |supply| supply.complete(check))
}

/// Counts the attributes that the request sent and `supply` takes from another place.
pub(crate) fn count_overridden(app: &App, supply: Option<&Supply<'_>>) {
    let overridden = supply.map_or(0, Supply::overridden);
    if overridden > 0 {
        let overridden = u64::try_from(overridden).unwrap_or(u64::MAX);
        app.metrics.attributes_overridden.inc_by(overridden);
    }
}
