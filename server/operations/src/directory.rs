//! The supply of checks from the directory (`docs/semantics.md`, section 12.5).

mod explained;

use std::sync::Arc;

use portcullis_directory::{
    Graph, Object, PlannedRows, RelationWork, RelationsOfRows, resource_of,
};
use portcullis_engine::entities::EntityTable;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::relation::RELATION;
use portcullis_engine::{
    AttributeAnswers, AttributeRequest, Check, DirectoryNeeds, KnownEntities, Plan, Supply,
    TenantFacts, Verdict,
};
use portcullis_fairness::run_in_place;
use portcullis_model::relation::NewTuple;
use portcullis_runtime::app::App;
use portcullis_runtime::entity_tables::{EntitiesError, EntityTables, LoadedEntities};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::metrics::CheckKind;
use portcullis_runtime::plans::PlanError;

pub use explained::{AttributeWithRelation, ExplainedRelation};
pub(crate) use explained::{ExplainedEdge, REQUEST};

/// Returns the parts of the directory that a check of this kind by `plan` needs. The legacy check reads no attributes.
fn needs(plan: &Plan, kind: CheckKind) -> DirectoryNeeds {
    let needs = plan.directory_needs();
    match kind {
        CheckKind::Combined => needs,
        CheckKind::Legacy => DirectoryNeeds { user: false, resource: false, ..needs },
    }
}

/// Returns whether a check of this kind by `plan` needs the entities or relations of the tenant.
fn needs_entities(plan: &Plan, kind: CheckKind) -> bool {
    let Some(facts) = plan.facts() else { return false };
    let needs = needs(plan, kind);
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
        let is_needed =
            |facts: &TenantFacts| facts.directory.is_some() || facts.relations.is_some();
        if !plan.facts().is_some_and(is_needed) {
            return Ok(Self::Unneeded);
        }
        Ok(Self::Loaded(app.entities.table(tenant).await?))
    }

    /// Returns the entities of the tenant of `plan` with further tuples, for one check. Loads them if necessary.
    ///
    /// # Errors
    /// No type has relations, or they do not allow a tuple; the errors of [`Self::load_all`].
    pub(crate) async fn assuming(
        app: &App,
        tenant: &str,
        plan: &Plan,
        tuples: &[NewTuple],
    ) -> Result<Self, OperationError> {
        let (mut problems, root) = (Problems::default(), Place::root());
        let at = root.key("relations");
        let loaded = Self::load_all(app, tenant, plan).await.map_err(PlanError::from)?;
        let declared = plan.facts().and_then(|facts| facts.relations.as_ref());
        let (Self::Loaded(loaded), Some(declared)) = (loaded, declared) else {
            problems.expected(&at, "no tuples: no type has relations");
            return Ok(problems.finish(None)?);
        };
        let assumed = loaded.assuming(declared, tuples, &at, &mut problems);
        let assumed = problems.finish(assumed.map_err(PlanError::from)?)?;
        Ok(Self::Loaded(Arc::new(assumed)))
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

    /// Returns the graph of the tenant of `plan`; `None` if it has no relations or nothing needs them.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub(crate) fn graph(&self, plan: &Plan) -> Result<Option<Arc<Graph>>, EntitiesError> {
        let declared = plan.facts().and_then(|facts| facts.relations.as_ref());
        let (Self::Loaded(loaded), Some(declared)) = (self, declared) else { return Ok(None) };
        loaded.graph(declared).map(Some)
    }

    /// Decides the check `sent`, which `completed` completes, by `plan`, as far as that is possible without resolvers. Returns
    /// the relations that were read, too.
    ///
    /// # Errors
    /// The stored types are corrupt, or too many checks of the tenant look at many relations.
    pub(crate) async fn decide<'p>(
        &self,
        asking: (&App, &str),
        plan: &'p Plan,
        kind: CheckKind,
        (sent, completed): (&Check<'_>, &Check<'_>),
    ) -> Result<(Verdict<'p>, ReadRelations), OperationError> {
        let verdict = decided(plan, kind, completed, &AttributeAnswers::default());
        let mut read = ReadRelations::default();
        let Some(awaited) = self.awaited(plan, &verdict)? else {
            return Ok((verdict, read));
        };
        read.answers = awaited.look_up(asking, (sent, resource_of(sent)), &mut read.work).await?;
        Ok((decided(plan, kind, completed, &read.answers), read))
    }

    /// Decides a check as [`Self::decide`] does, on this thread. `None` if it looks at too many relations for the thread of a
    /// request.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub(crate) fn decide_here<'p>(
        &self,
        plan: &'p Plan,
        kind: CheckKind,
        (sent, completed): (&Check<'_>, &Check<'_>),
    ) -> Result<Option<(Verdict<'p>, ReadRelations)>, EntitiesError> {
        let verdict = decided(plan, kind, completed, &AttributeAnswers::default());
        let mut read = ReadRelations::default();
        let Some(awaited) = self.awaited(plan, &verdict)? else {
            return Ok(Some((verdict, read)));
        };
        let asked = (sent, resource_of(sent));
        let AwaitedRelations { graph, facts, names } = awaited;
        let Some(answers) = graph.answers_here(facts, asked, names, &mut read.work) else {
            return Ok(None);
        };
        read.answers = answers;
        Ok(Some((decided(plan, kind, completed, &read.answers), read)))
    }

    /// Returns the relations for which a decision waits; `None` if there are none, or nobody knows them.
    fn awaited<'v>(
        &self,
        plan: &'v Plan,
        verdict: &'v Verdict<'_>,
    ) -> Result<Option<AwaitedRelations<'v>>, EntitiesError> {
        let Verdict::NeedsAttributes(requests) = verdict else { return Ok(None) };
        let relations = requests.iter().find(|request| *request.namespace == *RELATION);
        let names = relations.map_or(&[][..], |request| &request.attributes[..]);
        if names.is_empty() { Ok(None) } else { self.named(plan, names) }
    }

    /// Returns the relations `names`, with the graph that knows them; `None` if the tenant has none.
    fn named<'v>(
        &self,
        plan: &'v Plan,
        names: &'v [Box<str>],
    ) -> Result<Option<AwaitedRelations<'v>>, EntitiesError> {
        if names.is_empty() {
            // Nothing is walked, and no turn is waited for.
            return Ok(None);
        }
        let (Some(facts), Some(graph)) = (plan.facts(), self.graph(plan)?) else {
            return Ok(None);
        };
        Ok(Some(AwaitedRelations { graph, facts, names }))
    }

    /// Returns the relations that the resolvers of `requests` get with the check `sent`: those that were asked for already, and
    /// those that the resolvers name.
    ///
    /// # Errors
    /// The stored types are corrupt, or too many checks of the tenant look at many relations.
    pub(crate) async fn relations_of_inputs(
        &self,
        (app, tenant): (&App, &str),
        plan: &Plan,
        sent: &Check<'_>,
        requests: &[AttributeRequest],
        ReadRelations { mut answers, mut work }: ReadRelations,
    ) -> Result<AttributeAnswers, OperationError> {
        if self.graph(plan)?.is_none() {
            return Ok(answers);
        }
        let mut names: Vec<Box<str>> = Vec::new();
        for request in requests {
            let inputs = app.resolvers.declared_inputs(tenant, request).await;
            let missing =
                relations_among(&inputs).filter(|name| answers.get(RELATION, name).is_none());
            names.extend(missing.map(Box::from));
        }
        if let Some(named) = self.named(plan, &names)? {
            let asked = (sent, resource_of(sent));
            answers.extend(named.look_up((app, tenant), asked, &mut work).await?);
        }
        Ok(answers)
    }

    /// Returns the answers of the graph to the relations `names` of the subject of a check to its resource, looked up where a
    /// check looks them up. There are none if the tenant has no relations.
    ///
    /// # Errors
    /// The stored types are corrupt, or too many checks of the tenant look at many relations.
    pub(crate) async fn look_up(
        &self,
        asking: (&App, &str),
        plan: &Plan,
        sent: &Check<'_>,
        names: &[Box<str>],
    ) -> Result<AttributeAnswers, OperationError> {
        match self.named(plan, names)? {
            Some(named) => {
                let asked = (sent, resource_of(sent));
                named.look_up(asking, asked, &mut RelationWork::default()).await
            }
            None => Ok(AttributeAnswers::default()),
        }
    }

    /// Returns the answers of the graph to the relations `names` of the subject of a check to a resource, by type and id, however
    /// long that takes. There are none if the tenant has no relations.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub(crate) fn relations(
        &self,
        plan: &Plan,
        sent: &Check<'_>,
        resource: Option<(&str, &str)>,
        names: &[Box<str>],
    ) -> Result<AttributeAnswers, EntitiesError> {
        let (Some(facts), Some(graph)) = (plan.facts(), self.graph(plan)?) else {
            return Ok(AttributeAnswers::default());
        };
        let resource = resource.map(|(object_type, id)| Object { object_type, id });
        Ok(graph.answers(facts, (sent, resource), names, &mut RelationWork::default()))
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
        let (Some(facts), Some(graph)) = (plan.facts(), self.graph(plan)?) else {
            return Ok(RelationsOfRows::default());
        };
        Ok(graph.rows(facts, rows, names))
    }
}

/// The relations that a check has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadRelations {
    pub(crate) answers: AttributeAnswers,
    /// The work that others may take.
    work: RelationWork,
}

/// Relations that are to be looked up.
struct AwaitedRelations<'v> {
    graph: Arc<Graph>,
    facts: &'v TenantFacts,
    names: &'v [Box<str>],
}

impl AwaitedRelations<'_> {
    /// Looks the relations up: on this thread if that is quick, and else beside its requests, in the turn of the tenant.
    ///
    /// # Errors
    /// Too many checks of the tenant wait.
    async fn look_up(
        &self,
        (app, tenant): (&App, &str),
        asked: (&Check<'_>, Option<Object<'_>>),
        work: &mut RelationWork,
    ) -> Result<AttributeAnswers, OperationError> {
        let Self { graph, facts, names } = self;
        if let Some(answers) = graph.answers_here(facts, asked, names, work) {
            return Ok(answers);
        }
        let _turn = app.walks.begin(tenant).await?;
        Ok(run_in_place(|| graph.answers(facts, asked, names, work)))
    }
}

/// Decides a check of this kind with these answers.
pub(crate) fn decided<'p>(
    plan: &'p Plan,
    kind: CheckKind,
    completed: &Check<'_>,
    answers: &AttributeAnswers,
) -> Verdict<'p> {
    match kind {
        CheckKind::Combined => plan.decide(completed, answers),
        CheckKind::Legacy => plan.decide_rbac(completed, answers),
    }
}

/// Returns the names of the relations that the inputs of a resolver name.
pub(crate) fn relations_among(inputs: &[String]) -> impl Iterator<Item = &str> {
    let named = inputs.iter().filter_map(|input| input.strip_prefix("relation."));
    named.filter(|name| *name != "*")
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
