//! The relations that an explained check reads (`docs/semantics.md`, section 12.12).

use std::collections::BTreeMap;

use portcullis_directory::Graph;
use portcullis_engine::{AttributeAnswers, Check, Plan};
use portcullis_fairness::run_in_place;
use portcullis_model::relation::NewTuple;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::metrics::CheckKind;
use portcullis_runtime::plans::PlanError;
use portcullis_storage::relations::{TupleKey, sources};

use crate::people::directory::{
    ExplainedEdge, ExplainedRelation, NeededEntities, REQUEST, completed,
};

/// An explanation names the sources of at most so many tuples.
const MAX_SOURCES: usize = 1_000;

/// The relations that an explained check reads, by the names of their attributes.
pub type ExplainedRelations = BTreeMap<String, ExplainedRelation>;

/// Explains the relations that the check `sent` reads, with the sources of their tuples; those that are `assumed` come from the
/// request.
///
/// # Errors
/// The store failed, or the stored types are corrupt.
pub(crate) async fn explained_relations(
    app: &App,
    tenant: &str,
    (sent, assumed): (&Check<'_>, &[NewTuple]),
    (plan, entities): (&Plan, &NeededEntities),
    answers: &AttributeAnswers,
) -> Result<ExplainedRelations, OperationError> {
    let Some(graph) = entities.graph(plan).map_err(PlanError::from)? else {
        return Ok(ExplainedRelations::new());
    };
    let mut relations = {
        let _turn = app.walks.begin(tenant).await?;
        run_in_place(|| relations(&graph, sent, (plan, entities), answers))
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
        edge.source = match is_assumed {
            true => Some(REQUEST.to_owned()),
            false => stored.get(&key).cloned(),
        };
    }
    Ok(relations)
}

/// Explains the relations that the conditions and rules of a plan read.
fn relations(
    graph: &Graph,
    sent: &Check<'_>,
    (plan, entities): (&Plan, &NeededEntities),
    answers: &AttributeAnswers,
) -> ExplainedRelations {
    let Some(facts) = plan.facts() else { return ExplainedRelations::new() };
    let supply = entities.supply(plan, CheckKind::Combined, sent);
    let check = completed(supply.as_ref(), *sent);
    let attributes = plan.explain(&check, answers, None).attributes;
    let named = attributes.iter().filter_map(|attribute| attribute.relation);
    let mut relations = ExplainedRelations::new();
    graph.explain(facts, sent, named, answers, |name, explanation| {
        relations.insert(name.to_owned(), ExplainedRelation::new(explanation));
    });
    relations
}
