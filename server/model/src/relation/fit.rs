//! Tuples and the relations of types: which relations a tuple names, and whether they allow it.

use chrono::DateTime;
use portcullis_directory::{
    Object, RelationId, RelationNumber, Schema, Tuple, TupleChange, TupleTable, TypeRelations,
};
use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::nearest::{any_of, hint};

use super::new_tuple::{NewTuple, ObjectName};
use crate::relation_declaration::RelationDeclarations;

/// The relation of the object, and the relation of the subject if the tuple names one.
pub type RelationsOfTuple = (RelationId, Option<RelationId>);

/// Compiles the relations of types, numbered in their order.
///
/// # Errors
/// Lines that do not fit together, at the index of their type.
pub fn schema_of<'t>(
    types: impl IntoIterator<Item = (&'t str, &'t RelationDeclarations)>,
) -> Result<Schema, Invalid> {
    // The numbers go on from type to type, because a table has one space of them.
    let mut numbers = (1..).map(RelationNumber);
    let mut numbered = Vec::new();
    for (name, relations) in types {
        let relations = relations.values().map(|one| one.0.clone());
        // The numbers do not run out: there are far fewer relations than their type has values.
        let relations: Vec<_> = relations.map_while(|one| Some((numbers.next()?, one))).collect();
        numbered.push((name, relations));
    }
    let types = numbered.iter().map(|(name, relations)| TypeRelations { name, relations });
    Schema::compile(&types.collect::<Vec<_>>())
}

/// Returns the table with further tuples. Notes those that `schema` does not allow, each at its index.
pub fn with_tuples(
    table: &TupleTable,
    schema: &Schema,
    tuples: &[NewTuple],
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<TupleTable> {
    let allowed = in_table(schema, tuples, at, problems)?;
    let changed = table.changed(allowed.into_iter().map(TupleChange::Put));
    if let Err(full) = &changed {
        problems.expected(at, format!("fewer tuples: {full}"));
    }
    changed.ok()
}

/// Returns tuples as a table has them. Notes those that `schema` does not allow, each at its index.
pub fn in_table<'t>(
    schema: &Schema,
    tuples: &'t [NewTuple],
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<Tuple<'t>>> {
    let mut allowed = Vec::with_capacity(tuples.len());
    for (index, tuple) in tuples.iter().enumerate() {
        allowed.extend(tuple.in_table(schema, &at.index(index), problems));
    }
    // A tuple that is missing has a note.
    (allowed.len() == tuples.len()).then_some(allowed)
}

impl NewTuple {
    /// Returns the tuple as a table has it. Notes why `schema` does not allow it.
    fn in_table(
        &self,
        schema: &Schema,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Tuple<'_>> {
        let (relation, related) = self.relations(schema, at, problems)?;
        self.check_subject(schema, (relation, related), at, problems).then(|| Tuple {
            object: Object { object_type: &self.object.kind, id: &self.object.id },
            relation: schema.number(relation),
            subject: Object { object_type: &self.subject.kind, id: &self.subject.id },
            subject_relation: related.map(|related| schema.number(related)),
            expires_at: self.expires_at.and_then(|at| DateTime::from_timestamp_millis(at.millis())),
        })
    }

    /// Finds the relations that the tuple names, or notes a fault.
    pub fn relations(
        &self,
        schema: &Schema,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<RelationsOfTuple> {
        let Self { object, relation, subject, subject_relation, .. } = self;
        let found = schema.relation(&object.kind, relation);
        if found.is_none() {
            note_unknown(schema, (object, "object"), (relation, "relation"), at, problems);
        }
        let related = match subject_relation {
            Some(name) => {
                let related = schema.relation(&subject.kind, name);
                if related.is_none() {
                    // The fault is at the member that the name was sent in.
                    let relation = (&**name, "subject_relation");
                    note_unknown(schema, (subject, "subject"), relation, at, problems);
                }
                Some(related?)
            }
            None => None,
        };
        // Only now, so that a fault of each relation is noted.
        Some((found?, related))
    }

    /// Returns whether the relation stores the subject. Notes what it stores otherwise.
    pub fn check_subject(
        &self,
        schema: &Schema,
        (relation, related): RelationsOfTuple,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> bool {
        let subject = (&*self.subject.kind, &*self.subject.id);
        let is_stored = schema.admits(relation, subject, related);
        if !is_stored {
            problems.expected(&at.key("subject"), self.expected_subject(schema, relation));
        }
        is_stored
    }

    /// Completes "expected …" for a subject that the relation does not store.
    fn expected_subject(&self, schema: &Schema, relation: RelationId) -> String {
        let storable: Vec<String> = schema.storable(relation).collect();
        let name = format!("`{}` of `{}`", self.relation, self.object.kind);
        if storable.is_empty() {
            return format!("a relation that stores subjects: {name} follows from others");
        }
        format!("a subject that {name} stores: {}", any_of(storable.iter().map(String::as_str)))
    }
}

/// Notes that the type of `named` lacks the relation, or that no type with relations has its name.
fn note_unknown(
    schema: &Schema,
    (named, member): (&ObjectName, &str),
    (relation, at_relation): (&str, &str),
    at: &Place<'_>,
    problems: &mut Problems,
) {
    let own = schema.relations().filter(|one| schema.type_of(*one) == named.kind);
    let own: Vec<&str> = own.map(|one| schema.name(one)).collect();
    if own.is_empty() {
        let mut types: Vec<&str> = schema.relations().map(|one| schema.type_of(one)).collect();
        // The relations of a type are beside each other.
        types.dedup();
        let hint = hint(&named.kind, types, str::to_owned);
        problems.expected(&at.key(member), format!("a type with relations before `:`{hint}"));
    } else {
        let hint = hint(relation, own, str::to_owned);
        let what = format!("a relation of `{}`{hint}", named.kind);
        problems.expected(&at.key(at_relation), what);
    }
}
