//! The types after a plan, compared with the entities, tuples and rules of the tenant.

use std::collections::HashSet;

use portcullis_auth::Manager;
use portcullis_bundle::BundleDocument;
use portcullis_engine::types::Types;
use portcullis_model::types::TypeRecord;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::BrokenObjects;
use portcullis_storage::bulk::RecordWrite;
use portcullis_storage::relations::TupleShape;
use portcullis_storage::{HistoryPosition, Tx, entities, types};
use uuid::Uuid;

use super::after::after;
use super::outdated_tuples::OutdatedTuples;
use super::plan::ApplyPlan;
use crate::content::tenant_content::TenantContent;
use crate::content::types::{
    broken_namespace, broken_subjects, broken_tuples, check_entities, check_references, compiled,
    must_be_none, schema,
};

/// The directory that changed types were compared with.
#[derive(Debug)]
pub(super) struct ComparedDirectory {
    /// The place in the history of the entities.
    pub(super) position: HistoryPosition,
    pub(super) outdated: OutdatedTuples,
}

/// Refuses a plan that changes types so that relations do not fit together, or that an entity, a tuple or a rule breaks, unless
/// the tuple is of `source`. Returns what the types were compared with; `None` if no type changes.
///
/// # Errors
/// The request took too long, a relation of the bundle has a fault, something breaks, or the store failed.
pub(super) async fn check_types(
    app: &App,
    caller: &Manager,
    (bundle, source): (&BundleDocument, Option<&str>),
    state: &TenantContent,
    plan: &ApplyPlan,
) -> Result<Option<ComparedDirectory>, OperationError> {
    if plan.writes.types.is_empty() {
        return Ok(None);
    }
    let types = after(&state.types, &plan.writes.types);
    let (before, after) = (compiled(&state.types), compiled(types.iter().copied()));
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    // From the snapshot of the comparison, so that the write can tell whether entities changed since.
    let position = entities::state(&mut tx).await?.position;
    let mut broken = BrokenObjects::default();
    let shapes = check_relations(&mut tx, (bundle, source), &types, &mut broken).await?;
    check_references(&after, |kind| place_in(bundle, kind), &mut broken)?;
    check_names(app, state, plan, (&before, &after), &mut broken);
    must_be_none(broken)?;
    check_entities(caller, &mut tx, (&before, &after)).await?;
    let outdated = OutdatedTuples::find(&mut tx, source, shapes).await?;
    tx.end().await?;
    Ok(Some(ComparedDirectory { position, outdated }))
}

/// Compiles the relations of types, and notes the relations of stored tuples that are gone. Returns the shapes of such tuples of
/// `source`.
async fn check_relations(
    tx: &mut Tx,
    (bundle, source): (&BundleDocument, Option<&str>),
    types: &[&TypeRecord],
    broken: &mut BrokenObjects,
) -> Result<Vec<TupleShape>, OperationError> {
    let stored = types::relations(tx).await?;
    let schema = schema(types, &stored, |kind| place_in(bundle, kind))?;
    Ok(broken_tuples(tx, &stored, &schema, source, broken).await?)
}

/// Returns the JSON pointer of a type that the bundle has.
fn place_in(bundle: &BundleDocument, kind: &str) -> Option<String> {
    let mut sent = bundle.types.as_deref().unwrap_or_default().iter();
    let index = sent.position(|declared| declared.kind == kind)?;
    Some(format!("/bundle/types/{index}"))
}

/// Notes the stored rules that stay and the resolvers whose names no longer fit the relations.
fn check_names(
    app: &App,
    state: &TenantContent,
    plan: &ApplyPlan,
    (before, after_plan): (&Types, &Types),
    broken: &mut BrokenObjects,
) {
    let names = (before.relations(), after_plan.relations());
    let deleted = plan.writes.rules.iter().filter(|write| write.after().is_none());
    let deleted: HashSet<Uuid> =
        deleted.filter_map(RecordWrite::before).map(|rule| rule.id).collect();
    let kept = state.rules.iter().filter(|rule| !deleted.contains(&rule.id));
    broken_subjects(kept, names, broken);
    let resolvers = after(&state.resolvers, &plan.writes.resolvers);
    let own = resolvers.iter().map(|resolver| &*resolver.manifest.namespace);
    let operator = app.resolvers.operator_resolvers();
    let operator = operator.iter().map(|resolver| &*resolver.namespace);
    broken_namespace(own.chain(operator), names, broken);
}
