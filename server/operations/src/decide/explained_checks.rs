//! The explanation of a check that was decided (`docs/semantics.md`, sections 2.8 and 12.12).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_directory::Graph;
use portcullis_engine::relation::RELATION;
use portcullis_engine::{
    AttributeAnswers, ChangeSet, Counterfactuals, ExplainedPolicy, ExplainedRule, Explanation,
};
use portcullis_fairness::run_in_place;
use portcullis_model::hint::Hint;
use portcullis_model::relation::NewTuple;
use portcullis_plan_cache::CachedPlan;
use portcullis_resolvers::{Asked, Report};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::plans::PlanError;
use portcullis_storage::relations::{TupleKey, sources};
use serde::Serialize;

use super::live_hints::KnownOfTenant;
use super::live_questions::{LiveQuestion, look_up};
use crate::people::directory::{
    AttributeWithRelation, ExplainedEdge, ExplainedRelation, NeededEntities, REQUEST,
};

/// An explanation names the sources of at most this many tuples.
const MAX_SOURCES: usize = 1_000;

/// The relations that an explained check reads, by the names of their attributes.
pub type ExplainedRelations = BTreeMap<String, ExplainedRelation>;

/// Everything that an explanation of a decision needs.
#[derive(Debug)]
pub struct Evidence {
    pub(crate) cached: Arc<CachedPlan>,
    /// The entities that the decision needed.
    pub(crate) entities: NeededEntities,
    /// The answers of relations and resolvers.
    pub(crate) answers: AttributeAnswers,
    /// The reports of the resolvers that were asked.
    pub(crate) asked: Asked,
    /// The relations that the decision could read.
    pub(crate) relations: ExplainedRelations,
    pub(crate) known: KnownOfTenant,
}

/// Everything that was looked at for a decision.
#[derive(Debug, Serialize)]
pub struct ExplainedCheck<'e> {
    /// The revision of the rules; `None` in a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    policies: Vec<ExplainedPolicy<'e>>,
    rules: Vec<ExplainedRule<'e>>,
    attributes: Vec<AttributeWithRelation<'e>>,
    /// `None` in a folder, whose resolvers are not called.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolvers: Option<&'e [Report]>,
    /// The changes that would allow what is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_allow: Option<Vec<ChangeSet>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_allow_complete: Option<bool>,
    /// `None` for a recorded decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    hints: Option<Vec<Hint>>,
}

impl<'e> ExplainedCheck<'e> {
    /// Joins an explanation with the relations that it is about, and with the changes that would allow what is denied.
    pub fn new(
        explanation: Explanation<'e>,
        relations: &'e ExplainedRelations,
        changes: Option<Counterfactuals>,
    ) -> Self {
        let Explanation { policies, rules, attributes } = explanation;
        let attributes = attributes.into_iter().map(|attribute| {
            let relation = attribute.relation.and_then(|name| relations.get(name));
            AttributeWithRelation { attribute, relation }
        });
        Self {
            revision: None,
            policies,
            rules,
            attributes: attributes.collect(),
            resolvers: None,
            would_allow_complete: changes.as_ref().map(|changes| changes.is_complete),
            would_allow: changes.map(|changes| changes.sets),
            hints: None,
        }
    }

    /// Returns the explanation with hints.
    #[must_use]
    pub fn with_hints(self, hints: Vec<Hint>) -> Self {
        Self { hints: Some(hints), ..self }
    }

    /// Returns the hints.
    pub fn hints(&self) -> &[Hint] {
        self.hints.as_deref().unwrap_or_default()
    }

    /// Returns the explanation with the revision of the rules, and with what resolvers reported.
    pub(crate) fn of_service(self, revision: u64, resolvers: &'e [Report]) -> Self {
        Self { revision: Some(revision), resolvers: Some(resolvers), ..self }
    }
}

/// Explains the relations that a decided question could read, with the sources of their tuples; those that are `assumed` come
/// from the request. The question has the answers to all of them then.
///
/// # Errors
/// The store failed, the stored types are corrupt, or too many checks of the tenant look at many relations.
pub(crate) async fn explained_relations(
    (app, tenant): (&App, &str),
    question: &mut LiveQuestion<'_>,
    assumed: &[NewTuple],
) -> Result<ExplainedRelations, OperationError> {
    let graph = question.facts.graph(question.plan.facts()).map_err(PlanError::from)?;
    let Some(graph) = graph else { return Ok(ExplainedRelations::new()) };
    // The decision may have needed only some of the relations, but the explanation shows all.
    let (plan, known) = (question.plan, question.answers());
    let missing = plan.relations().filter(|name| known.get(RELATION, name).is_none());
    let missing: Vec<Box<str>> = missing.map(Box::from).collect();
    look_up((app, tenant), question, &missing).await?;
    // The turn ends before the store is asked.
    let mut relations = {
        let _turn = app.walks.begin(tenant).await?;
        run_in_place(|| relations(&graph, question))
    };
    let schema = graph.schema();
    let mut edges: Vec<(TupleKey, &mut ExplainedEdge)> = Vec::new();
    for edge in relations.values_mut().flat_map(ExplainedRelation::edges) {
        if edge.source.is_none()
            && edges.len() < MAX_SOURCES
            && let Some(key) = edge.key(schema)
        {
            edges.push((key, edge));
        }
    }
    if edges.is_empty() {
        return Ok(relations);
    }
    let keys: Vec<TupleKey> = edges.iter().map(|(key, _)| key.clone()).collect();
    let stored = app.read(tenant, async |tx| sources(tx, &keys).await).await?;
    for (key, edge) in edges {
        let is_assumed = assumed.iter().any(|tuple| edge.is(tuple));
        // A tuple that is assumed may be stored as well.
        edge.source = match is_assumed {
            true => Some(REQUEST.to_owned()),
            false => stored.get(&key).cloned(),
        };
    }
    Ok(relations)
}

/// Explains each relation that the conditions and rules of the plan read.
fn relations(graph: &Graph, question: &LiveQuestion<'_>) -> ExplainedRelations {
    let mut relations = ExplainedRelations::new();
    let Some(facts) = question.plan.facts() else { return relations };
    let names: BTreeSet<&str> = question.plan.relations().collect();
    let (sent, answers) = (&question.sent, question.answers());
    graph.explain(facts, sent, names.into_iter(), answers, |name, explanation| {
        relations.insert(name.to_owned(), ExplainedRelation::new(explanation));
    });
    relations
}
