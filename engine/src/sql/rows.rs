//! The clauses of relations to rows.

use std::collections::HashMap;

use super::clause::{Array, Clause, Term};
use super::columns::{Column, Columns, Kind, ScalarType};
use super::comparison::canonical_uuid;
use super::param::{IdType, SqlParam};
use super::relations::{ObjectIds, RelatedRows, RowReference, RowRelation, RowRelations};
use crate::condition::AttributePath;
use crate::nearest::any_of;
use crate::operator::{Order, Part, Quantifier};

use Kind::{List, Scalar};

/// A relation to each row. No clause of these is ever NULL.
#[derive(Clone, Debug)]
pub(super) struct RelationClause<'c> {
    /// Whether the subject has it, where it is neither absent nor failed.
    pub(super) held: Clause<'c>,
    pub(super) absent: Clause<'c>,
    pub(super) failed: Clause<'c>,
    /// The reason why the relation is undetermined for some of the rows that are neither held, absent nor failed.
    pub(super) doubt: Option<&'c str>,
}

/// The relations by name, or the reason why there is no exact form.
pub(super) type RelationClauses<'c> = HashMap<&'c str, Result<RelationClause<'c>, String>>;

impl RowRelations {
    /// Returns the clause of each relation.
    pub(super) fn clauses<'c>(&'c self, columns: &'c Columns) -> RelationClauses<'c> {
        let clauses = self.0.iter().map(|(name, relation)| match relation {
            Ok(relation) => (&**name, RelationClause::new(columns, relation)),
            Err(reason) => (&**name, Err(reason.clone())),
        });
        clauses.collect()
    }
}

impl<'c> RelationClause<'c> {
    fn new(columns: &'c Columns, relation: &'c RowRelation) -> Result<Self, String> {
        let id = id_column(columns)?;
        let mut failed = Vec::new();
        for reference in &relation.references {
            let not_stored = one_of(id, &reference.stored).negated();
            failed.push(Clause::all([no_reference(columns, reference)?, not_stored]));
        }
        Ok(Self {
            held: related(columns, id, &relation.rows)?,
            absent: Clause::is_null(id),
            failed: Clause::any(failed),
            doubt: relation.doubt.as_deref(),
        })
    }

    /// Makes sure that a test comes to the same for a row that does not have the relation and for one for which that is
    /// undetermined. `test` returns the clauses for both values of the relation. What is undetermined counts as false if
    /// `fails_undetermined`, and as true otherwise.
    ///
    /// # Errors
    /// The reason of the doubt, if the test does not.
    pub(super) fn must_not_doubt(
        &self,
        fails_undetermined: bool,
        test: impl Fn(bool) -> Result<Clause<'c>, String>,
    ) -> Result<(), String> {
        let Some(doubt) = self.doubt else { return Ok(()) };
        let same = [Clause::Constant(None), Clause::Constant(Some(!fails_undetermined))];
        if same.contains(&test(false)?) { Ok(()) } else { Err(doubt.to_owned()) }
    }

    /// Returns the clause of a test, whose clauses for both values of the relation `test` returns. It is undetermined where
    /// the relation failed; where that is absent, its value says nothing.
    pub(super) fn test<E>(
        self,
        test: impl Fn(bool) -> Result<Clause<'c>, E>,
    ) -> Result<Clause<'c>, E> {
        let (held, not_held) = (test(true)?, test(false)?);
        // Then the relation does not matter, and its ids are not written.
        let tested = match held == not_held {
            true => held,
            false => Clause::any([
                Clause::all([self.held.clone(), held]),
                Clause::all([self.held.negated(), not_held]),
            ]),
        };
        Ok(tested.unless(self.failed))
    }
}

/// Returns the column with the ids of rows.
fn id_column(columns: &Columns) -> Result<&Column, String> {
    let path = AttributePath::Resource("id".into());
    let column = columns.find(&path);
    let column = column.map_err(|missing| format!("{missing}, which relations to rows need"))?;
    let is_number = column.kind == Scalar(ScalarType::Integer);
    match column.kind {
        Scalar(kind) if id_type(kind).is_some() && (!is_number || column.of.is_some()) => {
            Ok(column)
        }
        _ => Err(
            "the column for `resource.id` must have the type `text` or `uuid`, or `integer` with `of`: ids of objects \
                  are texts"
                .to_owned(),
        ),
    }
}

/// Returns the clause of rows.
fn related<'c>(
    columns: &'c Columns,
    id: &'c Column,
    rows: &'c RelatedRows,
) -> Result<Clause<'c>, String> {
    Ok(match rows {
        RelatedRows::Ids(ids) => one_of(id, ids),
        RelatedRows::Referring { attribute, objects } => {
            let column = columns.find(attribute)?;
            match &column.of {
                Some(of) => {
                    let ids = objects.iter().find(|(object_type, _)| object_type == of);
                    ids.map_or(Clause::Constant(Some(false)), |(_, ids)| one_of(column, ids))
                }
                // Without `of`, the column has whole references.
                None => one_of(column, &references(objects)),
            }
        }
        RelatedRows::Any(parts) => Clause::any(all_related(columns, id, parts)?),
        RelatedRows::All(parts) => Clause::all(all_related(columns, id, parts)?),
        RelatedRows::Not(inner) => related(columns, id, inner)?.negated(),
    })
}

fn all_related<'c>(
    columns: &'c Columns,
    id: &'c Column,
    parts: &'c [RelatedRows],
) -> Result<Vec<Clause<'c>>, String> {
    parts.iter().map(|part| related(columns, id, part)).collect()
}

/// Returns objects as attributes name them.
fn references(objects: &[(Box<str>, ObjectIds)]) -> ObjectIds {
    let references = objects.iter().flat_map(|(object_type, ids)| {
        ids.iter().map(move |id| format!("{object_type}:{id}").into())
    });
    references.collect()
}

/// Returns whether the column, or an item of its list, is one of the ids.
fn one_of<'c>(column: &'c Column, ids: &ObjectIds) -> Clause<'c> {
    let (Scalar(kind) | List(kind)) = column.kind;
    let none = Clause::Constant(Some(false));
    let Some(ids) = param(kind, ids) else { return none };
    let clause = match (column.kind, &column.items) {
        (Scalar(_), _) => Clause::InIds(column, ids),
        (List(_), Some(items)) => {
            Clause::Exists(column, Box::new(Clause::InIds(&items.column, ids)))
        }
        (List(_), None) => Clause::Arrays(Quantifier::Any, Array::Column(column), Array::Ids(ids)),
    };
    clause.with_null_as(false)
}

/// Returns the type of ids in a column; `None` if it can have none.
fn id_type(kind: ScalarType) -> Option<IdType> {
    match kind {
        ScalarType::Text => Some(IdType::Text),
        ScalarType::Uuid => Some(IdType::Uuid),
        ScalarType::Integer => Some(IdType::Integer),
        ScalarType::Number | ScalarType::Boolean | ScalarType::Instant | ScalarType::Date => None,
    }
}

/// Returns the `ids` that a column of the type can have; `None` if there are none.
fn param(kind: ScalarType, ids: &ObjectIds) -> Option<SqlParam> {
    let kind = id_type(kind)?;
    let ids = match kind {
        IdType::Text => ObjectIds::clone(ids),
        IdType::Uuid => such_ids(ids, |id| canonical_uuid(id).is_some()),
        IdType::Integer => such_ids(ids, is_integer),
    };
    (!ids.is_empty()).then_some(SqlParam::Ids(kind, ids))
}

/// Returns the ids that a column can have, the same list if these are all.
fn such_ids(ids: &ObjectIds, can_have: fn(&str) -> bool) -> ObjectIds {
    match ids.iter().all(|id| can_have(id)) {
        true => ObjectIds::clone(ids),
        false => ids.iter().filter(|id| can_have(id)).cloned().collect(),
    }
}

/// Returns whether a text is a 64-bit integer as databases write it.
fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|number| number.to_string() == text)
}

/// Returns whether the attribute of a row is present and no reference to an object of an allowed type.
///
/// # Errors
/// The column cannot have references.
fn no_reference<'c>(
    columns: &'c Columns,
    RowReference { attribute, types, .. }: &RowReference,
) -> Result<Clause<'c>, String> {
    let column = columns.find(attribute)?;
    match (&column.of, column.kind) {
        (Some(of), _) if types.contains(of) => Ok(Clause::Constant(Some(false))),
        (Some(of), _) => Err(format!(
            "the column for `{attribute}` has ids of `{of}`, but the relation leads to {}",
            any_of(types.iter().map(|one| &**one))
        )),
        (None, Scalar(ScalarType::Text)) => {
            let refers = types.iter().map(|object_type| {
                let start = Term::text(&format!("{object_type}:"));
                Clause::all([
                    Clause::Part(Part::Start, Term::Text(column), start.clone()),
                    // `folder:` without an id is not a reference.
                    Clause::Compare(Term::Column(column), Order::Ne, start),
                ])
            });
            // False where the column is NULL, which is not an edge and not a fault.
            Ok(Clause::any(refers).with_null_as(true).negated())
        }
        (None, _) => Err(format!(
            "say with `of` to objects of which type the column for `{attribute}` refers: its values are not texts such as \
             `folder:f1`"
        )),
    }
}
