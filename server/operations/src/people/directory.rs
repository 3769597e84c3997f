//! The supply of checks from the directory (`docs/semantics.md`, section 12.5).

mod explained;

use std::sync::{Arc, LazyLock};

use portcullis_directory::{Graph, PlannedRows, RelationWork, RelationsOfRows, resource_of};
use portcullis_engine::entities::EntityTable;
use portcullis_engine::{
    AttributeAnswers, Check, CheckKind, DirectoryNeeds, Facts, KnownEntities, Plan, Related,
    TenantFacts,
};
use portcullis_fairness::run_in_place;
use portcullis_runtime::app::App;
use portcullis_runtime::entity_tables::{EntitiesError, EntityTables, LoadedEntities};
use portcullis_runtime::error::OperationError;

pub use explained::{AttributeWithRelation, ExplainedRelation};
pub(crate) use explained::{ExplainedEdge, REQUEST};

/// The directory of a tenant that never had an entity.
static NOBODY: LazyLock<EntityTable> = LazyLock::new(EntityTable::default);

/// Returns whether a check of this kind by `plan` needs the entities or relations of the tenant.
fn needs_entities(plan: &Plan, kind: CheckKind) -> bool {
    let Some(facts) = plan.facts() else { return false };
    let needs = kind.needs(plan);
    // Claims and requests have edges, too: a tenant without tuples has relations.
    (facts.directory.is_some() && needs.any()) || (facts.relations.is_some() && needs.relations)
}

/// Returns `present` where rules of an earlier revision read the directory, which is always the present one.
pub fn present_beside_past(
    at_revision: Option<u64>,
    entities_revision: Option<u64>,
) -> Option<&'static str> {
    at_revision.and(entities_revision).map(|_| "present")
}

/// The entities that a check needs, as far as they are known.
#[derive(Clone, Debug)]
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
        // Loaded once, so that all plans read one state of the directory.
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
        let has_any = plan
            .facts()
            .is_some_and(|facts| facts.directory.is_some() || facts.relations.is_some());
        if !has_any {
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

    /// Returns the bytes that they have for themselves if they are others with further tuples.
    pub(crate) fn own_weight(&self) -> usize {
        match self {
            Self::Loaded(loaded) => loaded.own_weight(),
            Self::Unneeded => 0,
        }
    }

    /// Returns the revision of the entities, if they are loaded.
    pub fn revision(&self) -> Option<u64> {
        match self {
            Self::Loaded(loaded) => Some(loaded.position.revision),
            Self::Unneeded => None,
        }
    }

    /// Returns the graph of the tenant with these facts; `None` if it has no relations or nothing needs them.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub(crate) fn graph(
        &self,
        tenant: Option<&TenantFacts>,
    ) -> Result<Option<Arc<Graph>>, EntitiesError> {
        let declared = tenant.and_then(|facts| facts.relations.as_ref());
        let (Self::Loaded(loaded), Some(declared)) = (self, declared) else { return Ok(None) };
        loaded.graph(declared).map(Some)
    }

    /// Returns the answers of the graph to the relations `names` of a check as it was sent: from this thread if that is quick,
    /// and else from beside its requests, in the turn of the tenant. `None` if the tenant has no relations.
    ///
    /// # Errors
    /// The stored types are corrupt, or too many checks of the tenant look at many relations.
    pub(crate) async fn look_up(
        &self,
        (app, tenant): (&App, &str),
        (facts, sent): (&TenantFacts, &Check<'_>),
        names: &[Box<str>],
        work: &mut RelationWork,
    ) -> Result<Option<AttributeAnswers>, OperationError> {
        if names.is_empty() {
            // Nothing is walked, and no turn is waited for.
            return Ok(None);
        }
        let Some(graph) = self.graph(Some(facts))? else { return Ok(None) };
        let asked = (sent, resource_of(sent));
        if let Some(answers) = graph.answers_here(facts, asked, names, work) {
            return Ok(Some(answers));
        }
        let _turn = app.walks.begin(tenant).await?;
        Ok(Some(run_in_place(|| graph.answers(facts, asked, names, work))))
    }

    /// Returns the answers of the graph to the relations `names` of a check as it was sent, however long that takes. There are
    /// none if the tenant has no relations.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub(crate) fn relations(
        &self,
        plan: &Plan,
        sent: &Check<'_>,
        names: &[Box<str>],
    ) -> Result<AttributeAnswers, EntitiesError> {
        let (Some(facts), Some(graph)) = (plan.facts(), self.graph(plan.facts())?) else {
            return Ok(AttributeAnswers::default());
        };
        let asked = (sent, resource_of(sent));
        Ok(graph.answers(facts, asked, names, &mut RelationWork::default()))
    }

    /// Returns the answers of the graph to the relations `names` for rows. There are none if the tenant has no relations.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub(crate) fn relations_of_rows(
        &self,
        plan: &Plan,
        rows: PlannedRows<'_>,
        names: &[Box<str>],
    ) -> Result<RelationsOfRows, EntitiesError> {
        let (Some(facts), Some(graph)) = (plan.facts(), self.graph(plan.facts())?) else {
            return Ok(RelationsOfRows::default());
        };
        Ok(graph.rows(facts, rows, names))
    }
}

impl Facts for NeededEntities {
    type Work = RelationWork;
    type Fault = EntitiesError;

    #[inline]
    fn entities(&self) -> Option<&EntityTable> {
        self.table()
    }

    #[inline]
    fn known(&self, sent: &Check<'_>, needs: DirectoryNeeds) -> KnownEntities<'_> {
        match self {
            Self::Loaded(loaded) => KnownEntities::find(&loaded.table, sent, needs),
            // Nobody is known to a tenant without a directory.
            Self::Unneeded if needs.withholds_roles => KnownEntities::find(&NOBODY, sent, needs),
            Self::Unneeded => KnownEntities::default(),
        }
    }

    fn related(
        &self,
        tenant: &TenantFacts,
        sent: &Check<'_>,
        names: &[Box<str>],
        work: &mut RelationWork,
    ) -> Result<Related, EntitiesError> {
        let Some(graph) = self.graph(Some(tenant))? else { return Ok(Related::Unasked) };
        let answers = graph.answers_here(tenant, (sent, resource_of(sent)), names, work);
        Ok(answers.map_or(Related::Later, Related::Known))
    }
}

/// Returns the names of the relations that the inputs of a resolver name.
pub(crate) fn relations_among(inputs: &[String]) -> impl Iterator<Item = &str> {
    let named = inputs.iter().filter_map(|input| input.strip_prefix("relation."));
    named.filter(|name| *name != "*")
}
