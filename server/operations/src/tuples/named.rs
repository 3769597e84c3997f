//! Tuples as callers name them, with the numbers of their relations.

use std::collections::HashMap;

use portcullis_auth::Manager;
use portcullis_directory::{RelationId, RelationNumber, Schema};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::nearest::{any_of, hint};
use portcullis_model::relation::{NewTuple, ObjectName, TupleSelection};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::relations::{NumberedTuple, TupleFilter, TupleKey};
use portcullis_storage::{HistoryPosition, StoreError, Tx, tenants, types as stored_types};

use crate::types::stored_schema;

/// The number of a relation.
pub(super) type Number = RelationNumber;

/// The relations of a tenant, at one place in the history of its rules.
pub(super) struct NamedRelations {
    schema: Schema,
    position: HistoryPosition,
}

/// Tuples that a caller sent, each once, and the same with numbers.
pub(super) struct NamedTuples<'t> {
    pub(super) sent: Vec<&'t NewTuple>,
    pub(super) numbered: Vec<NumberedTuple>,
}

impl NamedRelations {
    /// Reads the relations on a snapshot: on SQLite all tenants write with one connection, so that lines are compiled before
    /// the transaction.
    pub(super) async fn on_snapshot(app: &App, caller: &Manager) -> Result<Self, OperationError> {
        let mut tx = app.store.read(caller.tenant()).await?;
        let read = Self::read(&mut tx).await?;
        tx.end().await?;
        Ok(read)
    }

    pub(super) async fn read(tx: &mut Tx) -> Result<Self, StoreError> {
        let position = tenants::position(tx).await?;
        let schema = stored_schema(&stored_types::relations(tx).await?)?;
        Ok(Self { schema, position })
    }

    /// Reads the relations again if the rules changed.
    pub(super) async fn at_present(self, tx: &mut Tx) -> Result<Self, StoreError> {
        if tenants::position(tx).await? == self.position { Ok(self) } else { Self::read(tx).await }
    }

    /// Returns the numbers of the relations called `name`, of any type.
    pub(super) fn numbers(&self, name: &str) -> Vec<Number> {
        let named = self.schema.relations().filter(|relation| self.schema.name(*relation) == name);
        named.map(|relation| self.schema.number(relation)).collect()
    }

    /// Returns tuples to write. Notes those that the relations do not allow.
    pub(super) fn to_write<'t>(
        &self,
        tuples: &'t [NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> NamedTuples<'t> {
        self.named(tuples, at, problems, |relation, related, tuple, at, problems| {
            let subject = (&*tuple.subject.kind, &*tuple.subject.id);
            if !self.schema.admits(relation, subject, related) {
                problems.expected(&at.key("subject"), self.expected_subject(relation, tuple));
            }
        })
    }

    /// Returns tuples to delete. Notes those whose relations do not exist.
    pub(super) fn to_delete<'t>(
        &self,
        tuples: &'t [NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> NamedTuples<'t> {
        self.named(tuples, at, problems, |_, _, _, _, _| {})
    }

    /// Returns tuples with their numbers, each once, with the expiry of the last.
    fn named<'t>(
        &self,
        tuples: &'t [NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
        check: impl Fn(RelationId, Option<RelationId>, &NewTuple, &Place<'_>, &mut Problems),
    ) -> NamedTuples<'t> {
        let mut named = NamedTuples { sent: Vec::new(), numbered: Vec::new() };
        let mut known: HashMap<TupleKey, usize> = HashMap::with_capacity(tuples.len());
        for (index, tuple) in tuples.iter().enumerate() {
            let at = at.index(index);
            let Some((relation, related)) = self.relations(tuple, &at, problems) else { continue };
            check(relation, related, tuple, &at, problems);
            let key = TupleKey {
                object: tuple.object.clone(),
                relation: self.schema.number(relation),
                subject: tuple.subject.clone(),
                subject_relation: related.map(|related| self.schema.number(related)),
            };
            let (next, expires_at) = (named.numbered.len(), tuple.expires_at);
            match *known.entry(key.clone()).or_insert(next) {
                first if first < next => named.numbered[first].expires_at = expires_at,
                _ => {
                    named.sent.push(tuple);
                    named.numbered.push(NumberedTuple { key, expires_at });
                }
            }
        }
        named
    }

    /// Finds the relations that a tuple names, or notes a fault.
    fn relations(
        &self,
        tuple: &NewTuple,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<(RelationId, Option<RelationId>)> {
        let NewTuple { object, relation, subject, subject_relation, .. } = tuple;
        let found = self.schema.relation(&object.kind, relation);
        if found.is_none() {
            self.note_unknown((object, "object"), (relation, "relation"), at, problems);
        }
        let related = match subject_relation {
            Some(name) => {
                let related = self.schema.relation(&subject.kind, name);
                if related.is_none() {
                    let relation = (&**name, "subject_relation");
                    self.note_unknown((subject, "subject"), relation, at, problems);
                }
                Some(related?)
            }
            None => None,
        };
        Some((found?, related))
    }

    /// Notes that the type of `named` lacks the relation, or that no type with relations has its name.
    fn note_unknown(
        &self,
        (named, member): (&ObjectName, &str),
        (relation, at_relation): (&str, &str),
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let all = || self.schema.relations();
        let own = all().filter(|one| self.schema.type_of(*one) == named.kind);
        let own: Vec<&str> = own.map(|one| self.schema.name(one)).collect();
        if own.is_empty() {
            let mut types: Vec<&str> = all().map(|one| self.schema.type_of(one)).collect();
            types.dedup();
            let hint = hint(&named.kind, types, str::to_owned);
            problems.expected(&at.key(member), format!("a type with relations before `:`{hint}"));
        } else {
            let hint = hint(relation, own, str::to_owned);
            let what = format!("a relation of `{}`{hint}", named.kind);
            problems.expected(&at.key(at_relation), what);
        }
    }

    /// Completes "expected …" for a subject that the relation does not store.
    fn expected_subject(&self, relation: RelationId, tuple: &NewTuple) -> String {
        let storable: Vec<String> = self.schema.storable(relation).collect();
        let name = format!("`{}` of `{}`", tuple.relation, tuple.object.kind);
        if storable.is_empty() {
            return format!("a relation that stores subjects: {name} follows from others");
        }
        format!("a subject that {name} stores: {}", any_of(storable.iter().map(String::as_str)))
    }
}

/// Returns the filter of a selection, whose relation has these numbers.
pub(super) fn filter<'s>(
    selection: &'s TupleSelection,
    relations: Option<&'s [Number]>,
) -> TupleFilter<'s> {
    fn parts(name: &ObjectName) -> (&str, &str) {
        (&name.kind, &name.id)
    }
    TupleFilter {
        object: selection.object.as_ref().map(parts),
        object_type: selection.object_type.as_deref(),
        relations,
        subject: selection.subject.as_ref().map(parts),
        source: selection.source.as_deref(),
    }
}
