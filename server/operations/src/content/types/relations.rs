//! The relations of types: whether they fit together, and the stored objects that a change of them would break.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_directory::{RelationDefinition, RelationId, RelationNumber, Schema, TypeRelations};
use portcullis_engine::relation::{RELATION, RelationNames, has_marker};
use portcullis_engine::types::{ACTION, CONTEXT};
use portcullis_engine::{Invalid, RuleTuple};
use portcullis_model::rule::RuleRecord;
use portcullis_model::types::TypeRecord;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::BrokenObjects;
use portcullis_storage::relations::{TupleShape, shapes};
use portcullis_storage::types::NumberedRelations;
use portcullis_storage::{StoreError, Tx};

use super::broken_objects::{must_be_none, note};

/// The kind of a relation among broken objects.
const KIND: &str = "relation";

/// Returns whether objects can have the type.
fn is_of_objects(record: &TypeRecord) -> bool {
    !matches!(&*record.kind, CONTEXT | ACTION)
}

/// Compiles the relations of the tenant's types. `place` gives the JSON pointer of a type that the caller sent.
///
/// # Errors
/// A sent type has a fault, or others lose what their lines name.
pub(crate) fn schema(
    types: &[&TypeRecord],
    stored: &[NumberedRelations],
    place: impl Fn(&str) -> Option<String>,
) -> Result<Schema, OperationError> {
    let types: Vec<&TypeRecord> =
        types.iter().copied().filter(|record| is_of_objects(record)).collect();
    let relations = numbered(&types, stored);
    let with_names = types.iter().zip(&relations);
    let all = with_names.map(|(record, relations)| TypeRelations { name: &record.kind, relations });
    let all: Vec<TypeRelations<'_>> = all.collect();
    Schema::compile(&all).map_err(|invalid| refusal(&invalid, &types, place))
}

/// Returns the refusal of lines with faults: the faults of sent types, or else the objects that break.
fn refusal(
    invalid: &Invalid,
    types: &[&TypeRecord],
    place: impl Fn(&str) -> Option<String>,
) -> OperationError {
    let sent = |path: &str| {
        let (record, rest) = split(path, types)?;
        Some(place(&record.kind)? + &rest)
    };
    if let Some(of_sent) = invalid.clone().filter_paths(|path| sent(path).is_some()) {
        return of_sent.replace_paths(|path| sent(path).unwrap_or_default()).into();
    }
    let mut broken = BrokenObjects::default();
    for problem in invalid.problems() {
        let (kind, rest) = split(&problem.path, types)
            .map_or_else(Default::default, |(record, rest)| (record.kind.clone(), rest));
        // `/relations/<name>`
        let relation = rest.split('/').nth(2).unwrap_or_default();
        note(&mut broken, KIND, || format!("{kind}.{relation}"), problem.fault.to_string());
    }
    // The lines have a fault, so that something is noted.
    must_be_none(broken).err().unwrap_or_else(|| invalid.clone().into())
}

/// Returns the type whose place in the list begins a JSON pointer, and the rest of the pointer.
fn split<'t>(path: &str, types: &[&'t TypeRecord]) -> Option<(&'t TypeRecord, String)> {
    let (index, rest) = path.strip_prefix('/')?.split_once('/')?;
    Some((*types.get(index.parse::<usize>().ok()?)?, format!("/{rest}")))
}

/// Returns the relations of each type with the numbers that they have, also under a former name, or get when they are stored.
fn numbered(
    types: &[&TypeRecord],
    stored: &[NumberedRelations],
) -> Vec<Vec<(RelationNumber, RelationDefinition)>> {
    let used: BTreeSet<RelationNumber> =
        stored.iter().flat_map(|one| &one.relations).map(|(number, _)| *number).collect();
    let mut free = (1..u16::MAX).map(RelationNumber).filter(|number| !used.contains(number));
    let of_types = types.iter().map(|record| {
        let stored = stored.iter().find(|one| one.kind == record.kind);
        let numbered = record.relations.values().map(|relation| {
            let definition = &relation.0;
            let number = number_of(stored, &definition.name)
                .or_else(|| number_of(stored, definition.renamed_from.as_deref()?))
                .or_else(|| free.next());
            // There are always enough numbers: a tenant has at most 100 types with 64 relations each.
            (number.unwrap_or(RelationNumber(0)), definition.clone())
        });
        numbered.collect()
    });
    of_types.collect()
}

/// Returns the number of the relation that is stored under this name.
fn number_of(stored: Option<&NumberedRelations>, name: &str) -> Option<RelationNumber> {
    let mut all = stored?.relations.iter();
    all.find(|(_, old)| old.name == name).map(|(number, _)| *number)
}

/// Compiles the relations that are stored.
pub(crate) fn stored_schema(stored: &[NumberedRelations]) -> Result<Schema, StoreError> {
    let types = stored.iter().filter(|one| !matches!(&*one.kind, CONTEXT | ACTION));
    let types = types.map(|one| TypeRelations { name: &one.kind, relations: &one.relations });
    let types: Vec<TypeRelations<'_>> = types.collect();
    Schema::compile(&types).map_err(|_| StoreError::Corrupt { what: "types.relations" })
}

/// Notes the relations that tuples have and that the schema `after` does not allow. Returns the shapes of the tuples of
/// `source` among them, whose relations are noted only if others have such tuples, too.
pub(crate) async fn broken_tuples(
    tx: &mut Tx,
    stored: &[NumberedRelations],
    after: &Schema,
    source: Option<&str>,
    broken: &mut BrokenObjects,
) -> Result<Vec<TupleShape>, StoreError> {
    let before = stored_schema(stored)?;
    let mut of_source = Vec::new();
    for of_type in stored {
        // The tuples of a type are counted only if one of its relations allows fewer of them.
        let relations = of_type.relations.iter();
        let mut relations = relations.filter_map(|(number, _)| before.by_number(*number));
        if relations.all(|relation| keeps(&before, after, relation)) {
            continue;
        }
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for shape in shapes(tx, &of_type.kind, source).await? {
            if let Some(relation) = before.by_number(shape.relation)
                && !admits(after, &shape)
            {
                // The tuples of the source are among all that are counted.
                *counts.entry(before.name(relation)).or_default() += shape.count - shape.of_source;
                of_source.extend((shape.of_source > 0).then_some(shape));
            }
        }
        for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            let what =
                format!("{count} stored tuples of this relation would not be allowed any more");
            note(broken, KIND, || format!("{}.{name}", of_type.kind), what);
        }
    }
    Ok(of_source)
}

/// Returns whether a relation still stores all that it stored.
fn keeps(before: &Schema, after: &Schema, relation: RelationId) -> bool {
    let Some(now) = after.by_number(before.number(relation)) else { return false };
    let allowed: BTreeSet<String> = after.storable(now).collect();
    before.storable(relation).all(|one| allowed.contains(&one))
}

fn admits(schema: &Schema, shape: &TupleShape) -> bool {
    let Some(relation) = schema.by_number(shape.relation) else { return false };
    // Of a subject only its type matters, and whether it is everybody of the type.
    let id = if shape.is_everybody { "*" } else { "" };
    let subject = (&*shape.subject_type, id);
    match shape.subject_relation.map(|number| schema.by_number(number)) {
        None => schema.admits(relation, subject, None),
        Some(None) => false,
        Some(related) => schema.admits(relation, subject, related),
    }
}

/// Notes the rules whose subjects the relations `before` allow and those `after` do not. The first relations of a tenant
/// give `@` and `#` a meaning, so that no rule may have them before.
pub(crate) fn broken_subjects<'r>(
    rules: impl IntoIterator<Item = &'r RuleRecord>,
    (before, after): (&RelationNames, &RelationNames),
    broken: &mut BrokenObjects,
) {
    if before == after {
        return;
    }
    for RuleRecord { tuple, .. } in rules.into_iter().filter(|rule| has_marker(&rule.tuple.sub)) {
        let message = if before.is_empty() && !after.is_empty() {
            "a subject without `@` and `#`: they stand for relations once a type has some"
                .to_owned()
        } else if after.is_empty() && !before.is_empty() {
            "a subject that needs no relation".to_owned()
        } else if let Some(message) = after.fault_of_subject(&tuple.sub, &tuple.obj)
            && before.fault_of_subject(&tuple.sub, &tuple.obj).is_none()
        {
            message
        } else {
            continue;
        };
        let RuleTuple { sub, dom, obj, act } = tuple;
        let message = format!("expected {message}");
        note(broken, "rule", || format!("{sub}, {dom}, {obj}, {act}"), message);
    }
}

/// Notes a resolver with the namespace that the first relations of a tenant take.
pub(crate) fn broken_namespace<'n>(
    namespaces: impl IntoIterator<Item = &'n str>,
    (before, after): (&RelationNames, &RelationNames),
    broken: &mut BrokenObjects,
) {
    let is_taken = before.is_empty() && !after.is_empty();
    if is_taken && namespaces.into_iter().any(|namespace| namespace == RELATION) {
        let what = format!(
            "expected another namespace: `{RELATION}` is the namespace of relations; rename it"
        );
        note(broken, "resolver", || RELATION.to_owned(), what);
    }
}
