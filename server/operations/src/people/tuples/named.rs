//! Tuples as callers name them, with the numbers of their relations.

use std::collections::HashMap;

use portcullis_auth::Manager;
use portcullis_directory::{RelationNumber, Schema};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::relation::{NewTuple, ObjectName, RelationsOfTuple, TupleSelection};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::relations::{NumberedTuple, TupleFilter, TupleKey};
use portcullis_storage::{HistoryPosition, StoreError, Tx, tenants, types as stored_types};

use crate::content::types::stored_schema;

/// The number of a relation.
pub(super) type Number = RelationNumber;

/// The relations of a tenant, at one place in the history of its rules.
pub(crate) struct NamedRelations {
    schema: Schema,
    position: HistoryPosition,
}

/// Tuples that a caller sent, each once, and the same with numbers.
pub(crate) struct NamedTuples<'t> {
    pub(super) sent: Vec<&'t NewTuple>,
    pub(crate) numbered: Vec<NumberedTuple>,
}

impl NamedRelations {
    /// Reads the relations on a snapshot: on SQLite all tenants write with one connection, so that lines are compiled before
    /// the transaction.
    pub(super) async fn on_snapshot(app: &App, caller: &Manager) -> Result<Self, OperationError> {
        app.read(caller.tenant(), async |tx| Self::read(tx).await).await
    }

    pub(crate) async fn read(tx: &mut Tx) -> Result<Self, StoreError> {
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
    pub(crate) fn to_write<'t>(
        &self,
        tuples: &'t [NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> NamedTuples<'t> {
        self.named(tuples, at, problems, |relations, tuple, at, problems| {
            tuple.check_subject(&self.schema, relations, at, problems);
        })
    }

    /// Returns tuples to delete. Notes those whose relations do not exist.
    pub(super) fn to_delete<'t>(
        &self,
        tuples: &'t [NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> NamedTuples<'t> {
        self.named(tuples, at, problems, |_, _, _, _| {})
    }

    /// Returns tuples with their numbers, each once, with the expiry of the last.
    fn named<'t>(
        &self,
        tuples: &'t [NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
        check: impl Fn(RelationsOfTuple, &NewTuple, &Place<'_>, &mut Problems),
    ) -> NamedTuples<'t> {
        let mut named = NamedTuples { sent: Vec::new(), numbered: Vec::new() };
        let mut known: HashMap<TupleKey, usize> = HashMap::with_capacity(tuples.len());
        for (index, tuple) in tuples.iter().enumerate() {
            let at = at.index(index);
            let named_relations = tuple.relations(&self.schema, &at, problems);
            let Some((relation, related)) = named_relations else { continue };
            check((relation, related), tuple, &at, problems);
            let key = TupleKey {
                object: tuple.object.clone(),
                relation: self.schema.number(relation),
                subject: tuple.subject.clone(),
                subject_relation: related.map(|related| self.schema.number(related)),
            };
            let (next, expires_at) = (named.numbered.len(), tuple.expires_at);
            match *known.entry(key.clone()).or_insert(next) {
                // An earlier tuple has the key, so that its place is in the list.
                first if first < next => named.numbered[first].expires_at = expires_at,
                _ => {
                    named.sent.push(tuple);
                    named.numbered.push(NumberedTuple { key, expires_at });
                }
            }
        }
        named
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
